"""The columns of one section's list: which are shown, the header above them, and the dialog that chooses them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from memento_tui.errors import MementoError
from memento_tui.tui.columns import Columns
from memento_tui.tui.widgets.column_header import ColumnHeader

if TYPE_CHECKING:
    from memento_tui.tui.sections.list_section import ListSection

__all__ = ["ONE_ORDER", "ListColumns"]

ONE_ORDER = "This list has one order."
"""The answer to a person who sorts a list that has one order alone."""


class ListColumns:
    """The columns of the list that a section shows now; some sections show one of two lists.

    What was chosen is kept over restarts, for each kind of list.
    """

    def __init__(self, section: ListSection[Any]) -> None:
        self._section = section
        self._chosen: dict[str, tuple[str, ...]] = {}
        """The names of the columns that are shown, by the kind of list."""
        self.header = ColumnHeader(section.list, self._header_pieces, self._is_sorted_by, self._sort_by)
        """The line above the list that names them."""

    @property
    def here(self) -> Columns[Any] | None:
        """The columns of the list that is shown; ``None`` where it has none to choose."""
        return self._section.column_set()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that are shown, from left to right."""
        here = self.here
        return () if here is None else self.names_of(here)

    def names_of(self, columns: Columns[Any]) -> tuple[str, ...]:
        """Return the names of the columns that are shown of one kind of list, which need not be the one here.

        A row is drawn by its own kind: rows of the list before stay on the screen until the other list is read.
        """
        left_out = self._section.columns_told_below
        names = self.chosen(columns)
        return tuple(name for name in names if name not in left_out) if left_out else names

    def chosen(self, columns: Columns[Any]) -> tuple[str, ...]:
        """Return the names of the columns that the person chose for one kind of list."""
        if columns.name not in self._chosen:
            try:
                kept = self._section.memento.workspace.settings.get(_setting(columns))
            except MementoError:  # whoever reads the rows says so; a list is drawn meanwhile
                return columns.first
            self._chosen[columns.name] = columns.chosen(kept)
        return self._chosen[columns.name]

    def _header_pieces(self, width: int) -> Iterator[tuple[str, str]]:
        here, indent = self.here, self._section.row_indent()
        if here is not None:
            if indent:
                yield "", " " * indent
            yield from here.header(self.names, width - indent)

    def _orders(self, name: str) -> tuple[str, ...]:
        return () if self.here is None else self.here.all[name].orders

    def _is_sorted_by(self, name: str) -> bool:
        try:
            return self._section.is_in_chosen_order and self._section.order in self._orders(name)
        except MementoError:  # the setting cannot be read: as above
            return False

    def _sort_by(self, name: str) -> None:
        """Sort by a column; by one that the list is sorted by, in its next order."""
        section, orders = self._section, self._orders(name)
        if not section.ORDERS:
            section.memento.show_status(ONE_ORDER, problem=True)
        elif not orders:
            section.memento.show_status(f"The list has no order by {name}; , shows those that it has.", problem=True)
        elif section.can_sort():
            place = orders.index(section.order) + 1 if self._is_sorted_by(name) else 0
            section.sort_by(orders[place % len(orders)])

    async def choose(self) -> None:
        """Let the person choose the columns, and their order; must run in a worker."""
        from memento_tui.tui.screens.columns import ColumnsScreen  # noqa: PLC0415 - seldom needed

        section, here = self._section, self.here
        if here is None:
            section.memento.show_status(section.NO_COLUMNS, problem=True)
            return
        before = self.chosen(here)
        chosen = await section.app.push_screen_wait(ColumnsScreen(here, before, section.list_title()))
        if chosen is None or chosen == before:
            return
        self._chosen[here.name] = chosen
        section.rows.refresh()
        self.header.refresh()
        if not section.memento.workspace.is_read_only:
            section.memento.workspace.settings.set(_setting(here), " ".join(chosen))
        section.memento.show_status(self._without_room(here) or f"Columns: {', '.join(chosen)}.")

    def _without_room(self, here: Columns[Any]) -> str:
        """Return in a sentence which columns the list has no room for, and how it has more; empty for none."""
        missing = here.without_room(self.names, self.header.row_width - self._section.row_indent())
        if not missing:
            return ""
        has_more = self._section.has_class("-wide") and not self._section.has_class("-list-alone")
        way_out = " (\\ shows the list alone)" if has_more else ""
        return f"No room for: {', '.join(missing)}{way_out}."


def _setting(columns: Columns[Any]) -> str:
    return f"app.columns.{columns.name}"
