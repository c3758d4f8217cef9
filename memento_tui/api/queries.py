"""Read memories by filter and page, the relations and versions of one, and keep account of those shown and used."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import dropwhile, takewhile
from typing import TYPE_CHECKING, Literal

import msgspec

from memento_tui.errors import NotAllowed, NotFound
from memento_tui.maintenance.aging import restore_compacted
from memento_tui.model import AnyRecord, Crystal, Exposure, Memory, Relation, Skip, WorkingItem
from memento_tui.model.filters import Filter
from memento_tui.model.memory_fields import FIELDS
from memento_tui.policy.secrets import redact_text
from memento_tui.storage.journal import HUB_CHANNEL
from memento_tui.storage.ledgers import ExposureFilter, ExposureRow
from memento_tui.storage.memory_queries import MemoryOrder, MemorySummary
from memento_tui.storage.store import Store

if TYPE_CHECKING:
    from memento_tui.api.workspace import Workspace
    from memento_tui.storage.journal_queries import Revision

__all__ = [
    "Exposures",
    "LinkDirection",
    "MemoryLink",
    "MemoryView",
    "Provenance",
    "SortedMemoryView",
    "links_of",
    "records_of",
    "related_to",
    "relations_of",
    "restore_version",
    "with_verifiers",
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


_LINK_WORDS: Mapping[tuple[str, str], str] = {
    ("supersedes", "out"): "replaces",
    ("supersedes", "in"): "replaced by",
    ("consolidated_from", "out"): "made of",
    ("consolidated_from", "in"): "part of",
}
"""The words for a relation as seen from the memory that is shown; the others are named by their type."""


class MemoryLink(msgspec.Struct, frozen=True):
    """One arrow from, to or between a memory and something else."""

    id: str
    """The id of the relation, or of the contradiction."""
    word: str
    """How it reads from this side: ``replaces``, ``replaced by``, ``made of``, ``part of``, ``in conflict with``..."""
    type: str
    """The relation's type, or ``contradiction`` for one that was found and is not resolved."""
    direction: LinkDirection
    end_kind: Literal["memory", "item", "file"]
    end: str
    """The id or the path at the other end."""
    label: str
    state: str
    """The status of the other end; ``purged`` or ``gone`` where it is no more, and "" for a file."""
    headline: str

    @property
    def can_be_walked(self) -> bool:
        """Whether there is a memory at the other end that can be shown."""
        return self.end_kind == "memory" and self.state not in ("purged", "gone")


def with_verifiers(workspace: Workspace, memories: Sequence[Memory]) -> list[Memory]:
    """Return memories for output: ``verified_by`` names the member of the hub that verified each, where another did.

    A memory itself says "person" on every machine of the hub, whoever of them that was.
    """
    verified = [memory.id for memory in memories if memory.verified_at is not None]
    from_hub = workspace._store.writes.from_hub("memory", verified) if verified else set()
    return [
        msgspec.structs.replace(memory, verified_by=_verifier(workspace, memory)) if memory.id in from_hub else memory
        for memory in memories
    ]


def _verifier(workspace: Workspace, memory: Memory) -> str:
    """Return who verified a memory: the member of the hub where it was one elsewhere, else as it says itself.

    That is the author of the oldest of the versions up to this one that have its date of verification without a break.
    """
    verified = takewhile(
        lambda revision: revision.record is not None and revision.record.verified_at == memory.verified_at,
        dropwhile(lambda revision: revision.version > memory.version, workspace.history(memory.id)),
    )
    if memory.verified_at is None or (first := deque(verified, 1)) == deque():
        return memory.verified_by
    entry = first[0].entry
    return entry.agent if entry.channel == HUB_CHANNEL and entry.agent else memory.verified_by


