"""The columns of lists: which there are, which a section shows, how they are drawn, and the text below tall rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rich.cells import cell_len

from memento_tui import clock
from memento_tui.errors import MementoError
from memento_tui.tui.display import ago, cells, shown
from memento_tui.tui.text_diff import wrap_runs
from memento_tui.tui.widgets.record_list import ColumnHeader, Line

if TYPE_CHECKING:
    from memento_tui.tui.sections.list_section import ListSection

__all__ = [
    "ONE_ORDER",
    "Columns",
    "ListColumn",
    "ListColumns",
    "TextBelow",
    "age_since",
    "fixed",
    "lines_for",
    "muted",
    "rest_of",
    "share",
]

RowT = TypeVar("RowT")

_AGE_WIDTH = 5
"""Cells of an age, such as ``12mo``."""


_LEAST_SHARE = 10
"""Cells that a column with a part of its row is narrowed to before another is left out; some ten letters tell texts
apart."""


@dataclass(frozen=True)
class Width:
    """The cells of a column: a part of its row, but at most ``most``, and where the row is narrow ``fewest``."""

    fewest: int
    most: int
    part: float = 1.0

    def wished(self, row: int) -> int:
        """Return the cells that the column has in a row of so many cells where all columns have room."""
        return max(self.fewest, min(self.most, int(row * self.part)))


_SIGNS_BELOW, _ONE_SIGN = 46, Width(1, 1)
"""Cells of a row, as on a phone, that is too narrow for a word where a sign says the same; and those of the sign."""


def muted(_row: object, _now: datetime) -> str:
    """Return the style of the columns beside the main one."""
    return "muted"


@dataclass(frozen=True)
class ListColumn(Generic[RowT]):
    """One column: its header, its cells in a row of some width, and its text and style in a row at a moment."""

    label: str
    about: str
    """The description in the dialog that chooses the columns."""
    width: Width
    text: Callable[[RowT, datetime], str]
    style: Callable[[RowT, datetime], str] = muted
    is_number: bool = False
    """Whether it stands at the right of its cells."""
    orders: tuple[str, ...] = ()
    """The orders of the list that a click on the header takes, one after the other."""
    least: int = 0
    """Cells of a row from which on it is shown."""
    sign: Callable[[RowT], str] | None = None
    """One cell that stands for its text in a row of less than `_SIGNS_BELOW` cells."""

    def in_cells(self, row: RowT, now: datetime, width: int) -> str:
        """Return the column's text for a record, in ``width`` cells."""
        return self.sign(row) if self.sign is not None and width == 1 else _in_cells(self, self.text(row, now), width)

    def header(self, width: int) -> str:
        """Return its name in so many cells; a sign has none."""
        return " " if self.sign is not None and width == 1 else _in_cells(self, self.label, width)

    def width_in(self, row: int) -> Width:
        """Return its width in a row of so many cells."""
        return _ONE_SIGN if self.sign is not None and row < _SIGNS_BELOW else self.width


@dataclass(frozen=True)
class Columns(Generic[RowT]):
    """The columns of one kind of list."""

    name: str
    """The records that are listed, such as ``memories``; the choice is kept under this name."""
    all: Mapping[str, ListColumn[RowT]]
    """Every column, by its name."""
    first: tuple[str, ...]
    """The columns that are shown until others are chosen, from left to right."""
    main: str
    """The column that is always shown, and has the room that the others leave."""
    staying: str = ""
    """The column that a narrow row keeps while others are left out; empty for none."""
    marks: int = 3
    """Cells of the marks in front of every row, and of the space behind them."""
    least_main: int = 24
    """Cells that the main column keeps; for them others are narrowed, then left out, the last ones first."""

    def chosen(self, kept: str | None) -> tuple[str, ...]:
        """Return the names of the columns that a setting holds; the first ones where it holds none that are known.

        The main column is among them, whatever was kept.
        """
        names = tuple(dict.fromkeys(name for name in (kept or "").split() if name in self.all))
        return names if self.main in names else self.first

    def line(self, row: RowT, width: int, names: Sequence[str], marks: Line) -> Line:
        """Return the row of a record: its marks, and the columns of these names that there is room for."""
        now = clock.now()
        pieces = list(marks)
        for name, cells_of in self._laid_out(names, width):
            column = self.all[name]
            if pieces:
                pieces.append((" ", ""))
            pieces.append((column.in_cells(row, now, cells_of), column.style(row, now)))
        return pieces

    def header(self, names: Sequence[str], width: int) -> Iterator[tuple[str, str]]:
        """Yield each column's name that a row has room for, with its cells; the name of a gap is empty."""
        if self.marks:
            yield "", " " * (self.marks - 1)
        for place, (name, cells_of) in enumerate(self._laid_out(names, width)):
            if place or self.marks:
                yield "", " "
            yield name, self.all[name].header(cells_of)

    def place_of_main(self, names: Sequence[str], width: int) -> int:
        """Return the cells in front of the main column in a row of so many cells."""
        laid_out = self._laid_out(names, width)
        before = laid_out[: [name for name, _ in laid_out].index(self.main)]
        return self.marks + sum(cells_of + 1 for _, cells_of in before)

    def width_of_main(self, names: Sequence[str], width: int) -> int:
        """Return the cells of the main column in a row of so many cells."""
        return dict(self._laid_out(names, width))[self.main]

    def without_room(self, names: Sequence[str], width: int) -> list[str]:
        """Return the names among these whose columns a row of so many cells has no room for."""
        shown = {name for name, _ in self._laid_out(names, width)}
        return [name for name in names if name not in shown]

    def _laid_out(self, names: Sequence[str], width: int) -> list[tuple[str, int]]:
        """Return the columns that a row has room for, in their order, each with its cells."""
        shown = {
            name: self.all[name].width_in(width).fewest
            for name in names
            if name != self.main and width >= self.all[name].least
        }
        left = width - self.marks - (0 if self.marks else -1) - sum(cells_of + 1 for cells_of in shown.values())
        for name in reversed(names):
            if left < self.least_main and name in shown and name != self.staying:
                left += shown.pop(name) + 1
        wanted = {name: self.all[name].width_in(width).wished(width) - cells_of for name, cells_of in shown.items()}
        asked, given = sum(wanted.values()), max(left - self.least_main, 0)
        for name, more in wanted.items():
            grown = more if asked <= given else more * given // asked
            shown[name] += grown
            left -= grown
        shown[self.main] = max(left, 0)
        return [(name, shown[name]) for name in names if name in shown]


