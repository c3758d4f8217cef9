"""Tools for the working memory: its document in sections, working items, and the skip list.

A workspace needs no preparation here: it is a namespace, and comes into being with the first thing stored in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui.api import Workspace
from memento_tui.compat.protocol.formatting import (
    OMITTED,
    SEPARATOR,
    ItemCategory,
    ItemStatus,
    WorkspaceName,
    entry_id,
    not_done_text,
    quoted_block,
    skip_match_text,
    tags_text,
    text_result,
)
from memento_tui.compat.protocol.workspaces import ToolContext, WorkspaceScope, id_maker, is_within_namespaces
from memento_tui.errors import NotFound
from memento_tui.formats.protocol.vocabulary import (
    ITEM_CATEGORIES,
    SECTIONS,
    category_of,
    changed_item_fields,
    item_fields,
    item_title,
    section_fields,
    section_key,
    section_of,
)
from memento_tui.mcp.tool import Tags, changed_arguments, given_arguments
from memento_tui.model import Proposal, Skip, WorkingItem
from memento_tui.model.filters import Under
from memento_tui.model.lists import ITEM_STATUSES
from memento_tui.model.validation import check_choice, check_line
from memento_tui.operations.memory_status import format_time
from memento_tui.operations.recall import plain_query
from memento_tui.text.fence import one_line, quoted_id

__all__ = [
    "EMPTY_SECTION",
    "ItemTools",
    "SectionTools",
    "SkipTools",
    "WorkingMemoryDocument",
    "section_heading",
    "sections_by_key",
]

EMPTY_SECTION = "(empty)"
"""What stands below a heading that nothing belongs under."""

_SECTION_OF_CATEGORY = {
    "active_work": "active_work",
    "standing_decision": "standing_decisions",
    "skip_list": "skip_list",
    "waiting_for": "waiting_for",
    "session_note": "session_notes",
}


def sections_by_key(workspace: Workspace, namespace: str) -> dict[str, WorkingItem]:
    """Return the items that are a namespace's sections, by their keys; of several with one key the latest changed."""
    found = [item for item in workspace.items.list() if section_of(item) and item.namespace == namespace]
    found.sort(key=lambda item: item.updated_at)
    return {section_key(section_of(item)): item for item in found}


def section_heading(key: str) -> str:
    """Return the heading of a section; one of somebody's own is its own key."""
    return SECTIONS.get(key) or one_line(key)


class WorkingMemoryDocument:
    """The working memory of a namespace, as it is now; ``holds`` tells which items and skips belong to it."""

    def __init__(self, workspace: Workspace, namespace: str, holds: Callable[[Skip | WorkingItem], bool]) -> None:
        self.sections = sections_by_key(workspace, namespace)
        listed = (item for item in workspace.items.list() if item.status != "archived" and not section_of(item))
        self._items = [item for item in listed if holds(item)]
        self._skips = [skip for skip in workspace.skips.list() if holds(skip)]

    def keys(self) -> list[str]:
        """Return the usual sections in their order, then those of somebody's own."""
        return list(dict.fromkeys([*SECTIONS, *self.sections]))

    def body(self, key: str) -> str:
        """Return what stands below a section's heading; empty for nothing."""
        section = self.sections.get(key)
        parts = [quoted_block(section.content)] if section is not None and section.content.strip() else []
        parts += [_item_text(item) for item in self._items if _SECTION_OF_CATEGORY[category_of(item)] == key]
        if key == "skip_list" and self._skips:
            parts.append(_skips_text(self._skips))
        return "\n\n".join(parts)

    def whole(self, *, with_empty: bool) -> str:
        """Return the document, ``with_empty`` or without the sections that say nothing."""
        bodies = [(key, self.body(key)) for key in self.keys()]
        parts = [f"## {section_heading(key)}\n\n{body or EMPTY_SECTION}" for key, body in bodies if body or with_empty]
        return SEPARATOR.join(["# Working Memory", *parts]) if parts else f"# Working Memory\n\n{EMPTY_SECTION}"


def _item_text(item: WorkingItem) -> str:
    status = "" if item.status == "active" else f" *({item.status})*"
    lines = [f"### {one_line(item_title(item))}{status}{tags_text(item.tags)}"]
    if item.content.strip():
        lines.append(quoted_block(item.content))
    if item.next_action:
        lines.append(f"**Next:** {one_line(item.next_action)}")
    return "\n\n".join(lines)


def _skips_text(skips: Sequence[Skip]) -> str:
    return "\n".join(
        f"- {one_line(skip.item)} ({one_line(skip.reason)}; until {format_time(skip.expires_at)})" for skip in skips
    )


