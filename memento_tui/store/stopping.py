"""Ending a long read when the person asks for it, in the middle of a query too."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["StoppedError", "check", "stoppable"]

_STEPS = 50_000
"""Steps of SQLite's machine between two looks at the event: a few milliseconds."""


class StoppedError(Exception):
    """The person ended the work; nothing was changed by it."""


def check(stop: threading.Event | None) -> None:
    """Raise `StoppedError` if the work is to end."""
    if stop is not None and stop.is_set():
        raise StoppedError


@contextmanager
def stoppable(connection: sqlite3.Connection, stop: threading.Event | None) -> Iterator[None]:
    """Let a query of the block end early once the event is set; it raises `StoppedError` then."""
    if stop is None:
        yield
        return
    connection.set_progress_handler(lambda: int(stop.is_set()), _STEPS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if stop.is_set():
            raise StoppedError from error
        raise
    finally:
        connection.set_progress_handler(None, 0)
