"""Answers as Memento Protocol gives them, and every failure as JSON with its reason.

Its clients read some answers as MCP results, ``{"content": [{"type": "text", "text": ...}]}``, and others field by
field. A failure says its sentence in both ways, for a client looks where it expects its answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.responses import Response

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
from memento_tui.records import Proposal
from memento_tui.review.policy import reasons_in_words

__all__ = ["failed", "proposed", "proposed_row", "refused", "replied", "said"]

_STATUSES: tuple[tuple[type[MementoError], int], ...] = (
    (InvalidInput, 400),
    (NotFound, 404),
    (Conflict, 409),
    (NotAllowed, 403),
    (DataDirectoryError, 503),
    (EngineUnavailable, 503),
)
_NAMES = {"expires_at": "expires", "kind": "type", "kind_raw": "type", "dst": "linkages", "label": "linkages"}
"""The fields that Memento Protocol calls by another name."""


def replied(body: Mapping[str, Any], status: int = 200) -> Response:
    """Return an answer with these fields."""
    return Response(msgspec.json.encode(body), status, media_type="application/json")


def said(text: str, status: int = 200, /, **more: Any) -> Response:  # noqa: ANN401 - whatever JSON holds
    """Return an answer in words, with ``more`` beside them for programs."""
    return replied({"content": [{"type": "text", "text": text}], **more}, status)


def refused(sentence: str, status: int) -> Response:
    """Return an answer that says why nothing was done."""
    return said(sentence, status, error=sentence)


def failed(error: MementoError) -> Response:
    """Return the answer to a request that failed on purpose."""
    sentence = str(error)
    if isinstance(error, InvalidField):
        sentence = f"{_NAMES.get(error.field, error.field)}: {error.reason}. {error.hint}".strip()
    return refused(sentence, next((status for kind, status in _STATUSES if isinstance(error, kind)), 500))


def proposed(proposal: Proposal, **more: Any) -> Response:  # noqa: ANN401 - whatever JSON holds
    """Return the answer in words to a write that a person decides about, or has turned down before."""
    if proposal.state == "rejected":
        return _turned_down(proposal)
    return said(_waits(proposal), 202, **_asked(proposal), **more)


def proposed_row(proposal: Proposal, row: Mapping[str, Any]) -> Response:
    """Return the answer field by field to such a write; ``row`` is what it is about, as it stands."""
    if proposal.state == "rejected":
        return _turned_down(proposal)
    return replied({**row, **_asked(proposal), "message": _waits(proposal)}, 202)


def _turned_down(proposal: Proposal) -> Response:
    because = f": {proposal.note}" if proposal.note else "."
    return refused(f"A person turned the same down before{because} Nothing was changed.", 409)


def _asked(proposal: Proposal) -> Mapping[str, Any]:
    return {"status": "proposed", "proposal": proposal.id, "why": reasons_in_words(proposal.reasons)}


def _waits(proposal: Proposal) -> str:
    why = "; ".join(reasons_in_words(proposal.reasons))
    return f"Proposed: a person decides about it, because {why}. Until then nothing changes."