class SectionTools:
    """The tools for the document."""

    def __init__(self, desk: ToolContext) -> None:
        self._tool_context = desk

    def memento_init(self, ctx: Context) -> CallToolResult:
        """Begin a workspace. Needed once for a project, if at all."""
        workspace, place = self._tool_context.of(ctx)
        if _is_in_use(workspace, place):
            return text_result(f'Workspace "{place.name}" already exists. Use memento_read to load it.')
        return text_result(
            f'Memento workspace initialized (local, "{place.name}").\n\n'
            "Read working memory at the start of every session."
        )

    def memento_read(self, ctx: Context, section: str = "") -> CallToolResult:
        """Read the working memory, or one section of it: active_work, standing_decisions, skip_list, session_notes."""
        workspace, place = self._tool_context.of(ctx)
        document = WorkingMemoryDocument(workspace, place.namespace, place.holds)
        if not section.strip():
            return text_result(document.whole(with_empty=False))
        key, known = section_key(section), document.keys()
        if key not in known:
            raise NotFound(
                f'Section "{one_line(section, 60)}" not found in working memory.', f"There are {', '.join(known):.500}."
            )
        return text_result(f"## {section_heading(key)}\n\n{document.body(key) or EMPTY_SECTION}")

    def memento_update(self, ctx: Context, section: str, content: str) -> CallToolResult:
        """Write a section of the working memory anew: active_work, standing_decisions, skip_list, session_notes."""
        workspace, place = self._tool_context.of(ctx)
        key = section_key(check_line(section, "section", required=True))
        before = sections_by_key(workspace, place.namespace).get(key)
        if before is None:
            made = workspace.items.create(
                **section_fields(key, content), id=id_maker(workspace)(), namespace=place.namespace
            )
        else:
            made = workspace.items.update(before.id, content=content)
        named = f'section "{section_heading(key)}" in working memory'
        return text_result(
            not_done_text(f"Not updated {named}", made) if isinstance(made, Proposal) else f"Updated {named}."
        )


def _is_in_use(workspace: Workspace, place: WorkspaceScope) -> bool:
    return (
        any(place.holds(item) for item in workspace.items.list())
        or any(place.holds(skip) for skip in workspace.skips.list(ended=True))
        or workspace.store.count(Under(place.namespace)) > 0
    )


_MAX_ITEMS = 50
"""Items in one answer, as many as this system lists."""


class ItemTools:
    """The tools for working items."""

    def __init__(self, desk: ToolContext) -> None:
        self._tool_context = desk

    def memento_item_create(
        self,
        ctx: Context,
        category: ItemCategory,
        title: str,
        *,
        content: str = OMITTED,
        status: ItemStatus = "active",
        priority: int = 0,
        tags: Tags = OMITTED,
        next_action: str = OMITTED,
    ) -> CallToolResult:
        """Add a working item. next_action tells a later session what to do next."""
        workspace, place = self._tool_context.of(ctx)
        check_line(title, "title", required=True)
        words = item_fields(check_choice(category, "category", ITEM_CATEGORIES), title)
        more = given_arguments(content=content, status=status, priority=priority, tags=tags, next_action=next_action)
        make_id = id_maker(workspace)
        made = workspace.items.create(**{**words, **more, "id": make_id(), "namespace": place.namespace})
        if isinstance(made, Proposal):
            return text_result(not_done_text(f"Item {quoted_id(made.target_id)} is not created", made))
        created = f'Created item {quoted_id(made.id)} in {category_of(made)}: "{one_line(item_title(made))}"'
        return text_result(f"{created}{tags_text(made.tags)}")

    def memento_item_update(  # noqa: PLR0913 - each is a field of the item
        self,
        ctx: Context,
        id: str,  # noqa: A002 - the system's name for it
        *,
        title: str = OMITTED,
        content: str = OMITTED,
        category: ItemCategory = OMITTED,
        status: ItemStatus = OMITTED,
        priority: int = OMITTED,
        tags: Tags = OMITTED,
        next_action: str = OMITTED,
    ) -> CallToolResult:
        """Change what is given of a working item. Set it completed when done; write what was done and what is next."""
        workspace, place = self._tool_context.of(ctx)
        plain = {"content": content, "status": status, "priority": priority, "tags": tags, "next_action": next_action}
        wanted = changed_arguments(title=title, category=category, **plain)
        item = place.item(workspace, id)
        fields: dict[str, Any] = {key: value for key, value in wanted.items() if key in plain}
        if {"title", "category"} & set(wanted):
            fields |= _changed_title_fields(item, wanted)
        made = workspace.items.update(item.id, **fields)
        if isinstance(made, Proposal):
            return text_result(not_done_text(f"Item {quoted_id(item.id)} is not updated", made))
        return text_result(f'Updated item {quoted_id(made.id)}: "{one_line(item_title(made))}" ({made.status})')

    def memento_item_delete(self, ctx: Context, id: str) -> CallToolResult:  # noqa: A002 - the system's name for it
        """Delete a working item that was a mistake; done ones are better set to archived."""
        workspace, place = self._tool_context.of(ctx)
        item = place.item(workspace, id)
        proposal = workspace.items.remove(item.id)
        if proposal is not None:
            return text_result(not_done_text(f"Item {quoted_id(item.id)} is not deleted", proposal))
        return text_result(f"Deleted item {quoted_id(item.id)}.")

    def memento_item_list(
        self,
        ctx: Context,
        *,
        category: ItemCategory = OMITTED,
        status: ItemStatus = OMITTED,
        query: str = "",
        workspace: WorkspaceName = "",
    ) -> CallToolResult:
        """List working items, highest priority first; without a status all that are not archived."""
        items, place = self._tool_context.of(ctx)
        if category is not OMITTED:
            check_choice(category, "category", ITEM_CATEGORIES)
        if status is not OMITTED:
            check_choice(status, "status", ITEM_STATUSES)
        where = place.read(workspace)
        found = [
            item
            for item in items.items.list(status=status, query=plain_query(query))
            if is_within_namespaces(item.namespace, where)
            and not section_of(item)
            and category in (OMITTED, category_of(item))
            and (status is not OMITTED or item.status != "archived")
        ]
        if not found:
            return text_result("No working memory items found.")
        count = f"Found {len(found)} item{'' if len(found) == 1 else 's'}"
        entries = [_item_entry(item) for item in found[:_MAX_ITEMS]]
        if len(found) > _MAX_ITEMS:
            entries.append(f"{len(found) - _MAX_ITEMS} more are not listed; ask by category, status or query.")
        return text_result(f"{count}:\n\n" + "\n\n".join(entries))


