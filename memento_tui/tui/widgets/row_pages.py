"""Rows of a long list: where they come from, and which of them are at hand."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import Generic, Protocol, TypeVar

__all__ = ["PAGE_SIZE", "Row", "RowPages", "RowSource"]

PAGE_SIZE = 100
"""Rows that are read at once."""

_MOST_PAGES = 50


class Row(Protocol):
    """One row: anything with an identity that outlives its position."""

    @property
    def id(self) -> str:
        """The identity, unique within a list."""


RowT = TypeVar("RowT", bound=Row)
RowT_co = TypeVar("RowT_co", bound=Row, covariant=True)


class RowSource(Protocol[RowT_co]):
    """The answer to one query, in one order.

    A list calls it one call at a time, on threads that are neither the app's nor always the same. Failures are raised
    as `MementoError`.
    """

    def total(self) -> int:
        """Return how many rows there are."""

    def page(self, start: int, count: int) -> Sequence[RowT_co]:
        """Return ``count`` rows from index ``start``, fewer at the end."""

    def locate(self, row_id: str) -> int | None:
        """Return the index of a row, or ``None`` where the query does not find it."""

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of ``count`` rows from index ``start``, however many these are."""


class RowPages(Generic[RowT]):
    """The rows at hand, by pages. Only the pages that were looked at last are kept, so that memory stays flat."""

    def __init__(self) -> None:
        self._pages: OrderedDict[int, Sequence[RowT]] = OrderedDict()
        self._beginnings: set[int] = set()
        """The pages of which only the first rows are at hand."""

    def __len__(self) -> int:
        """Return how many pages are at hand."""
        return len(self._pages)

    def __contains__(self, number: int) -> bool:
        """Tell whether all of a page is at hand."""
        return number in self._pages and number not in self._beginnings

    def row(self, index: int) -> RowT | None:
        """Return the row at ``index``, or ``None`` where it is not at hand."""
        number, offset = divmod(index, PAGE_SIZE)
        page = self._pages.get(number)
        if page is None or offset >= len(page):
            return None
        self._pages.move_to_end(number)
        return page[offset]

    def rows(self, span: range) -> list[RowT] | None:
        """Return the rows at these indexes, or ``None`` where not all of them are at hand."""
        if any(
            number not in self._pages for number in range(span.start // PAGE_SIZE, (span.stop - 1) // PAGE_SIZE + 1)
        ):
            return None
        rows = [row for index in span if (row := self.row(index)) is not None]
        return rows if len(rows) == len(span) else None

    def found(self, ids: Collection[str]) -> Sequence[RowT]:
        """Return those of the rows of these ids that are at hand."""
        wanted = frozenset(ids)
        return [row for page in self._pages.values() for row in page if row.id in wanted]

    def put(self, number: int, rows: Sequence[RowT], *, whole: bool = True) -> None:
        """Keep the rows of a page: all that it has, unless ``whole`` is not so."""
        self._pages[number] = rows
        (self._beginnings.discard if whole else self._beginnings.add)(number)
        self._pages.move_to_end(number)
        while len(self._pages) > _MOST_PAGES:
            forgotten, _ = self._pages.popitem(last=False)
            self._beginnings.discard(forgotten)

    def clear(self) -> None:
        """Forget every page."""
        self._pages.clear()
        self._beginnings.clear()
