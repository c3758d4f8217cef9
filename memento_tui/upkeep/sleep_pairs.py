"""The steps of a sleep that compare memories in pairs: near duplicates and contradictions."""

from __future__ import annotations

from collections.abc import Sequence

from memento_tui.errors import EngineUnavailable
from memento_tui.records import Memory
from memento_tui.upkeep.disputes import NEIGHBOURS, Finder, Neighbours
from memento_tui.upkeep.duplicates import NEAR, alike, is_near_duplicate, likeness, merge_fingerprint
from memento_tui.upkeep.merging import propose_merge
from memento_tui.upkeep.night import Deed, Night, is_current

__all__ = ["compare_pairs"]

_COMPARED_BY_WORDS, _COMPARED_BY_MEANING = "sleep compared words up to", "sleep compared meaning up to"

_PAGE = 200
_MEANT_ALIKE = 0.95
"""The similarity in meaning from which half of the words in common are enough."""
_HALF = 0.5
_LOWEST = 0.4
"""The similarity below which nothing is compared."""


def compare_pairs(night: Night) -> None:
    """Compare what was written since the last sleep with what is near it.

    Where meaning cannot be asked, memories that share their rarer words are compared instead.
    """
    night.merging |= night.store.proposals.merging()
    night.keyword.catch_up()
    finder = Finder(night.store, night.gate.author, night.entailment, batch=night.batch)
    marker, head = _marker(night), night.store.head()
    began = reached = _start(night, marker, head)
    while reached < head and not night.interrupted:
        night.tell("Comparing what is new", reached - began, head - began)
        ids, reached = night.store.changed_memories(reached, _PAGE)
        memories = {n: m for n, m in night.store.memories(ids).items() if m.status in ("active", "compacted")}
        if memories:
            neighbours = _neighbours(night, list(memories.values()))
            if _marker(night) != marker:
                return  # meaning was lost on the way; the next sleep begins where this one stopped
            _merge(night, memories, neighbours)
            _dispute(night, finder, neighbours)
        if not night.dry_run:
            night.store.keep_setting(marker, str(reached))


def _marker(night: Night) -> str:
    """Return the setting that names the journal entry up to which memories have been compared in this way."""
    return _COMPARED_BY_WORDS if night.meaning is None else _COMPARED_BY_MEANING


def _start(night: Night, marker: str, head: int) -> int:
    start = int(night.store.setting(marker) or 0)
    return start if start <= head else 0  # an older database was put in this one's place


def _neighbours(night: Night, memories: Sequence[Memory]) -> Neighbours:
    if night.meaning is not None:
        try:
            return night.meaning.neighbours([m.id for m in memories], limit=NEIGHBOURS, minimum=_LOWEST)
        except EngineUnavailable as error:
            night.problems.append(f"Meaning could not be asked, so only words were compared: {error}")
            night.meaning = None
    return {memory.id: _by_words(night, memory) for memory in memories}


def _by_words(night: Night, memory: Memory) -> list[tuple[str, float]]:
    nearby = night.keyword.alike(memory.content, NEIGHBOURS)
    if nearby is None:
        return []
    others = night.store.memories([*nearby.found, *nearby.lagging])
    # Words in common say less than meaning does: a half counts as near.
    scored = [(o.id, min(1.0, 0.4 + likeness(memory.content, o.content))) for o in others.values() if o.id != memory.id]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:NEIGHBOURS]


def _merge(night: Night, memories: dict[str, Memory], neighbours: Neighbours) -> None:
    others = night.store.memories(sorted({name for near in neighbours.values() for name, _ in near}))
    for name, near in neighbours.items():
        for other_id, similarity in near:
            one, other = memories.get(name), others.get(other_id)
            if one is None or other is None or other.status not in ("active", "compacted"):
                continue
            older, newer = sorted((one, other), key=lambda memory: (memory.created_at, memory.id))
            found = alike(older, newer)
            if night.meaning is not None and similarity >= _MEANT_ALIKE and found >= _HALF:
                found = max(found, NEAR)
            if is_near_duplicate(older, newer, found):
                _propose_merge(night, older, newer, found)


def _propose_merge(night: Night, older: Memory, newer: Memory, found: float) -> None:
    # Of ten that are alike, each waits in one merge at most: the next is proposed once that is decided.
    if night.merging & {older.id, newer.id} or night.store.proposals.same(merge_fingerprint(older, newer)) is not None:
        return
    successors = night.store.successors([older.id, newer.id])
    if older.id in successors or newer.id in successors:
        return
    deed = Deed("merge", "memory", older.id, f"It says nearly what {newer.id} says.", waits=True)
    night.merging |= {older.id, newer.id}
    night.did([deed])
    if not night.dry_run:
        with night.writing("near duplicates") as tx:
            if is_current(tx, older) and is_current(tx, newer):
                propose_merge(tx, night.gate, older, newer, found)


def _dispute(night: Night, finder: Finder, neighbours: Neighbours) -> None:
    found = finder.find(neighbours)
    if not night.dry_run:
        finder.write(found)
    for one in found:
        deed = Deed(
            "contradiction", "memory", one.newer.id, f"It contradicts {one.older.id}: {one.clash.why}", waits=True
        )
        if deed not in night.deeds:
            night.did([deed])
