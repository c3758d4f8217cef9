"""Propose a lesson that two or more projects share as one global pattern; their own memories stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from memento_tui.maintenance.consolidation.drafting import most_trusted_first
from memento_tui.maintenance.context import MaintenanceAction, MaintenanceContext, is_current
from memento_tui.maintenance.contradictions.alignment import is_event
from memento_tui.maintenance.contradictions.finder import Neighbours
from memento_tui.maintenance.duplicates import memory_likeness, says_the_same
from memento_tui.model import Memory, make_memory, make_relation
from memento_tui.model.memory import with_trust_of
from memento_tui.policy.gate import fingerprint_of
from memento_tui.policy.policy import WriteIntent
from memento_tui.text.logs import is_log
from memento_tui.text.tokens import read_sentences
from memento_tui.text.words import UNSPACED_CHARACTERS

__all__ = ["SHARED_PATTERN", "project_of", "propose_shared_patterns"]

SHARED_PATTERN = "learned:across_projects"
"""The system tag of a pattern that several projects taught."""

_PROJECT_ROOTS = ("projects", "claude")
"""The namespaces below which each name is a project; the same name below both is one project."""
_TEACHING_KINDS = frozenset(
    {"anti_pattern", "bugfix", "decision", "discovery", "fact", "heuristic", "instruction", "pattern"}
)
_LONGEST_LESSON = 1_000
"""The most characters of a lesson; a longer text is a document of its project."""
_FEWEST_WORDS, _FEWEST_CHARACTERS = 2, 6
"""Words with a weight beside names of files, or characters of a script without spaces, that a lesson has at least."""
_NAME_OF_A_TEXT = re.compile(r"@?[\w./-]+\.(?:md|mdc|txt)")
"""The name of a file that is to be read instead."""
_UNSPACED = re.compile(f"[{UNSPACED_CHARACTERS}]")
_SAME_SOURCES = 0.5
"""The share of common sources from which a pattern was proposed before, though a project has joined since."""
_CERTAINTY = 3
_ABOUT_ITSELF = re.compile(
    r"^[\s*_>-]*this\s+(?:file|document|page|guide|section|repo(?:sitory)?|project)\b", re.IGNORECASE | re.MULTILINE
)
"""Sentences that many files say of themselves in the same words."""


def project_of(memory: Memory) -> str:
    """Return the name of the project that a memory belongs to; empty for one that holds everywhere."""
    root, _, rest = memory.namespace.partition("/")
    return rest.partition("/")[0] if root in _PROJECT_ROOTS else ""


def propose_shared_patterns(context: MaintenanceContext, memories: Mapping[str, Memory], near: Neighbours) -> None:
    """Propose a pattern for each of these memories that another project taught in nearly the same words."""
    lessons = {name: memory for name, memory in memories.items() if _teaches(context, memory)}
    others = context.store.memories.get_many(sorted({other for name in lessons for other, _ in near.get(name, ())}))
    made = list(context.store.proposals.sources_used("consolidation"))
    for name, lesson in lessons.items():
        alike = [
            other
            for other_id, _ in near.get(name, ())
            if (other := others.get(other_id)) is not None and _says_the_same(lesson, other)
        ]
        if any(not project_of(other) and other.status == "active" for other in alike):
            continue  # it holds everywhere already
        sources = [lesson, *(other for other in alike if _teaches(context, other))]
        ids = frozenset(source.id for source in sources)
        if len(_projects(sources)) > 1 and not any(len(ids & old) >= _SAME_SOURCES * len(ids | old) for old in made):
            made.append(ids)
            _propose(context, sources)


def _teaches(context: MaintenanceContext, memory: Memory) -> bool:
    """Tell whether a memory is a lesson of a project that others may know: open, its own, no event, no document."""
    return (
        memory.status == "active"
        and memory.kind in _TEACHING_KINDS
        and memory.sensitivity == "normal"
        and memory.source_type != "external"
        and project_of(memory) != ""
        and len(memory.content) <= _LONGEST_LESSON
        and (memory.expires_at is None or memory.expires_at > context.now)
        and not is_event(memory)
        and not is_log(memory.content, memory.title)
        and not _ABOUT_ITSELF.search(memory.content)
        and _says_something(memory.content)
    )


def _says_something(text: str) -> bool:
    """Tell whether a text says something by itself, and does not only name another text."""
    words = {word for sentence in read_sentences(text) for word in sentence.weights}
    return (
        sum(not _NAME_OF_A_TEXT.fullmatch(word) for word in words) >= _FEWEST_WORDS
        or len(_UNSPACED.findall(text)) >= _FEWEST_CHARACTERS
    )


def _says_the_same(one: Memory, other: Memory) -> bool:
    older, newer = sorted((one, other), key=lambda memory: (memory.created_at, memory.id))
    return says_the_same(older, newer, memory_likeness(older, newer))


def _projects(sources: Iterable[Memory]) -> list[str]:
    return sorted({project_of(source) for source in sources})


def _propose(context: MaintenanceContext, sources: Sequence[Memory]) -> None:
    if context.proposals_left <= 0:
        return
    best, names = most_trusted_first(sources)[0], _projects(sources)
    fields = {
        "content": f"{best.content.rstrip()}\n\nTaught by the projects {', '.join(names)}.",
        "title": best.title,
        "kind": "pattern",
        "namespace": "global",
        "tags": [tag for tag in best.tags if all(tag in source.tags for source in sources)],
        "system_tags": [SHARED_PATTERN],
        "certainty": min(_CERTAINTY, *(source.certainty for source in sources)),
        "source_type": "derived",
        "source": {"agent": "memento"},
    }
    screened = context.gate.screen(with_trust_of(make_memory(fields), sources))
    pattern: Memory = screened.record
    fingerprint = fingerprint_of("create", "memory", "", {"shared": sorted(source.id for source in sources)})
    if context.store.proposals.same(fingerprint) is not None:
        return
    verdict = context.gate.judge(
        WriteIntent(
            "create",
            injection_score=screened.injection_score,
            origin="consolidation",
            secret_found=screened.secret_found,
        )
    )
    why = f"{len(names)} projects taught it: {', '.join(names)}."
    text = f"{pattern.title}\n{pattern.content}".strip()
    waits = verdict.answer == "propose"
    context.record([MaintenanceAction("pattern", "memory", pattern.id, why, waits=waits, text=text)])
    if context.dry_run:
        return
    evidence = {
        "why": why,
        "pass": "shared_pattern",
        "about": [source.id for source in sources],
        "sources": {source.id: source.version for source in sources},
        "draft": "extractive",
        **screened.evidence,
    }
    with context.transaction("shared patterns") as tx:
        if not all(is_current(tx, source) for source in sources):
            return
        stored = context.gate.admit(tx, pattern, verdict, evidence, fingerprint)
        for source in sources:
            relation = {"src": stored.id, "dst": source.id, "type": "related", "label": "taught by"}
            tx.put(make_relation(relation, now=tx.now), base=0)
