"""Read memories by filter and by page, and keep account of which were shown to agents and used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from memento_tui.model import AnyRecord, Crystal, Exposure, Relation, Skip, WorkingItem
from memento_tui.model.filters import Filter
from memento_tui.policy.secrets import redact_text
from memento_tui.storage.ledgers import ExposureFilter, ExposureRow
from memento_tui.storage.memory_queries import MemoryOrder, MemorySummary
from memento_tui.storage.store import Store

__all__ = [
    "Exposures",
    "LinkDirection",
    "MemoryView",
    "Provenance",
    "SortedMemoryView",
    "records_of",
    "related_to",
    "relations_of",
]

LinkDirection = Literal["out", "in", "both"]


class Provenance(msgspec.Struct, frozen=True):
    """When a memory first came into the database, and which memories replace it."""

    first_written: datetime | None
    """``None`` where the journal does not know it."""
    superseded_by: tuple[str, ...] = ()
    """The ids of the recalled memories that supersede or consolidate it."""


class MemoryView:
    """The memories that one filter selects, most recently changed first, read by page from the database."""

    def __init__(self, store: Store, tree: Filter) -> None:
        self._store = store
        self._tree = tree

    def total(self) -> int:
        """Return how many memories the filter selects."""
        return self._store.memories.count(self._tree)

    def page(self, start: int, count: int) -> Sequence[MemorySummary]:
        """Return ``count`` list rows from index ``start``, fewer at the end."""
        return self._store.memories.summaries(self._tree, limit=count, skip=start).items

    def locate(self, row_id: str) -> int | None:
        """Return the index of a memory, or ``None`` where the filter does not select it."""
        return self._store.memories.position(self._tree, row_id)

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of ``count`` memories from index ``start``, fewer at the end."""
        return self._store.memories.ids(self._tree, start, count)


class SortedMemoryView:
    """The memories that one filter selects in another order, the highest first, read by page from the database."""

    def __init__(self, store: Store, tree: Filter, order: MemoryOrder) -> None:
        self._store, self._tree, self._order = store, tree, order

    def total(self) -> int:
        """Return how many memories the filter selects."""
        return self._store.memories.count(self._tree)

    def page(self, start: int, count: int) -> Sequence[MemorySummary]:
        """Return ``count`` list rows from index ``start``, fewer at the end."""
        return self._store.memories.sorted_summaries(self._tree, self._order, count, start)

    def locate(self, row_id: str) -> int | None:
        """Return the index of a memory, or ``None`` where the filter does not select it."""
        return self._store.memories.sorted_position(self._tree, self._order, row_id)

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of ``count`` memories from index ``start``, fewer at the end."""
        return self._store.memories.sorted_ids(self._tree, self._order, count, start)


class Exposures:
    """The ledger of exposures to agents, and the counters of how often memories were shown and used.

    Neither is part of the journal: reading is not history and cannot be undone.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def record(self, exposures: Sequence[Exposure], *, counted: Iterable[str] = ()) -> None:
        """Add exposures to the ledger, oldest first, and count the memories ``counted`` as shown to an agent."""
        # A session's name may be an agent's own choice; the other texts are the program's. Most are of one session.
        named = {name: redact_text(name)[0] for name in {exposure.session for exposure in exposures}}
        self._store.exposures.add(
            [
                exposure
                if named[exposure.session] == exposure.session
                else msgspec.structs.replace(exposure, session=named[exposure.session])
                for exposure in exposures
            ],
            counted,
        )

    def count_shown(self, ids: Iterable[str]) -> None:
        """Count that memories were shown to an agent."""
        self._store.usage.count("memory", ids, shown=1)

    def count_used(self, ids: Iterable[str], session: str = "") -> None:
        """Count that memories were of use, beyond having been shown; each counts once for each ``session``."""
        self._store.usage.count("memory", ids, used=1, session=redact_text(session)[0])

    def mark_used(self, session: str, ids: Iterable[str]) -> None:
        """Mark the exposures of some memories to a session as used."""
        self._store.exposures.mark_used(redact_text(session)[0], ids)

    def set_session_project(self, session: str, namespace: str) -> None:
        """Record the namespace of the project that a session works in."""
        self._store.exposures.set_session_project(redact_text(session)[0], namespace)

    def session_project(self, session: str) -> str:
        """Return the namespace of the project that a session works in; empty where nobody said."""
        return self._store.exposures.session_project(redact_text(session)[0]) if session else ""

    def page(self, criteria: ExposureFilter, start: int, count: int) -> list[ExposureRow]:
        """Return ``count`` rows of the ledger that a filter selects from index ``start``, newest first."""
        return self._store.exposures.page(criteria, start, count)

    def newest(self) -> int:
        """Return the number of the newest row of the ledger; 0 in an empty one. It only grows."""
        return self._store.exposures.newest()


def records_of(store: Store) -> Iterator[AnyRecord]:
    """Yield every record that an export holds: memories, then relations, skips, working items and crystals."""
    for batch in store.memories.batches():
        yield from batch
    yield from store.all_of(Relation)
    yield from store.all_of(Skip)
    yield from store.all_of(WorkingItem)
    yield from store.all_of(Crystal)


def related_to(store: Store, memory_id: str) -> Sequence[tuple[str, str, str]]:
    """Return a memory's relations as type, direction (``out`` or ``in``) and the other end."""
    return [
        (r.type, "out" if r.src == memory_id else "in", r.dst if r.src == memory_id else r.src)
        for r in store.memories.relations_of(memory_id)
    ]


def relations_of(store: Store, memory_id: str, direction: LinkDirection) -> Sequence[Relation]:
    """Return the relations that begin (``out``) or end (``in``) at a memory, or both, in the order they were drawn."""
    found: list[Relation] = store.memories.relations_of(memory_id)
    if direction == "both":
        return found
    return [relation for relation in found if (relation.src if direction == "out" else relation.dst) == memory_id]
