"""Answers as Memento Protocol gives them: records field by field, and every failure as JSON with its reason.

Its clients read some answers as MCP results, ``{"content": [{"type": "text", "text": ...}]}``, and others field by
field. A failure has its sentence in both places, for a client looks where it expects its answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.compat.http.request import ApiRequest
from memento_tui.errors import (
    Conflict,
    DataDirectoryError,
    EngineUnavailable,
    InvalidField,
    InvalidInput,
    MementoError,
    NotAllowed,
    NotFound,
)
from memento_tui.formats.protocol.vocabulary import category_of, item_title, linkage_from_relation, memory_type
from memento_tui.model import Memory, Proposal, Relation, Skip, WorkingItem
from memento_tui.operations.memories import format_time, is_recalled, list_labels, visible_memory
from memento_tui.operations.outcome import because, rejection_reason
from memento_tui.operations.relations import contradictions_among, labels_of
from memento_tui.policy.policy import reasons_in_words

__all__ = [
    "LINK_LABELS",
    "error_response",
    "item_row",
    "json_response",
    "linkage_rows",
    "memory_row",
    "memory_rows",
    "proposal_response",
    "proposal_row_response",
    "response_of_error",
    "skip_row",
    "text_response",
]

_STATUS_OF_ERROR: tuple[tuple[type[MementoError], int], ...] = (
    (InvalidInput, 400),
    (NotFound, 404),
    (Conflict, 409),
    (NotAllowed, 403),
    (DataDirectoryError, 503),
    (EngineUnavailable, 503),
)
_PROTOCOL_FIELD_NAMES = {
    "expires_at": "expires",
    "kind": "type",
    "kind_raw": "type",
    "dst": "linkages",
    "label": "linkages",
}
"""The fields that Memento Protocol calls by another name."""


def json_response(body: Mapping[str, Any], status: int = 200) -> Response:
    """Return an answer with these fields."""
    return Response(msgspec.json.encode(body), status, media_type="application/json")


def text_response(text: str, status: int = 200, /, **more: Any) -> Response:  # noqa: ANN401 - whatever JSON holds
    """Return an answer in words, with ``more`` beside them for programs."""
    return json_response({"content": [{"type": "text", "text": text}], **more}, status)


def error_response(sentence: str, status: int) -> Response:
    """Return an answer with the reason why nothing was done."""
    return text_response(sentence, status, error=sentence)


def response_of_error(error: MementoError) -> Response:
    """Return the answer to a request that failed on purpose."""
    sentence = str(error)
    if isinstance(error, InvalidField):
        sentence = f"{_PROTOCOL_FIELD_NAMES.get(error.field, error.field)}: {error.reason}. {error.hint}".strip()
    return error_response(sentence, next((status for kind, status in _STATUS_OF_ERROR if isinstance(error, kind)), 500))


def proposal_response(proposal: Proposal, **more: Any) -> Response:  # noqa: ANN401 - whatever JSON holds
    """Return the answer in words to a write that a person decides about, or has rejected before."""
    if proposal.state == "rejected":
        return _is_rejected(proposal)
    return text_response(_pending_sentence(proposal), 202, **_proposal_fields(proposal), **more)


def proposal_row_response(proposal: Proposal, row: Mapping[str, Any]) -> Response:
    """Return the answer field by field to such a write; ``row`` is the record as it is now."""
    if proposal.state == "rejected":
        return _is_rejected(proposal)
    return json_response({**row, **_proposal_fields(proposal), "message": _pending_sentence(proposal)}, 202)


def _is_rejected(proposal: Proposal) -> Response:
    return error_response(
        f"A person turned the same down before{rejection_reason(proposal.note)} Nothing was changed.", 409
    )


def _proposal_fields(proposal: Proposal) -> Mapping[str, Any]:
    return {"status": "proposed", "proposal": proposal.id, "why": reasons_in_words(proposal.reasons)}


def _pending_sentence(proposal: Proposal) -> str:
    return (
        f"Proposed: a person decides about it{because(reasons_in_words(proposal.reasons))}. Until then nothing changes."
    )


_WITHHELD_REASONS = {
    "pending": "It waits for a person's decision; until then its text is withheld.",
    "rejected": "A person turned it down, so its text is withheld.",
}


LINK_LABELS = ("links unverified",)
"""The words of caution about links: a memory's own trust says nothing about the words that an agent put on them."""