def fixed(width: int) -> Width:
    """Return the width of a column that has the same cells in every row."""
    return Width(width, width)


def share(part: float, most: int, fewest: int = _LEAST_SHARE) -> Width:
    """Return the width of a column that has a part of its row, from ``fewest`` to ``most`` cells."""
    return Width(fewest, most, part)


def age_since(about: str, moment: Callable[[Any], datetime], *orders: str, label: str = "age") -> ListColumn[Any]:
    """Return the column that shows how long ago something was."""
    return ListColumn(
        label, about, fixed(_AGE_WIDTH), lambda row, now: ago(moment(row), now), is_number=True, orders=orders
    )


def _in_cells(column: ListColumn[Any], text: str, width: int) -> str:
    return cells(" " * (width - cell_len(text)) + text if column.is_number else text, width)


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
        left_out = self._section.columns_shown_below
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


_TALL_LINES = 30
"""Lines of a list from which on a short one leaves more room than rests the eye."""

_MOST_LINES = 4
"""Lines of a row at most: its columns, two of text, and a blank one."""

_LINES_WITH_BLANK = 3
"""Lines of a row from which on the last stays blank, so that rows stand apart."""

_LEAST_WIDTH = 20
"""Cells of text below which a line of it says nothing."""


def lines_for(total: int, height: int) -> int:
    """Return the lines that each of ``total`` rows has in a list of ``height`` lines: one, or so many that all fit."""
    if not total or height < _TALL_LINES:
        return 1
    return max(1, min(_MOST_LINES, height // total))


@dataclass(frozen=True)
class TextBelow(Generic[RowT]):
    """The text below the columns of a row that has several lines."""

    parts: Callable[[RowT, datetime], Sequence[tuple[str, str]]]
    """Returns the texts of a row, each with its style and from a line of its own; empty ones are passed over."""
    instead_of: tuple[str, ...] = ()
    """The columns that are left out meanwhile, because the text says the same whole."""

    def lines(self, row: RowT, columns: Columns[Any], names: Sequence[str], width: int, height: int) -> list[Line]:
        """Return the lines below the columns of a row of ``height`` lines, under its main column."""
        room = height - 1 if height < _LINES_WITH_BLANK else height - 2
        indent = columns.place_of_main(names, width)
        if width - indent < _LEAST_WIDTH:
            return []
        now = clock.now()
        above, across = columns.all[columns.main].text(row, now), columns.width_of_main(names, width)
        found: list[tuple[str, str]] = []
        for text, style in self.parts(row, now):
            left = _unseen(_one_line(text), _one_line(above), across)
            if left and len(found) < room:
                found += [(line, style) for line in _wrapped(left, width - indent, room - len(found))]
        return [[(" " * indent, ""), piece] for piece in found]


def rest_of(text: str, begun: str) -> str:
    """Return the rest of a text after ``begun``, from the start of a word; all of it where it begins otherwise."""
    if not text.startswith(begun):
        return text
    after = text[len(begun) :]
    return text[begun.rfind(" ") + 1 :] if _WORD_CHARACTER.match(after) else after.lstrip()


_WORD_CHARACTER = re.compile(r"\w")


def _one_line(text: str) -> str:
    return shown(" ".join(text.split()))


def _unseen(text: str, above: str, across: int) -> str:
    """Return the part of a text that the main column, with ``above`` in ``across`` cells, does not show."""
    if not text.startswith(above):
        return text
    if len(above) <= across and cells(above, across).rstrip() == above:
        return rest_of(text, above)
    # The row ends within a word, so the text goes on with that one.
    seen = len(cells(above, across)) - 1
    return text[above.rfind(" ", 0, seen) + 1 :]


def _wrapped(text: str, width: int, most: int) -> Iterator[str]:
    """Yield a text in at most so many lines; the last one shows where more was left out."""
    # More than fits is not looked at: a line of text has at least a character for two cells.
    lines = ["".join(piece for piece, _ in line) for line in wrap_runs([(text[: width * (most + 1)], False)], width)]
    yield from lines[: most - 1]
    if rest := "".join(lines[most - 1 :]):
        yield cells(rest, width)
