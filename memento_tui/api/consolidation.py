"""Consolidate several memories into one at an agent's or a person's request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from memento_tui.api.workspace import Workspace
from memento_tui.config import LanguageModelConfig
from memento_tui.errors import Conflict, InvalidField
from memento_tui.maintenance.consolidation.drafting import Draft, Drafter
from memento_tui.maintenance.consolidation.grouping import LARGEST_GROUP, SYNTHESIZED_CERTAINTY
from memento_tui.model import Memory, Proposal, Relation, make_memory, make_relation
from memento_tui.model.memory import SENSITIVITIES, content_digest, with_trust_of
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.model.validation import new_id
from memento_tui.policy.gate import Screened, creation_fingerprint, fingerprint_of
from memento_tui.policy.policy import Verdict, WriteIntent
from memento_tui.storage.transaction import Transaction

__all__ = ["ConsolidationOutcome", "consolidate"]

_MIN_SOURCES = 2
_INHERITED_RELATIONS = ("related", "item", "file")


class ConsolidationOutcome(msgspec.Struct, frozen=True):
    """The result of a consolidation."""

    memory: Memory
    """The new memory; ``pending`` where it waits for a person, ``rejected`` where one turned the same down before."""
    sources: tuple[Memory, ...]
    proposal: Proposal | None = None
    """The proposal that waits or was rejected; ``None`` where the new memory is in effect already."""


def consolidate(
    workspace: Workspace,
    source_ids: Sequence[str],
    content: str = "",
    *,
    fields: Mapping[str, Any] | None = None,
    make_id: Callable[[], str] = new_id,
    language_model: LanguageModelConfig | None = None,
) -> ConsolidationOutcome:
    """Create one memory that replaces several, or propose it where the gate requires that.

    Without ``content`` it is drafted: by the language model where one is configured, else of the sources' sentences.
    ``language_model`` is that of the caller; ``None`` for the person's own.
    ``fields`` are what the caller says of it; ``tags`` join those of the sources. It is as sensitive as the most
    sensitive source and as foreign as the most foreign one.

    Raises:
        NotFound, AmbiguousId: no memory, or several, have one of the ids.
        InvalidField: there are not two to twelve sources that hold, or a field breaks a rule.
        Conflict: a source was changed meanwhile.

    """
    sources = _load_sources(workspace, source_ids)
    model = workspace.config.language_model if language_model is None else language_model
    draft = None if content.strip() else Drafter(model).draft("consolidate", sources)
    screened = workspace.gate.screen(
        _consolidated_memory(workspace, sources, content, draft, dict(fields or {}), make_id())
    )
    memory: Memory = screened.record
    fingerprint = _fingerprint(sources, memory, draft)
    known = workspace._store.proposals.same(fingerprint)
    silenced = workspace.gate.refused_before(fingerprint) or workspace.gate.refused_before(creation_fingerprint(memory))
    if silenced is not None:
        return ConsolidationOutcome(msgspec.structs.replace(memory, status="rejected"), sources, silenced)
    if known is not None and known.state in OPEN_PROPOSAL_STATES:
        return ConsolidationOutcome(workspace.get(known.target_id), sources, known)
    verdict = _verdict(workspace, screened)
    with workspace.gate.transaction("consolidate") as tx:
        _check_current(tx, sources)
        evidence = {**_evidence(workspace, sources, draft), **screened.evidence}
        stored = workspace.gate.admit(tx, memory, verdict, evidence, fingerprint)
        for relation in _new_relations(workspace, sources, stored):
            tx.put(relation, base=0)
    waiting = workspace._store.proposals.about(stored.id) if stored.status == "pending" else []
    return ConsolidationOutcome(stored, sources, waiting[0] if waiting else None)


def _load_sources(workspace: Workspace, source_ids: Sequence[str]) -> tuple[Memory, ...]:
    found = {memory.id: memory for memory in map(workspace.get, source_ids)}
    if not _MIN_SOURCES <= len(found) <= LARGEST_GROUP:
        raise InvalidField(
            "source_ids", f"must name {_MIN_SOURCES} to {LARGEST_GROUP} different memories; not {len(found)}"
        )
    gone = [
        f"{memory.id} ({memory.status})" for memory in found.values() if memory.status not in ("active", "compacted")
    ]
    if gone:
        raise InvalidField("source_ids", f"names what does not hold: {', '.join(gone)}", "Leave those out.")
    return tuple(found.values())


def _consolidated_memory(
    workspace: Workspace,
    sources: Sequence[Memory],
    content: str,
    draft: Draft | None,
    fields: dict[str, Any],
    memory_id: str,
) -> Memory:
    author = workspace.author
    tags = dict.fromkeys([*(tag for source in sources for tag in source.tags), *fields.pop("tags", ())])
    mean = sum(source.certainty for source in sources) / len(sources)
    made = make_memory(
        {
            "kind": _kind_of_most(sources),
            "namespace": sources[0].namespace,
            **fields,
            "id": memory_id,
            "content": content if draft is None else draft.content,
            "title": "" if draft is None else draft.title,
            "tags": list(tags),
            "system_tags": [] if draft is None else [f"source:{draft.method}"],
            "certainty": max(1, min(SYNTHESIZED_CERTAINTY, round(mean))),
            "sensitivity": max((source.sensitivity for source in sources), key=SENSITIVITIES.index),
            "source_type": "external" if any(source.source_type == "external" for source in sources) else "derived",
            "source": {"agent": author.agent, "session": author.session},
        }
    )
    return with_trust_of(made, sources)


def _kind_of_most(sources: Sequence[Memory]) -> str:
    """Return the kind of more than half of the sources; ``fact`` where no kind has a majority."""
    kind, count = Counter(source.kind for source in sources).most_common(1)[0]
    return kind if 2 * count > len(sources) else "fact"


def _fingerprint(sources: Sequence[Memory], memory: Memory, draft: Draft | None) -> str:
    """Return the fingerprint of the proposal: of its sources and, where the caller wrote the text, of that text."""
    about: dict[str, Any] = {"from": sorted(source.id for source in sources)}
    if draft is None:
        about["says"] = content_digest(memory.content).hex()
    return fingerprint_of("create", "memory", "", about)


def _verdict(workspace: Workspace, screened: Screened) -> Verdict:
    intent = WriteIntent(
        "create",
        by_person=workspace.gate.is_person,
        external=screened.record.source_type == "external",
        injection_score=screened.injection_score,
        origin="consolidation",
        secret_found=screened.secret_found,
    )
    return workspace.gate.judge(intent)


def _check_current(tx: Transaction, sources: Sequence[Memory]) -> None:
    for source in sources:
        if tx.require(Memory, source.id).version != source.version:
            raise Conflict(f"The memory {source.id} was changed meanwhile.", "Read it again, then consolidate.")


def _evidence(workspace: Workspace, sources: Sequence[Memory], draft: Draft | None) -> dict[str, Any]:
    evidence: dict[str, Any] = {
        "why": f"{workspace.author.name} says that one memory can stand for these {len(sources)}",
        "about": [source.id for source in sources],
        "sources": {source.id: source.version for source in sources},
    }
    if draft is not None:
        evidence |= {"draft": draft.method, "refused": draft.refused}
    return evidence


def _new_relations(workspace: Workspace, sources: Sequence[Memory], made: Memory) -> list[Relation]:
    """Return the relations of a consolidated memory: one to each source, and each that its sources have to others."""
    names = {source.id for source in sources}
    relations = {("consolidated_from", source.id, ""): None for source in sources}
    for source in sources:
        for one in workspace._store.memories.relations_of(source.id):
            if one.src == source.id and one.type in _INHERITED_RELATIONS and one.dst not in names:
                relations.setdefault((one.type, one.dst, one.label))
    return [make_relation({"src": made.id, "dst": dst, "type": kind, "label": label}) for kind, dst, label in relations]
