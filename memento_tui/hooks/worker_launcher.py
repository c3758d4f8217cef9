"""Decide whether a transcript is worth reading, and start the detached worker. Standard library only."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["should_read_transcript", "start_worker"]

_EVERY_TURN_EVENTS = frozenset({"stop", "afteragent"})
"""Events that come after every answer."""
_FIRST_READ_BYTES, _GROWTH_BYTES = 10_000, 50_000
"""Bytes of new transcript that such an event needs: a few exchanges the first time, about ten later.

Other events need none. Some hosts never report the end of a session, so short ones are read after a turn as well.
"""


def should_read_transcript(event: str, size: int, learned: int) -> bool:
    """Tell whether a transcript of ``size`` bytes is read now, of which ``learned`` bytes have been read before.

    A missing one (0 bytes) is: the worker reports it.
    """
    if not size or event.lower() not in _EVERY_TURN_EVENTS:
        return not size or size != learned
    return size - learned >= (_GROWTH_BYTES if learned else _FIRST_READ_BYTES)


_WORKER_MODULE = "memento_tui.hooks.transcript_worker"


def start_worker(data_dir: Path, *arguments: str) -> None:
    """Start `memento_tui.hooks.transcript_worker` in a session of its own, without the host's open files."""
    if os.fork():
        return
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        # -P: no module is imported from the folder that the agent works in, which may be anybody's repository.
        command = [sys.executable, "-P", "-m", _WORKER_MODULE, str(data_dir), *arguments]
        os.execv(sys.executable, command)  # noqa: S606 - ourselves
    finally:
        os._exit(1)
