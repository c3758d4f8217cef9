"""Compare memories in pairs: propose to merge near duplicates, and raise contradictions."""

from __future__ import annotations

from collections.abc import Sequence

from memento_tui.errors import EngineUnavailable
from memento_tui.maintenance.consolidation.shared_patterns import propose_shared_patterns
from memento_tui.maintenance.context import MaintenanceAction, MaintenanceContext, is_current, neighbours_by_words
from memento_tui.maintenance.contradictions.finder import NEIGHBOURS, ContradictionFinder, Neighbours
from memento_tui.maintenance.duplicates import (
    NEAR_DUPLICATE_LIKENESS,
    is_near_duplicate,
    memory_likeness,
    merge_fingerprint,
    propose_merge,
)
from memento_tui.model import Memory

__all__ = ["compare_pairs"]

_COMPARED_BY_WORDS_SETTING = "maintenance compared words up to"
_COMPARED_BY_MEANING_SETTING = "maintenance compared meaning up to"

_CONTRADICTION_STEPS = frozenset({"contradictions", "denials"})
"""The steps that look for contradictions and run on request; the second takes weak evidence too."""
_PATTERN_STEP = "patterns"
"""The step that looks for lessons which several projects share; it runs on request."""

_COMPARISON_PAGE = 200
"""Changes whose memories are compared between two looks at whether the run is to end."""
_MOST_PAGE_CHARACTERS = 1_000_000
"""Characters of the texts of such a page, but for one memory that alone has more: some seconds."""
_LONG_TEXT = 8_000
"""Characters from which a text is parsed anew for each neighbour, so that comparing it is dear."""
_MOST_LONG_CHARACTERS = 6_000_000
"""Characters of long texts that one run compares: a minute's work. The next run goes on."""
_DUPLICATE_SIMILARITY = 0.95
"""The cosine from which two memories that share half of their words are near duplicates."""
_LEAST_WORD_LIKENESS = 0.5
_LEAST_SIMILARITY = 0.4
"""The cosine below which two memories are not compared."""


def compare_pairs(context: MaintenanceContext) -> None:
    """Compare the memories written since the last run with their nearest; all where more than merges is asked for.

    Where the engine does not answer, the neighbours are the memories that share their rarer words.
    """
    context.merging |= context.store.proposals.merging()
    context.keyword.catch_up()
    seeks_contradictions = not context.asked.isdisjoint(_CONTRADICTION_STEPS)
    seeks_patterns = _PATTERN_STEP in context.asked
    asked = seeks_contradictions or seeks_patterns
    finder = _contradiction_finder(context) if seeks_contradictions or context.entailment is not None else None
    marker, head = _comparison_setting(context), context.store.journal.head()
    compared = _comparison_start(context, marker, head)
    began = reached = 0 if asked else compared
    long_characters = 0
    while reached < head and not context.interrupted and context.proposals_left > 0:
        context.report_progress("Comparing what is new", reached - began, head - began)
        if long_characters > _MOST_LONG_CHARACTERS and not asked:  # then each run begins anew
            context.problems.append("Many long texts are new: the rest of them is compared by the next run.")
            return
        memories, reached = _changed_memories(context, reached)
        long_characters += sum(len(m.content) for m in memories.values() if len(m.content) > _LONG_TEXT)
        if memories:
            neighbours = _comparison_neighbours(context, list(memories.values()))
            if _comparison_setting(context) != marker:
                return  # the engine was lost on the way; the next run begins where this one stopped
            if finder is not None:
                _record_contradictions(context, finder, neighbours)
            _propose_merges(context, memories, neighbours)
            if seeks_patterns:
                propose_shared_patterns(context, memories, neighbours)
        if context.proposals_left <= 0:
            return  # the next run compares these memories again, and raises what this one left
        if not context.dry_run and reached > compared:
            context.store.settings.set(marker, str(reached))


