"""``/v1/workspaces``, ``/health``, ``/auth``, ``/v1/activity``: workspaces, their counts, accounts and changes.

``/v1/identity``: who the person's agent is, in prose. There is one identity, so that accounts have none.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.api.types import MemoryEvent
from memento_tui.compat.http.exchange import (
    ApiRequest,
    RequestSchema,
    clamp_limit,
    json_response,
    proposal_response,
    text_response,
)
from memento_tui.compat.protocol.working_memory import list_items, workspace_skips
from memento_tui.compat.protocol.workspaces import WorkspaceScope
from memento_tui.config import LanguageModelConfig
from memento_tui.errors import Conflict, InvalidField, NotAllowed, NotFound
from memento_tui.maintenance.consolidation.drafting import Drafter
from memento_tui.model import Crystal, Memory, Proposal
from memento_tui.model.filters import AllOf, Not, OneOf, Under
from memento_tui.model.validation import account_of
from memento_tui.moments import format_moment, parse_moment, parse_span
from memento_tui.operations.memories import count_memories, format_time, identity_text, list_labels
from memento_tui.operations.outcome import write_identity
from memento_tui.policy.secrets import redact_text
from memento_tui.policy.suspicion import SUSPICIOUS_SCORE, suspicion_of
from memento_tui.text.fence import is_plain_id
from memento_tui.text.labels import entry_labels

__all__ = [
    "create_workspace",
    "delete_workspace",
    "draft_identity",
    "exposure_density",
    "get_health",
    "get_identity",
    "list_events",
    "list_identities",
    "list_workspaces",
    "put_identity",
    "rotate_key",
    "sign_up",
]


_WORKSPACES_KEY = "http.workspaces"

_DEFAULT_WORKSPACE = "default"

_MAX_WORKSPACES = 1_000

_MAX_DELETED = 1_000
"""Memories. A workspace that holds more is for a person to clear."""

_decode_workspaces = msgspec.json.Decoder(dict[str, str]).decode
"""Decodes the moments when workspaces were begun, by namespace; workspaces with memories need not be among them."""


class _NewWorkspace(RequestSchema):
    name: str = _DEFAULT_WORKSPACE


def _workspaces_by_name(request: ApiRequest) -> dict[str, str]:
    """Return the caller's workspaces by name, with the moments when they were begun (empty where unknown)."""
    stored = request.workspace.settings.get(_WORKSPACES_KEY)
    begun_at = {} if stored is None else _decode_workspaces(stored)
    with_memories = [name for name, _ in request.workspace.namespaces()]
    own = [name for name in (*begun_at, *with_memories) if request.caller.sees(name)]
    return {_DEFAULT_WORKSPACE: "", **{request.caller.workspace_of(name): begun_at.get(name, "") for name in own}}


def create_workspace(request: ApiRequest) -> Response:
    """Begin a workspace; the request's own one exists already, by being named."""
    name = request.read_body(_NewWorkspace).name.strip() or _DEFAULT_WORKSPACE
    _check_name(name)
    namespace = request.caller.namespace_of(name)
    if name in _workspaces_by_name(request) or namespace == request.scope.namespace:
        return text_response(f'Workspace "{name}" already exists (id: {name}).', id=name)

    def add(stored: str | None) -> str:
        begun_at = {} if stored is None else _decode_workspaces(stored)
        if sum(request.caller.owns(other) for other in begun_at) >= _MAX_WORKSPACES:
            raise NotAllowed(f"{_MAX_WORKSPACES:,} workspaces were begun, which is the most.", "Delete some of them.")
        return msgspec.json.encode({**begun_at, namespace: format_moment(clock.now())}).decode()

    request.workspace.settings.change(_WORKSPACES_KEY, add)
    return text_response(f'Workspace "{name}" created (id: {name}).', 201, id=name)


