"""Working items: what is being done, what holds until further notice, what is waited for, what is never to be done."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from memento_tui.agent.arguments import Tags, changes, given
from memento_tui.agent.fence import one_line, quoted_id
from memento_tui.agent.protocol.arguments import LEFT_OUT, ItemCategory, ItemStatus, Where
from memento_tui.agent.protocol.desk import Desk
from memento_tui.agent.protocol.ids import fresh_id
from memento_tui.agent.protocol.place import is_within
from memento_tui.agent.protocol.texts import entry_name, not_yet, said, tags_text
from memento_tui.agent.recall import plain_query
from memento_tui.interchange.protocol_model import (
    ITEM_CATEGORIES,
    category_of,
    changed_item_fields,
    item_fields,
    item_title,
    section_of,
)
from memento_tui.records import Proposal, WorkingItem
from memento_tui.records.item import ITEM_STATUSES
from memento_tui.records.rules import check_choice, check_line

__all__ = ["ItemTools"]

_MOST = 50
"""Items in one answer, as many as this system lists."""


class ItemTools:
    """The tools for working items."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def memento_item_create(
        self,
        ctx: Context,
        category: ItemCategory,
        title: str,
        *,
        content: str = LEFT_OUT,
        status: ItemStatus = "active",
        priority: int = 0,
        tags: Tags = LEFT_OUT,
        next_action: str = LEFT_OUT,
    ) -> CallToolResult:
        """Add a working item. next_action tells a later session what to do next."""
        workspace, place = self._desk.of(ctx)
        check_line(title, "title", required=True)
        words = item_fields(check_choice(category, "category", ITEM_CATEGORIES), title)
        more = given(content=content, status=status, priority=priority, tags=tags, next_action=next_action)
        make_id = fresh_id(workspace)
        made = workspace.items.create(**{**words, **more, "id": make_id(), "namespace": place.namespace})
        if isinstance(made, Proposal):
            return said(not_yet(f"Item {quoted_id(made.target_id)} is not created", made))
        created = f'Created item {quoted_id(made.id)} in {category_of(made)}: "{one_line(item_title(made))}"'
        return said(f"{created}{tags_text(made.tags)}")

    def memento_item_update(  # noqa: PLR0913 - each is a field of the item
        self,
        ctx: Context,
        id: str,  # noqa: A002 - the system's name for it
        *,
        title: str = LEFT_OUT,
        content: str = LEFT_OUT,
        category: ItemCategory = LEFT_OUT,
        status: ItemStatus = LEFT_OUT,
        priority: int = LEFT_OUT,
        tags: Tags = LEFT_OUT,
        next_action: str = LEFT_OUT,
    ) -> CallToolResult:
        """Change what is given of a working item. Set it completed when done; write what was done and what is next."""
        workspace, place = self._desk.of(ctx)
        plain = {"content": content, "status": status, "priority": priority, "tags": tags, "next_action": next_action}
        wanted = changes(title=title, category=category, **plain)
        item = place.item(workspace, id)
        fields: dict[str, Any] = {key: value for key, value in wanted.items() if key in plain}
        if {"title", "category"} & set(wanted):
            fields |= _worded(item, wanted)
        made = workspace.items.update(item.id, **fields)
        if isinstance(made, Proposal):
            return said(not_yet(f"Item {quoted_id(item.id)} is not updated", made))
        return said(f'Updated item {quoted_id(made.id)}: "{one_line(item_title(made))}" ({made.status})')

    def memento_item_delete(self, ctx: Context, id: str) -> CallToolResult:  # noqa: A002 - the system's name for it
        """Delete a working item that was a mistake; done ones are better set to archived."""
        workspace, place = self._desk.of(ctx)
        item = place.item(workspace, id)
        proposal = workspace.items.remove(item.id)
        if proposal is not None:
            return said(not_yet(f"Item {quoted_id(item.id)} is not deleted", proposal))
        return said(f"Deleted item {quoted_id(item.id)}.")

    def memento_item_list(
        self,
        ctx: Context,
        *,
        category: ItemCategory = LEFT_OUT,
        status: ItemStatus = LEFT_OUT,
        query: str = "",
        workspace: Where = "",
    ) -> CallToolResult:
        """List working items, highest priority first; without a status all that are not archived."""
        items, place = self._desk.of(ctx)
        if category is not LEFT_OUT:
            check_choice(category, "category", ITEM_CATEGORIES)
        if status is not LEFT_OUT:
            check_choice(status, "status", ITEM_STATUSES)
        where = place.read(workspace)
        found = [
            item
            for item in items.items.list(status=status, query=plain_query(query))
            if is_within(item.namespace, where)
            and not section_of(item)
            and category in (LEFT_OUT, category_of(item))
            and (status is not LEFT_OUT or item.status != "archived")
        ]
        if not found:
            return said("No working memory items found.")
        count = f"Found {len(found)} item{'' if len(found) == 1 else 's'}"
        entries = [_entry(item) for item in found[:_MOST]]
        if len(found) > _MOST:
            entries.append(f"{len(found) - _MOST} more are not listed; ask by category, status or query.")
        return said(f"{count}:\n\n" + "\n\n".join(entries))


def _worded(item: WorkingItem, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that a new title or category changes, which depend on each other."""
    category, title = wanted.get("category"), wanted.get("title")
    if category is not None:
        check_choice(category, "category", ITEM_CATEGORIES)
    if title is not None:
        check_line(title, "title", required=True)
    return changed_item_fields(item, category, title)


def _entry(item: WorkingItem) -> str:
    status = "" if item.status == "active" else f" ({item.status})"
    following = f"\n  Next: {one_line(item.next_action)}" if item.next_action else ""
    words = f"{category_of(item)}: {one_line(item_title(item))}"
    return f"{entry_name(item.id)} {words}{status}{tags_text(item.tags)}{following}"
