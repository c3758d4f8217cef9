"""The program ``memento-hook``: reads one call from standard input, writes the answer, and never fails the host.

The work is done in a child process that the kernel ends when its time is up, whatever it is doing. So a full disk, a
locked database, a bug or a crash of a native library costs the host nothing: the output is empty and the status 0.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

__all__ = ["main"]

if TYPE_CHECKING:
    from memento_tui.hooks.host_events import HookCall
    from memento_tui.paths import DataPaths


_USAGE = """Usage: memento-hook EVENT [--host HOST] [--data-dir DIR]

Called by an agent's host at fixed moments of a session, with a JSON object on standard input. `memento install`
writes the calls into the host's own files. HOST is claude-code (the default), codex, gemini, cursor or opencode.

Example:
    echo '{"session_id": "s1", "cwd": ".", "prompt": "how do we deploy?"}' | memento-hook UserPromptSubmit
"""

_ANSWER_SECONDS = {"start": 5.0, "prompt": 3.0, "read": 2.0, "write": 0.8, "end": 0.8}
"""Seconds that each answer may take, on a machine that is busy. Most take a tenth.

Hosts give a prompt 30 seconds, and the end of a session 1.5 in all; `memento install` asks for 5 or more.
"""
_MAX_ANSWER_SECONDS = max(_ANSWER_SECONDS.values())

_MAX_INPUT_BYTES = 16_000_000
"""Bytes of standard input that are read."""
_MAX_LOG_BYTES = 500_000
"""Bytes of the log above which it begins again."""

_STDERR = 2
_EXIT_ALREADY_LOGGED = 1
"""The exit status of a child that has logged its failure itself."""


class _Arguments(NamedTuple):
    event: str = ""
    host: str = "claude-code"
    data_dir: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one call; the status is always 0."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] in (["--help"], ["-h"]):
        sys.stdout.write(_USAGE)
        return 0
    parsed = _parse_arguments(words)
    os.umask(0o077)  # `memento_tui.private_files` says why; importing it would cost more than this
    try:
        _answer_in_child(parsed)
    except BaseException as error:  # noqa: BLE001 - a host that closed its end, or a system that is out of processes
        _log_error(parsed, error)
    return 0


def _answer_in_child(arguments: _Arguments) -> None:
    """Answer the call in a child process, and pass its answer on to the host."""
    _reserve_standard_descriptors()
    incoming, outgoing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(incoming)
        _run_child(arguments, outgoing)
    os.close(outgoing)
    with os.fdopen(incoming, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        _write(1, answer)
    elif code == -signal.SIGALRM:
        _log_message(arguments, f"{arguments.event or 'the call'} was ended: it took longer than it may")
    elif code != _EXIT_ALREADY_LOGGED:
        _log_message(arguments, f"{arguments.event or 'the call'} ended with status {code}")


def _reserve_standard_descriptors() -> None:
    """Open the null device for each standard stream that the host closed: else another file would get its number."""
    while (null := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(null)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _parse_arguments(words: Sequence[str]) -> _Arguments:
    """Return the arguments; unknown ones are ignored, since a newer installer may write them."""
    named = {"--host": "host", "--data-dir": "data_dir"}
    found: dict[str, str] = {}
    rest = iter(words)
    for argument in rest:
        name, has_value, value = argument.partition("=")
        if name in named:
            found[named[name]] = value if has_value else next(rest, "")
        elif not argument.startswith("-"):
            found.setdefault("event", argument)
    return _Arguments(**found)


def _run_child(arguments: _Arguments, outgoing: int) -> None:
    """Do the work in the child, which the kernel's timer ends whatever it is doing."""
    status = _EXIT_ALREADY_LOGGED
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, _MAX_ANSWER_SECONDS)
        _detach_host_streams()
        _write(outgoing, _answer(arguments).encode())
        status = 0
    except BaseException as error:  # noqa: BLE001 - nothing may reach the host
        _log_error(arguments, error)
    finally:
        os._exit(status)


def _detach_host_streams() -> None:
    """Close the streams that the host reads: a native library that panics writes there, and the host waits for them."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, _STDERR)
    os.close(null)


def _answer(arguments: _Arguments) -> str:
    # only the child needs it
    from memento_tui.hooks.host_events import format_answer, moment_of, parse_call  # noqa: PLC0415
    from memento_tui.hooks.settings import read_settings  # noqa: PLC0415
    from memento_tui.paths import DataPaths, data_directory  # noqa: PLC0415

    # The time that a slow host takes to send its input counts too.
    if moment := moment_of(arguments.event):
        signal.setitimer(signal.ITIMER_REAL, _ANSWER_SECONDS[moment])
    call = parse_call(arguments.host, arguments.event, _read_stdin())
    paths = DataPaths(data_directory(arguments.data_dir or None))
    if call is None or not paths.database.is_file():
        return ""
    if moment is None:
        signal.setitimer(signal.ITIMER_REAL, _ANSWER_SECONDS[call.moment])
    settings = read_settings(paths.config)
    if call.moment in ("write", "end"):
        if call.transcript and (settings.provenance or (settings.learn and call.moment == "end")):
            _start_transcript_worker(call, paths)
        return ""
    from memento_tui.hooks.events import context_for_call  # noqa: PLC0415 - the end of a session needs no index

    return format_answer(call, context_for_call(call, paths, settings))


def _start_transcript_worker(call: HookCall, paths: DataPaths) -> None:
    """Start the worker that reads the transcript, if there is enough to read."""
    # Only the end of a session needs these two.
    from memento_tui.hooks.worker_launcher import should_read_transcript, start_worker  # noqa: PLC0415
    from memento_tui.storage.hook_store import HookStore  # noqa: PLC0415

    store = HookStore(paths.database)
    learned = store.learned_bytes(call.session)
    store.close()
    path = Path(call.transcript)
    if should_read_transcript(call.event, path.stat().st_size if path.exists() else 0, learned):
        options = {"event": call.event, "session": call.session, "cwd": call.cwd, "transcript": call.transcript}
        start_worker(paths.root, *(f"--{name}={value}" for name, value in options.items()))


def _read_stdin() -> bytes:
    """Return the whole of standard input. Raises `ValueError` where it is too long."""
    parts, size = [], 0
    while part := os.read(0, 1 << 16):
        parts.append(part)
        size += len(part)
        if size > _MAX_INPUT_BYTES:
            raise ValueError(f"the input is longer than {_MAX_INPUT_BYTES:,} bytes")
    return b"".join(parts)


def _log_error(arguments: _Arguments, error: BaseException) -> None:
    """Log a failure: an expected one in a line, any other with its traceback."""
    is_expected = isinstance(error, (OSError, ValueError)) or type(error).__module__ in ("sqlite3", _HOOK_STORE_MODULE)
    if is_expected:
        text = f"{type(error).__name__}: {error}"
    else:
        import traceback  # noqa: PLC0415 - only what is unexpected needs it

        text = "".join(traceback.format_exception(error)).rstrip()
    _log_message(arguments, f"{arguments.event or 'the call'}: {text}")


_HOOK_STORE_MODULE = "memento_tui.storage.hook_store"


def _log_message(arguments: _Arguments, message: str) -> None:
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