def links_of(workspace: Workspace, memory_id: str) -> Sequence[MemoryLink]:
    """Return the links of a memory: the contradictions first, then its relations in the order they were drawn."""
    store = workspace._store
    relations: Sequence[Relation] = store.memories.relations_of(memory_id)
    contradictions = workspace.contradictions.around([memory_id])
    ends = [relation.dst if relation.src == memory_id else relation.src for relation in relations]
    memories = store.memories.get_many(ends)
    lost = store.journal.purged("memory", [end for end in ends if end not in memories])
    links = []
    for pair in contradictions:
        found = pair.contradiction
        one_is_older = found.older == memory_id
        other, end = (pair.newer, found.newer) if one_is_older else (pair.older, found.older)
        links.append(_make_link(found.id, "in conflict with", "contradiction", "both", end, found.why, other, lost))
    for relation, end in zip(relations, ends, strict=True):
        direction: LinkDirection = "out" if relation.src == memory_id else "in"
        if relation.type == "contradicts":
            direction = "both"
        word = _LINK_WORDS.get((relation.type, direction), relation.type)
        if relation.type == "file":
            links.append(MemoryLink(relation.id, word, "file", direction, "file", end, relation.label, "", end))
        elif relation.type == "item" and direction == "out":
            item = store.find(WorkingItem, end)
            state, headline = ("gone", "") if item is None else (item.status, item.title)
            links.append(MemoryLink(relation.id, word, "item", direction, "item", end, relation.label, state, headline))
        else:
            links.append(
                _make_link(relation.id, word, relation.type, direction, end, relation.label, memories.get(end), lost)
            )
    return links


def _make_link(
    link_id: str,
    word: str,
    type_: str,
    direction: LinkDirection,
    end: str,
    label: str,
    other: Memory | None,
    lost: set[str],
) -> MemoryLink:
    state = ("purged" if end in lost else "gone") if other is None else other.status
    headline = "" if other is None else other.headline
    return MemoryLink(link_id, word, type_, direction, "memory", end, label, state, headline)


RESTORED_FIELDS = tuple(field.name for field in FIELDS if field.restorable)
"""The fields that restoring an earlier version sets: the memory's texts, and those that a person edits.

Status, tier, pin and verification tell what became of the memory since, and stay as they are.
"""


class RestoredVersion(msgspec.Struct, frozen=True):
    """The memory as it is now, and the fields that were restored; none where nothing differed."""

    memory: Memory
    fields: tuple[str, ...]
    removed: tuple[str, ...] = ()
    """The kinds of secrets that were removed from the restored fields."""


def restore_version(
    workspace: Workspace, memory_id: str, version: int, *, base_version: int | None = None
) -> RestoredVersion:
    """Restore the fields of an earlier version of a memory in one new version, which can be undone.

    ``base_version`` is the version that the person was looking at; without it the present one is changed.

    Raises:
        NotFound, AmbiguousId: no memory, or several, have that id; or it never had that version.
        NotAllowed: an agent asks, the text of that version was purged, or the memory is deleted.
        Conflict: the memory is no longer at ``base_version``.

    """
    if workspace.author.actor != "person":
        raise NotAllowed("Only a person restores a version.", "Make the change you want instead.")
    current = workspace.get(memory_id)
    before = restore_compacted(_memory_at_version(workspace.history(current.id), current.id, version))
    changes = {name: getattr(before, name) for name in RESTORED_FIELDS}
    fields = tuple(name for name in RESTORED_FIELDS if getattr(current, name) != changes[name])
    if not fields:
        return RestoredVersion(current, ())
    if current.status == "compacted":
        # Else its full text would stay beside the one that is set back, and replace it the next time it is restored.
        whole = restore_compacted(current)
        changes |= {"status": whole.status, "extra": whole.extra}
    outcome = workspace.update(current.id, base_version=base_version or current.version, **changes)
    return RestoredVersion(outcome.memory, fields, outcome.removed)


def _memory_at_version(revisions: Sequence[Revision[Memory]], memory_id: str, version: int) -> Memory:
    found = next((revision for revision in revisions if revision.version == version), None)
    if found is None:
        raise NotFound(
            f"The memory {memory_id} has no version {version}.", f"`memento history {memory_id}` lists its versions."
        )
    if found.purged:
        raise NotAllowed(f"The text of version {version} was purged.", "It cannot return.")
    if found.record is None:
        raise NotAllowed(f"Version {version} says that the memory was removed.", "Choose one that holds a text.")
    record: Memory = found.record
    return record
