"""Finding contradictions among memories that are near in meaning, and writing them down for a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from memento_tui.records import Contradiction, Memory, make_contradiction
from memento_tui.records.accounts import account_of
from memento_tui.records.rules import is_under
from memento_tui.store.journal import Author
from memento_tui.store.store import Store
from memento_tui.upkeep.contradiction import SCORE_TO_RAISE, SIMILARITY_TO_COMPARE, Clash, compare, weighed
from memento_tui.upkeep.trust import certainty_after_contradiction

__all__ = ["NEIGHBOURS", "Finder", "Found"]

NEIGHBOURS = 8
"""How many of the nearest memories each is compared with."""

_MOST = 3
"""Contradictions that one memory has at a time; the next is raised when one of them is resolved."""

_LIST = 6
"""A memory that differs from so many of its neighbours in like ways is a line of a list, or a filled-in form."""

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

    def __init__(self, store: Store, author: Author, entailment: Entailment | None = None, *, batch: str = "") -> None:
        self._store = store
        self._author = author
        self._entailment = entailment
        self._batch = batch

    def find(self, neighbours: Neighbours) -> list[Found]:
        """Return the contradictions between memories and their neighbours that were not raised before."""
        ids = {*neighbours, *(name for near in neighbours.values() for name, _ in near)}
        memories = {name: m for name, m in self._store.memories(sorted(ids)).items() if m.status in _COMPARED}
        found = [
            Found(older, newer, clash)
            for older, newer, similarity in _pairs(neighbours, memories)
            if (clash := compare(older, newer, similarity)) is not None
        ]
        raised = [one for one in self._weighed(found) if one.clash.score >= SCORE_TO_RAISE]
        return [one for one in _without_lists(raised) if self._is_new(one)]

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
        if any(len(self._store.contradictions.of(side.id)) >= _MOST for side in (older, newer)):
            return False
        replaced = self._store.successors([older.id, newer.id])
        return newer.id not in replaced.get(older.id, ()) and older.id not in replaced.get(newer.id, ())

    def write(self, found: Sequence[Found]) -> list[Contradiction]:
        """Write contradictions down, one transaction each, and take a grade of certainty from unverified sides."""
        return [written for one in found if (written := self._write(one)) is not None]

    def _write(self, found: Found) -> Contradiction | None:
        # The entry's note stays for good, so it quotes nothing that a purge would have to take out.
        with self._store.transaction(self._author, "contradiction", batch=self._batch) as tx:
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
                # However many memories contradict it, it loses one grade until a person has spoken.
                paid = any(side.id in known.lowered for known in self._store.contradictions.of(side.id))
                if side.stability == "draft" and less < side.certainty and not paid:
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


def _without_lists(found: Sequence[Found]) -> list[Found]:
    """Leave out the memories that differ from many others: the lines of a list, the notes of a form."""
    counts = Counter(side.id for one in found for side in (one.older, one.newer))
    return [one for one in found if counts[one.older.id] < _LIST or counts[one.newer.id] < _LIST]


def _share_a_place(one: str, other: str) -> bool:
    """Tell whether what holds in one namespace could be meant to hold in the other."""
    if account_of(one) != account_of(other):
        return False  # or anybody's account could cast doubt on what the person keeps
    return "global" in (one, other) or is_under(one, other) or is_under(other, one)
