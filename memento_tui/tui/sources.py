"""Where the lists of the app get their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Lock
from typing import Generic, TypeVar

from memento_tui.records import Memory
from memento_tui.store.filters import Filter
from memento_tui.store.reads import Glance
from memento_tui.store.store import Store
from memento_tui.tui.widgets.row_pages import Row
from memento_tui.workspace.searching import Hit

__all__ = ["FilterSource", "HitSource", "ListSource", "glance_of"]

RowT = TypeVar("RowT", bound=Row)


def glance_of(memory: Memory) -> Glance:
    """Return the list row of a whole memory."""
    names = [name for name in Glance.__struct_fields__ if name != "head"]
    return Glance(head=memory.content[:400], **{name: getattr(memory, name) for name in names})


class FilterSource:
    """The memories that a filter selects, most recently changed first; read by page from the database."""

    def __init__(self, store: Store, tree: Filter) -> None:
        self._store = store
        self._tree = tree

    def total(self) -> int:
        """Return how many there are."""
        return self._store.count(self._tree)

    def page(self, start: int, count: int) -> Sequence[Glance]:
        """Return some of them."""
        rows: list[Glance] = self._store.glances(self._tree, limit=count, skip=start).items
        return rows

    def locate(self, row_id: str) -> int | None:
        """Return where one stands."""
        return self._store.position(self._tree, row_id)

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of some of them."""
        return self._store.ids(self._tree, start, count)


class ListSource(Generic[RowT]):
    """Rows of a short list, which are read all at once when they are first asked for."""

    def __init__(self, read: Callable[[], Sequence[RowT]]) -> None:
        self._read = read
        self._guard = Lock()

    @cached_property
    def rows(self) -> Sequence[RowT]:
        """All rows, in order."""
        with self._guard:
            return self._read()

    def total(self) -> int:
        """Return how many there are."""
        return len(self.rows)

    def page(self, start: int, count: int) -> Sequence[RowT]:
        """Return some of them."""
        return self.rows[start : start + count]

    def locate(self, row_id: str) -> int | None:
        """Return where one stands."""
        return next((index for index, row in enumerate(self.rows) if row.id == row_id), None)

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of some of them."""
        return [row.id for row in self.page(start, count)]


class HitSource(ListSource[Glance]):
    """The results of a search, best first; all at hand."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        super().__init__(lambda: [glance_of(hit.memory) for hit in hits])