def _check_name(name: str) -> None:
    """Raise `NotAllowed` for a workspace's name that holds a secret or orders to a model."""
    if redact_text(name)[1]:
        raise NotAllowed("The name of this workspace holds a secret.", "Choose another name.")
    if suspicion_of(name).score >= SUSPICIOUS_SCORE:
        raise NotAllowed("The name of this workspace reads like orders for a model.", "Choose another name.")


def list_workspaces(request: ApiRequest) -> Response:
    """List the workspaces that the caller sees."""
    confirmed = {request.caller.workspace_of(name) for name in request.workspace.confirmed_namespaces()}
    rows = [
        {
            "id": name,
            "name": name,
            "created_at": at,
            "updated_at": at,
            "labels": entry_labels(is_unverified=name not in (*confirmed, _DEFAULT_WORKSPACE)),
        }
        for name, at in sorted(_workspaces_by_name(request).items())
    ]
    return text_response(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode(), workspaces=rows)


def delete_workspace(request: ApiRequest) -> Response:
    """Delete the records of a workspace as one change that a person can undo; verified memories are proposed."""
    name = request.path["id"]
    if name not in _workspaces_by_name(request):
        raise NotFound("Workspace not found.", "GET /v1/workspaces lists them.")
    if name == _DEFAULT_WORKSPACE:
        raise NotAllowed("The workspace default cannot be deleted.", "Delete its memories one by one.")
    scope = WorkspaceScope(request.caller.namespace_of(name), label=name)
    memories = _memories_in(request, scope)
    if len(memories) > _MAX_DELETED:
        raise NotAllowed(
            f"The workspace holds more than {_MAX_DELETED:,} memories.", "Ask the person to look through it first."
        )
    with request.workspace.one_undo():
        waiting = _delete_contents(request, scope, memories)

    def drop(stored: str | None) -> str:
        begun_at = {} if stored is None else _decode_workspaces(stored)
        return msgspec.json.encode({other: at for other, at in begun_at.items() if other != scope.namespace}).decode()

    if waiting:
        text = f'{waiting} of what workspace "{name}" holds waits for a person\'s decision; the rest is deleted.'
        return text_response(text, 202, status="proposed", proposed=waiting)
    request.workspace.settings.change(_WORKSPACES_KEY, drop)
    return text_response(f'Workspace "{name}" deleted.', id=name)


def _memories_in(request: ApiRequest, scope: WorkspaceScope) -> list[Memory]:
    standing = OneOf("status", ("pending", "active", "consolidated", "superseded", "compacted", "archived"))
    tree = AllOf((standing, Under(scope.namespace)))
    return list(request.workspace.slice(tree, order="created", ascending=True, limit=_MAX_DELETED + 1))


def _delete_contents(request: ApiRequest, scope: WorkspaceScope, memories: list[Memory]) -> int:
    """Delete memories, items and skips; return how many deletions wait for a person."""
    workspace, waiting = request.workspace, 0
    for memory in memories:
        try:
            waiting += workspace.forget(memory.id, base_version=memory.version).status != "applied"
        except (NotAllowed, Conflict):  # it waits for a decision that somebody else asked for, or was just changed
            waiting += 1
    items = [item for item in workspace.items.list() if scope.holds(item)]
    skips = workspace_skips(workspace, scope)
    proposals: list[Proposal | None] = [workspace.items.remove(item.id, base_version=item.version) for item in items]
    proposals += [workspace.skips.remove(skip.id, base_version=skip.version) for skip in skips]
    return waiting + sum(proposal is not None for proposal in proposals)


