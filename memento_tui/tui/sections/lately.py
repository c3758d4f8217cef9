"""The recent activity below a short list on a tall screen, with its authors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from textual import work
from textual.content import Content
from textual.widgets import Static

from memento_tui import clock
from memento_tui.api.activity import ActivityQuery
from memento_tui.api.types import ActivityRow
from memento_tui.errors import MementoError
from memento_tui.model.journal_actions import done_words, note_in_words
from memento_tui.tui.display import ago, cells, literal, set_border_title
from memento_tui.tui.section import ErrorBoundary, app_of, in_thread
from memento_tui.tui.views.record_story import LEAST_LINES, TALL_LINES, writer_name

__all__ = ["Lately"]

_MOST_ROWS = 50
"""Entries of the journal that are read."""

_AGE_WIDTH, _DONE_WIDTH, _WHO_WIDTH = 5, 16, 12


class Lately(ErrorBoundary, Static):
    """The newest entries of the journal, in the lines that a list leaves free.

    With ``records``, those that changed records of these kinds alone.
    """

    DEFAULT_CSS = """
    Lately { display: none; border-top: solid $foreground 25%; border-title-color: $text-muted; padding: 0 2;
             color: $text-muted; text-wrap: nowrap; }
    """

    def __init__(self, *records: str) -> None:
        super().__init__()
        self._query = ActivityQuery(records=records)
        self._rows: Sequence[ActivityRow] | None = None
        """The entries, newest first; ``None`` before they were read."""
        self._lines = 0
        """Lines that it takes; 0 where there is no room for it."""
        self._asked = 0
        """How often it was to be read: an answer that is overtaken is not shown."""

    def on_mount(self) -> None:
        """Set the title in the border."""
        set_border_title(self, " Lately ")

    def fit(self, lines: int) -> None:
        """Take so many lines; none where they are too few, or the screen is not tall."""
        wanted = lines if lines >= LEAST_LINES and self.app.size.height >= TALL_LINES else 0
        if wanted == self._lines:
            return
        self._lines = wanted
        self.styles.height = wanted
        if wanted and self._rows is None:
            self.read()
        else:
            self._draw()

    def on_resize(self) -> None:
        """Draw the entries for the width that there is."""
        self._draw()

    def read(self) -> None:
        """Read the newest entries again, where there is room for them."""
        self._asked += 1
        self._rows = None if not self._lines else self._rows
        if self._lines:
            self._read(self._asked)

    @work(group="lately")
    async def _read(self, asked: int) -> None:
        activity = app_of(self).workspace.activity
        try:
            rows = await in_thread(self, activity.page, self._query, limit=_MOST_ROWS)
        except MementoError as error:
            app_of(self).show_status(str(error), problem=True)
            return
        if asked == self._asked:
            self._rows = rows
            self._draw()

    def _draw(self) -> None:
        rows = self._rows or ()
        self.display = bool(self._lines and rows)
        if self.display:
            width, now = self.content_size.width, clock.now()
            self.update(Content("\n").join([_line(row, width, now, self._query.records) for row in rows]))


def _line(row: ActivityRow, width: int, now: datetime, records: Sequence[str]) -> Content:
    what = row.headline or note_in_words(row.entry.note) or f"{row.record} {row.record_id}".strip()
    if records and row.record not in (*records, "proposal"):
        what = f"{row.touched:,} records, these among them"  # its headline is that of a record that stands elsewhere
    left = width - _AGE_WIDTH - _DONE_WIDTH - _WHO_WIDTH - 6
    parts = [
        f"{ago(datetime.fromisoformat(row.entry.at), now):>{_AGE_WIDTH}}",
        cells(done_words(row.entry.action, proposes=row.proposes), _DONE_WIDTH),
        cells(what, max(left, 0)),
        "",
    ]
    who = literal(cells(writer_name(row.entry), _WHO_WIDTH).rstrip(), _STYLES.get(row.entry.actor, ""))
    return literal("  ".join(parts)) + who


_STYLES = {"person": "$yours", "agent": "$agents"}
