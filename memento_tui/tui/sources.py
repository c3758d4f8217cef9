"""Where the lists of the app get their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Lock
from typing import Generic, TypeVar

import msgspec

from memento_tui.records import Memory
from memento_tui.store.filters import Filter
from memento_tui.store.reads import Glance
from memento_tui.store.store import Store
from memento_tui.tui.widgets.row_pages import Row
from memento_tui.workspace.queue import Pending, ReviewQueue
from memento_tui.workspace.searching import Hit

__all__ = ["FilterSource", "HitSource", "ListSource", "QueueRow", "QueueSource", "glance_of"]

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


class QueueRow(msgspec.Struct, frozen=True):
    """One row of the review queue: a proposal with its target."""

    pending: Pending

    @property
    def id(self) -> str:
        """The proposal's id."""
        return self.pending.proposal.id


class QueueSource:
    """What waits for a decision, oldest first."""

    def __init__(self, queue: ReviewQueue) -> None:
        self._queue = queue
        self._rows: list[QueueRow] | None = None

    def _read(self) -> list[QueueRow]:
        # A queue is short, and paging it by key from the middle is not worth a second way to read it.
        if self._rows is None:
            found, _ = self._queue.list(limit=_LONGEST_QUEUE)
            self._rows = [QueueRow(pending) for pending in found]
        return self._rows

    def total(self) -> int:
        """Return how many there are."""
        return len(self._read())

    def page(self, start: int, count: int) -> Sequence[QueueRow]:
        """Return some of them."""
        return self._read()[start : start + count]

    def locate(self, row_id: str) -> int | None:
        """Return where one stands."""
        return next((index for index, row in enumerate(self._read()) if row.id == row_id), None)

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of some of them."""
        return [row.id for row in self.page(start, count)]


_LONGEST_QUEUE = 2000