def get_health(request: ApiRequest) -> Response:
    """Count the records of the workspace, in words and in fields."""
    counts = count_memories(request.workspace, request.scope.namespace, with_restricted=False)._asdict()
    items = list_items(request.workspace, (request.scope.namespace,))
    skips = workspace_skips(request.workspace, request.scope)
    touched = max((item.updated_at for item in items), default=None)
    numbers: dict[str, Any] = {**counts, "items": len(items), "skips": len(skips)}
    lines = [
        "**Memento Health Report**",
        f"Workspace: {request.scope.name}",
        "",
        "**Working Memory**",
        f"  Items: {len(items)}",
        f"  Last updated: {'never' if touched is None else format_time(touched)}",
        "",
        "**Stored Memories**",
        f"  Total: {sum(counts.values())} ({', '.join(f'{count} {name}' for name, count in counts.items())})",
        "",
        "**Skip List**",
        f"  Total: {len(skips)} ({len(skips)} active, 0 expired)",
    ]
    return text_response("\n".join(lines), workspace=request.scope.name, **numbers)


_MAX_NAME_CHARS = 100


class _NewAccount(RequestSchema):
    name: str = "default"
    workspace: str = "default"


def sign_up(request: ApiRequest) -> Response:
    """Make an account. Its key is shown once, and is kept nowhere."""
    account = request.read_body(_NewAccount)
    workspace = account.workspace.strip() or "default"
    request.caller.namespace_of(workspace)  # an invalid name is refused before there is an account
    in_use = {account_of(namespace) for namespace, _ in request.workspace.namespaces()}
    caller, key = request.keys.sign_up(account.name[:_MAX_NAME_CHARS], in_use)
    body = {
        "api_key": key,
        "workspace": workspace,
        "user_id": caller.account,
        "api_url": request.address,
        "plan": "local",
        "limits": {},
    }
    return json_response(body, 201)


def rotate_key(request: ApiRequest) -> Response:
    """Replace the key that the request came with; the old one opens nothing from now on."""
    key = request.keys.rotate(request.caller)
    return json_response({"api_key": key, "message": "The old key does not work any more."})


_MAX_EVENTS = 500

_MAX_BUCKET = 60


class _ActivityQuery(RequestSchema):
    since: str = ""
    types: str = ""
    limit: int = 200
    bucket_minutes: int = 5


def list_events(request: ApiRequest) -> Response:
    """List the changes to memories, newest first."""
    query = request.read_query(_ActivityQuery)
    since = _since_time(query.since)
    types = {name.strip() for name in query.types.split(",") if name.strip()}
    limit = clamp_limit(query.limit, _MAX_EVENTS)
    found = request.workspace.activity.memory_events(
        request.scope.namespace, since=since, actions=types, limit=limit, is_small=bool(request.caller.account)
    )
    return json_response({"events": [_event_row(event) for event in found]})


def _event_row(event: MemoryEvent) -> dict[str, Any]:
    return {
        # Not the entry's number, which would reveal to an account how much the person and others write.
        "id": f"{event.entry_id}-{event.ordinal}",
        "action": event.action,
        "memory_id": event.memory_id,
        "detail": event.author,
        "created_at": event.at,
        **({} if is_plain_id(event.memory_id) else {"labels": entry_labels(is_unverified=True)}),
    }


def _since_time(since: str) -> datetime:
    if not since:
        return clock.now() - timedelta(days=1)
    try:
        if (span := parse_span(since)) is not None:
            return clock.now() - span
    except OverflowError:
        raise InvalidField("since", "no calendar reaches back so far") from None
    # The plus sign of a time zone arrives as a space where a client does not encode it.
    return parse_moment(since.replace(" 00:00", "+00:00"), "since")


def exposure_density(request: ApiRequest) -> Response:
    """Count how many memories were shown, by spans of time."""
    query = request.read_query(_ActivityQuery)
    seconds = clamp_limit(query.bucket_minutes, _MAX_BUCKET) * 60
    counts = request.workspace.activity.exposure_counts(
        request.scope.namespace, since=_since_time(query.since), seconds=seconds
    )
    buckets = [{"bucket": format_time(datetime.fromtimestamp(start, UTC)), "count": count} for start, count in counts]
    return json_response({"buckets": buckets})


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
