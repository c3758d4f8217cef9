"""The consolidation steps of a maintenance run: one memory of several, and lessons learned from many."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from memento_tui.config import LanguageModelConfig
from memento_tui.errors import EngineUnavailable, InvalidInput
from memento_tui.maintenance.consolidation.drafting import Draft, Drafter, Purpose
from memento_tui.maintenance.consolidation.grouping import (
    SYNTHESIZED_CERTAINTY,
    MatterGroup,
    groups_of_one_matter,
    is_known_title,
)
from memento_tui.maintenance.consolidation.lessons import HIGHER_PATTERN, Lesson, lessons
from memento_tui.maintenance.context import MaintenanceAction, MaintenanceContext, is_current, neighbours_by_words
from memento_tui.model import Memory, make_memory, make_relation
from memento_tui.model.memory import SENSITIVITIES, with_trust_of
from memento_tui.model.validation import account_of
from memento_tui.policy.gate import fingerprint_of
from memento_tui.policy.policy import WriteIntent
from memento_tui.text.sentences import first_sentence
from memento_tui.text.unspaced import UNSPACED_CHARACTERS

__all__ = ["consolidate", "learn"]

_MOST_CANDIDATES = 5_000
"""The number of memories, most recently changed first, among which groups are searched."""

_MOST_CANDIDATES = 5_000
"""The number of memories, most recently changed first, among which groups are searched."""

_LONGEST_NOTE, _FEWEST_NOTE_WORDS = 4_000, 5
_PROSE_WORD = re.compile(rf"[^\W\d_]{{2,}}(?=[\s.,;!?)]|$)|[{UNSPACED_CHARACTERS}]{{2}}")
"""A word of prose: it is followed by a space or a punctuation mark; names of fields and links are not."""

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
    return len(content) <= _LONGEST_NOTE and len(_PROSE_WORD.findall(content[:_LONGEST_NOTE])) >= _FEWEST_NOTE_WORDS


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