def linkage_rows(request: ApiRequest, memory: Memory) -> list[dict[str, str]]:
    """Return a memory's linkages."""
    return _linkage_rows(request.workspace.relations(memory.id, direction="out"))


def _linkage_rows(relations: Sequence[Relation]) -> list[dict[str, str]]:
    return [linkage_from_relation(relation.type, relation.dst, relation.label) for relation in relations]


def memory_row(request: ApiRequest, memory: Memory) -> dict[str, Any]:
    """Return a memory with all of its fields; see `memory_rows`."""
    return memory_rows(request, [memory])[0]


def memory_rows(request: ApiRequest, memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Return memories with all of their fields; one that may not be read has no text.

    ``relevance`` is a memory's certainty as a share of the highest, ``access_count`` how often it was of use: a mere
    search result is no access.
    """
    now, ids = clock.now(), [memory.id for memory in memories]
    pairs = [pair.contradiction for pair in request.workspace.contradictions.around(ids)]
    disputed = {side for pair in pairs for side in (pair.older, pair.newer)}
    relations: dict[str, list[Relation]] = {memory_id: [] for memory_id in ids}
    for relation in request.workspace.relations_around(ids):
        for end in {relation.src, relation.dst} & relations.keys():
            relations[end].append(relation)
    return [
        _memory_row(request, memory, now, relations[memory.id], is_disputed=memory.id in disputed)
        for memory in memories
    ]


def _memory_row(
    request: ApiRequest, memory: Memory, now: datetime, relations: Sequence[Relation], *, is_disputed: bool
) -> dict[str, Any]:
    view = visible_memory(memory, now)
    contradictions = (
        contradictions_among(request.workspace, [memory.id], now, request.caller.sees)
        if view.is_readable and is_disputed
        else []
    )
    labels = labels_of([memory], now, contradictions)[memory.id] if view.is_readable else view.labels
    own = [relation for relation in relations if relation.src == memory.id]
    linkages = _linkage_rows(own) if view.is_readable else []
    merged_ids = [
        relation.src
        for relation in relations
        if relation.dst == memory.id and relation.type == "consolidated_from" and _is_recalled_id(request, relation.src)
    ]
    row: dict[str, Any] = {
        "id": memory.id,
        "content": view.content,
        "type": memory_type(memory),
        "tags": view.tags,
        "created_at": format_time(memory.created_at),
        "updated_at": format_time(memory.updated_at),
        "expires_at": None if memory.expires_at is None else format_time(memory.expires_at),
        "relevance": memory.certainty / 5,
        "access_count": memory.used_count,
        "last_accessed_at": None if memory.last_used_at is None else format_time(memory.last_used_at),
        "consolidated": int(memory.status == "consolidated"),
        "consolidated_into": merged_ids[-1] if merged_ids else None,
        "linkages": linkages,
        "images": [],
        "status": memory.status,
        "labels": [*labels, *LINK_LABELS] if linkages else labels,
        "validity_context": view.validity_context,
        "valid_from": None if memory.valid_from is None else format_time(memory.valid_from),
        "valid_to": None if memory.valid_to is None else format_time(memory.valid_to),
        "version": memory.version,
    }
    return row if view.is_readable else {**row, "withheld": _WITHHELD_REASONS[memory.status]}


def _is_recalled_id(request: ApiRequest, memory_id: str) -> bool:
    memory: Memory | None = request.workspace.find(memory_id)
    return memory is not None and is_recalled(memory) and request.scope.holds(memory)


def item_row(item: WorkingItem) -> dict[str, Any]:
    """Return a working item with all of its fields."""
    touched = format_time(item.updated_at)
    return {
        "id": item.id,
        "category": category_of(item),
        "title": item_title(item),
        "content": item.content,
        "status": item.status,
        "priority": item.priority,
        "tags": list(item.tags),
        "next_action": item.next_action or None,
        "created_at": format_time(item.created_at),
        "updated_at": touched,
        "last_touched": touched,
        "version": item.version,
        "labels": list_labels(item),
    }


def skip_row(skip: Skip) -> dict[str, Any]:
    """Return a skip."""
    return {
        "id": skip.id,
        "item": skip.item,
        "reason": skip.reason,
        "expires_at": format_time(skip.expires_at),
        "labels": list_labels(skip),
    }
