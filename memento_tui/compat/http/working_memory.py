"""``/v1/skip-list`` and ``/v1/working-memory``: skips, working items, and the document."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from starlette.responses import Response

from memento_tui.compat.http.exchange import (
    ApiRequest,
    RequestSchema,
    clamp_limit,
    item_row,
    json_response,
    proposal_response,
    proposal_row_response,
    skip_row,
    text_response,
)
from memento_tui.compat.protocol import working_memory as protocol
from memento_tui.compat.protocol.formatting import quoted_block, skip_match_text
from memento_tui.compat.protocol.working_memory import (
    EMPTY_SECTION,
    WorkingMemoryDocument,
    section_heading,
    sections_by_key,
    workspace_skips,
)
from memento_tui.compat.protocol.workspaces import WorkspaceScope
from memento_tui.errors import InvalidField, InvalidInput, NotFound
from memento_tui.formats.protocol.vocabulary import SECTIONS, section_key, section_of
from memento_tui.model import Proposal, Skip, WorkingItem
from memento_tui.moments import parse_moment
from memento_tui.operations.memories import format_time, list_labels
from memento_tui.text.labels import bracketed

__all__ = [
    "add_item",
    "add_skip",
    "check_skips",
    "get_document",
    "get_item",
    "get_section",
    "list_items",
    "list_skips",
    "matching_skips",
    "remove_item",
    "remove_skip",
    "update_item",
    "write_section",
]

_MAX_LISTED = 100


class _NewSkip(RequestSchema):
    item: str = ""
    reason: str = ""
    expires: str = ""


class _SkipQuery(RequestSchema):
    query: str = ""


class _NewItem(RequestSchema):
    category: str = ""
    title: str = ""
    content: str | None = None
    status: str | None = None
    priority: int | None = None
    tags: list[str] | None = None
    next_action: str | None = None


class _ItemChange(RequestSchema):
    category: str | msgspec.UnsetType = msgspec.UNSET
    title: str | msgspec.UnsetType = msgspec.UNSET
    content: str | msgspec.UnsetType = msgspec.UNSET
    status: str | msgspec.UnsetType = msgspec.UNSET
    priority: int | msgspec.UnsetType = msgspec.UNSET
    tags: list[str] | msgspec.UnsetType = msgspec.UNSET
    next_action: str | msgspec.UnsetType | None = msgspec.UNSET


class _ItemQuery(RequestSchema):
    category: str = ""
    status: str = ""
    q: str = ""
    limit: int = 50
    offset: Annotated[int, msgspec.Meta(ge=0)] = 0


def matching_skips(request: ApiRequest, message: str, *, counted: bool) -> list[Skip]:
    """Return the skips that hold for a message; ``counted`` counts a hit for each.

    Those of the namespace ``global``, where a person's own are, hold in every workspace of the person.
    """

    def among(skip: Skip) -> bool:
        return request.scope.holds(skip) or (not request.caller.account and skip.namespace == "global")

    skips = request.workspace.skips
    return list((skips.check if counted else skips.matching)(message, among=among))


def list_skips(request: ApiRequest) -> Response:
    """List the skips that hold."""
    rows = [skip_row(skip) for skip in workspace_skips(request.workspace, request.scope)]
    return json_response({"entries": rows, "total": len(rows)})


def add_skip(request: ApiRequest) -> Response:
    """Add a skip, which ends at a real date to come."""
    body = request.read_body(_NewSkip)
    missing = [name for name in ("item", "reason", "expires") if not getattr(body, name)]
    if missing:
        raise InvalidField(missing[0], "is missing", 'A skip needs "item", "reason" and "expires".')
    end = parse_moment(body.expires, "expires")
    skip = protocol.add_skip(request.workspace, request.scope, body.item, body.reason, end)
    if isinstance(skip, Proposal):
        return proposal_response(skip)
    text = f'Added to skip list: "{skip.item}" (expires {format_time(skip.expires_at)})'
    return text_response(text, 201, **skip_row(skip))


def check_skips(request: ApiRequest) -> Response:
    """Tell whether something is not to be done."""
    query = request.read_query(_SkipQuery).query
    if not query.strip():
        raise InvalidField("query", "is missing", "Say what is about to be done.")
    matching = matching_skips(request, query, counted=True)
    if not matching:
        return text_response(f'Not on skip list. Proceed with "{query}".', matches=[])
    return text_response("\n\n".join(map(skip_match_text, matching)), matches=[skip_row(skip) for skip in matching])


def remove_skip(request: ApiRequest) -> Response:
    """End a skip now."""
    skip: Skip | None = request.workspace.skips.find(request.path["id"])
    if skip is None or not request.scope.holds(skip):
        raise NotFound("Skip entry not found.", "GET /v1/skip-list lists those of this workspace.")
    proposal = request.workspace.skips.remove(skip.id, base_version=skip.version)
    return proposal_response(proposal) if proposal else text_response(f"Skip entry {skip.id} removed.", id=skip.id)


def _requested_item(request: ApiRequest) -> WorkingItem:
    item: WorkingItem | None = request.workspace.items.find(request.path["id"])
    if item is None or section_of(item) or not request.scope.holds(item):
        raise NotFound("Item not found.", "GET /v1/working-memory/items lists those of this workspace.")
    return item


def list_items(request: ApiRequest) -> Response:
    """List working items, highest priority first; those of peeked workspaces follow, named."""
    query = request.read_query(_ItemQuery)
    limit = clamp_limit(query.limit, _MAX_LISTED)

    def rows(scope: WorkspaceScope) -> list[dict[str, Any]]:
        category, status = query.category or None, query.status or None
        items = protocol.list_items(
            request.workspace, (scope.namespace,), category=category, status=status, query=query.q
        )
        return [item_row(item) for item in items]

    own = rows(request.scope)
    others = [{**row, "workspace": scope.name} for scope in request.peeked() for row in rows(scope)]
    page = [*own, *others][query.offset : query.offset + limit]
    return json_response({"items": page, "total": len(own) + len(others), "offset": query.offset, "limit": limit})


def add_item(request: ApiRequest) -> Response:
    """Add a working item."""
    body = request.read_body(_NewItem)
    for name in ("category", "title"):
        if not getattr(body, name):
            raise InvalidField(name, "is missing", 'A working item needs "category" and "title".')
    values = {name: getattr(body, name) for name in ("content", "status", "priority", "tags", "next_action")}
    fields = {name: value for name, value in values.items() if value is not None}
    item = protocol.create_item(request.workspace, request.scope, body.category, body.title, fields)
    if isinstance(item, Proposal):
        return proposal_row_response(item, {"id": item.target_id, "category": body.category, "title": body.title})
    return json_response(item_row(item), 201)


def get_item(request: ApiRequest) -> Response:
    """Read one working item."""
    return json_response(item_row(_requested_item(request)))


def update_item(request: ApiRequest) -> Response:
    """Change some fields of a working item."""
    body = request.read_body(_ItemChange)
    item = _requested_item(request)
    values = ((name, getattr(body, name)) for name in body.__struct_fields__)
    changes: dict[str, Any] = {name: value for name, value in values if value is not msgspec.UNSET}
    if not changes:
        raise InvalidInput("No fields to update.", "Give at least one field of the item.")
    if changes.get("next_action", "") is None:
        changes["next_action"] = ""
    after = protocol.update_item(request.workspace, item, changes)
    if isinstance(after, Proposal):
        return proposal_row_response(after, item_row(item))
    return json_response(item_row(after))


def remove_item(request: ApiRequest) -> Response:
    """Remove a working item."""
    item = _requested_item(request)
    proposal = request.workspace.items.remove(item.id, base_version=item.version)
    return proposal_response(proposal) if proposal else json_response({"deleted": True, "id": item.id})


class _SectionText(RequestSchema):
    content: str


def get_document(request: ApiRequest) -> Response:
    """Return the whole working memory: each section's text, and below it the items and skips that belong there."""
    return text_response(WorkingMemoryDocument(request.workspace, request.scope).whole(with_empty=True))


def get_section(request: ApiRequest) -> Response:
    """Return one section's text, without the items and skips that belong there: those have routes of their own."""
    key = section_key(request.path["section"])
    section = sections_by_key(request.workspace, request.scope.namespace).get(key)
    if section is None and key not in SECTIONS:
        raise NotFound(f'Section "{key:.80}" not found in working memory.', f"There are {', '.join(SECTIONS)}.")
    content = "" if section is None else section.content
    marks = bracketed(list_labels(section)) if section is not None and content else ""
    return text_response(f"## {section_heading(key)}{marks}\n\n{quoted_block(content) or EMPTY_SECTION}")


def write_section(request: ApiRequest) -> Response:
    """Write one section's text in the place of its earlier one."""
    content = request.read_body(_SectionText).content
    key = section_key(request.path["section"])
    outcome = protocol.write_section(request.workspace, request.scope, key, content)
    if isinstance(outcome, Proposal):
        return proposal_response(outcome)
    return text_response(f'Updated section "{section_heading(key)}" in working memory.', section=key)
