"""Rows of a list that is short enough to be read as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar

from memento_tui.tui.widgets.row_pages import Row

__all__ = ["ShortSource"]

RowT = TypeVar("RowT", bound=Row)


class ShortSource(Generic[RowT]):
    """What ``read`` returns, as it was when it was first asked for. Safe to share between threads."""

    def __init__(self, read: Callable[[], Sequence[RowT]]) -> None:
        self._read = read
        self._lock = Lock()
        self._rows: Sequence[RowT] | None = None
        self._places: dict[str, int] = {}

    def rows(self) -> Sequence[RowT]:
        """Return all of them."""
        with self._lock:
            if self._rows is None:
                self._rows = self._read()
                self._places = {row.id: index for index, row in enumerate(self._rows)}
            return self._rows

    def get(self, row_id: str) -> RowT | None:
        """Return one by its id."""
        place = self.locate(row_id)
        return None if place is None else self.rows()[place]

    def part(self, belongs: Callable[[RowT], bool]) -> ShortSource[RowT]:
        """Return a source of those that belong to a part; all parts are of one reading."""
        return ShortSource(lambda: [row for row in self.rows() if belongs(row)])

    def total(self) -> int:
        """Return how many there are."""
        return len(self.rows())

    def page(self, start: int, count: int) -> Sequence[RowT]:
        """Return some of them."""
        return self.rows()[start : start + count]

    def locate(self, row_id: str) -> int | None:
        """Return where one stands."""
        self.rows()
        return self._places.get(row_id)

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of some of them."""
        return [row.id for row in self.page(start, count)]
