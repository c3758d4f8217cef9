"""The working memory as one document: its sections, and the items and skips that belong under their headings.

A workspace needs no preparation here: it is a namespace, and comes into being with the first thing stored in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from memento_tui.agent.fence import one_line
from memento_tui.agent.labels import moment_text
from memento_tui.agent.protocol.desk import Desk, fresh_id
from memento_tui.agent.protocol.place import Place
from memento_tui.agent.protocol.texts import SEPARATOR, not_yet, said, set_off, tags_text
from memento_tui.errors import NotFound
from memento_tui.interchange.protocol_model import (
    SECTIONS,
    category_of,
    item_title,
    section_fields,
    section_key,
    section_of,
)
from memento_tui.records import Proposal, Skip, WorkingItem
from memento_tui.records.rules import check_line
from memento_tui.store.filters import Under
from memento_tui.workspace import Workspace

__all__ = ["SectionTools"]

_SECTION_OF_CATEGORY = {
    "active_work": "active_work",
    "standing_decision": "standing_decisions",
    "skip_list": "skip_list",
    "waiting_for": "waiting_for",
    "session_note": "session_notes",
}
_EMPTY = "(empty)"


class SectionTools:
    """The tools for the document."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def memento_init(self, ctx: Context) -> CallToolResult:
        """Begin a workspace. Needed once for a project, if at all."""
        workspace, place = self._desk.of(ctx)
        if _is_in_use(workspace, place):
            return said(f'Workspace "{place.name}" already exists. Use memento_read to load it.')
        return said(
            f'Memento workspace initialized (local, "{place.name}").\n\n'
            "Read working memory at the start of every session."
        )

    def memento_read(self, ctx: Context, section: str = "") -> CallToolResult:
        """Read the working memory, or one section of it: active_work, standing_decisions, skip_list, session_notes."""
        workspace, place = self._desk.of(ctx)
        document = _Document(workspace, place)
        if not section.strip():
            return said(document.whole())
        return said(document.section(section))

    def memento_update(self, ctx: Context, section: str, content: str) -> CallToolResult:
        """Write a section of the working memory anew: active_work, standing_decisions, skip_list, session_notes."""
        workspace, place = self._desk.of(ctx)
        key = section_key(check_line(section, "section", required=True))
        before = _sections(workspace, place).get(key)
        if before is None:
            made = workspace.items.create(
                **section_fields(key, content), id=fresh_id(workspace, "item")(), namespace=place.namespace
            )
        else:
            made = workspace.items.update(before.id, content=content)
        named = f'section "{_heading(key)}" in working memory'
        return said(not_yet(f"Not updated {named}", made) if isinstance(made, Proposal) else f"Updated {named}.")


def _is_in_use(workspace: Workspace, place: Place) -> bool:
    return (
        any(place.holds(item) for item in workspace.items.list())
        or any(place.holds(skip) for skip in workspace.skips.list(ended=True))
        or workspace.store.count(Under(place.namespace)) > 0
    )


def _sections(workspace: Workspace, place: Place) -> dict[str, WorkingItem]:
    """Return the items that are sections, by their keys; of several with one key that which was changed last."""
    found = [item for item in workspace.items.list() if section_of(item) and place.holds(item)]
    found.sort(key=lambda item: item.updated_at)
    return {section_key(section_of(item)): item for item in found}


class _Document:
    """The working memory of a place, as it is now."""

    def __init__(self, workspace: Workspace, place: Place) -> None:
        self._sections = _sections(workspace, place)
        self._items = [item for item in workspace.items.list() if self._is_shown(item, place)]
        self._skips = [skip for skip in workspace.skips.list() if place.holds(skip)]

    @staticmethod
    def _is_shown(item: WorkingItem, place: Place) -> bool:
        return item.status != "archived" and not section_of(item) and place.holds(item)

    def whole(self) -> str:
        """Return every section that says something, in the usual order."""
        keys = list(dict.fromkeys([*SECTIONS, *self._sections]))
        parts = [f"## {_heading(key)}\n\n{body}" for key in keys if (body := self._body(key))]
        if not parts:
            return f"# Working Memory\n\n{_EMPTY}"
        return SEPARATOR.join(["# Working Memory", *parts])

    def section(self, named: str) -> str:
        """Return one section. Raises `NotFound`."""
        key = section_key(named)
        if key not in SECTIONS and key not in self._sections:
            known = ", ".join(dict.fromkeys([*SECTIONS, *self._sections]))
            raise NotFound(f'Section "{one_line(named, 60)}" not found in working memory.', f"There are {known:.500}.")
        return f"## {_heading(key)}\n\n{self._body(key) or _EMPTY}"

    def _body(self, key: str) -> str:
        section = self._sections.get(key)
        parts = [set_off(section.content)] if section is not None and section.content.strip() else []
        parts += [_item_text(item) for item in self._items if _SECTION_OF_CATEGORY[category_of(item)] == key]
        if key == "skip_list" and self._skips:
            parts.append(_skips_text(self._skips))
        return "\n\n".join(parts)


def _heading(key: str) -> str:
    return SECTIONS.get(key) or one_line(key)


def _item_text(item: WorkingItem) -> str:
    status = "" if item.status == "active" else f" *({item.status})*"
    lines = [f"### {one_line(item_title(item))}{status}{tags_text(item.tags)}"]
    if item.content.strip():
        lines.append(set_off(item.content))
    if item.next_action:
        lines.append(f"**Next:** {one_line(item.next_action)}")
    return "\n\n".join(lines)


def _skips_text(skips: Sequence[Skip]) -> str:
    return "\n".join(
        f"- {one_line(skip.item)} ({one_line(skip.reason)}; until {moment_text(skip.expires_at)})" for skip in skips
    )
