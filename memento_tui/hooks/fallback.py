"""Answer a call of a hook by words alone, in a process of its own: `memento_tui.hooks.main` found no engine to ask.

The work is done in a child process that the kernel ends when its time is up, whatever it is doing. So a full disk, a
locked database, a bug or a crash of a native library costs the host nothing: the output is empty and the status 0.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from time import monotonic

from memento_tui.hooks.main import Arguments, write_all

__all__ = ["USAGE", "answer_by_words", "log_error"]


USAGE = """Usage: memento-hook EVENT [--host HOST] [--data-dir DIR]

Called by an agent's host at fixed moments of a session, with a JSON object on standard input. `memento install`
writes the calls into the host's own files. HOST is claude-code (the default), codex, gemini, cursor or opencode.

Example:
    echo '{"session_id": "s1", "cwd": ".", "prompt": "how do we deploy?"}' | memento-hook UserPromptSubmit
"""

_MAX_LOG_BYTES = 500_000
"""Bytes of the log above which it begins again."""

_STDERR = 2
_EXIT_ALREADY_LOGGED = 1
"""The exit status of a child that has logged its failure itself."""


def answer_by_words(arguments: Arguments, raw: bytes, deadline: float) -> None:
    """Answer a call in a child process, and pass its answer on to the host."""
    incoming, outgoing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(incoming)
        _run_child(arguments, raw, outgoing, deadline)
    os.close(outgoing)
    with os.fdopen(incoming, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        write_all(1, answer)
    elif code == -signal.SIGALRM:
        _log_message(arguments, f"{arguments.event or 'the call'} was ended: it took longer than it may")
    elif code != _EXIT_ALREADY_LOGGED:
        _log_message(arguments, f"{arguments.event or 'the call'} ended with status {code}")


def _run_child(arguments: Arguments, raw: bytes, outgoing: int, deadline: float) -> None:
    """Do the work in the child, which the kernel's timer ends whatever it is doing."""
    status = _EXIT_ALREADY_LOGGED
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, max(0.001, deadline - monotonic()))
        _detach_host_streams()
        write_all(outgoing, _answer(arguments, raw).encode())
        status = 0
    except BaseException as error:  # noqa: BLE001 - nothing may reach the host
        log_error(arguments, error)
    finally:
        os._exit(status)


def _detach_host_streams() -> None:
    """Close the streams that the host reads: a native library that panics writes there, and the host waits for them."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, _STDERR)
    os.close(null)


def _answer(arguments: Arguments, raw: bytes) -> str:
    # Only the child needs these.
    from memento_tui.hooks.host_events import format_answer, parse_call  # noqa: PLC0415
    from memento_tui.hooks.settings import engine_is_enabled, read_settings  # noqa: PLC0415
    from memento_tui.hooks.worker_launcher import start_engine, start_transcript_worker  # noqa: PLC0415
    from memento_tui.paths import DataPaths, data_directory  # noqa: PLC0415

    call = parse_call(arguments.host, arguments.event, raw)
    if call is None:
        return ""
    paths = DataPaths(data_directory(arguments.data_dir))
    settings = read_settings(paths.config)
    if call.moment in ("write", "end"):
        start_transcript_worker(call, paths, settings)
        return ""
    if call.moment == "start" and engine_is_enabled(paths.config):
        start_engine(paths)  # for the prompts that follow; this call does not wait for it
    from memento_tui.hooks.events import context_for_call  # noqa: PLC0415 - the end of a session needs no index

    return format_answer(call, context_for_call(call, paths, settings))


def log_error(arguments: Arguments, error: BaseException) -> None:
    """Log a failure: an expected one in a line, any other with its traceback."""
    is_expected = isinstance(error, (OSError, ValueError)) or type(error).__module__ in ("sqlite3", _HOOK_STORE_MODULE)
    if is_expected:
        text = f"{type(error).__name__}: {error}"
    else:
        import traceback  # noqa: PLC0415 - only what is unexpected needs it

        text = "".join(traceback.format_exception(error)).rstrip()
    _log_message(arguments, f"{arguments.event or 'the call'}: {text}")


_HOOK_STORE_MODULE = "memento_tui.storage.hook_store"


def _log_message(arguments: Arguments, message: str) -> None:
    """Add a line to the hooks' log; a failure to do so is ignored."""
    from memento_tui import clock  # noqa: PLC0415 - most calls log nothing
    from memento_tui.paths import DataPaths, data_directory  # noqa: PLC0415

    try:
        path = DataPaths(data_directory(arguments.data_dir or None)).hook_log
        if not path.parent.is_dir():
            return
        _append_line(path, f"{clock.now():%Y-%m-%dT%H:%M:%SZ} {message}\n")
    except (OSError, ValueError, RuntimeError):  # no such place, no name that a file can have, no such home directory
        return


def _append_line(path: Path, line: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    if path.exists() and path.stat().st_size > _MAX_LOG_BYTES:
        flags |= os.O_TRUNC
    log = os.open(path, flags, 0o600)
    try:
        os.write(log, line.encode("utf-8", "backslashreplace"))
    finally:
        os.close(log)
