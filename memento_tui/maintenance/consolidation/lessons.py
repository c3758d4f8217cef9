"""Find lessons that recur in many memories, as lists of sources for a new memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from memento_tui.maintenance.consolidation.grouping import (
    LARGEST_GROUP,
    grouping_scope,
    is_groupable,
    oldest_first,
)
from memento_tui.maintenance.contradictions.alignment import is_session_note
from memento_tui.model import Memory

__all__ = ["HIGHER_PATTERN", "Lesson", "lessons"]

_NEIGHBOUR_SIMILARITY = 0.6
"""The cosine similarity from which memories are about the same matter."""

_SAME_FACT_SIMILARITY = 0.85
"""The cosine similarity from which two facts count as the same."""

HIGHER_PATTERN = "learned:higher_pattern"
"""The system tag of a pattern made from patterns. A memory that carries it is a source of no other."""

_KNOWN = 0.5
"""The Jaccard index with an earlier set of sources from which a set is not proposed again."""

Neighbours = Mapping[str, list[tuple[str, float]]]
LessonKind = Literal["heuristic", "fact", "pattern"]
Purpose = Literal["heuristic", "merge_facts", "pattern", "higher_pattern"]


class Lesson(msgspec.Struct, frozen=True):
    """A memory that could be made from others."""

    kind: LessonKind
    purpose: Purpose
    ids: tuple[str, ...]
    """The sources, oldest first, all of one namespace."""
    why: str
    """The reason, one sentence for the person who decides."""


class _LessonPass(msgspec.Struct, frozen=True):
    """One pass: the kinds of its sources and the kind that it makes of them."""

    kind: LessonKind
    purpose: Purpose
    sources: tuple[str, ...]
    smallest: int
    noun: str


_PASSES = (
    _LessonPass("heuristic", "heuristic", ("decision", "anti_pattern"), 2, "decisions and anti-patterns"),
    _LessonPass("fact", "merge_facts", ("fact",), 3, "facts"),
    _LessonPass("pattern", "pattern", ("observation",), 3, "observations"),
    _LessonPass("pattern", "higher_pattern", ("pattern",), 2, "patterns"),
)


def lessons(memories: Sequence[Memory], neighbours: Neighbours, made: Collection[frozenset[str]]) -> list[Lesson]:
    """Return the lessons in the order of the passes; in one pass no memory is a source twice.

    Facts are merged where each is the same as every other. The other passes take the neighbours of one memory in
    meaning. ``made`` are the sets of sources of all earlier proposals, whatever became of them: a set that is mostly
    the same is not proposed again, and a pattern that was a source with other patterns is not used again, so no memory
    is ever made of its own results.
    """
    usable = [memory for memory in memories if is_groupable(memory) and not is_session_note(memory)]
    found: list[Lesson] = []
    for step in _PASSES:
        sources = [memory for memory in usable if memory.kind in step.sources]
        if step.purpose == "higher_pattern":
            sources = _unused_patterns(sources, made)
        for _, members in sorted(_by_scope(sources).items()):
            if len(members) >= step.smallest:
                found += _lessons_of_pass(step, _candidates(step, members, neighbours), members, made)
    return found


def _unused_patterns(patterns: Iterable[Memory], made: Collection[frozenset[str]]) -> list[Memory]:
    kept = [memory for memory in patterns if HIGHER_PATTERN not in memory.system_tags]
    names = {memory.id for memory in kept}
    used = {name for before in made if len(both := before & names) > 1 for name in both}
    return [memory for memory in kept if memory.id not in used]


def _by_scope(memories: Iterable[Memory]) -> dict[tuple[str, bool], list[Memory]]:
    places: dict[tuple[str, bool], list[Memory]] = defaultdict(list)
    for memory in oldest_first(memories):
        # A lesson stays in the very namespace of its sources, below projects/ too.
        places[memory.namespace, grouping_scope(memory)[1]].append(memory)
    return places


def _lessons_of_pass(
    step: _LessonPass,
    candidates: Iterable[tuple[list[str], str]],
    members: Sequence[Memory],
    made: Collection[frozenset[str]],
) -> Iterator[Lesson]:
    left = {memory.id: memory for memory in members}
    known = _KnownSourceSets(made)
    for candidate, basis in candidates:
        free = [left[name] for name in candidate if name in left]
        if len(free) < step.smallest:
            continue
        sources = oldest_first(free)
        ids = tuple(memory.id for memory in sources)
        for name in ids:
            del left[name]
        if not known.has(ids):
            yield Lesson(step.kind, step.purpose, ids, f"{len(sources)} {step.noun} {basis}.")


class _KnownSourceSets:
    """The earlier sets of sources, indexed by their members."""

    def __init__(self, made: Collection[frozenset[str]]) -> None:
        self._holding: dict[str, list[frozenset[str]]] = defaultdict(list)
        for before in made:
            for name in before:
                self._holding[name].append(before)

    def has(self, ids: Collection[str]) -> bool:
        """Tell whether a set is mostly the same as one of them."""
        asked = frozenset(ids)
        return any(
            len(asked & before) >= _KNOWN * len(asked | before)
            for name in asked
            for before in self._holding.get(name, ())
        )


def _candidates(
    step: _LessonPass, members: Sequence[Memory], neighbours: Neighbours
) -> Iterator[tuple[list[str], str]]:
    """Yield sets of sources with the reason that joins them, the surest first."""
    names = {memory.id for memory in members}
    if step.purpose == "merge_facts":
        for found in _cliques(_symmetric_neighbours(names, neighbours, _SAME_FACT_SIMILARITY)):
            yield found, "say the same"
        return
    for found in _neighbourhoods(_symmetric_neighbours(names, neighbours, _NEIGHBOUR_SIMILARITY), step.smallest):
        yield found, "are near each other in meaning"


def _symmetric_neighbours(
    names: Collection[str], neighbours: Neighbours, minimum: float
) -> dict[str, dict[str, float]]:
    """Return the neighbours of each memory, made symmetric: a list of the nearest may leave out one direction."""
    near: dict[str, dict[str, float]] = {name: {} for name in sorted(names)}
    for name, of_name in near.items():
        for other, similarity in neighbours.get(name, ()):
            if similarity >= minimum and other in near and other != name:
                of_name[other] = near[other][name] = similarity
    return near


def _closest(near: Mapping[str, float]) -> list[str]:
    return sorted(near, key=lambda name: (-near[name], name))


def _neighbourhoods(near: Mapping[str, Mapping[str, float]], smallest: int) -> Iterator[list[str]]:
    """Yield the neighbourhood of each memory that no earlier set holds, largest first.

    All members are near the same memory: a chain of neighbours would lead from one matter to another.
    """
    taken: set[str] = set()
    for name in sorted(near, key=lambda name: (-len(near[name]), name)):
        if name in taken:
            continue
        found = [name, *[other for other in _closest(near[name]) if other not in taken][: LARGEST_GROUP - 1]]
        if len(found) >= smallest:
            taken.update(found)
            yield found


def _cliques(near: Mapping[str, Mapping[str, float]]) -> Iterator[list[str]]:
    """Yield sets in which all members are near one another."""
    taken: set[str] = set()
    for name in sorted(near, key=lambda name: (-len(near[name]), name)):
        if name in taken:
            continue
        found = [name]
        for other in _closest(near[name]):
            if len(found) < LARGEST_GROUP and other not in taken and all(other in near[one] for one in found):
                found.append(other)
        if len(found) > 2:  # noqa: PLR2004 - two are near duplicates, which have a way of their own
            taken.update(found)
            yield found
