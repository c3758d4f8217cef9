"""Tools for working items, skips and the identity."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui.mcp.results import (
    applied_result,
    change_result,
    item_entry,
    item_lines,
    proposal_result,
    skip_entry,
    skip_lines,
    tool_result,
)
from memento_tui.mcp.schemas import ChangeResult, IdentityResult, ItemList, SkipList
from memento_tui.mcp.tool import (
    UNCHANGED,
    BaseVersion,
    Category,
    Id,
    ItemStatus,
    Namespace,
    SkipEnd,
    Tags,
    changed_arguments,
    given_arguments,
)
from memento_tui.mcp.workspaces import McpWorkspaces
from memento_tui.model import Skip
from memento_tui.model.lists import ITEM_CATEGORIES, ITEM_STATUSES
from memento_tui.model.validation import check_choice
from memento_tui.operations.memories import format_time, list_labels
from memento_tui.operations.outcome import write_identity
from memento_tui.operations.scope import matching_skips, relevant_items, relevant_skips
from memento_tui.text.fence import fenced, quoted_id
from memento_tui.text.labels import bracketed

__all__ = ["IdentityTools", "ItemTools", "SkipTools"]


class ItemTools:
    """The tools for working items."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces

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
    ) -> Annotated[CallToolResult, ChangeResult]:
        """Add a working item: what you are doing, a standing decision, or what you wait for."""
        fields = given_arguments(
            category=category,
            content=content,
            next_action=next_action,
            priority=priority,
            tags=tags,
            namespace=namespace,
        )
        return change_result(self._mcp_workspaces.of(ctx).items.create(title, **fields), "Added")

    def item_update(  # noqa: PLR0913 - each is a field of the item
        self,
        ctx: Context,
        id: Id,  # noqa: A002 - the record's name for it
        base_version: BaseVersion,
        *,
        title: str = UNCHANGED,
        category: Category = UNCHANGED,
        status: ItemStatus = UNCHANGED,
        content: str = UNCHANGED,
        next_action: str = UNCHANGED,
        priority: int = UNCHANGED,
        tags: Tags = UNCHANGED,
    ) -> Annotated[CallToolResult, ChangeResult]:
        """Change a working item; set status completed when it is done."""
        fields = changed_arguments(
            title=title,
            category=category,
            status=status,
            content=content,
            next_action=next_action,
            priority=priority,
            tags=tags,
        )
        return change_result(
            self._mcp_workspaces.of(ctx).items.update(id, base_version=base_version, **fields), "Changed"
        )

    def item_list(
        self, ctx: Context, category: Category = UNCHANGED, status: ItemStatus = "active"
    ) -> Annotated[CallToolResult, ItemList]:
        """Return working items, highest priority first."""
        if category is not UNCHANGED:
            check_choice(category, "category", ITEM_CATEGORIES)
        check_choice(status, "status", ITEM_STATUSES)
        items = relevant_items(self._mcp_workspaces.of(ctx), "", category=category, status=status)
        result = ItemList(items=[item_entry(item) for item in items])
        return tool_result(item_lines(items) if items else "There are no such working items.", result)

    def item_remove(
        self,
        ctx: Context,
        id: Id,  # noqa: A002 - the record's name for it
        base_version: BaseVersion,
    ) -> Annotated[CallToolResult, ChangeResult]:
        """Remove a working item that was a mistake; done ones are better set to completed."""
        workspace = self._mcp_workspaces.of(ctx)
        item = workspace.items.get(id)
        return change_result(workspace.items.remove(item.id, base_version=base_version) or item, "Removed")


class SkipTools:
    """The tools for skips."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces

    def skip_add(
        self, ctx: Context, item: str, reason: str, expires: SkipEnd, namespace: Namespace = UNCHANGED
    ) -> Annotated[CallToolResult, ChangeResult]:
        """Note what not to do or read again, why, and until when (within two years)."""
        outcome = self._mcp_workspaces.of(ctx).skips.add(item, reason, expires, **given_arguments(namespace=namespace))
        return change_result(outcome, "Noted")

    def skip_check(self, ctx: Context, query: str) -> Annotated[CallToolResult, SkipList]:
        """Return the skips that hold for something you are about to do: `vendor/lib.js` meets `reading vendor/`."""
        skips = matching_skips(self._mcp_workspaces.of(ctx), "", query)
        return _skip_list_result(skips, "Not on the skip list: go ahead.")

    def skip_list(self, ctx: Context) -> Annotated[CallToolResult, SkipList]:
        """Return all skips that hold now."""
        return _skip_list_result(relevant_skips(self._mcp_workspaces.of(ctx), ""), "The skip list is empty.")

    def skip_remove(
        self,
        ctx: Context,
        id: Id,  # noqa: A002 - the record's name for it
        base_version: BaseVersion,
    ) -> Annotated[CallToolResult, ChangeResult]:
        """End a skip now."""
        workspace = self._mcp_workspaces.of(ctx)
        skip = workspace.skips.get(id)
        return change_result(workspace.skips.remove(skip.id, base_version=base_version) or skip, "Removed")


def _skip_list_result(skips: list[Skip], none: str) -> CallToolResult:
    result = SkipList(skips=[skip_entry(skip) for skip in skips])
    return tool_result(skip_lines(skips) if skips else none, result)


class IdentityTools:
    """The tools for the identity."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces

    def identity_read(self, ctx: Context) -> Annotated[CallToolResult, IdentityResult]:
        """Read who you are and how you work, as written so far."""
        crystal = self._mcp_workspaces.of(ctx).crystals.current()
        if crystal is None:
            return tool_result("No identity has been written yet.", IdentityResult())
        result = IdentityResult(
            id=crystal.id,
            content=crystal.content,
            author=crystal.author,
            created_at=format_time(crystal.created_at),
            labels=list_labels(crystal),
        )
        marks = bracketed(list_labels(crystal))
        return tool_result(f"Identity {quoted_id(crystal.id)}{marks}\n{fenced(crystal.content)}", result)

    def identity_write(
        self,
        ctx: Context,
        content: str,
        base_id: Annotated[str, Field(description="id of the identity you read")] = UNCHANGED,
    ) -> Annotated[CallToolResult, ChangeResult]:
        """Write the whole identity anew, in prose. Earlier ones are kept; a person may be asked first."""
        workspace = self._mcp_workspaces.of(ctx)
        crystal, proposal = write_identity(workspace, content, base_id)
        if proposal is not None:
            return proposal_result(proposal)
        return applied_result(crystal.id, crystal.version, "Wrote the identity")
