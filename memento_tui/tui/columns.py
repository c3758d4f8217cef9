"""The columns of a list: which there are, how wide each is, and a row or the header drawn with some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from rich.cells import cell_len

from memento_tui import clock
from memento_tui.tui.display import ago, cells
from memento_tui.tui.widgets.record_list import Line

__all__ = ["AGE_WIDTH", "Column", "Columns", "Width", "age_since", "fixed", "muted", "share"]

RowT = TypeVar("RowT")

AGE_WIDTH = 5
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


def muted(_row: object, _now: datetime) -> str:
    """Return the style of what stands beside the main column."""
    return "muted"


@dataclass(frozen=True)
class Column(Generic[RowT]):
    """One column: its header, its cells in a row of some width, and its text and style in a row at a moment."""

    label: str
    about: str
    """What it shows, in the dialog that chooses the columns."""
    width: Width
    text: Callable[[RowT, datetime], str]
    style: Callable[[RowT, datetime], str] = muted
    is_number: bool = False
    """Whether it stands at the right of its cells."""
    orders: tuple[str, ...] = ()
    """The orders of the list that a click on the header takes, one after the other."""
    least: int = 0
    """Cells of a row from which on it is shown."""


@dataclass(frozen=True)
class Columns(Generic[RowT]):
    """The columns of one kind of list."""

    name: str
    """The records that are listed, such as ``memories``; the choice is kept under this name."""
    all: Mapping[str, Column[RowT]]
    """Every column, by its name."""
    first: tuple[str, ...]
    """The columns that are shown until others are chosen, from left to right."""
    main: str
    """The column that is always shown, and has the room that the others leave."""
    staying: str = ""
    """The column that stays where others are left out because a row is narrow; none where it is empty."""
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
            pieces.append((_in_cells(column, column.text(row, now), cells_of), column.style(row, now)))
        return pieces

    def header(self, names: Sequence[str], width: int) -> Iterator[tuple[str, str]]:
        """Yield the name of each column that a row has room for, empty for what stands between, with its cells."""
        if self.marks:
            yield "", " " * (self.marks - 1)
        for place, (name, cells_of) in enumerate(self._laid_out(names, width)):
            if place or self.marks:
                yield "", " "
            yield name, _in_cells(self.all[name], self.all[name].label, cells_of)

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
            name: self.all[name].width.fewest for name in names if name != self.main and width >= self.all[name].least
        }
        left = width - self.marks - (0 if self.marks else -1) - sum(cells_of + 1 for cells_of in shown.values())
        for name in reversed(names):
            if left < self.least_main and name in shown and name != self.staying:
                left += shown.pop(name) + 1
        wanted = {name: self.all[name].width.wished(width) - cells_of for name, cells_of in shown.items()}
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


def age_since(about: str, moment: Callable[[Any], datetime], *orders: str, label: str = "age") -> Column[Any]:
    """Return the column that shows how long ago something was."""
    return Column(label, about, fixed(AGE_WIDTH), lambda row, now: ago(moment(row), now), is_number=True, orders=orders)


def _in_cells(column: Column[Any], text: str, width: int) -> str:
    return cells(" " * (width - cell_len(text)) + text if column.is_number else text, width)
