"""``/v1/consolidate``, ``/distill`` and ``/extract``: propose new memories from old ones and transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from starlette.responses import Response

from memento_tui.api.consolidation import ConsolidationOutcome
from memento_tui.api.consolidation import consolidate as consolidated
from memento_tui.compat.http.exchange import (
    ApiRequest,
    RequestSchema,
    error_response,
    json_response,
    proposal_response,
    text_response,
)
from memento_tui.compat.protocol.extraction import (
    EXTRACTION_MODES,
    extract_lessons,
    is_new_lesson,
    lesson_text,
    lesson_type,
)
from memento_tui.compat.protocol.formatting import entry_id
from memento_tui.errors import InvalidField
from memento_tui.formats.protocol.vocabulary import kind_fields
from memento_tui.maintenance.consolidation.grouping import groups_of
from memento_tui.maintenance.distillation.proposals import DistillationResult
from memento_tui.model.filters import OneOf
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.operations.memories import is_recalled
from memento_tui.operations.outcome import rejection_reason
from memento_tui.text.fence import one_line

__all__ = ["consolidate", "consolidate_group", "distill_transcript", "extract_from_transcript"]

_MAX_CANDIDATES = 5_000


class _MemoryGroup(RequestSchema):
    source_ids: list[str] | None = None
    ids: list[str] | None = None
    content: str = ""
    type: str | None = None
    tags: list[str] | None = None


def consolidate(request: ApiRequest) -> Response:
    """Look for groups of three or more memories that share a subject's tags, and draft one memory for each."""
    tree = request.here(OneOf("status", ("active",)))
    memories = request.workspace.slice(tree, order="created", limit=_MAX_CANDIDATES)
    made_before = request.workspace.review.consolidated_sources()
    groups = [group for group in groups_of(memories) if frozenset(group.ids) not in made_before]
    outcomes = [_consolidation_response(request, list(group.ids), _MemoryGroup()) for group in groups]
    accepted = [outcome for outcome in outcomes if outcome.memory.status != "rejected"]
    waiting = [outcome.memory.id for outcome in accepted if outcome.proposal is not None]
    sources = sum(len(outcome.sources) for outcome in accepted)
    count = f"{len(accepted)} group{'' if len(accepted) == 1 else 's'} from {sources} source memories"
    if not accepted:
        return text_response("No consolidation candidates found (need 3+ memories sharing tags).", consolidated=0)
    if waiting:
        text = f"Proposed one memory for each of {count}; a person decides, and the sources stay."
        return text_response(text, 202, status="proposed", consolidated=len(accepted) - len(waiting), ids=waiting)
    text = f"Consolidated {count} into {len(accepted)} new memor{'y' if len(accepted) == 1 else 'ies'}."
    return text_response(text, consolidated=len(accepted), ids=[outcome.memory.id for outcome in accepted])


def consolidate_group(request: ApiRequest) -> Response:
    """Join the memories that the agent names, in its own words or in whole sentences of theirs."""
    group = request.read_body(_MemoryGroup)
    ids = list(dict.fromkeys(group.source_ids or group.ids or []))
    for name in ids:
        memory = request.memory(name)
        if not is_recalled(memory) or memory.status not in RECALLED_STATUSES:
            raise InvalidField("source_ids", f"names what is not recalled: {name!r:.80}", "Leave it out.")
    outcome = _consolidation_response(request, ids, group)
    if outcome.memory.status == "rejected":
        reason = rejection_reason("" if outcome.proposal is None else outcome.proposal.note)
        return error_response(f"Not consolidated: a person turned the same down before{reason}", 409)
    if outcome.proposal is not None:
        return proposal_response(outcome.proposal, id=outcome.memory.id, sources=ids)
    text = f"Consolidated {len(ids)} memories into {outcome.memory.id}. Sources: [{', '.join(ids)}]"
    return text_response(text, id=outcome.memory.id, sources=ids, status="stored")


def _consolidation_response(request: ApiRequest, ids: list[str], group: _MemoryGroup) -> ConsolidationOutcome:
    fields: dict[str, Any] = {"namespace": request.scope.namespace, "tags": group.tags or []}
    if group.type:
        fields |= kind_fields(group.type)
    return consolidated(
        request.workspace,
        ids,
        group.content,
        fields=fields,
        make_id=request.new_id,
        language_model=request.language_model,
    )


_MIN_DISTILLED_CHARS, _MIN_EXTRACTED_CHARS, _MAX_TRANSCRIPT_CHARS = 200, 100, 100_000
"""Characters of a transcript. Of a longer one the end is read: it holds the last state of the session."""

_TRANSCRIPT_SOURCE = "a transcript sent over HTTP"


class _Transcript(RequestSchema):
    transcript: str
    mode: Literal["distill", "seeds"] = "distill"
    max_memories: Annotated[int, msgspec.Meta(ge=1)] | None = None


def distill_transcript(request: ApiRequest) -> Response:
    """Learn from a transcript. One that is too short is no failure."""
    body = request.read_body(_Transcript)
    if len(body.transcript) < _MIN_DISTILLED_CHARS:
        return text_response("Transcript too short — skipping distillation.", memories=[])
    lessons = _learn_from(request, body.transcript, "distill", EXTRACTION_MODES["distill"])
    if not lessons:
        return text_response("No novel memories found in transcript.", memories=[])
    rows = [_lesson_row(lesson) for lesson in lessons]
    lines = "\n".join(f"- {entry_id(row['id'])} ({row['type']}): {one_line(row['content'])}" for row in rows)
    count = f"{len(rows)} memor{'y' if len(rows) == 1 else 'ies'}"
    waits = _are_all_pending(lessons)
    decides = "; a person decides about them" if waits else ""
    text = f"Distilled {count} from transcript{decides}:\n\n{lines}"
    return text_response(text, 202 if waits else 201, memories=rows, **({"status": "proposed"} if waits else {}))


def extract_from_transcript(request: ApiRequest) -> Response:
    """Learn from a transcript, at most so many things as are asked for."""
    transcript = request.read_body(_Transcript)
    if len(transcript.transcript) < _MIN_EXTRACTED_CHARS:
        raise InvalidField("transcript", f"is too short: {_MIN_EXTRACTED_CHARS} characters is the least")
    most = min(transcript.max_memories or EXTRACTION_MODES[transcript.mode], EXTRACTION_MODES["distill"])
    lessons = _learn_from(request, transcript.transcript, transcript.mode, most)
    body = {
        "stored": [_lesson_row(lesson) for lesson in lessons],
        "count": len(lessons),
        "mode": transcript.mode,
        "source": "transcript",
    }
    if lessons and _are_all_pending(lessons):
        return json_response({**body, "status": "proposed"}, 202)
    return json_response(body, 201 if lessons else 200)


def _learn_from(request: ApiRequest, transcript: str, mode: str, most: int) -> list[DistillationResult]:
    """Pass the lessons of a transcript through the gate; return the new ones."""
    text, namespace = transcript[-_MAX_TRANSCRIPT_CHARS:], request.scope.namespace
    report = extract_lessons(
        request.workspace,
        text,
        _TRANSCRIPT_SOURCE,
        mode=mode,
        limit=most,
        namespace=namespace,
        language_model=request.language_model,
    )
    return [lesson for lesson in report.learned if is_new_lesson(lesson)]


def _are_all_pending(lessons: Sequence[DistillationResult]) -> bool:
    return all(lesson.outcome == "proposed" for lesson in lessons)


def _lesson_row(lesson: DistillationResult) -> dict[str, Any]:
    return {"id": lesson.id, "content": lesson_text(lesson), "type": lesson_type(lesson)}
