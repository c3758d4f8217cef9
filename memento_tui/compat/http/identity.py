"""``/v1/identity``: who the person's agent is, in prose. There is one identity, so that accounts have none."""

from __future__ import annotations

from starlette.responses import Response

from memento_tui.compat.http.request import ApiRequest, RequestSchema, clamp_limit
from memento_tui.compat.http.responses import proposal_response, text_response
from memento_tui.config import LanguageModelConfig
from memento_tui.errors import InvalidField, NotAllowed
from memento_tui.maintenance.consolidation.drafting import Drafter
from memento_tui.model import Crystal
from memento_tui.model.filters import AllOf, Not, OneOf
from memento_tui.operations.memories import format_time, identity_text, list_labels
from memento_tui.operations.outcome import write_identity

__all__ = ["draft_identity", "get_identity", "list_identities", "put_identity"]

_MAX_HISTORY = 20
_MAX_SOURCES = 40
_IDENTITY_KINDS = ("instruction", "preference", "decision", "heuristic", "pattern", "anti_pattern")
"""The kinds of memories about how somebody works."""

_NO_IDENTITY = (
    "No identity crystal has been written for this workspace. One is a text in the first person: who you are, how you"
    " work and what you care about. Write it yourself with PUT /v1/identity, or draft one from the memories with"
    " POST /v1/identity/crystallize."
)


class _IdentityText(RequestSchema):
    crystal: str = ""


class _HistoryQuery(RequestSchema):
    limit: int = 10


def get_identity(request: ApiRequest) -> Response:
    """Return the identity that holds now."""
    crystal = None if request.caller.account else request.workspace.crystals.current()
    if crystal is None:
        return text_response(_NO_IDENTITY)
    meta = {"id": crystal.id, "source_count": _source_ids(crystal), "created_at": format_time(crystal.created_at)}
    return text_response(identity_text(crystal), meta={**meta, "labels": list_labels(crystal)})


def put_identity(request: ApiRequest) -> Response:
    """Write the identity anew; earlier ones are kept."""
    content = request.read_body(_IdentityText).crystal.strip()
    if not content:
        raise InvalidField("crystal", "is missing", "Write at least a sentence.")
    return _store_identity(request, content, f"stored ({len(content)} chars)")


def draft_identity(request: ApiRequest) -> Response:
    """Draft an identity of whole sentences from the memories about how the agent works, the surest first."""
    _check_not_account(request)
    about_self = AllOf((OneOf("kind", _IDENTITY_KINDS), Not(OneOf("source_type", ("external",)))))
    among = request.here(AllOf((about_self, OneOf("sensitivity", ("normal",)))))
    sources = list(request.workspace.slice(among, order="certainty", limit=_MAX_SOURCES))
    if not sources:
        return text_response("No identity crystal was drafted: no memory says yet how you work.", status="nothing")
    draft = Drafter(LanguageModelConfig()).draft("consolidate", sources)
    return _store_identity(
        request, draft.content, f"auto-generated ({len(sources)} sources). Use GET /v1/identity to retrieve it"
    )


def _store_identity(request: ApiRequest, content: str, how: str) -> Response:
    _check_not_account(request)
    crystal, proposal = write_identity(request.workspace, content)
    if proposal is not None:
        return proposal_response(proposal, id=crystal.id)
    return text_response(f"Identity crystal {crystal.id} {how}.", id=crystal.id)


def list_identities(request: ApiRequest) -> Response:
    """List the identities there were, newest first."""
    limit = clamp_limit(request.read_query(_HistoryQuery).limit, _MAX_HISTORY)
    crystals = [] if request.caller.account else request.workspace.crystals.timeline()
    adopted = [crystal for crystal in crystals if crystal.status in ("current", "past")][:limit]
    if not adopted:
        return text_response("No identity snapshots found.", snapshots=[])
    rows = [
        {
            "id": crystal.id,
            "created_at": format_time(crystal.created_at),
            "length": len(crystal.content),
            "source_count": _source_ids(crystal),
        }
        for crystal in adopted
    ]
    lines = [f"{r['id']} — {r['created_at']} ({r['length']} chars, {r['source_count']} sources)" for r in rows]
    return text_response(f"Identity crystal history ({len(rows)} snapshots):\n\n" + "\n".join(lines), snapshots=rows)


def _source_ids(crystal: Crystal) -> int:
    count = crystal.extra.get("source_count", 0)
    return count if isinstance(count, int) else 0


def _check_not_account(request: ApiRequest) -> None:
    if request.caller.account:
        raise NotAllowed(
            "The identity is that of the person's own agent.", "An account keeps what it is like as memories."
        )
