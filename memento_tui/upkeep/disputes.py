"""Finding contradictions among memories that are near in meaning, and writing them down for a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from memento_tui.records import Contradiction, Memory, make_contradiction
from memento_tui.store.journal import Author
from memento_tui.store.store import Store
from memento_tui.upkeep.contradiction import SCORE_TO_RAISE, SIMILARITY_TO_COMPARE, Clash, compare, weighed
from memento_tui.upkeep.trust import certainty_after_contradiction

__all__ = ["NEIGHBOURS", "Finder", "Found"]

NEIGHBOURS = 8
"""How many of the nearest memories each is compared with."""

_COMPARED = ("active", "compacted")

Neighbours = Mapping[str, Sequence[tuple[str, float]]]
Entailment = Callable[[Sequence[tuple[str, str]]], list[float]]
"""The probability that the second text of each pair contradicts the first."""


class Found(msgspec.Struct, frozen=True):
    """Two memories that differ in what they claim."""

    older: Memory
    newer: Memory
    clash: Clash


class Finder:
    """Compares memories with their neighbours. ``entailment`` weighs what was found by a model, where there is one."""

    def __init__(self, store: Store, author: Author, entailment: Entailment | None = None) -> None:
        self._store = store
        self._author = author
        self._entailment = entailment

    def find(self, neighbours: Neighbours) -> list[Found]:
        """Return the contradictions between memories and their neighbours that were not raised before."""
        ids = {*neighbours, *(name for near in neighbours.values() for name, _ in near)}
        memories = {name: m for name, m in self._store.memories(sorted(ids)).items() if m.status in _COMPARED}
        found = [
            Found(older, newer, clash)
            for older, newer, similarity in _pairs(neighbours, memories)
            if (clash := compare(older, newer, similarity)) is not None
        ]
        return [one for one in self._weighed(found) if one.clash.score >= SCORE_TO_RAISE and self._is_new(one)]

    def _weighed(self, found: list[Found]) -> list[Found]:
        if self._entailment is None or not found:
            return found
        texts = [(one.older.content, one.newer.content) for one in found]
        return [
            msgspec.structs.replace(one, clash=weighed(one.clash, probability))
            for one, probability in zip(found, self._entailment(texts), strict=True)
        ]

    def _is_new(self, found: Found) -> bool:
        older, newer = found.older, found.newer
        for known in self._store.contradictions.between(older.id, newer.id):
            if known.status != "resolved" or known.resolution == "not_a_contradiction":
                return False
            if known.resolved_at is not None and known.resolved_at >= max(older.updated_at, newer.updated_at):
                return False
        replaced = self._store.successors([older.id, newer.id])
        return newer.id not in replaced.get(older.id, ()) and older.id not in replaced.get(newer.id, ())

    def write(self, found: Sequence[Found]) -> list[Contradiction]:
        """Write contradictions down, one transaction each, and take a grade of certainty from unverified sides."""
        return [written for one in found if (written := self._write(one)) is not None]

    def _write(self, found: Found) -> Contradiction | None:
        with self._store.transaction(self._author, "contradiction", note=found.clash.why) as tx:
            sides = [tx.get("memory", side.id) for side in (found.older, found.newer)]
            if any(
                now is None or now.content != then.content
                for now, then in zip(sides, (found.older, found.newer), strict=True)
            ):
                return None  # one was changed or purged while they were compared
            if not self._is_new(found):
                return None  # another process was faster
            lowered = []
            for side in sides:
                less = certainty_after_contradiction(side)
                if side.stability == "draft" and less < side.certainty:
                    tx.put(msgspec.structs.replace(side, certainty=less), base=side.version)
                    lowered.append(side.id)
            clash = found.clash
            fields = {
                "older": found.older.id,
                "newer": found.newer.id,
                "kind": clash.kind,
                "older_spans": clash.older_spans,
                "newer_spans": clash.newer_spans,
                "why": clash.why,
                "score": clash.score,
                "lowered": lowered,
            }
            return tx.put(make_contradiction(fields, now=tx.now), base=0)


def _pairs(neighbours: Neighbours, memories: Mapping[str, Memory]) -> Iterator[tuple[Memory, Memory, float]]:
    """Yield each pair that can be compared once, the older first."""
    seen: set[frozenset[str]] = set()
    for name, near in neighbours.items():
        for other, similarity in near:
            pair = frozenset((name, other))
            if similarity < SIMILARITY_TO_COMPARE or len(pair) == 1 or pair in seen:
                continue
            seen.add(pair)
            one, two = memories.get(name), memories.get(other)
            if one is not None and two is not None and _share_a_place(one.namespace, two.namespace):
                older, newer = sorted((one, two), key=lambda memory: (memory.created_at, memory.id))
                yield older, newer, similarity


def _share_a_place(one: str, other: str) -> bool:
    """Tell whether what holds in one namespace could be meant to hold in the other."""
    if "global" in (one, other) or one == other:
        return True
    return one.startswith(f"{other}/") or other.startswith(f"{one}/")
