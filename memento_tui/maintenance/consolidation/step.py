"""The consolidation steps of a maintenance run: one memory of several, and lessons learned from many.

A lesson that recurs in many memories is found as the list of its sources.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from memento_tui.config import LanguageModelConfig
from memento_tui.errors import EngineUnavailable, InvalidInput
from memento_tui.maintenance.consolidation.drafting import Draft, Drafter, Purpose
from memento_tui.maintenance.consolidation.grouping import (
    LARGEST_GROUP,
    SYNTHESIZED_CERTAINTY,
    MatterGroup,
    grouping_scope,
    groups_of_one_matter,
    is_groupable,
    is_known_title,
    oldest_first,
)
from memento_tui.maintenance.context import MaintenanceAction, MaintenanceContext, is_current, neighbours_by_words
from memento_tui.maintenance.contradictions.alignment import is_session_note
from memento_tui.model import Memory, make_memory, make_relation
from memento_tui.model.memory import SENSITIVITIES, with_trust_of
from memento_tui.model.validation import account_of
from memento_tui.policy.gate import fingerprint_of
from memento_tui.policy.policy import WriteIntent
from memento_tui.text.sentences import first_sentence
from memento_tui.text.words import prose_word

__all__ = ["HIGHER_PATTERN", "Lesson", "consolidate", "learn", "lessons"]


_LESSON_SIMILARITY = 0.6
"""The cosine similarity from which memories are about the same matter."""

_SAME_FACT_SIMILARITY = 0.85
"""The cosine similarity from which two facts count as the same."""

HIGHER_PATTERN = "learned:higher_pattern"
"""The system tag of a pattern made from patterns. A memory that carries it is a source of no other."""

_KNOWN = 0.5
"""The Jaccard index with an earlier set of sources from which a set is not proposed again."""

Neighbours = Mapping[str, list[tuple[str, float]]]
LessonKind = Literal["heuristic", "fact", "pattern"]
LessonPurpose = Literal["heuristic", "merge_facts", "pattern", "higher_pattern"]


class Lesson(msgspec.Struct, frozen=True):
    """A memory that could be made from others."""

    kind: LessonKind
    purpose: LessonPurpose
    ids: tuple[str, ...]
    """The sources, oldest first, all of one namespace."""
    why: str
    """The reason, one sentence for the person who decides."""


class _LessonPass(msgspec.Struct, frozen=True):
    """One pass: the kinds of its sources and the kind that it makes of them."""

    kind: LessonKind
    purpose: LessonPurpose
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
                found += _lessons_of_pass(step, _lesson_candidates(step, members, neighbours), members, made)
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


def _lesson_candidates(
    step: _LessonPass, members: Sequence[Memory], neighbours: Neighbours
) -> Iterator[tuple[list[str], str]]:
    """Yield sets of sources with the reason that joins them, the surest first."""
    names = {memory.id for memory in members}
    if step.purpose == "merge_facts":
        for found in _cliques(_symmetric_neighbours(names, neighbours, _SAME_FACT_SIMILARITY)):
            yield found, "say the same"
        return
    for found in _neighbourhoods(_symmetric_neighbours(names, neighbours, _LESSON_SIMILARITY), step.smallest):
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


_MOST_CANDIDATES = 5_000
"""The number of memories, most recently changed first, among which groups are searched."""

_LONGEST_NOTE, _FEWEST_NOTE_WORDS = 4_000, 5

_SAME_SOURCES = 0.5
"""The share of common memories from which two groups count as the same, though one has grown since."""

_NEIGHBOUR_SIMILARITY, _NEIGHBOURS_PER_MEMORY = 0.6, 12


def consolidate(context: MaintenanceContext) -> None:
    """Propose one memory for each group that says the same in parts, where the person asked for that."""
    if "consolidate" not in context.asked:
        return
    merging = context.store.proposals.merging()
    memories = [memory for memory in _candidates(context) if memory.id not in merging]
    made = context.store.proposals.sources_used("consolidation")
    drafter = _drafter(context)
    groups = [
        group
        for group in groups_of_one_matter(memories, _neighbours(context, memories))
        if not _was_proposed_before([source.id for source in group.sources], made)
        and not _has_open_contradiction(context, [source.id for source in group.sources])
    ]
    for group in context.with_progress("Consolidating groups", groups):
        draft = (
            drafter.draft("consolidate", group.sources) if drafter.is_configured else _chosen(group, drafter.withheld)
        )
        if draft.method != "model":
            draft = _chosen(group, draft.refused)
        _propose(context, draft, group.sources, "consolidate", group.best.kind, group.why, {"why": group.why})
        context.merging |= {source.id for source in group.sources}


def _chosen(group: MatterGroup, refused: str) -> Draft:
    """Return the best source's own words; where a model was asked, ``refused`` says why its text is not used."""
    return Draft(group.best.title or first_sentence(group.best.content), group.content, "extractive", refused)


