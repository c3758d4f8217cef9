"""A board of lists side by side, or one below the other where the screen is narrow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.widgets import Static

from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.section import ErrorBoundary
from memento_tui.tui.widgets.frames import VerticalFrame
from memento_tui.tui.widgets.paged_rows import PAGE_SIZE, Row, RowSource
from memento_tui.tui.widgets.record_list import Line, RecordList

__all__ = ["BoardColumn", "ColumnBoard"]

RowT = TypeVar("RowT", bound=Row)

CARD_HEIGHT = 2
"""Lines of a row where the columns stand side by side."""

_SIDE_BY_SIDE = 96
"""Cells of width from which the columns stand side by side."""


class BoardColumn(RecordList[RowT], Generic[RowT]):
    """One column. A board has one cursor: only the active column shows its own. Its rows can be dragged."""

    _held: RowT | None = None
    """The row that the mouse went down on, as it was then."""

    class Released(Message):
        """A row of a column was dragged to a place on the screen."""

        def __init__(self, column: BoardColumn[Any], row: Any, at: Offset) -> None:  # noqa: ANN401 - a row of any kind
            super().__init__()
            self.column, self.row, self.at = column, row, at

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Hold the row under the mouse."""
        index = self.index_at(event)
        self._held = None if index is None else self._pages.row(index)
        if self._held is not None:
            self.capture_mouse()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let it go where the mouse is now."""
        held, self._held = self._held, None
        if held is not None:
            self.release_mouse()
            self.post_message(self.Released(self, held, event.screen_offset))

    def get_component_rich_style(self, *names: str, partial: bool = False, default: Style | None = None) -> Style:
        """Return the style of a component; the cursor of an inactive column has none."""
        if names == ("record-list--cursor",) and not self.has_class("-active"):
            return Style.null()
        return super().get_component_rich_style(*names, partial=partial, default=default)

    def _gutter(self, row: RowT | None, index: int, part: int) -> str:
        gutter = super()._gutter(row, index, part)
        return gutter if self.has_class("-active") else f" {gutter[1:]}"


class ColumnBoard(ErrorBoundary, Container, Generic[RowT]):
    """Columns of rows, each with a name and a title. The owner draws the rows and fills the columns.

    ``card(row, width)`` returns the `CARD_HEIGHT` lines of a row where the columns stand side by side; ``line(row,
    width)`` returns its one line where they stand one below the other.
    """

    SCOPE: ClassVar[KeyScope] = "board"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("board")]

    DEFAULT_CSS = """
    ColumnBoard { height: 1fr; layout: vertical; }
    ColumnBoard .column { height: 1fr; }
    ColumnBoard .column.-active { height: 2fr; }
    ColumnBoard .column-title { height: 1; background: $surface; color: $text-muted; text-wrap: nowrap; }
    ColumnBoard .column.-active .column-title { color: $text-accent; text-style: bold; }
    ColumnBoard.-side-by-side { layout: horizontal; }
    ColumnBoard.-side-by-side .column { width: 1fr; height: 1fr; margin-right: 1; }
    """

    class ColumnChanged(Message):
        """The cursor went to another column."""

        def __init__(self, board: ColumnBoard[Any]) -> None:
            super().__init__()
            self.board = board

    class Dropped(Message):
        """A row, as it was when it was taken, was dragged into the column ``name``."""

        def __init__(self, row: Any, name: str) -> None:  # noqa: ANN401 - a row of any kind
            super().__init__()
            self.row, self.name = row, name

    def __init__(
        self,
        titles: Mapping[str, str],
        card: Callable[[RowT, int], Sequence[Line]],
        line: Callable[[RowT, int], Sequence[Line]],
        *,
        active: str,
        id: str,  # noqa: A002 - every widget's name for it
    ) -> None:
        super().__init__(id=id)
        self._titles = titles
        self._card = card
        self._line = line
        self._active = active
        self.columns: dict[str, BoardColumn[RowT]] = {
            name: BoardColumn(self._draw, id=f"column-{name}") for name in titles
        }
        """All columns by name."""
        self._heads = {name: Static(classes="column-title") for name in titles}
        self._boxes = {name: VerticalFrame(classes="column") for name in titles}
        self._mark_active()

    def begin_at(self, name: str) -> None:
        """Put the cursor into a column, before the board is shown."""
        self._active = name
        self._mark_active()

    def _mark_active(self) -> None:
        for name, column in self.columns.items():
            column.set_class(name == self._active, "-active")
            self._boxes[name].set_class(name == self._active, "-active")

    def compose(self) -> ComposeResult:
        """Create the columns, each below its title."""
        for name in self._titles:
            with self._boxes[name]:
                yield self._heads[name]
                yield self.columns[name]

    def _draw(self, row: RowT, width: int) -> Sequence[Line]:
        return (self._card if self.has_class("-side-by-side") else self._line)(row, width)

    @property
    def active(self) -> str:
        """The name of the column with the cursor."""
        return self._active

    @property
    def column(self) -> BoardColumn[RowT]:
        """The column with the cursor."""
        return self.columns[self._active]

    @property
    def total(self) -> int:
        """The number of rows in all columns."""
        return sum(column.total for column in self.columns.values())

    def set_sources(self, source_of: Callable[[str], RowSource[RowT]], *, select: str | None = None) -> None:
        """Show other rows, each column from its first, or with the cursor on the row ``select``."""
        for name, column in self.columns.items():
            source = source_of(name)
            column.set_rows(source.page(0, PAGE_SIZE), source.total(), source, select=select)
        self._show_titles()

    def refresh_sources(self, source_of: Callable[[str], RowSource[RowT]], *, select: str | None = None) -> None:
        """Read again, and keep the position in every column."""
        for name, column in self.columns.items():
            source = source_of(name)
            if column.total:
                column.refresh_rows(source, select=select)
            else:
                column.set_rows(source.page(0, PAGE_SIZE), source.total(), source, select=select)
        self._show_titles()

    def go_to(self, name: str) -> None:
        """Move the cursor to a column."""
        self.focus_part(self.columns[name])

    def action_column(self, step: int) -> None:
        """Go to the column ``step`` to the right; stop at the first and the last."""
        names = list(self._titles)
        index = min(max(names.index(self._active) + step, 0), len(names) - 1)
        self.go_to(names[index])

    @on(events.DescendantFocus)
    def _column_reached(self, event: events.DescendantFocus) -> None:
        name = (event.widget.id or "").removeprefix("column-")
        if name == self._active or name not in self._titles:
            return
        self._active = name
        self._mark_active()
        for column in self.columns.values():
            column.refresh()
        self._show_titles()
        self.post_message(self.ColumnChanged(self))

    @on(BoardColumn.Released)
    def _release(self, event: BoardColumn.Released) -> None:
        event.stop()
        name = next((name for name, box in self._boxes.items() if box.region.contains_point(event.at)), None)
        if name is not None and self.columns[name] is not event.column:
            self.post_message(self.Dropped(event.row, name))

    @on(RecordList.Refreshed)
    def _show_titles(self) -> None:
        for name, column in self.columns.items():
            words = f"{self._titles[name]} {column.total:,}"
            bracketed = f"[{words}]" if name == self._active else f" {words} "
            self._heads[name].update(Content(bracketed))

    def on_resize(self) -> None:
        """Lay the columns out side by side or one below the other, by the width."""
        beside = self.size.width >= _SIDE_BY_SIDE
        self.set_class(beside, "-side-by-side")
        for column in self.columns.values():
            column.row_height = CARD_HEIGHT if beside else 1
