"""Find memories that say the same in parts or replace each other, and the text that stands for all of them.

One memory of such a group, the best source, makes every statement of the others, or a newer one in its place: nothing
is lost when it stands for them, and nothing has to be written anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from memento_tui.maintenance.consolidation.grouping import LARGEST_GROUP, grouping_scope, is_groupable, oldest_first
from memento_tui.maintenance.contradictions.claims import is_event, speak_of_one_subject
from memento_tui.maintenance.contradictions.finder import SCORE_TO_RAISE, compare_claims
from memento_tui.model import Memory, make_memory
from memento_tui.text.statements import TextStatement, missing_statements, statements

__all__ = ["MatterGroup", "Replaced", "groups_of_one_matter"]

_SIMILARITY = 0.6
_FEWEST_SOURCES = 3
"""Two memories are a near duplicate or a contradiction, which have ways of their own."""

_SAME_STATEMENT = 0.5
"""The share of common words from which a statement may take the place of another."""

Neighbours = Mapping[str, Sequence[tuple[str, float]]]


class Replaced(msgspec.Struct, frozen=True):
    """A statement that a later one took the place of."""

    text: str
    until: str
    """The day from which the later one holds."""


class MatterGroup(msgspec.Struct, frozen=True):
    """Memories of one matter: the best source and the others, which say nothing that it does not."""

    best: Memory
    others: tuple[Memory, ...]
    replaced: tuple[Replaced, ...]
    """The former statements in the order of time."""

    @property
    def sources(self) -> tuple[Memory, ...]:
        """All memories, oldest first."""
        return tuple(oldest_first([self.best, *self.others]))

    @property
    def content(self) -> str:
        """The best source's text, and below it what held before."""
        if not self.replaced:
            return self.best.content
        lines = [f"- until {one.until}: {one.text}" for one in self.replaced]
        return "\n".join([self.best.content.rstrip(), "", "Before:", *lines])

    @property
    def why(self) -> str:
        """The reason, one sentence for the person who decides."""
        end = " or replaces" if self.replaced else ""
        return f"One of {1 + len(self.others)} memories says{end} everything that the others say."


def groups_of_one_matter(memories: Iterable[Memory], neighbours: Neighbours) -> list[MatterGroup]:
    """Return the groups of at least three memories of one matter, largest first; no memory is in two.

    Only memories of one scope are joined, and never records of events: two days are two days.
    """
    usable = {memory.id: memory for memory in memories if is_groupable(memory) and not is_event(memory)}
    near: dict[str, set[str]] = defaultdict(set)
    for name, found in neighbours.items():
        for other, similarity in found:
            if similarity >= _SIMILARITY and name in usable and other in usable and name != other:
                near[name].add(other)
                near[other].add(name)
    stars = [_star(usable[name], [usable[other] for other in sorted(near[name])]) for name in sorted(near)]
    found_groups: list[MatterGroup] = []
    taken: set[str] = set()
    for best, others in sorted(stars, key=lambda star: (-len(star[1]), star[0].id)):
        free = {other.id: replaced for other, replaced in others if other.id not in taken}
        if best.id in taken or len(free) + 1 < _FEWEST_SOURCES:
            continue
        members = oldest_first([usable[name] for name in free])[-(LARGEST_GROUP - 1) :]
        before = [one for member in members for one in free[member.id]]
        found_groups.append(MatterGroup(best, tuple(members), _in_order(before)))
        taken.update({best.id, *free})
    return found_groups


def _star(best: Memory, others: Sequence[Memory]) -> tuple[Memory, list[tuple[Memory, list[Replaced]]]]:
    """Return the best source with each memory it stands for; none where a later version dropped what it would bring."""
    if any(_dropped_by(best, other) for other in others):
        return best, []
    found = [(other, _replaced_by(best, other)) for other in others if _may_join(best, other)]
    return best, [(other, replaced) for other, replaced in found if replaced is not None]


def _may_join(best: Memory, other: Memory) -> bool:
    return grouping_scope(best) == grouping_scope(other) and speak_of_one_subject(best, other)


def _dropped_by(best: Memory, other: Memory) -> bool:
    """Tell whether a memory is a later version of the best source's note, without one of its statements."""
    return (
        other.created_at >= best.created_at
        and grouping_scope(best) == grouping_scope(other)
        and _have_one_title(best, other)
        and bool(missing_statements(best.content, other.content))
    )


def _replaced_by(best: Memory, other: Memory) -> list[Replaced] | None:
    """Return the statements of a memory that the best source replaces, or None where it lacks one altogether."""
    missing = missing_statements(other.content, best.content)
    if missing and other.created_at >= best.created_at:
        return None
    if not all(_has_successor(one, best, other) for one in missing):
        return None
    until = f"{best.created_at:%Y-%m-%d}"
    return [Replaced(one.text, until) for one in missing]


def _have_one_title(one: Memory, other: Memory) -> bool:
    """Tell whether two memories have the same title, of a section of a file its own heading: those above it change."""
    headings = [memory.title.casefold().rpartition(" / ")[2] for memory in (one, other)]
    return headings[0] != "" and headings[0] == headings[1]


def _has_successor(statement: TextStatement, best: Memory, other: Memory) -> bool:
    """Tell whether the best source says something else in the place of a statement: another value, the contrary."""
    for candidate in statements(best.content):
        shared = len(statement.words & candidate.words)
        if shared < _SAME_STATEMENT * len(statement.words | candidate.words):
            continue
        sides = [
            make_memory({"content": text, "created_at": memory.created_at})
            for text, memory in ((statement.text, other), (candidate.text, best))
        ]
        difference = compare_claims(sides[0], sides[1], 1.0)
        if difference is not None and difference.score >= SCORE_TO_RAISE:
            return True
    return False


def _in_order(replaced: Iterable[Replaced]) -> tuple[Replaced, ...]:
    return tuple(dict.fromkeys(sorted(replaced, key=lambda one: one.until)))
