"""Working items: what is being done, what holds until further notice, what is waited for."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from memento_tui.agent.answers import answer, item_entry, item_lines
from memento_tui.agent.arguments import (
    UNCHANGED,
    BaseVersion,
    Category,
    Id,
    ItemStatus,
    Namespace,
    Tags,
    changes,
    given,
)
from memento_tui.agent.briefing import concerns
from memento_tui.agent.seats import Seats
from memento_tui.agent.shapes import ItemList, Written
from memento_tui.agent.tools.outcomes import written
from memento_tui.records.item import CATEGORIES, ITEM_STATUSES
from memento_tui.records.rules import check_choice

__all__ = ["ItemTools"]


class ItemTools:
    """The tools for working items."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

    def item_create(
        self,
        ctx: Context,
        title: str,
        *,
        category: Category = UNCHANGED,
        content: str = UNCHANGED,
        next_action: str = UNCHANGED,
        priority: int = UNCHANGED,
        tags: Tags = UNCHANGED,
        namespace: Namespace = UNCHANGED,
    ) -> Annotated[CallToolResult, Written]:
        """Add a working item: what you are doing, a standing decision, or what you wait for."""
        fields = given(
            category=category,
            content=content,
            next_action=next_action,
            priority=priority,
            tags=tags,
            namespace=namespace,
        )
        return written(self._seats.of(ctx).items.create(title, **fields), "Added")

    def item_update(  # noqa: PLR0913 - each is a field of the item
        self,
        ctx: Context,
        id: Id,  # noqa: A002 - the record's name for it
        *,
        title: str = UNCHANGED,
        category: Category = UNCHANGED,
        status: ItemStatus = UNCHANGED,
        content: str = UNCHANGED,
        next_action: str = UNCHANGED,
        priority: int = UNCHANGED,
        tags: Tags = UNCHANGED,
        base_version: BaseVersion = UNCHANGED,
    ) -> Annotated[CallToolResult, Written]:
        """Change a working item; set status completed when it is done."""
        fields = changes(
            title=title,
            category=category,
            status=status,
            content=content,
            next_action=next_action,
            priority=priority,
            tags=tags,
        )
        return written(self._seats.of(ctx).items.update(id, base_version=base_version, **fields), "Changed")

    def item_list(
        self, ctx: Context, category: Category = UNCHANGED, status: ItemStatus = "active"
    ) -> Annotated[CallToolResult, ItemList]:
        """Return working items, highest priority first."""
        if category is not UNCHANGED:
            check_choice(category, "category", CATEGORIES)
        check_choice(status, "status", ITEM_STATUSES)
        listed = self._seats.of(ctx).items.list(category=category, status=status)
        items = [item for item in listed if concerns("", item.namespace)]
        shape = ItemList(items=[item_entry(item) for item in items])
        return answer(item_lines(items) if items else "There are no such working items.", shape)

    def item_remove(self, ctx: Context, id: Id) -> Annotated[CallToolResult, Written]:  # noqa: A002 - the record's name
        """Remove a working item that was a mistake; done ones are better set to completed."""
        workspace = self._seats.of(ctx)
        item = workspace.items.get(id)
        return written(workspace.items.remove(item.id) or item, "Removed")
