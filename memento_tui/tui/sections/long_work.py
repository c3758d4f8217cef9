"""A list whose section does long work on threads, one at a time: it tells how far it is, and ends when told to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import Generic, TypeVar

from textual import work

from memento_tui.errors import MementoError
from memento_tui.store.backup import Progress
from memento_tui.store.stopping import StoppedError
from memento_tui.tui.sections.list_section import ListSection
from memento_tui.tui.widgets.row_pages import Row

__all__ = ["Deed", "WorkingListSection"]

RowT = TypeVar("RowT", bound=Row)

Deed = Callable[[Progress, threading.Event], str]
"""Long work: it tells how far it is, ends when the event is set, and returns what to say of it."""

_TOLD_SECONDS = 0.1
"""Between two words of progress."""


class WorkingListSection(ListSection[RowT], Generic[RowT]):
    """A list beside which something long may be done."""

    def __init__(self) -> None:
        super().__init__()
        self._job = ""
        """What is under way, as a sentence begins: "The backup is being made"."""
        self._stop: threading.Event | None = None
        """What ends it; ``None`` where nothing does."""

    def on_unmount(self) -> None:
        """End what runs on a thread, which would keep the app from leaving."""
        if self._stop is not None:
            self._stop.set()

    def show_again(self) -> None:
        """Show what is known once the work is done."""

    def begin(self, job: str, deed: Deed, *, stops: bool = True) -> None:
        """Begin long work, unless some is under way. ``stops`` says whether it can be ended half-way."""
        if self._job:
            self.memento.say(f"{self._job} already{'; Escape stops that' if self._stop else ''}.", problem=True)
            return
        stop = threading.Event()
        self._job, self._stop = job, stop if stops else None
        self.memento.say(f"{job} ...")
        self._work(deed, stop, stops=stops)

    def stop_work(self) -> bool:
        """End the work that is under way; tell whether there was any."""
        if not self._job:
            return False
        if self._stop is None:
            self.memento.say(f"{self._job}; that cannot be stopped half-way.", problem=True)
        else:
            self._stop.set()
            self.memento.say("Stopping ...")
        return True

    def teller(self, *, stops: bool = True) -> Progress:
        """Return what tells the status line how far some work is, a few times a second."""
        told_at = 0.0

        def tell(what: str, done: int, total: int) -> None:
            nonlocal told_at
            if monotonic() - told_at >= _TOLD_SECONDS:
                told_at = monotonic()
                share = f" {100 * done // total} %" if done else ""
                self.call_later(self.memento.say, f"{what} ...{share}{'   Escape stops.' if stops else ''}")

        return tell

    @work(thread=True, group="long-work")
    def _work(self, deed: Deed, stop: threading.Event, *, stops: bool) -> None:
        problem = False
        try:
            said = deed(self.teller(stops=stops), stop)
        except StoppedError:
            said = "Stopped. Nothing was changed."
        except MementoError as error:
            said, problem = str(error), True
        self.call_later(self._worked, said, problem=problem)

    def _worked(self, said: str, *, problem: bool) -> None:
        self._job, self._stop = "", None
        self.memento.say(said, problem=problem)
        self.show_again()
