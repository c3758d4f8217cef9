"""Decide whether a transcript is worth reading, and start the processes that a hook leaves behind."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from memento_tui.hooks.host_events import HookCall
from memento_tui.hooks.settings import HookSettings, engine_is_enabled
from memento_tui.hosts.moments import EVERY_TURN_EVENTS
from memento_tui.meaning import is_installed
from memento_tui.paths import DataPaths
from memento_tui.processes import engine_command, module_command, start_detached
from memento_tui.regular_files import open_regular

__all__ = [
    "should_read_transcript",
    "start_engine",
    "start_index_worker",
    "start_transcript_worker",
    "start_worker",
]

_FIRST_READ_BYTES, _GROWTH_BYTES = 10_000, 50_000
"""Bytes of new transcript that an event of every turn needs: a few exchanges the first time, about ten later.

Other events need none. Some hosts never report the end of a session, so short ones are read after a turn as well.
"""


def should_read_transcript(event: str, size: int, learned: int) -> bool:
    """Tell whether a transcript of ``size`` bytes is read now, of which ``learned`` bytes have been read before.

    A missing one (0 bytes) is: the worker reports it.
    """
    if not size or event.lower() not in EVERY_TURN_EVENTS:
        return not size or size != learned
    return size - learned >= (_GROWTH_BYTES if learned else _FIRST_READ_BYTES)


_WORKER_MODULE = "memento_tui.hooks.transcript_worker"


def start_transcript_worker(call: HookCall, paths: DataPaths, settings: HookSettings) -> None:
    """Start the worker that reads a session's transcript, if there is enough to read.

    Raises:
        FormatMismatch: the database is of another version.
        apsw.Error: the database cannot be read.

    """
    if not call.transcript or not (settings.provenance or (settings.learn and call.moment == "end")):
        return
    from memento_tui.storage.hook_store import HookStore  # noqa: PLC0415 - the start of a worker alone needs none

    store = HookStore(paths.database)
    learned, begun = store.learned_bytes(call.session), store.begun(call.session)
    store.close()
    if not should_read_transcript(call.event, _file_size(call.transcript), learned):
        return
    options = {"event": call.event, "session": call.session, "cwd": call.cwd, "transcript": call.transcript}
    options["since"] = "" if begun is None else begun.since  # a compaction that follows begins another context
    start_worker(paths.root, *(f"--{name}={value}" for name, value in options.items()))


def _file_size(path: str) -> int:
    """Return the size of a file, 0 for one that is missing."""
    return os.stat(path).st_size if os.path.exists(path) else 0  # noqa: PTH110, PTH116 - as it is shorter


def start_worker(data_dir: Path, *arguments: str, keep: int | None = None) -> None:
    """Start `memento_tui.hooks.transcript_worker`; it holds what is locked through the descriptor ``keep``."""
    start_detached(module_command(_WORKER_MODULE, os.fspath(data_dir), *arguments), keep=keep)


def start_index_worker(paths: DataPaths) -> None:
    """Start the worker that brings the database and its index up to date, unless one is at work already.

    Otherwise each prompt that comes meanwhile would start one more. Where none can be started, that is logged: what was
    indexed before still serves.
    """
    try:
        _start_index_worker(paths)
    except OSError as error:
        from memento_tui.hooks.fallback import log_error  # noqa: PLC0415 - most calls have no failure
        from memento_tui.hooks.main import Arguments  # noqa: PLC0415 - as above

        log_error(Arguments(["index", "--data-dir", os.fspath(paths.root)]), error)


def _start_index_worker(paths: DataPaths) -> None:
    import fcntl  # noqa: PLC0415 - few hooks ask

    descriptor = open_regular(paths.index_worker_lock, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    else:
        start_worker(paths.root, "--index", keep=descriptor)
    finally:
        os.close(descriptor)


def start_engine(paths: DataPaths) -> None:
    """Start the engine of a data directory, without waiting for it; it leaves where one is at work.

    Nothing is started where the settings switch it off, or what it needs is not installed.
    """
    if not engine_is_enabled(paths.config) or not is_installed():
        return
    with contextlib.suppress(OSError):  # words alone answer then, and `memento doctor` says why
        start_detached(engine_command(paths.root), log=os.fspath(paths.engine_log))