def _changed_title_fields(item: WorkingItem, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that a new title or category changes, which depend on each other."""
    category, title = wanted.get("category"), wanted.get("title")
    if category is not None:
        check_choice(category, "category", ITEM_CATEGORIES)
    if title is not None:
        check_line(title, "title", required=True)
    return changed_item_fields(item, category, title)


def _item_entry(item: WorkingItem) -> str:
    status = "" if item.status == "active" else f" ({item.status})"
    following = f"\n  Next: {one_line(item.next_action)}" if item.next_action else ""
    words = f"{category_of(item)}: {one_line(item_title(item))}"
    return f"{entry_id(item.id)} {words}{status}{tags_text(item.tags)}{following}"


class SkipTools:
    """The tools for skips."""

    def __init__(self, desk: ToolContext) -> None:
        self._tool_context = desk

    def memento_skip_add(
        self,
        ctx: Context,
        item: str,
        reason: str,
        expires: Annotated[str, Field(description="ISO date to come, such as 2027-02-20")],
    ) -> CallToolResult:
        """Note what not to do, read or look into for now, and why. Every skip ends."""
        workspace, place = self._tool_context.of(ctx)
        make_id = id_maker(workspace)
        made = workspace.skips.add(item, reason, expires, id=make_id(), namespace=place.namespace)
        if isinstance(made, Proposal):
            return text_result(not_done_text("Not added to skip list", made))
        return text_result(f'Added to skip list: "{one_line(made.item)}" (expires {format_time(made.expires_at)})')

    def memento_skip_check(self, ctx: Context, query: str) -> CallToolResult:
        """Ask whether something is to be left alone, before you look into it."""
        workspace, place = self._tool_context.of(ctx)
        found = workspace.skips.check(query, among=place.holds)
        if not found:
            return text_result(f'Not on skip list. Proceed with "{one_line(query)}".')
        return text_result("\n\n".join(map(skip_match_text, found)))

    def memento_skip_list(self, ctx: Context) -> CallToolResult:
        """List all skips that hold, with their ids."""
        workspace, place = self._tool_context.of(ctx)
        held = [skip for skip in workspace.skips.list() if place.holds(skip)]
        if not held:
            return text_result("Skip list is empty.")
        count = f"{len(held)} skip list entr{'y' if len(held) == 1 else 'ies'}"
        return text_result(f"{count}:\n\n" + "\n\n".join(_skip_entry(skip) for skip in held))

    def memento_skip_remove(self, ctx: Context, id: str) -> CallToolResult:  # noqa: A002 - the system's name for it
        """End a skip now, by the id that memento_skip_list gives."""
        workspace, place = self._tool_context.of(ctx)
        skip = place.skip(workspace, id)
        proposal = workspace.skips.remove(skip.id)
        if proposal is not None:
            return text_result(not_done_text(f"Skip entry {quoted_id(skip.id)} is not removed", proposal))
        return text_result(f"Skip entry {quoted_id(skip.id)} removed.")


def _skip_entry(skip: Skip) -> str:
    item, reason = one_line(skip.item), one_line(skip.reason)
    return f'{entry_id(skip.id)} "{item}"\n  Reason: {reason}\n  Expires: {format_time(skip.expires_at)}'
