"""Memento Protocol's working memory: its document in sections, working items and skips.

Shared by the MCP tools and HTTP. A workspace needs no preparation here: it is a namespace, and comes into being with
the first record stored in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memento_tui.api import Workspace
from memento_tui.compat.protocol.formatting import SEPARATOR, quoted_block, tags_text
from memento_tui.compat.protocol.workspaces import WorkspaceScope, id_maker
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
from memento_tui.model import Proposal, Skip, WorkingItem
from memento_tui.model.lists import ITEM_STATUSES
from memento_tui.model.validation import check_choice, check_line
from memento_tui.operations.memories import format_time, list_labels
from memento_tui.operations.recall import plain_query
from memento_tui.operations.scope import is_within_namespaces
from memento_tui.text.fence import one_line
from memento_tui.text.labels import bracketed

__all__ = [
    "EMPTY_SECTION",
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
        return workspace.items.update(before.id, content=content)
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
    return workspace.items.update(item.id, **fields)


def add_skip(workspace: Workspace, scope: WorkspaceScope, item: str, reason: str, expires: Any) -> Skip | Proposal:  # noqa: ANN401 - a moment in any form
    """Add a skip. Raises like `Skips.add`."""
    return workspace.skips.add(item, reason, expires, id=id_maker(workspace)(), namespace=scope.namespace)


def workspace_skips(workspace: Workspace, scope: WorkspaceScope, *, ended: bool = False) -> list[Skip]:
    """Return the skips of a workspace that hold, soonest to end first; with ``ended`` those that are over as well."""
    return [skip for skip in workspace.skips.list(ended=ended) if scope.holds(skip)]
