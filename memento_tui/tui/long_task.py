"""Run one long task at a time on a thread: its progress in the status line, and how the person stops it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

from textual.widget import Widget

from memento_tui.api.types import Progress, StoppedError
from memento_tui.errors import MementoError
from memento_tui.tui.section import app_of

__all__ = ["LongTaskRunner", "progress_reporter"]

LongTask = Callable[[Progress, threading.Event], str]
"""Reports its progress, ends when the event is set, and returns a sentence for the status line."""

_PROGRESS_SECONDS = 0.1
"""Seconds between two reports of progress."""


def progress_reporter(widget: Widget, *, can_stop: bool = True) -> Progress:
    """Return a function that shows progress in the status line, a few times a second; it may be called on threads."""
    shown_at = 0.0

    def report(what: str, done: int, total: int) -> None:
        nonlocal shown_at
        if monotonic() - shown_at >= _PROGRESS_SECONDS:
            shown_at = monotonic()
            share = f" {100 * done // total} %" if done else ""
            text = f"{what} ...{share}{'   Escape stops.' if can_stop else ''}"
            widget.call_later(app_of(widget).show_status, text)

    return report


class LongTaskRunner:
    """Runs long tasks for a widget. ``finished`` is called when one has ended, however it did."""

    def __init__(self, widget: Widget, finished: Callable[[], None]) -> None:
        self._widget = widget
        self._finished = finished
        self._name = ""
        """The task that is under way, as the beginning of a sentence: "The backup is being made"."""
        self._stop: threading.Event | None = None
        """The event that ends it; ``None`` where nothing does."""

    def begin(self, name: str, task: LongTask, *, can_stop: bool = True) -> None:
        """Begin a task, unless one is under way. ``can_stop`` is whether it can be ended half-way."""
        app = app_of(self._widget)
        if self._name:
            app.show_status(f"{self._name} already{'; Escape stops that' if self._stop else ''}.", problem=True)
            return
        stop = threading.Event()
        self._name, self._stop = name, stop if can_stop else None
        app.show_status(f"{name} ...")
        self._widget.run_worker(lambda: self._run(task, stop, can_stop=can_stop), thread=True, group="long task")

    def stop(self) -> bool:
        """End the task that is under way, or say that this one cannot be; return whether there was any."""
        if not self._name:
            return False
        if self._stop is None:
            app_of(self._widget).show_status(f"{self._name}; that cannot be stopped half-way.", problem=True)
        else:
            self._stop.set()
            app_of(self._widget).show_status("Stopping ...")
        return True

    def abandon(self) -> None:
        """End the task without a word, because the app is leaving: its thread would keep the process alive."""
        if self._stop is not None:
            self._stop.set()

    def _run(self, task: LongTask, stop: threading.Event, *, can_stop: bool) -> None:
        problem = False
        try:
            sentence = task(progress_reporter(self._widget, can_stop=can_stop), stop)
        except StoppedError:
            sentence = "Stopped. Nothing was changed."
        except MementoError as error:
            sentence, problem = str(error), True
        self._widget.call_later(self._end, sentence, problem=problem)

    def _end(self, sentence: str, *, problem: bool) -> None:
        self._name, self._stop = "", None
        app_of(self._widget).show_status(sentence, problem=problem)
        self._finished()
