"""What a memory is related to: its relations and its unresolved contradictions, each with its other end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from memento_tui.records import Memory, Relation

if TYPE_CHECKING:
    from memento_tui.workspace.workspace import Workspace

__all__ = ["Link", "links_of"]

Direction = Literal["out", "in", "both"]

_WORDS: Mapping[tuple[str, str], str] = {
    ("supersedes", "out"): "replaces",
    ("supersedes", "in"): "replaced by",
    ("consolidated_from", "out"): "made of",
    ("consolidated_from", "in"): "part of",
}
"""How a relation reads from the memory that is looked at; the others are named by their type."""


class Link(msgspec.Struct, frozen=True):
    """One arrow from, to or between a memory and something else."""

    id: str
    """The id of the relation, or of the contradiction."""
    word: str
    """How it reads from this side: ``replaces``, ``replaced by``, ``made of``, ``part of``, ``in conflict with``..."""
    type: str
    """The relation's type, or ``contradiction`` for one that was found and is not resolved."""
    direction: Direction
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


def links_of(workspace: Workspace, memory_id: str) -> Sequence[Link]:
    """Return the links of a memory: the contradictions first, then its relations in the order they were drawn."""
    store = workspace.store
    relations: Sequence[Relation] = store.relations_of(memory_id)
    disputes = workspace.contradictions.around([memory_id])
    ends = [relation.dst if relation.src == memory_id else relation.src for relation in relations]
    memories = store.memories(ends)
    lost = store.purged("memory", [end for end in ends if end not in memories])
    links = []
    for dispute in disputes:
        found = dispute.contradiction
        one_is_older = found.older == memory_id
        other, end = (dispute.newer, found.newer) if one_is_older else (dispute.older, found.older)
        links.append(_link(found.id, "in conflict with", "contradiction", "both", end, found.why, other, lost))
    for relation, end in zip(relations, ends, strict=True):
        direction: Direction = "out" if relation.src == memory_id else "in"
        if relation.type == "contradicts":
            direction = "both"
        word = _WORDS.get((relation.type, direction), relation.type)
        if relation.type == "file":
            links.append(Link(relation.id, word, "file", direction, "file", end, relation.label, "", end))
        elif relation.type == "item" and direction == "out":
            item = store.find("item", end)
            state, headline = ("gone", "") if item is None else (item.status, item.title)
            links.append(Link(relation.id, word, "item", direction, "item", end, relation.label, state, headline))
        else:
            links.append(
                _link(relation.id, word, relation.type, direction, end, relation.label, memories.get(end), lost)
            )
    return links


def _link(
    link_id: str,
    word: str,
    type_: str,
    direction: Direction,
    end: str,
    label: str,
    other: Memory | None,
    lost: set[str],
) -> Link:
    state = ("purged" if end in lost else "gone") if other is None else other.status
    headline = "" if other is None else other.headline
    return Link(link_id, word, type_, direction, "memory", end, label, state, headline)
