"""The sources of the rows of short lists: all rows read at once, and the hits of a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar

from memento_tui.api.search import SearchHit
from memento_tui.api.types import MemorySummary
from memento_tui.model import Memory
from memento_tui.tui.widgets.paged_rows import Row

__all__ = ["HitSource", "ListSource"]

ListRowT = TypeVar("ListRowT", bound=Row)


def summary_of(memory: Memory) -> MemorySummary:
    """Return the list row of a whole memory."""
    names = [name for name in MemorySummary.__struct_fields__ if name not in ("head", "agent")]
    return MemorySummary(
        head=memory.content[:400], agent=memory.source.agent, **{name: getattr(memory, name) for name in names}
    )


class ListSource(Generic[ListRowT]):
    """The rows that ``read`` returns, read when they are first needed and kept. Safe to share between threads."""

    def __init__(self, read: Callable[[], Sequence[ListRowT]]) -> None:
        self._read = read
        self._lock = Lock()
        self._rows: Sequence[ListRowT] | None = None
        self._places: dict[str, int] = {}

    def rows(self) -> Sequence[ListRowT]:
        """Return all rows, in order."""
        with self._lock:
            if self._rows is None:
                self._rows = self._read()
                self._places = {row.id: index for index, row in enumerate(self._rows)}
            return self._rows

    def get(self, row_id: str) -> ListRowT | None:
        """Return the row of an id, ``None`` where there is none."""
        place = self.locate(row_id)
        return None if place is None else self.rows()[place]

    def part(self, belongs: Callable[[ListRowT], bool]) -> ListSource[ListRowT]:
        """Return a source of the rows that belong to a part; all parts are of one reading."""
        return ListSource(lambda: [row for row in self.rows() if belongs(row)])

    def total(self) -> int:
        """Return how many rows there are."""
        return len(self.rows())

    def page(self, start: int, count: int) -> Sequence[ListRowT]:
        """Return ``count`` rows from the index ``start``."""
        return self.rows()[start : start + count]

    def locate(self, row_id: str) -> int | None:
        """Return the index of a row, ``None`` where it is not among them."""
        self.rows()
        return self._places.get(row_id)

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of ``count`` rows from the index ``start``."""
        return [row.id for row in self.page(start, count)]


class HitSource(ListSource[MemorySummary]):
    """The results of a search, best first."""

    def __init__(self, hits: Sequence[SearchHit]) -> None:
        super().__init__(lambda: [summary_of(hit.memory) for hit in hits])
