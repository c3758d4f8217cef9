"""The working memory as one document: begin it, read it or a section of it, write a section.

A workspace needs no preparation here: it is a namespace, and comes into being with the first thing stored in it.
"""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from memento_tui.agent.fence import one_line
from memento_tui.agent.protocol.desk import Desk
from memento_tui.agent.protocol.document import EMPTY, Document, heading_of, sections_of
from memento_tui.agent.protocol.ids import fresh_id
from memento_tui.agent.protocol.place import Place
from memento_tui.agent.protocol.texts import not_yet, said
from memento_tui.errors import NotFound
from memento_tui.interchange.protocol_model import section_fields, section_key
from memento_tui.records import Proposal
from memento_tui.records.rules import check_line
from memento_tui.store.filters import Under
from memento_tui.workspace import Workspace

__all__ = ["SectionTools"]


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
        document = Document(workspace, place.namespace, place.holds)
        if not section.strip():
            return said(document.whole(with_empty=False))
        key, known = section_key(section), document.keys()
        if key not in known:
            raise NotFound(
                f'Section "{one_line(section, 60)}" not found in working memory.', f"There are {', '.join(known):.500}."
            )
        return said(f"## {heading_of(key)}\n\n{document.body(key) or EMPTY}")

    def memento_update(self, ctx: Context, section: str, content: str) -> CallToolResult:
        """Write a section of the working memory anew: active_work, standing_decisions, skip_list, session_notes."""
        workspace, place = self._desk.of(ctx)
        key = section_key(check_line(section, "section", required=True))
        before = sections_of(workspace, place.namespace).get(key)
        if before is None:
            made = workspace.items.create(
                **section_fields(key, content), id=fresh_id(workspace)(), namespace=place.namespace
            )
        else:
            made = workspace.items.update(before.id, content=content)
        named = f'section "{heading_of(key)}" in working memory'
        return said(not_yet(f"Not updated {named}", made) if isinstance(made, Proposal) else f"Updated {named}.")


def _is_in_use(workspace: Workspace, place: Place) -> bool:
    return (
        any(place.holds(item) for item in workspace.items.list())
        or any(place.holds(skip) for skip in workspace.skips.list(ended=True))
        or workspace.store.count(Under(place.namespace)) > 0
    )
