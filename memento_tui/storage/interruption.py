"""End long work early, when the person asks for it: between two steps, or in the middle of a query."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from memento_tui.storage.connection import Connection

__all__ = ["StoppedError", "raise_if_stopped", "stoppable"]

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