def _contradiction_finder(context: MaintenanceContext) -> ContradictionFinder:
    weak_evidence = "denials" in context.asked
    return ContradictionFinder(
        context.store, context.gate, context.entailment, batch=context.batch, weak_evidence=weak_evidence
    )


def _changed_memories(context: MaintenanceContext, after: int) -> tuple[dict[str, Memory], int]:
    """Return, by id, the recallable memories changed after an entry, and the last entry examined."""
    limit = _COMPARISON_PAGE
    while True:
        ids, reached = context.store.journal.changed_memories(after, limit)
        found = context.store.memories.get_many(ids)
        if limit == 1 or sum(len(memory.content) for memory in found.values()) <= _MOST_PAGE_CHARACTERS:
            return {n: m for n, m in found.items() if m.status in ("active", "compacted")}, reached
        limit //= 2


def _comparison_setting(context: MaintenanceContext) -> str:
    """Return the setting that holds the sequence number up to which memories have been compared in this way."""
    return _COMPARED_BY_WORDS_SETTING if context.similarity is None else _COMPARED_BY_MEANING_SETTING


def _comparison_start(context: MaintenanceContext, marker: str, head: int) -> int:
    start = int(context.store.settings.get(marker) or 0)
    return start if start <= head else 0  # an older database was put in this one's place


def _comparison_neighbours(context: MaintenanceContext, memories: Sequence[Memory]) -> Neighbours:
    if context.similarity is not None:
        try:
            return context.similarity.neighbours([m.id for m in memories], limit=NEIGHBOURS, minimum=_LEAST_SIMILARITY)
        except EngineUnavailable as error:
            context.problems.append(f"The engine did not answer, so only words were compared: {error}")
            context.similarity = None
    return {memory.id: neighbours_by_words(context, memory) for memory in memories}


def _propose_merges(context: MaintenanceContext, memories: dict[str, Memory], neighbours: Neighbours) -> None:
    others = context.store.memories.get_many(sorted({name for near in neighbours.values() for name, _ in near}))
    for name, near in neighbours.items():
        for other_id, similarity in near:
            one, other = memories.get(name), others.get(other_id)
            if one is None or other is None or other.status not in ("active", "compacted"):
                continue
            older, newer = sorted((one, other), key=lambda memory: (memory.created_at, memory.id))
            found = memory_likeness(older, newer)
            if context.similarity is not None and similarity >= _DUPLICATE_SIMILARITY and found >= _LEAST_WORD_LIKENESS:
                found = max(found, NEAR_DUPLICATE_LIKENESS)
            if is_near_duplicate(older, newer, found):
                _propose_merge_of(context, older, newer, found)


def _propose_merge_of(context: MaintenanceContext, older: Memory, newer: Memory, found: float) -> None:
    # Of ten that are alike, each waits in one merge at most: the next is proposed once that is decided.
    if (
        context.proposals_left <= 0
        or context.merging & {older.id, newer.id}
        or context.store.proposals.same(merge_fingerprint(older, newer)) is not None
    ):
        return
    successors = context.store.memories.successors([older.id, newer.id])
    if older.id in successors or newer.id in successors:
        return
    action = MaintenanceAction("merge", "memory", older.id, f"It says nearly what {newer.id} says.", waits=True)
    context.merging |= {older.id, newer.id}
    context.record([action])
    if not context.dry_run:
        with context.transaction("near duplicates") as tx:
            if is_current(tx, older) and is_current(tx, newer):
                propose_merge(tx, context.gate, older, newer, found)


def _record_contradictions(context: MaintenanceContext, finder: ContradictionFinder, neighbours: Neighbours) -> None:
    found = finder.find(neighbours, max(context.proposals_left, 0))
    if not context.dry_run:
        finder.write(found)
    for one in found:
        action = MaintenanceAction(
            "contradiction",
            "memory",
            one.newer.id,
            f"It contradicts {one.older.id}: {one.contradiction.why}",
            waits=True,
        )
        if action not in context.actions:
            context.record([action])
