"""A dialog with one list: its title, a sentence above it where there is one, and a button for each of its keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ScreenResultType
from textual.widgets import Static

from memento_tui.tui.display import literal
from memento_tui.tui.screens.dialogs import Dialog, DialogButtons
from memento_tui.tui.views.view import FixedRows, ViewList
from memento_tui.tui.widgets.paged_rows import Row
from memento_tui.tui.widgets.record_list import Line

__all__ = ["ListDialog"]

RowT = TypeVar("RowT", bound=Row)


class ListDialog(Dialog[ScreenResultType], Generic[RowT, ScreenResultType]):
    """A dialog that lists a few rows under a title. A subclass binds its keys, and draws a row."""

    DEFAULT_CSS = """
    ListDialog ViewList { height: auto; max-height: 16; min-height: 1; margin-bottom: 1; }
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self._heading = title
        self._note = Static(classes="dialog-text")
        self._note.display = False
        self.rows: ViewList[RowT] = ViewList(self.row_lines)
        """The list."""

    def row_lines(self, row: RowT, width: int) -> Sequence[Line]:
        """Return the lines of a row."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """Show the list and its keys."""
        with Vertical(classes="dialog wide-list"):
            yield Static(Content(self._heading), classes="dialog-title")
            yield self._note
            yield self.rows
            yield DialogButtons.for_keys(self)

    def on_mount(self) -> None:
        """Begin in the list; Textual calls this beside the method of a subclass."""
        self.focus_part(self.rows)

    def list_rows(self, rows: Sequence[RowT], *, select: str | None = None) -> None:
        """Show these rows, with the cursor where it was, or on the row ``select``."""
        source = FixedRows(rows)
        if self.rows.total:
            self.rows.refresh_rows(source, select=select)
        else:
            self.rows.set_rows(rows, len(rows), source, select=select)
        self.rows.styles.height = max(len(rows), 1)

    def say(self, text: str, style: str = "$text-warning") -> None:
        """Show a sentence above the list; an empty one takes it away."""
        self._note.display = bool(text)
        self._note.update(literal(text, style, multiline=True))

    @on(ViewList.Highlighted)
    @on(ViewList.Refreshed)
    def _keep(self, event: ViewList.ListMessage) -> None:
        event.stop()
