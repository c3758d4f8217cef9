"""The dialog of the columns of a list: which are shown, and in which order."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from textual.binding import Binding, BindingType

from memento_tui.tui.columns import Columns
from memento_tui.tui.display import cells
from memento_tui.tui.screens.list_dialog import ListDialog
from memento_tui.tui.widgets.record_list import Line

__all__ = ["ColumnsScreen"]

_NAME_WIDTH = 11


class _ColumnRow(msgspec.Struct, frozen=True):
    id: str
    is_shown: bool


class ColumnsScreen(ListDialog[_ColumnRow, tuple[str, ...] | None]):
    """A dialog that returns the names of the columns to show, from left to right; ``None`` leaves them as they are."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,x", "show_or_hide", "On, off"),
        Binding("J,shift+down", "shift(1)", "Down"),
        Binding("K,shift+up", "shift(-1)", "Up"),
        Binding("d", "default", "Default"),
        Binding("enter", "take", "OK"),
        Binding("escape", "dismiss(None)", "Leave"),
    ]

    def __init__(self, columns: Columns[Any], shown: tuple[str, ...], title: str) -> None:
        super().__init__(f"Columns of {title}")
        self._columns = columns
        self._order = [*shown, *(name for name in columns.all if name not in shown)]
        self._shown = set(shown)

    def on_mount(self) -> None:
        """List the columns."""
        self._list()

    def row_lines(self, row: _ColumnRow, width: int) -> list[Line]:
        """Return the line of a column: whether it is shown, its name and its description."""
        sign = "[x] " if row.is_shown else "[ ] "
        return [
            [
                (sign, "good" if row.is_shown else "muted"),
                (f"{row.id:<{_NAME_WIDTH}}", "strong" if row.is_shown else ""),
                (cells(self._columns.all[row.id].about, width - len(sign) - _NAME_WIDTH), "muted"),
            ]
        ]

    def _list(self, select: str | None = None) -> None:
        self.list_rows([_ColumnRow(name, name in self._shown) for name in self._order], select=select)

    def action_show_or_hide(self) -> None:
        """Show the column under the cursor, or hide it; the main one stays."""
        row = self.rows.current
        if row is None:
            return
        if row.id == self._columns.main:
            self.say(f"The {row.id} is always shown.")
            return
        self.say("")
        self._shown ^= {row.id}
        self._list()

    def action_shift(self, by: int) -> None:
        """Move the column under the cursor down or up, which is to the right or to the left in the list."""
        row = self.rows.current
        if row is None:
            return
        self.say("")
        place = self._order.index(row.id)
        self._order.insert(min(max(place + by, 0), len(self._order) - 1), self._order.pop(place))
        self._list(row.id)

    def action_default(self) -> None:
        """Show the columns as they are at first."""
        self.say("")
        self._order = [*self._columns.first, *(name for name in self._columns.all if name not in self._columns.first)]
        self._shown = set(self._columns.first)
        self._list()

    def action_take(self) -> None:
        """Return the columns that are to be shown."""
        self.dismiss(tuple(name for name in self._order if name in self._shown))
