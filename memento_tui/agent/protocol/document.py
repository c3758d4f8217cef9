"""The working memory as this system shows it: sections, and the items and skips that belong under their headings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memento_tui.agent.fence import one_line
from memento_tui.agent.labels import moment_text
from memento_tui.agent.protocol.texts import SEPARATOR, set_off, tags_text
from memento_tui.interchange.protocol_model import SECTIONS, category_of, item_title, section_key, section_of
from memento_tui.records import Skip, WorkingItem
from memento_tui.workspace import Workspace

__all__ = ["EMPTY", "Document", "heading_of", "sections_of"]

EMPTY = "(empty)"
"""What stands below a heading that nothing belongs under."""

_SECTION_OF_CATEGORY = {
    "active_work": "active_work",
    "standing_decision": "standing_decisions",
    "skip_list": "skip_list",
    "waiting_for": "waiting_for",
    "session_note": "session_notes",
}


def sections_of(workspace: Workspace, namespace: str) -> dict[str, WorkingItem]:
    """Return the items that are a namespace's sections, by their keys; of several with one key the latest changed."""
    found = [item for item in workspace.items.list() if section_of(item) and item.namespace == namespace]
    found.sort(key=lambda item: item.updated_at)
    return {section_key(section_of(item)): item for item in found}


def heading_of(key: str) -> str:
    """Return the heading of a section; one of somebody's own is its own key."""
    return SECTIONS.get(key) or one_line(key)


class Document:
    """The working memory of a namespace, as it is now; ``holds`` tells which items and skips belong to it."""

    def __init__(self, workspace: Workspace, namespace: str, holds: Callable[[Skip | WorkingItem], bool]) -> None:
        self.sections = sections_of(workspace, namespace)
        listed = (item for item in workspace.items.list() if item.status != "archived" and not section_of(item))
        self._items = [item for item in listed if holds(item)]
        self._skips = [skip for skip in workspace.skips.list() if holds(skip)]

    def keys(self) -> list[str]:
        """Return the usual sections in their order, then those of somebody's own."""
        return list(dict.fromkeys([*SECTIONS, *self.sections]))

    def body(self, key: str) -> str:
        """Return what stands below a section's heading; empty for nothing."""
        section = self.sections.get(key)
        parts = [set_off(section.content)] if section is not None and section.content.strip() else []
        parts += [_item_text(item) for item in self._items if _SECTION_OF_CATEGORY[category_of(item)] == key]
        if key == "skip_list" and self._skips:
            parts.append(_skips_text(self._skips))
        return "\n\n".join(parts)

    def whole(self, *, with_empty: bool) -> str:
        """Return the document, ``with_empty`` or without the sections that say nothing."""
        bodies = [(key, self.body(key)) for key in self.keys()]
        parts = [f"## {heading_of(key)}\n\n{body or EMPTY}" for key, body in bodies if body or with_empty]
        return SEPARATOR.join(["# Working Memory", *parts]) if parts else f"# Working Memory\n\n{EMPTY}"


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
