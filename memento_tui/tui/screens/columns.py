"""The dialog of the columns of the memories: which are shown, and in which order."""

from __future__ import annotations

from typing import ClassVar

import msgspec
from textual.binding import Binding, BindingType

from memento_tui.tui.memory_columns import COLUMNS, DEFAULT_COLUMNS, TITLE
from memento_tui.tui.screens.list_dialog import ListDialog
from memento_tui.tui.widgets.record_list import Line

__all__ = ["ColumnsScreen"]

_NAME_WIDTH = 11


class _ColumnRow(msgspec.Struct, frozen=True):
    id: str
    is_shown: bool


class ColumnsScreen(ListDialog[_ColumnRow, tuple[str, ...] | None]):
    """A dialog that returns the names of the columns to show, from left to right; ``None`` for those that there are."""

    TITLE = "Columns of the memories"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,x", "show_or_hide", "On, off"),
        Binding("J,shift+down", "shift(1)", "Down"),
        Binding("K,shift+up", "shift(-1)", "Up"),
        Binding("d", "default", "Default"),
        Binding("enter", "take", "OK"),
        Binding("escape", "dismiss(None)", "Leave"),
    ]

    def __init__(self, shown: tuple[str, ...]) -> None:
        super().__init__()
        self._order = [*shown, *(name for name in COLUMNS if name not in shown)]
        self._shown = set(shown)

    def on_mount(self) -> None:
        """List the columns."""
        self._list()

    def row_lines(self, row: _ColumnRow, width: int) -> list[Line]:  # noqa: ARG002 - the list cuts it
        """Return whether a column is shown, its name, and what it shows."""
        sign = "[x] " if row.is_shown else "[ ] "
        return [
            [
                (sign, "good" if row.is_shown else "muted"),
                (f"{row.id:<{_NAME_WIDTH}}", "strong" if row.is_shown else ""),
                (COLUMNS[row.id].about, "muted"),
            ]
        ]

    def _list(self, select: str | None = None) -> None:
        self.list_rows([_ColumnRow(name, name in self._shown) for name in self._order], select=select)

    def action_show_or_hide(self) -> None:
        """Show the column under the cursor, or hide it; the title stays."""
        row = self.rows.current
        if row is None:
            return
        if row.id == TITLE:
            self.say("The title is always shown.")
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
        self._order = [*DEFAULT_COLUMNS, *(name for name in COLUMNS if name not in DEFAULT_COLUMNS)]
        self._shown = set(DEFAULT_COLUMNS)
        self._list()

    def action_take(self) -> None:
        """Return the columns that are to be shown."""
        self.dismiss(tuple(name for name in self._order if name in self._shown))
