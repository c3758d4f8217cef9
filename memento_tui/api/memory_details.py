"""Read the relations, contradictions and earlier versions of one memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import dropwhile, takewhile
from typing import TYPE_CHECKING, Literal

import msgspec

from memento_tui.api.queries import LinkDirection
from memento_tui.errors import NotAllowed, NotFound
from memento_tui.maintenance.aging import restore_compacted
from memento_tui.model import Memory, Relation, WorkingItem
from memento_tui.model.memory_fields import FIELDS
from memento_tui.storage.journal import HUB_CHANNEL

__all__ = ["MemoryLink", "links_of", "restore_version", "with_verifiers"]

if TYPE_CHECKING:
    from memento_tui.api.workspace import Workspace


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
    """Return memories as a person or a program is told of them: ``verified_by`` names another member of the hub.

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
    disputes = workspace.contradictions.around([memory_id])
    ends = [relation.dst if relation.src == memory_id else relation.src for relation in relations]
    memories = store.memories.get_many(ends)
    lost = store.journal.purged("memory", [end for end in ends if end not in memories])
    links = []
    for dispute in disputes:
        found = dispute.contradiction
        one_is_older = found.older == memory_id
        other, end = (dispute.newer, found.newer) if one_is_older else (dispute.older, found.older)
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


if TYPE_CHECKING:
    from memento_tui.api.workspace import Workspace
    from memento_tui.storage.journal_queries import Revision


RESTORED_FIELDS = tuple(field.name for field in FIELDS if field.restorable)
"""The fields that restoring an earlier version sets: the memory's texts, and what a person sets in an edit.

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
