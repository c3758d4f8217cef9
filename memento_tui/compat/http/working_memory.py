"""``/v1/skip-list`` and ``/v1/working-memory``: what not to do, what is being done, and the document."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from starlette.responses import Response

from memento_tui.compat.http.request import ApiRequest, ProtocolWorkspace, RequestSchema, clamp_limit
from memento_tui.compat.http.responses import (
    item_row,
    json_response,
    proposal_response,
    proposal_row_response,
    skip_row,
    text_response,
)
from memento_tui.compat.protocol.formatting import quoted_block, skip_match_text
from memento_tui.compat.protocol.working_memory import (
    EMPTY_SECTION,
    WorkingMemoryDocument,
    section_heading,
    sections_by_key,
)
from memento_tui.errors import InvalidField, InvalidInput, NotFound
from memento_tui.formats.protocol.vocabulary import (
    ITEM_CATEGORIES,
    SECTIONS,
    category_of,
    changed_item_fields,
    item_fields,
    section_fields,
    section_key,
    section_of,
)
from memento_tui.model import Proposal, Skip, WorkingItem
from memento_tui.model.lists import ITEM_STATUSES
from memento_tui.model.validation import check_choice
from memento_tui.moments import parse_moment
from memento_tui.operations.memory_status import format_time

__all__ = [
    "add_item",
    "add_skip",
    "check_skips",
    "list_items",
    "list_skips",
    "matching_skips",
    "remove_item",
    "remove_skip",
    "workspace_items",
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


# Skips


def matching_skips(call: ApiRequest, message: str, *, counted: bool) -> list[Skip]:
    """Return the skips that hold for a message; ``counted`` counts a hit for each.

    Those of the namespace ``global``, where a person's own are, hold in every workspace of the person.
    """

    def among(skip: Skip) -> bool:
        return call.place.holds(skip.namespace) or (not call.caller.account and skip.namespace == "global")

    asked = call.workspace.skips.check if counted else call.workspace.skips.matching
    return list(asked(message, among=among))


def list_skips(call: ApiRequest) -> Response:
    """List the skips that hold."""
    rows = [skip_row(skip) for skip in call.workspace.skips.list() if call.place.holds(skip.namespace)]
    return json_response({"entries": rows, "total": len(rows)})


def add_skip(call: ApiRequest) -> Response:
    """Add a skip, which ends at a real date to come."""
    given = call.given(_NewSkip)
    missing = [name for name in ("item", "reason", "expires") if not getattr(given, name)]
    if missing:
        raise InvalidField(missing[0], "is missing", 'A skip needs "item", "reason" and "expires".')
    made = call.workspace.skips.add(
        given.item,
        given.reason,
        parse_moment(given.expires, "expires"),
        id=call.new_id(),
        namespace=call.place.namespace,
    )
    if isinstance(made, Proposal):
        return proposal_response(made)
    text = f'Added to skip list: "{made.item}" (expires {format_time(made.expires_at)})'
    return text_response(text, 201, **skip_row(made))


def check_skips(call: ApiRequest) -> Response:
    """Tell whether something is not to be done."""
    query = call.asked(_SkipQuery).query
    if not query.strip():
        raise InvalidField("query", "is missing", "Say what is about to be done.")
    found = matching_skips(call, query, counted=True)
    if not found:
        return text_response(f'Not on skip list. Proceed with "{query}".', matches=[])
    return text_response("\n\n".join(map(skip_match_text, found)), matches=[skip_row(skip) for skip in found])


def remove_skip(call: ApiRequest) -> Response:
    """End a skip now."""
    skip: Skip | None = call.workspace.store.find("skip", call.path["id"])
    if skip is None or not call.place.holds(skip.namespace):
        raise NotFound("Skip entry not found.", "GET /v1/skip-list lists those of this workspace.")
    proposal = call.workspace.skips.remove(skip.id)
    return proposal_response(proposal) if proposal else text_response(f"Skip entry {skip.id} removed.", id=skip.id)


# Working items


def workspace_items(call: ApiRequest, place: ProtocolWorkspace, *, status: str | None = None) -> list[WorkingItem]:
    """Return the working items of a workspace, without those that are sections of its working memory."""
    found = call.workspace.items.list(status=status)
    return [item for item in found if place.holds(item.namespace) and not section_of(item)]


def _requested_item(call: ApiRequest) -> WorkingItem:
    item: WorkingItem | None = call.workspace.store.find("item", call.path["id"])
    if item is None or section_of(item) or not call.place.holds(item.namespace):
        raise NotFound("Item not found.", "GET /v1/working-memory/items lists those of this workspace.")
    return item


def list_items(call: ApiRequest) -> Response:
    """List working items, highest priority first; those of peeked workspaces follow, named."""
    wanted = call.asked(_ItemQuery)
    limit = clamp_limit(wanted.limit, _MAX_LISTED)
    _check_choices(wanted.category, wanted.status)
    own = [item_row(item) for item in workspace_items(call, call.place) if _is_wanted(item, wanted)]
    others = [
        {**item_row(item), "workspace": place.workspace}
        for place in call.peeked()
        for item in workspace_items(call, place)
        if _is_wanted(item, wanted)
    ]
    page = [*own, *others][wanted.offset : wanted.offset + limit]
    return json_response({"items": page, "total": len(own) + len(others), "offset": wanted.offset, "limit": limit})


def _check_choices(category: str, status: str) -> None:
    if category:
        check_choice(category, "category", ITEM_CATEGORIES)
    if status:
        check_choice(status, "status", ITEM_STATUSES)


def _is_wanted(item: WorkingItem, wanted: _ItemQuery) -> bool:
    part = wanted.q.casefold()
    return (
        wanted.category in ("", category_of(item))
        and wanted.status in ("", item.status)
        and (part in item.title.casefold() or part in item.content.casefold())
    )


def add_item(call: ApiRequest) -> Response:
    """Add a working item."""
    given = call.given(_NewItem)
    for name in ("category", "title"):
        if not getattr(given, name):
            raise InvalidField(name, "is missing", 'A working item needs "category" and "title".')
    _check_choices(given.category, given.status or "")
    more = {name: getattr(given, name) for name in ("content", "status", "priority", "tags", "next_action")}
    fields = {
        **item_fields(given.category, given.title),
        **{name: one for name, one in more.items() if one is not None},
    }
    made = call.workspace.items.create(
        **fields,
        id=call.new_id(),
        namespace=call.place.namespace,
    )
    if isinstance(made, Proposal):
        return proposal_row_response(made, {"id": made.target_id, "category": given.category, "title": given.title})
    return json_response(item_row(made), 201)


def get_item(call: ApiRequest) -> Response:
    """Read one working item."""
    return json_response(item_row(_requested_item(call)))


def update_item(call: ApiRequest) -> Response:
    """Change some fields of a working item."""
    given = call.given(_ItemChange)
    item = _requested_item(call)
    changes: dict[str, Any] = {
        name: getattr(given, name)
        for name in ("content", "status", "priority", "tags")
        if getattr(given, name) is not msgspec.UNSET
    }
    if given.next_action is not msgspec.UNSET:
        changes["next_action"] = given.next_action or ""
    if given.category is not msgspec.UNSET or given.title is not msgspec.UNSET:
        category, title = (None if one is msgspec.UNSET else one for one in (given.category, given.title))
        if category is not None:
            check_choice(category, "category", ITEM_CATEGORIES)
        changes |= changed_item_fields(item, category, title)
    if not changes:
        raise InvalidInput("No fields to update.", "Give at least one field of the item.")
    made = call.workspace.items.update(item.id, **changes)
    return proposal_row_response(made, item_row(item)) if isinstance(made, Proposal) else json_response(item_row(made))


def remove_item(call: ApiRequest) -> Response:
    """Remove a working item."""
    item = _requested_item(call)
    proposal = call.workspace.items.remove(item.id)
    return proposal_response(proposal) if proposal else json_response({"deleted": True, "id": item.id})


class _SectionText(RequestSchema):
    content: str


def get_document(call: ApiRequest) -> Response:
    """Return the whole working memory: each section's text, and below it what belongs there."""
    here = WorkingMemoryDocument(
        call.workspace, call.place.namespace, lambda record: call.place.holds(record.namespace)
    )
    return text_response(here.whole(with_empty=True))


def get_section(call: ApiRequest) -> Response:
    """Return one section's text, without the items and skips that belong there: those have routes of their own."""
    key = section_key(call.path["section"])
    found = sections_by_key(call.workspace, call.place.namespace).get(key)
    if found is None and key not in SECTIONS:
        raise NotFound(f'Section "{key:.80}" not found in working memory.', f"There are {', '.join(SECTIONS)}.")
    content = "" if found is None else found.content
    return text_response(f"## {section_heading(key)}\n\n{quoted_block(content) or EMPTY_SECTION}")


def write_section(call: ApiRequest) -> Response:
    """Write one section's text in the place of what it was."""
    content = call.given(_SectionText).content
    key = section_key(call.path["section"])
    before = sections_by_key(call.workspace, call.place.namespace).get(key)
    if before is None:
        made = call.workspace.items.create(**section_fields(key, content), namespace=call.place.namespace)
    else:
        made = call.workspace.items.update(before.id, content=content)
    if isinstance(made, Proposal):
        return proposal_response(made)
    return text_response(f'Updated section "{section_heading(key)}" in working memory.', section=key)
