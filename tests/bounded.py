"""An end for work that must grow in proportion to its input: what is quadratic would go on for minutes or hours."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["bounded"]


@contextmanager
def bounded(seconds: float = 20) -> Iterator[None]:
    """Fail once the block has used so much of a processor; what other programs use of it does not count."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"more work than {seconds} seconds of a processor")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
