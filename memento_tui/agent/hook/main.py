"""The program: reads one call from standard input, writes the answer, and never fails the host.

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

if TYPE_CHECKING:
    from memento_tui.agent.hook.hosts import Call
    from memento_tui.paths import DataPaths

__all__ = ["main"]

_USAGE = """Usage: memento-hook EVENT [--host HOST] [--data-dir DIR]

Called by an agent's host at fixed moments of a session, with a JSON object on standard input. `memento install`
writes the calls into the host's own files. HOST is claude-code (the default), codex, gemini, cursor or opencode.

Example:
    echo '{"session_id": "s1", "cwd": ".", "prompt": "how do we deploy?"}' | memento-hook UserPromptSubmit
"""

_SECONDS = {"start": 5.0, "prompt": 3.0, "read": 2.0, "end": 0.8}
"""How long each answer may take at the most, on a machine that is busy. Most take a tenth.

Hosts give a prompt 30 seconds, and the end of a session 1.5 in all; `memento install` asks for 5 or more.
"""
_LONGEST = max(_SECONDS.values())

_MOST_INPUT = 16_000_000
"""Bytes of standard input that are read."""
_LONGEST_LOG = 500_000
_STDERR = 2
_LOGGED = 1
"""The status of a child that has written down itself what went wrong."""


class _Arguments(NamedTuple):
    event: str = ""
    host: str = "claude-code"
    data_dir: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one call; the status is always 0."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] in (["--help"], ["-h"]):
        sys.stdout.write(_USAGE)
        return 0
    read = _parsed(given)
    try:
        _serve(read)
    except BaseException as error:  # noqa: BLE001 - a host that closed its end, or a system that is out of processes
        _log_error(read, error)
    return 0


def _serve(read: _Arguments) -> None:
    """Have the call answered in a child, and hand its answer to the host."""
    _hold_the_streams()
    incoming, outgoing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(incoming)
        _answer_and_leave(read, outgoing)
    os.close(outgoing)
    with os.fdopen(incoming, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        _write(1, answer)
    elif code == -signal.SIGALRM:
        _log(read, f"{read.event or 'the call'} was ended: it took longer than it may")
    elif code != _LOGGED:
        _log(read, f"{read.event or 'the call'} ended with status {code}")


def _hold_the_streams() -> None:
    """Put nothing in the place of a standard stream that the host closed: else another file would get its number."""
    while (null := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(null)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _parsed(given: Sequence[str]) -> _Arguments:
    """Return the arguments; what is not known is left alone, as a newer installer may write it."""
    named = {"--host": "host", "--data-dir": "data_dir"}
    found: dict[str, str] = {}
    rest = iter(given)
    for argument in rest:
        name, has_value, value = argument.partition("=")
        if name in named:
            found[named[name]] = value if has_value else next(rest, "")
        elif not argument.startswith("-"):
            found.setdefault("event", argument)
    return _Arguments(**found)


def _answer_and_leave(read: _Arguments, outgoing: int) -> None:
    """Do the work in the child; the kernel's timer, not caught by anything, is the hard stop."""
    status = _LOGGED
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, _LONGEST)
        _leave_the_streams()
        _write(outgoing, _answer(read).encode())
        status = 0
    except BaseException as error:  # noqa: BLE001 - nothing may reach the host
        _log_error(read, error)
    finally:
        os._exit(status)


def _leave_the_streams() -> None:
    """Let go of what the host reads: a native library that panics says so there, and it waits until all let go."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, _STDERR)
    os.close(null)


def _answer(read: _Arguments) -> str:
    from memento_tui.agent.hook.hosts import answer, moment_of, parse_call  # noqa: PLC0415 - only the child needs it
    from memento_tui.agent.hook.settings import read_settings  # noqa: PLC0415
    from memento_tui.paths import DataPaths, data_directory  # noqa: PLC0415

    # A host that is slow to say what it wants uses up the time, too.
    if moment := moment_of(read.event):
        signal.setitimer(signal.ITIMER_REAL, _SECONDS[moment])
    call = parse_call(read.host, read.event, _input())
    paths = DataPaths(data_directory(read.data_dir or None))
    if call is None or not paths.database.is_file():
        return ""
    if moment is None:
        signal.setitimer(signal.ITIMER_REAL, _SECONDS[call.moment])
    settings = read_settings(paths.config)
    if call.moment == "end":
        if settings.learn and call.transcript:
            _hand_over(call, paths)
        return ""
    from memento_tui.agent.hook.events import tell  # noqa: PLC0415 - the end of a session needs no index

    return answer(call, tell(call, paths, settings))


def _hand_over(call: Call, paths: DataPaths) -> None:
    """Start the reading of a transcript in a process of its own, if there is enough to read."""
    from memento_tui.agent.hook.detached import start_detached  # noqa: PLC0415 - most calls start nothing
    from memento_tui.agent.hook.due import is_due  # noqa: PLC0415
    from memento_tui.store.hook_store import HookStore  # noqa: PLC0415

    store = HookStore(paths.database)
    learned = store.learned(call.session)
    store.close()
    path = Path(call.transcript)
    if is_due(call.event, path.stat().st_size if path.exists() else 0, learned):
        what = {"event": call.event, "session": call.session, "cwd": call.cwd, "transcript": call.transcript}
        start_detached(paths.root, *(f"--{name}={value}" for name, value in what.items()))


def _input() -> bytes:
    """Return standard input whole. Raises `ValueError` where there is too much."""
    parts, size = [], 0
    while part := os.read(0, 1 << 16):
        parts.append(part)
        size += len(part)
        if size > _MOST_INPUT:
            raise ValueError(f"the input is longer than {_MOST_INPUT:,} bytes")
    return b"".join(parts)


def _log_error(read: _Arguments, error: BaseException) -> None:
    """Write down what went wrong: in a word what was foreseen, with its place what was not."""
    foreseen = isinstance(error, (OSError, ValueError)) or type(error).__module__ in ("sqlite3", _STORE)
    if foreseen:
        told = f"{type(error).__name__}: {error}"
    else:
        import traceback  # noqa: PLC0415 - only what nobody foresaw needs it

        told = "".join(traceback.format_exception(error)).rstrip()
    _log(read, f"{read.event or 'the call'}: {told}")


_STORE = "memento_tui.store.hook_store"


def _log(read: _Arguments, message: str) -> None:
    """Add a line to the hooks' log; where even that fails there is nobody left to tell."""
    from memento_tui import clock  # noqa: PLC0415 - most calls log nothing
    from memento_tui.paths import DataPaths, data_directory  # noqa: PLC0415

    try:
        path = DataPaths(data_directory(read.data_dir or None)).hook_log
        if not path.parent.is_dir():
            return
        _append(path, f"{clock.now():%Y-%m-%dT%H:%M:%SZ} {message}\n")
    except (OSError, ValueError, RuntimeError):  # no such place, no name that a file can have, no such home directory
        return


def _append(path: Path, line: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    if path.exists() and path.stat().st_size > _LONGEST_LOG:
        flags |= os.O_TRUNC
    log = os.open(path, flags, 0o600)
    try:
        os.write(log, line.encode("utf-8", "backslashreplace"))
    finally:
        os.close(log)
