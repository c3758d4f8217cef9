"""``/v1/skip-list`` and ``/v1/working-memory/items``: what not to do, and what is being done."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from starlette.responses import Response

from memento_tui.agent.http.call import Call, Place, Shape, limited
from memento_tui.agent.http.replies import proposed, proposed_row, replied, said
from memento_tui.agent.http.rows import item_row, skip_row
from memento_tui.agent.labels import moment_text
from memento_tui.agent.protocol.texts import skip_hit
from memento_tui.errors import InvalidField, InvalidInput, NotFound
from memento_tui.interchange.protocol_model import (
    ITEM_CATEGORIES,
    category_of,
    changed_item_fields,
    item_fields,
    section_of,
)
from memento_tui.records import Proposal, Skip, WorkingItem
from memento_tui.records.item import ITEM_STATUSES
from memento_tui.records.rules import check_choice
from memento_tui.records.when import parse_moment

__all__ = [
    "add_item",
    "add_skip",
    "change_item",
    "check_skips",
    "find_item",
    "items_of",
    "list_items",
    "list_skips",
    "remove_item",
    "remove_skip",
    "skips_about",
]

_MOST = 100


class _NewSkip(Shape):
    item: str = ""
    reason: str = ""
    expires: str = ""


class _Question(Shape):
    query: str = ""


class _NewItem(Shape):
    category: str = ""
    title: str = ""
    content: str | None = None
    status: str | None = None
    priority: int | None = None
    tags: list[str] | None = None
    next_action: str | None = None


class _ItemChange(Shape):
    category: str | msgspec.UnsetType = msgspec.UNSET
    title: str | msgspec.UnsetType = msgspec.UNSET
    content: str | msgspec.UnsetType = msgspec.UNSET
    status: str | msgspec.UnsetType = msgspec.UNSET
    priority: int | msgspec.UnsetType = msgspec.UNSET
    tags: list[str] | msgspec.UnsetType = msgspec.UNSET
    next_action: str | msgspec.UnsetType | None = msgspec.UNSET


class _WantedItems(Shape):
    category: str = ""
    status: str = ""
    q: str = ""
    limit: int = 50
    offset: Annotated[int, msgspec.Meta(ge=0)] = 0


# Skips


def skips_about(call: Call, message: str, *, counted: bool) -> list[Skip]:
    """Return the skips that hold for a message; ``counted`` counts a hit for each.

    Those of the namespace ``global``, where a person's own are, hold in every workspace of the person.
    """

    def among(skip: Skip) -> bool:
        return call.place.holds(skip.namespace) or (not call.caller.account and skip.namespace == "global")

    asked = call.workspace.skips.check if counted else call.workspace.skips.matching
    return list(asked(message, among=among))


def list_skips(call: Call) -> Response:
    """List the skips that hold."""
    rows = [skip_row(skip) for skip in call.workspace.skips.list() if call.place.holds(skip.namespace)]
    return replied({"entries": rows, "total": len(rows)})


def add_skip(call: Call) -> Response:
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
        return proposed(made)
    text = f'Added to skip list: "{made.item}" (expires {moment_text(made.expires_at)})'
    return said(text, 201, **skip_row(made))


def check_skips(call: Call) -> Response:
    """Tell whether something is not to be done."""
    query = call.asked(_Question).query
    if not query.strip():
        raise InvalidField("query", "is missing", "Say what is about to be done.")
    found = skips_about(call, query, counted=True)
    if not found:
        return said(f'Not on skip list. Proceed with "{query}".', matches=[])
    return said("\n\n".join(map(skip_hit, found)), matches=[skip_row(skip) for skip in found])


def remove_skip(call: Call) -> Response:
    """End a skip now."""
    skip: Skip | None = call.workspace.store.find("skip", call.path["id"])
    if skip is None or not call.place.holds(skip.namespace):
        raise NotFound("Skip entry not found.", "GET /v1/skip-list lists those of this workspace.")
    proposal = call.workspace.skips.remove(skip.id)
    return proposed(proposal) if proposal else said(f"Skip entry {skip.id} removed.", id=skip.id)


# Working items


def items_of(call: Call, place: Place, *, status: str | None = None) -> list[WorkingItem]:
    """Return the working items of a workspace, without those that are sections of its working memory."""
    found = call.workspace.items.list(status=status)
    return [item for item in found if place.holds(item.namespace) and not section_of(item)]


def _item(call: Call) -> WorkingItem:
    item: WorkingItem | None = call.workspace.store.find("item", call.path["id"])
    if item is None or section_of(item) or not call.place.holds(item.namespace):
        raise NotFound("Item not found.", "GET /v1/working-memory/items lists those of this workspace.")
    return item


def list_items(call: Call) -> Response:
    """List working items, highest priority first; those of peeked workspaces follow, named."""
    wanted = call.asked(_WantedItems)
    limit = limited(wanted.limit, _MOST)
    _check(wanted.category, wanted.status)
    own = [item_row(item) for item in items_of(call, call.place) if _is_wanted(item, wanted)]
    others = [
        {**item_row(item), "workspace": place.workspace}
        for place in call.peeked()
        for item in items_of(call, place)
        if _is_wanted(item, wanted)
    ]
    page = [*own, *others][wanted.offset : wanted.offset + limit]
    return replied({"items": page, "total": len(own) + len(others), "offset": wanted.offset, "limit": limit})


def _check(category: str, status: str) -> None:
    if category:
        check_choice(category, "category", ITEM_CATEGORIES)
    if status:
        check_choice(status, "status", ITEM_STATUSES)


def _is_wanted(item: WorkingItem, wanted: _WantedItems) -> bool:
    part = wanted.q.casefold()
    return (
        wanted.category in ("", category_of(item))
        and wanted.status in ("", item.status)
        and (part in item.title.casefold() or part in item.content.casefold())
    )


def add_item(call: Call) -> Response:
    """Add a working item."""
    given = call.given(_NewItem)
    for name in ("category", "title"):
        if not getattr(given, name):
            raise InvalidField(name, "is missing", 'A working item needs "category" and "title".')
    _check(given.category, given.status or "")
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
        return proposed_row(made, {"id": made.target_id, "category": given.category, "title": given.title})
    return replied(item_row(made), 201)


def find_item(call: Call) -> Response:
    """Read one working item."""
    return replied(item_row(_item(call)))


def change_item(call: Call) -> Response:
    """Change some fields of a working item."""
    given = call.given(_ItemChange)
    item = _item(call)
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
    return proposed_row(made, item_row(item)) if isinstance(made, Proposal) else replied(item_row(made))


def remove_item(call: Call) -> Response:
    """Remove a working item."""
    item = _item(call)
    proposal = call.workspace.items.remove(item.id)
    return proposed(proposal) if proposal else replied({"deleted": True, "id": item.id})
