"""Memento Protocol's working memory and its MCP tools: its document in sections, working items and skips.

Shared by the MCP tools and HTTP. A workspace needs no preparation here: it is a namespace, and comes into being with
the first record stored in it.

Tools for the identity crystal and for the state of the memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.compat.protocol.formatting import (
    OMITTED,
    SEPARATOR,
    ItemCategory,
    ItemStatus,
    WorkspaceName,
    entry_id,
    not_done_text,
    pending_text,
    quoted_block,
    rejected_text,
    skip_match_text,
    tags_text,
    text_result,
)
from memento_tui.compat.protocol.workspaces import ToolContext, WorkspaceScope, id_maker
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
from memento_tui.model.validation import check_choice, check_line, check_text
from memento_tui.operations.memories import count_memories, format_time, identity_text, list_labels
from memento_tui.operations.outcome import DECIDED_STATES, ProposalSummary, proposals_of_agent, write_identity
from memento_tui.operations.recall import plain_query
from memento_tui.operations.scope import is_within_namespaces
from memento_tui.policy.policy import reasons_in_words
from memento_tui.text.fence import one_line, quoted_id
from memento_tui.text.labels import bracketed

__all__ = [
    "EMPTY_SECTION",
    "HealthTools",
    "IdentityTools",
    "ItemTools",
    "SectionTools",
    "SkipTools",
    "WorkingMemoryDocument",
    "add_skip",
    "create_item",
    "list_items",
    "section_heading",
    "sections_by_key",
    "update_item",
    "workspace_skips",
    "write_section",
]


EMPTY_SECTION = "(empty)"
"""The text below the heading of an empty section."""

_SECTION_OF_CATEGORY = {
    "active_work": "active_work",
    "standing_decision": "standing_decisions",
    "skip_list": "skip_list",
    "waiting_for": "waiting_for",
    "session_note": "session_notes",
}


def sections_by_key(workspace: Workspace, namespace: str) -> dict[str, WorkingItem]:
    """Return the items that are a namespace's sections, by their keys; of several with one key the latest changed."""
    sections = [item for item in workspace.items.list() if section_of(item) and item.namespace == namespace]
    sections.sort(key=lambda item: item.updated_at)
    return {section_key(section_of(item)): item for item in sections}


def section_heading(key: str) -> str:
    """Return the heading of a section; one of somebody's own is its own key."""
    return SECTIONS.get(key) or one_line(key)


class WorkingMemoryDocument:
    """The working memory of a workspace, as it is now."""

    def __init__(self, workspace: Workspace, scope: WorkspaceScope) -> None:
        self.sections = sections_by_key(workspace, scope.namespace)
        items = list_items(workspace, (scope.namespace,))
        self._items = [item for item in items if item.status != "archived"]
        self._skips = workspace_skips(workspace, scope)

    def keys(self) -> list[str]:
        """Return the usual sections in their order, then those of somebody's own."""
        return list(dict.fromkeys([*SECTIONS, *self.sections]))

    def body(self, key: str) -> str:
        """Return the text below a section's heading; may be empty."""
        section = self.sections.get(key)
        parts = [quoted_block(section.content)] if section is not None and section.content.strip() else []
        parts += [_item_text(item) for item in self._items if _SECTION_OF_CATEGORY[category_of(item)] == key]
        if key == "skip_list" and self._skips:
            parts.append(_skips_text(self._skips))
        return "\n\n".join(parts)

    def heading(self, key: str) -> str:
        """Return a section's heading, with words of caution about the text below it."""
        section = self.sections.get(key)
        marks = bracketed(list_labels(section)) if section is not None and section.content.strip() else ""
        return f"## {section_heading(key)}{marks}"

    def whole(self, *, with_empty: bool) -> str:
        """Return the document, ``with_empty`` or without the empty sections."""
        bodies = [(key, self.body(key)) for key in self.keys()]
        parts = [f"{self.heading(key)}\n\n{body or EMPTY_SECTION}" for key, body in bodies if body or with_empty]
        return SEPARATOR.join(["# Working Memory", *parts]) if parts else f"# Working Memory\n\n{EMPTY_SECTION}"


def _item_text(item: WorkingItem) -> str:
    status = "" if item.status == "active" else f" *({item.status})*"
    marks = bracketed(list_labels(item))
    lines = [f"### {one_line(item_title(item))}{status}{tags_text(item.tags)}{marks}"]
    if item.content.strip():
        lines.append(quoted_block(item.content))
    if item.next_action:
        lines.append(f"**Next:** {one_line(item.next_action)}")
    return "\n\n".join(lines)


def _skips_text(skips: Sequence[Skip]) -> str:
    return "\n".join(
        f"- {one_line(skip.item)} ({one_line(skip.reason)}; until {format_time(skip.expires_at)})"
        f"{bracketed(list_labels(skip))}"
        for skip in skips
    )