def learn(context: MaintenanceContext) -> None:
    """Let the language model draw lessons from alike memories, where the person asked for that."""
    if "lessons" not in context.asked:
        return
    drafter = _drafter(context)
    if not context.config.language_model.url:
        context.problems.append("Lessons are drawn by a language model, and none is configured.")
        return
    memories = _candidates(context)
    titles = {memory.id: memory.title for memory in memories if memory.title}
    by_id = {memory.id: memory for memory in memories}
    made = set(context.store.proposals.sources_used("consolidation"))
    found = [
        lesson
        for lesson in lessons(memories, _neighbours(context, memories), made)
        if not _has_open_contradiction(context, lesson.ids)
    ]
    for lesson in context.with_progress("Learning from recurring observations", found):
        sources = [by_id[name] for name in lesson.ids]
        draft = drafter.draft(lesson.purpose, sources)
        others = [title for name, title in titles.items() if name not in lesson.ids]
        if context.dry_run:
            # A dry run asks no model, so it can only name the sources.
            why = f"{lesson.why} Sources: {', '.join(lesson.ids)}."
            context.record([MaintenanceAction("learn", "memory", lesson.ids[0], why, waits=True)])
        elif draft.method == "model" and not is_known_title(draft.title, others):
            _propose(context, draft, sources, lesson.purpose, lesson.kind, lesson.why, _lesson_facts(lesson))
        elif draft.refused and draft.refused not in context.problems:
            context.problems.append(draft.refused)


def _drafter(context: MaintenanceContext) -> Drafter:
    """Return the drafter; a dry run uses no language model, and neither does a wrong configuration."""
    if not context.dry_run:
        try:
            return Drafter(context.config.language_model)
        except InvalidInput as error:
            context.problems.append(f"Drafts are taken from the sources: {error}")
    return Drafter(LanguageModelConfig())


def _has_open_contradiction(context: MaintenanceContext, ids: Sequence[str]) -> bool:
    """Tell whether two of the memories contradict each other: a person says first which of them holds."""
    among = set(ids)
    return any({one.older, one.newer} <= among for one in context.store.contradictions.around(list(ids)))


def _candidates(context: MaintenanceContext) -> list[Memory]:
    """Return the memories that may be consolidated; those in the namespaces of accounts are left out."""
    found: list[Memory] = []
    after: str | None = None
    while len(found) < _MOST_CANDIDATES:
        page = context.store.memories.page(context.active, after=after, limit=500)
        found += page.items
        after = page.next
        if after is None:
            break
    own = [memory for memory in found[:_MOST_CANDIDATES] if not account_of(memory.namespace)]
    return [memory for memory in own if _is_note(memory.content) and not _is_consolidated(memory)]


def _is_consolidated(memory: Memory) -> bool:
    """Tell whether a memory came from a consolidation. Patterns do not count: higher patterns are made of them."""
    was_made = any(tag in ("source:extractive", "source:model") for tag in memory.system_tags)
    return was_made and memory.kind != "pattern"


def _is_note(content: str) -> bool:
    """Tell whether a text is a note: neither a document, which stands for itself, nor a form without words."""
    return len(content) <= _LONGEST_NOTE and len(prose_word().findall(content[:_LONGEST_NOTE])) >= _FEWEST_NOTE_WORDS


