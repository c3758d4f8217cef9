"""The view of the memories that were written around the same time as one memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from memento_tui.api.types import TimelineEntry
from memento_tui.errors import MementoError, NotFound
from memento_tui.model import Memory
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import cells, has_hidden
from memento_tui.tui.memory_text import trust_glyph
from memento_tui.tui.section import in_thread
from memento_tui.tui.views.view import FixedRows, MemoryChosen, View, ViewList
from memento_tui.tui.widgets.record_list import Line

__all__ = ["TimelineView"]

_ROWS_EACH_WAY = 100
"""Memories on each side; going to one of them shows as many around that one."""

_WIDE, _NAMESPACE_WIDTH = 76, 18


class TimelineView(View):
    """A view of a memory among those written just after it, above, and just before it, below."""

    SCOPE: ClassVar[KeyScope] = "timeline"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("timeline")]

    def __init__(self) -> None:
        super().__init__("timeline")
        self.rows: ViewList[TimelineEntry] = ViewList(self._draw)
        self._centre = ""
        """The id of the memory in the middle."""

    def compose(self) -> ComposeResult:
        """Show the line at the top and the list."""
        yield self.head
        yield self.note
        yield self.rows

    def show(self, memory: Memory) -> None:
        """Show the memories around one memory."""
        self._read(memory.id)

    def reload(self) -> None:
        """Read again; the cursor stays on the same row."""
        if self._centre:
            self._read(self._centre)

    @work(exclusive=True, group="read")
    async def _read(self, memory_id: str) -> None:
        try:
            found = await in_thread(
                self, self.workspace.timeline, memory_id, later=_ROWS_EACH_WAY, earlier=_ROWS_EACH_WAY
            )
        except NotFound:
            self.rows.set_rows([], 0, FixedRows[TimelineEntry]([]))
            self.set_note(Content("The memory is gone."))
            return
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        source = FixedRows(found)
        self.set_note(None)
        if memory_id == self._centre:
            self.rows.refresh_rows(source)
        else:
            self._centre = memory_id
            # All rows at once, so that the cursor is on the memory in the middle in the same frame.
            self.rows.set_rows(found, len(found), source, select=memory_id)
            self.call_after_refresh(self._show_middle)
        self._show_head(found)

    def _show_head(self, found: Sequence[TimelineEntry]) -> None:
        middle = next(index for index, one in enumerate(found) if one.id == self._centre)
        after, before = middle, len(found) - middle - 1
        words = [f"{n}{'+' if n == _ROWS_EACH_WAY else ''}" for n in (after, before)]
        self.set_heading(Content(f"{words[0]} written later (above), {words[1]} earlier (below)"))

    def _draw(self, row: TimelineEntry, width: int) -> list[Line]:
        summary = row.summary
        is_centre = row.id == self._centre
        glyph, style = trust_glyph(summary.status, summary.stability)
        flag = "!" if has_hidden(summary.title + summary.head) else " "
        namespace = " " + cells(summary.namespace, _NAMESPACE_WIDTH) if width >= _WIDE else ""
        when = f"{row.created_at.astimezone():%Y-%m-%d %H:%M} "
        left = max(width - len(when) - 4 - len(namespace), 0)
        return [
            [
                ("* " if is_centre else "  ", "mark"),
                (when, "muted"),
                (glyph, style),
                (flag, "warning"),
                (cells(summary.headline, left), "strong" if is_centre else ""),
                (namespace, "muted"),
            ]
        ]

    def _show_middle(self) -> None:
        middle = self.rows.cursor - self.rows.size.height // 2
        self.rows.scroll_to(y=max(middle, 0), animate=False, force=True)

    def is_available(self, command: str) -> bool:
        """Return whether a command is available: one can go to any memory but the middle one."""
        row = self.rows.current
        return command != "timeline.go" or (row is not None and row.id != self._centre)

    def action_go(self) -> None:
        """Go to the memory under the cursor."""
        row = self.rows.current
        if row is None:
            self.memento.show_status("There is no memory here.", problem=True)
        elif row.id == self._centre:
            self.memento.show_status("This is the memory in the middle.", problem=True)
        else:
            self.post_message(MemoryChosen(row.id))