def write_section(workspace: Workspace, scope: WorkspaceScope, key: str, content: str) -> WorkingItem | Proposal:
    """Write the text of a section in the place of its earlier one. Raises like `Items.create`."""
    before = sections_by_key(workspace, scope.namespace).get(key)
    if before is not None:
        return workspace.items.update(before.id, base_version=before.version, content=content)
    return workspace.items.create(**section_fields(key, content), id=id_maker(workspace)(), namespace=scope.namespace)


def list_items(
    workspace: Workspace,
    namespaces: tuple[str, ...],
    *,
    category: str | None = None,
    status: str | None = None,
    query: str = "",
) -> list[WorkingItem]:
    """Return the working items of some namespaces, highest priority first; sections are not among them.

    A category and a status select those of one, a query those that hold its words.

    Raises:
        InvalidField: there is no such category or status.

    """
    if category is not None:
        check_choice(category, "category", ITEM_CATEGORIES)
    if status is not None:
        check_choice(status, "status", ITEM_STATUSES)
    words = plain_query(query)
    if query.strip() and not words:
        return []  # nothing but punctuation, which no item answers
    return [
        item
        for item in workspace.items.list(status=status, query=words)
        if is_within_namespaces(item.namespace, namespaces)
        and not section_of(item)
        and category in (None, category_of(item))
    ]


def create_item(
    workspace: Workspace, scope: WorkspaceScope, category: str, title: str, fields: Mapping[str, Any]
) -> WorkingItem | Proposal:
    """Add a working item with a title and further fields. Raises like `Items.create`."""
    check_line(title, "title", required=True)
    own = item_fields(check_choice(category, "category", ITEM_CATEGORIES), title)
    return workspace.items.create(**{**own, **fields, "id": id_maker(workspace)(), "namespace": scope.namespace})


def update_item(workspace: Workspace, item: WorkingItem, changes: Mapping[str, Any]) -> WorkingItem | Proposal:
    """Change fields of a working item, its title and category in this system's words. Raises like `Items.update`."""
    fields = {name: value for name, value in changes.items() if name not in ("title", "category")}
    category, title = changes.get("category"), changes.get("title")
    if category is not None:
        check_choice(category, "category", ITEM_CATEGORIES)
    if title is not None:
        check_line(title, "title", required=True)
    if category is not None or title is not None:  # they depend on each other
        fields |= changed_item_fields(item, category, title)
    return workspace.items.update(item.id, base_version=item.version, **fields)


def add_skip(workspace: Workspace, scope: WorkspaceScope, item: str, reason: str, expires: Any) -> Skip | Proposal:  # noqa: ANN401 - a moment in any form
    """Add a skip. Raises like `Skips.add`."""
    return workspace.skips.add(item, reason, expires, id=id_maker(workspace)(), namespace=scope.namespace)


def workspace_skips(workspace: Workspace, scope: WorkspaceScope, *, ended: bool = False) -> list[Skip]:
    """Return the skips of a workspace that hold, soonest to end first; with ``ended`` those that are over as well."""
    return [skip for skip in workspace.skips.list(ended=ended) if scope.holds(skip)]


class SectionTools:
    """The tools for the document."""

    def __init__(self, tool_context: ToolContext) -> None:
        self._tool_context = tool_context

    def memento_init(self, ctx: Context) -> CallToolResult:
        """Begin a workspace. Needed once for a project, if at all."""
        workspace, scope = self._tool_context.of(ctx)
        if _is_in_use(workspace, scope):
            return text_result(f'Workspace "{scope.name}" already exists. Use memento_read to load it.')
        return text_result(
            f'Memento workspace initialized (local, "{scope.name}").\n\n'
            "Read working memory at the start of every session."
        )

    def memento_read(self, ctx: Context, section: str = "") -> CallToolResult:
        """Read the working memory, or one section of it: active_work, standing_decisions, skip_list, session_notes."""
        workspace, scope = self._tool_context.of(ctx)
        document = WorkingMemoryDocument(workspace, scope)
        if not section.strip():
            return text_result(document.whole(with_empty=False))
        key, keys = section_key(section), document.keys()
        if key not in keys:
            raise NotFound(
                f'Section "{one_line(section, 60)}" not found in working memory.', f"There are {', '.join(keys):.500}."
            )
        return text_result(f"{document.heading(key)}\n\n{document.body(key) or EMPTY_SECTION}")

    def memento_update(self, ctx: Context, section: str, content: str) -> CallToolResult:
        """Write a section of the working memory anew: active_work, standing_decisions, skip_list, session_notes."""
        workspace, scope = self._tool_context.of(ctx)
        key = section_key(check_line(section, "section", required=True))
        outcome = write_section(workspace, scope, key, content)
        name = f'section "{section_heading(key)}" in working memory'
        if isinstance(outcome, Proposal):
            return text_result(not_done_text(f"Not updated {name}", outcome))
        return text_result(f"Updated {name}.")


