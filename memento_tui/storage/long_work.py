"""Report how far long work is, and end it early where the person asks: between steps, or in the middle of a query."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

from memento_tui.storage.connection import Connection

__all__ = ["Progress", "StoppedError", "no_progress", "raise_if_stopped", "stoppable"]

Progress = Callable[[str, int, int], None]
"""Receives the name of the present step, the amount done and the whole amount."""


def no_progress(_what: str, _done: int, _total: int) -> None:
    """Tell nobody."""


_STEPS_BETWEEN_CHECKS = 50_000
"""Steps of SQLite's virtual machine between two checks of the event: a few milliseconds."""


class StoppedError(Exception):
    """The person ended the work; nothing was changed by it."""


def raise_if_stopped(stop: threading.Event | None) -> None:
    """Raise `StoppedError` if the work is to end."""
    if stop is not None and stop.is_set():
        raise StoppedError


@contextmanager
def stoppable(connection: Connection, stop: threading.Event | None) -> Iterator[None]:
    """Let a query of the block end early once the event is set; it raises `StoppedError` then."""
    if stop is None:
        yield
        return
    connection.set_progress_handler(stop.is_set, _STEPS_BETWEEN_CHECKS)
    try:
        yield
    except apsw.InterruptError as error:
        if stop.is_set():
            raise StoppedError from error
        raise
    finally:
        connection.set_progress_handler(None, 0)
