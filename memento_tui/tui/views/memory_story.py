"""Show the history, the links and the sessions of a memory below its text, where a tall screen has room for them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from textual import work
from textual.content import Content
from textual.widgets import Static

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.activity import ActivityQuery
from memento_tui.api.memory_details import MemoryLink, links_of
from memento_tui.api.types import ActivityRow, ExposureRow
from memento_tui.errors import MementoError
from memento_tui.model import Memory
from memento_tui.model.journal_actions import action_words, note_in_words
from memento_tui.tui.display import ago, cells, literal
from memento_tui.tui.section import ErrorBoundary, app_of, in_thread

__all__ = ["MemoryStory"]

_TALL_CELLS = 50
"""Rows of a terminal from which on a short text leaves more room than rests the eye."""

_LEAST_LINES = 8
"""Rows that must be free before anything is shown in them."""

_MOST_LINES = 24
"""Rows that are filled at most."""

_MOST_OF_EACH = 6
"""Lines of one kind that are shown of a memory."""

_PAUSE_SECONDS = 0.15
"""Seconds that a memory is shown before more is read about it, so that going through a list reads nothing."""

_AGE_WIDTH, _WHO_WIDTH, _DONE_WIDTH = 5, 12, 14


class MemoryStory(ErrorBoundary, Static):
    """The changes of a memory, its links, and to whom it was told: read behind the list, shown where there is room."""

    DEFAULT_CSS = "MemoryStory { height: auto; display: none; padding: 1 0 0 0; text-wrap: nowrap; }"

    def __init__(self) -> None:
        super().__init__()
        self._told: tuple[Memory, int, int] | None = None
        self._asked = 0
        """How often it was to be told: what was asked before is not shown any more."""

    def show(self, memory: Memory | None, *, width: int, height: int) -> None:
        """Tell of a memory in a room of so many cells; nothing where that is too little, or the screen is not tall."""
        lines = min(height - 1, _MOST_LINES)
        if memory is None or lines < _LEAST_LINES or self.app.size.height < _TALL_CELLS:
            self._told = None
            self.display = False
            self._asked += 1
            return
        before, self._told = self._told, (memory, width, lines)
        if before != self._told:
            self.display = before is not None and before[0].id == memory.id and self.display
            self._fill(memory.id, width, lines)

    @work(group="story")
    async def _fill(self, memory_id: str, width: int, lines: int) -> None:
        self._asked += 1
        asked = self._asked
        await asyncio.sleep(_PAUSE_SECONDS)
        if asked != self._asked:
            return
        try:
            story = await in_thread(self, _read, app_of(self).workspace, memory_id)
        except MementoError as error:
            app_of(self).show_status(str(error), problem=True)
            return
        if asked != self._asked:
            return
        self.update(story.text(width, lines))
        self.display = True

    def read_again(self) -> None:
        """Read and draw it again: time has passed, or something was written that leaves the memory as it is."""
        if self._told is not None:
            memory, width, lines = self._told
            self._fill(memory.id, width, lines)


class _Story(NamedTuple):
    """The lines about one memory, the newest first."""

    changes: Sequence[ActivityRow]
    links: Sequence[MemoryLink]
    told: Sequence[ExposureRow]

    def text(self, width: int, lines: int) -> Content:
        """Return at most so many lines of it, none wider than ``width`` cells."""
        found = [
            *_part("History", [_change(row, width) for row in self.changes]),
            *_part("Links", [_line("", one.word, one.label, one.headline, width) for one in self.links]),
            *_part("Told to agents", [_exposure(row, width) for row in self.told]),
        ]
        return Content("\n").join(found[:lines])


def _read(workspace: Workspace, memory_id: str) -> _Story:
    about = ActivityQuery(memory=(memory_id,))
    return _Story(
        workspace.activity.page(about, limit=_MOST_OF_EACH),
        links_of(workspace, memory_id)[:_MOST_OF_EACH],
        workspace.activity.exposures(about, limit=_MOST_OF_EACH)[0],
    )


def _part(title: str, lines: Sequence[Content]) -> list[Content]:
    return [literal(title, "bold"), *lines, Content("")] if lines else []


def _change(row: ActivityRow, width: int) -> Content:
    entry = row.entry
    who = entry.agent or {"person": "you"}.get(entry.actor, entry.actor)
    undone = "" if row.undone_by is None else "(taken back)  "
    done = action_words(entry.action).done
    return _line(_age(datetime.fromisoformat(entry.at)), who, done, f"{undone}{note_in_words(entry.note)}", width)


def _exposure(row: ExposureRow, width: int) -> Content:
    shown = row.exposure
    session = f"session {shown.session}" if shown.session else ""
    return _line(_age(shown.at), "not used" if shown.used_at is None else "used", shown.channel, session, width)


def _line(age: str, first: str, second: str, text: str, width: int) -> Content:
    used = _AGE_WIDTH + _WHO_WIDTH + _DONE_WIDTH + 6
    parts = [f"{age:>{_AGE_WIDTH}}", cells(first, _WHO_WIDTH), cells(second, _DONE_WIDTH), cells(text, width - used)]
    return literal("  ".join(parts).rstrip(), "dim")


def _age(moment: datetime) -> str:
    return ago(moment, clock.now())