def _neighbours(context: MaintenanceContext, memories: Sequence[Memory]) -> Mapping[str, list[tuple[str, float]]]:
    if context.similarity is not None:
        try:
            return context.similarity.neighbours(
                [m.id for m in memories], limit=_NEIGHBOURS_PER_MEMORY, minimum=_NEIGHBOUR_SIMILARITY
            )
        except EngineUnavailable as error:
            context.problems.append(f"The engine did not answer, so only words were compared: {error}")
            context.similarity = None
    return {memory.id: neighbours_by_words(context, memory) for memory in memories}


def _was_proposed_before(ids: Sequence[str], made: Collection[frozenset[str]]) -> bool:
    asked = set(ids)
    return any(len(asked & before) / len(asked | before) >= _SAME_SOURCES for before in made)


def _lesson_facts(lesson: Lesson) -> dict[str, Any]:
    return {"why": lesson.why, "pass": lesson.purpose}


def _propose(
    context: MaintenanceContext,
    draft: Draft,
    sources: Sequence[Memory],
    purpose: Purpose,
    kind: str,
    why: str,
    evidence: Mapping[str, Any],
) -> None:
    if draft.refused and draft.refused not in context.problems:
        context.problems.append(draft.refused)
    screened = context.gate.screen(_make_consolidated_memory(draft, sources, kind, purpose))
    memory: Memory = screened.record
    # The same words made of other memories are another proposal.
    fingerprint = fingerprint_of("create", "memory", "", {"from": sorted(source.id for source in sources)})
    if context.store.proposals.same(fingerprint) is not None:
        return
    intent = WriteIntent(
        "create",
        external=memory.source_type == "external",
        injection_score=screened.injection_score,
        origin="consolidation",
        secret_found=screened.secret_found,
    )
    verdict = context.gate.judge(intent)
    action = "consolidate" if purpose == "consolidate" else "learn"
    waits = verdict.answer == "propose"
    text = f"{memory.title}\n{memory.content}".strip()
    context.record([MaintenanceAction(action, "memory", memory.id, why, waits=waits, text=text)])
    if context.dry_run:
        return
    about = {
        "about": [source.id for source in sources],
        "sources": {source.id: source.version for source in sources},
        "draft": draft.method,
        "refused": draft.refused,
    }
    with context.transaction("consolidated") as tx:
        if not all(is_current(tx, source) for source in sources):
            return
        stored = context.gate.admit(tx, memory, verdict, {**evidence, **about, **screened.evidence}, fingerprint)
        for source in sources:
            relation = {"src": stored.id, "dst": source.id, "type": "consolidated_from"}
            tx.put(make_relation(relation, now=tx.now), base=0)


def _make_consolidated_memory(draft: Draft, sources: Sequence[Memory], kind: str, purpose: str) -> Memory:
    from_outside = any(source.source_type == "external" for source in sources)
    shared = Counter(tag for source in sources for tag in dict.fromkeys(source.tags))
    certainty = min(SYNTHESIZED_CERTAINTY, round(sum(source.certainty for source in sources) / len(sources)))
    made = make_memory(
        {
            "content": draft.content,
            "title": draft.title,
            "kind": kind,
            "namespace": _common_namespace([source.namespace for source in sources]),
            "tags": [tag for tag, count in shared.most_common() if count * 2 >= len(sources)],
            "system_tags": [f"source:{draft.method}", *([HIGHER_PATTERN] if purpose == "higher_pattern" else [])],
            "certainty": max(1, certainty),
            "sensitivity": max((source.sensitivity for source in sources), key=SENSITIVITIES.index),
            "source_type": "external" if from_outside else "derived",
            "source": {"agent": "memento"},
        }
    )
    return with_trust_of(made, sources)


def _common_namespace(namespaces: Sequence[str]) -> str:
    split = [namespace.split("/") for namespace in namespaces]
    shared = []
    for names in zip(*split, strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    return "/".join(shared) or "global"