def _is_in_use(workspace: Workspace, scope: WorkspaceScope) -> bool:
    return (
        any(scope.holds(item) for item in workspace.items.list())
        or bool(workspace_skips(workspace, scope, ended=True))
        or workspace.count(Under(scope.namespace)) > 0
    )


_MAX_ITEMS = 50
"""Items in one answer, as many as this system lists."""


class ItemTools:
    """The tools for working items."""

    def __init__(self, tool_context: ToolContext) -> None:
        self._tool_context = tool_context

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
        workspace, scope = self._tool_context.of(ctx)
        fields = given_arguments(content=content, status=status, priority=priority, tags=tags, next_action=next_action)
        item = create_item(workspace, scope, category, title, fields)
        if isinstance(item, Proposal):
            return text_result(not_done_text(f"Item {quoted_id(item.target_id)} is not created", item))
        created = f'Created item {quoted_id(item.id)} in {category_of(item)}: "{one_line(item_title(item))}"'
        return text_result(f"{created}{tags_text(item.tags)}")

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
        workspace, scope = self._tool_context.of(ctx)
        changes = changed_arguments(
            title=title,
            category=category,
            content=content,
            status=status,
            priority=priority,
            tags=tags,
            next_action=next_action,
        )
        item = scope.item(workspace, id)
        after = update_item(workspace, item, changes)
        if isinstance(after, Proposal):
            return text_result(not_done_text(f"Item {quoted_id(item.id)} is not updated", after))
        return text_result(f'Updated item {quoted_id(after.id)}: "{one_line(item_title(after))}" ({after.status})')

    def memento_item_delete(self, ctx: Context, id: str) -> CallToolResult:  # noqa: A002 - the system's name for it
        """Delete a working item that was a mistake; done ones are better set to archived."""
        workspace, scope = self._tool_context.of(ctx)
        item = scope.item(workspace, id)
        proposal = workspace.items.remove(item.id, base_version=item.version)
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
        memento, scope = self._tool_context.of(ctx)
        matching = list_items(memento, scope.read(workspace), category=category, status=status, query=query)
        items = [item for item in matching if status or item.status != "archived"]
        if not items:
            return text_result("No working memory items found.")
        count = f"Found {len(items)} item{'' if len(items) == 1 else 's'}"
        entries = [_item_entry(item) for item in items[:_MAX_ITEMS]]
        if len(items) > _MAX_ITEMS:
            entries.append(f"{len(items) - _MAX_ITEMS} more are not listed; ask by category, status or query.")
        return text_result(f"{count}:\n\n" + "\n\n".join(entries))


def _item_entry(item: WorkingItem) -> str:
    status = "" if item.status == "active" else f" ({item.status})"
    next_action = f"\n  Next: {one_line(item.next_action)}" if item.next_action else ""
    words = f"{category_of(item)}: {one_line(item_title(item))}"
    marks = bracketed(list_labels(item))
    return f"{entry_id(item.id)} {words}{status}{tags_text(item.tags)}{marks}{next_action}"


class SkipTools:
    """The tools for skips."""

    def __init__(self, tool_context: ToolContext) -> None:
        self._tool_context = tool_context

    def memento_skip_add(
        self,
        ctx: Context,
        item: str,
        reason: str,
        expires: Annotated[str, Field(description="ISO date to come, such as 2027-02-20")],
    ) -> CallToolResult:
        """Note what not to do, read or look into for now, and why. Every skip ends."""
        workspace, scope = self._tool_context.of(ctx)
        skip = add_skip(workspace, scope, item, reason, expires)
        if isinstance(skip, Proposal):
            return text_result(not_done_text("Not added to skip list", skip))
        return text_result(f'Added to skip list: "{one_line(skip.item)}" (expires {format_time(skip.expires_at)})')

    def memento_skip_check(self, ctx: Context, query: str) -> CallToolResult:
        """Ask whether something is to be left alone, before you look into it."""
        workspace, scope = self._tool_context.of(ctx)
        matching = workspace.skips.check(query, among=scope.holds)
        if not matching:
            return text_result(f'Not on skip list. Proceed with "{one_line(query)}".')
        return text_result("\n\n".join(map(skip_match_text, matching)))

    def memento_skip_list(self, ctx: Context) -> CallToolResult:
        """List all skips that hold, with their ids."""
        workspace, scope = self._tool_context.of(ctx)
        skips = workspace_skips(workspace, scope)
        if not skips:
            return text_result("Skip list is empty.")
        count = f"{len(skips)} skip list entr{'y' if len(skips) == 1 else 'ies'}"
        return text_result(f"{count}:\n\n" + "\n\n".join(_skip_entry(skip) for skip in skips))

    def memento_skip_remove(self, ctx: Context, id: str) -> CallToolResult:  # noqa: A002 - the system's name for it
        """End a skip now, by the id that memento_skip_list gives."""
        workspace, scope = self._tool_context.of(ctx)
        skip = scope.skip(workspace, id)
        proposal = workspace.skips.remove(skip.id, base_version=skip.version)
        if proposal is not None:
            return text_result(not_done_text(f"Skip entry {quoted_id(skip.id)} is not removed", proposal))
        return text_result(f"Skip entry {quoted_id(skip.id)} removed.")


