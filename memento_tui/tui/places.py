"""Where the person is in the app: the places whose keys hold, from the focused widget outwards."""

from __future__ import annotations

from collections.abc import Iterator

from textual.dom import DOMNode
from textual.widget import Widget

from memento_tui.tui.commands import Place
from memento_tui.tui.sections.section import Section

__all__ = ["owner_of", "places_at"]

_LAST: tuple[Place, ...] = ("list", "rows", "everywhere")
"""Places that every list shares; they are told after what is special here."""


def places_at(focused: Widget | None, section: Section) -> list[Place]:
    """Return the places whose keys hold, the nearest first."""
    found = list(dict.fromkeys(place for _, place in _nodes(focused, section)))
    if "editor" in found:
        return ["editor", "everywhere"]
    if section.PLACE in found and "rows" in found:
        found.append("list")
    return [*(place for place in found if place not in _LAST), *(p for p in _LAST[:2] if p in found), "everywhere"]


def owner_of(place: Place, focused: Widget | None, section: Section, app: DOMNode) -> DOMNode:
    """Return the widget whose actions the commands of a place are."""
    if place == "everywhere":
        return app
    return next((node for node, its in _nodes(focused, section) if its == place), section)


def _nodes(focused: Widget | None, section: Section) -> Iterator[tuple[DOMNode, Place]]:
    for node in (focused or section).ancestors_with_self:
        place: Place | None = getattr(node, "PLACE", None)
        if place is not None:
            yield node, place
        if getattr(node, "COVERS", False):
            return