def _skip_entry(skip: Skip) -> str:
    item, reason = one_line(skip.item), one_line(skip.reason)
    marks = bracketed(list_labels(skip))
    return f'{entry_id(skip.id)} "{item}"{marks}\n  Reason: {reason}\n  Expires: {format_time(skip.expires_at)}'


_NO_IDENTITY = (
    "No identity crystal was written yet.\n\n"
    "It is prose in the first person: who you are, what you care about, what stays from one session to the next."
    " Write it with memento_identity_update once there is something to say."
)


class IdentityTools:
    """The tools for the identity."""

    def __init__(self, tool_context: ToolContext) -> None:
        self._tool_context = tool_context

    def memento_identity(self, ctx: Context) -> CallToolResult:
        """Read who you are and how you work, as written so far."""
        workspace, _ = self._tool_context.of(ctx)
        crystal = workspace.crystals.current()
        return text_result(_NO_IDENTITY if crystal is None else identity_text(crystal))

    def memento_identity_update(self, ctx: Context, crystal: str) -> CallToolResult:
        """Write the whole identity anew, in prose in the first person. Earlier ones are kept."""
        workspace, _ = self._tool_context.of(ctx)
        written, proposal = write_identity(workspace, check_text(crystal, "crystal"))
        stored = f"Identity crystal {quoted_id(written.id)} stored ({len(written.content)} chars)"
        if proposal is None:
            return text_result(f"{stored}.")
        if proposal.state == "rejected":
            return text_result(rejected_text("Identity crystal not stored", proposal.note))
        reasons = reasons_in_words(proposal.reasons)
        return text_result(f"{stored}{pending_text(reasons)}; until then the present one holds.")


class HealthTools:
    """The tool for the state of things."""

    def __init__(self, tool_context: ToolContext) -> None:
        self._tool_context = tool_context

    def memento_health(self, ctx: Context) -> CallToolResult:
        """Call first in a session: what there is, what waits for a person, and what was decided about your proposals.

        Then memento_item_list, then memento_recall for the task at hand. Do not repeat what was rejected.
        """
        workspace, scope = self._tool_context.of(ctx)
        return text_result("\n".join(_health_lines(workspace, scope)))


def _health_lines(workspace: Workspace, scope: WorkspaceScope) -> Iterator[str]:
    yield from ("**Memento Health Report**", f"Workspace: {scope.name}", "")
    items = [item for item in workspace.items.list() if scope.holds(item)]
    sections = [item for item in items if section_of(item)]
    active = sum(item.status == "active" for item in items if not section_of(item))
    yield "**Working Memory**"
    yield f"  Sections: {len(sections)}"
    yield f"  Items: {len(items) - len(sections)} ({active} active)"
    updated = max((item.updated_at for item in items), default=None)
    yield f"  Last updated: {'never' if updated is None else format_time(updated)}"
    yield from ("", "**Stored Memories**", f"  Total: {_memory_counts_text(workspace, scope)}")
    now = clock.now()
    skips = [skip for skip in workspace.skips.list(ended=True) if scope.holds(skip)]
    still_active = sum(skip.expires_at > now for skip in skips)
    yield from (
        "",
        "**Skip List**",
        f"  Total: {len(skips)} ({still_active} active, {len(skips) - still_active} expired)",
    )
    yield from ("", "**Review**", f"  Waiting for a person, in all workspaces: {workspace.review.count()}")
    decided, _ = proposals_of_agent(workspace, DECIDED_STATES)
    if decided:
        yield "  Decided about what you proposed, the newest first:"
        yield from (f"  - {_decision_line(summary)}" for summary in decided)


def _memory_counts_text(workspace: Workspace, scope: WorkspaceScope) -> str:
    active, expired, consolidated, _ = count_memories(workspace, scope.namespace)
    return f"{active + expired + consolidated} ({active} active, {expired} expired, {consolidated} consolidated)"


def _decision_line(summary: ProposalSummary) -> str:
    proposal = summary.proposal
    about = f' "{one_line(summary.about, 120)}"' if summary.about else ""
    reason = f", because: {one_line(proposal.note)}" if proposal.note else ""
    return f"{proposal.state}: {proposal.action} {proposal.target} {quoted_id(proposal.target_id)}{about}{reason}"
