"""Linkages: what a memory is linked to, as this system's callers give it and as its answers show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from memento_tui.agent.fence import one_line
from memento_tui.agent.protocol.images import IMAGE
from memento_tui.agent.protocol.place import Place
from memento_tui.errors import InvalidField
from memento_tui.interchange.protocol_model import RELATION_OF_LINKAGE, linkage_of
from memento_tui.records import Memory, Relation
from memento_tui.records.rules import check_line
from memento_tui.workspace import Workspace

__all__ = ["Linkage", "Linkages", "draw", "images_of", "links_text", "read_linkages"]

_SCHEMA = {
    "items": {
        "type": "object",
        "properties": {
            "type": {"enum": list(RELATION_OF_LINKAGE)},
            "id": {"type": "string"},
            "path": {"type": "string"},
            "label": {"type": "string"},
        },
        "required": ["type"],
    }
}
Linkages = Annotated[
    list[dict[str, Any]],
    Field(description="links to a memory or item (id) or a file (path)", json_schema_extra=_SCHEMA),
]

_EXAMPLE = 'Give each as {"type": "memory", "id": "..."}, with type item likewise, or {"type": "file", "path": "..."}.'


class Linkage(NamedTuple):
    """One link to draw."""

    type: str
    """A relation's type."""
    target: str
    label: str = ""


def read_linkages(workspace: Workspace, place: Place, given: Sequence[Mapping[str, Any]]) -> list[Linkage]:
    """Return what is to be linked, each target looked up, so that nothing is stored with a link to nowhere.

    Raises:
        InvalidField: a linkage is not written as one.
        NotFound, AmbiguousId: it leads to no record, or to several.

    """
    return [_linkage(workspace, place, one) for one in given]


def _linkage(workspace: Workspace, place: Place, given: Mapping[str, Any]) -> Linkage:
    kind, label = given.get("type"), given.get("label") or ""
    target = given.get("path" if kind == "file" else "id")
    if (
        not isinstance(kind, str)
        or kind not in RELATION_OF_LINKAGE
        or not isinstance(target, str)
        or not isinstance(label, str)
    ):
        raise InvalidField("linkages", f"holds what is no link: {given!r:.100}", _EXAMPLE)
    check_line(label, "linkages.label")
    if kind == "memory":
        target = place.memory(workspace, target).id
    elif kind == "item":
        target = place.item(workspace, target).id
    else:
        check_line(target, "linkages.path", required=True)
        # Only image_path attaches a picture: that looks at the file first.
        label = "" if label == IMAGE else label
    return Linkage(RELATION_OF_LINKAGE[kind], target, label)


def draw(workspace: Workspace, memory: Memory, linkages: Sequence[Linkage]) -> None:
    """Link a memory; what is linked already is left as it is."""
    known = {(one.type, one.dst, one.label) for one in _from(workspace, memory.id)}
    for linkage in dict.fromkeys(linkages):
        if tuple(linkage) not in known and linkage.target != memory.id:
            workspace.relate(memory.id, linkage.target, linkage.type, linkage.label)


def _from(workspace: Workspace, memory_id: str) -> list[Relation]:
    return [one for one in workspace.store.relations_of(memory_id) if one.src == memory_id]


def images_of(workspace: Workspace, memory_id: str) -> list[str]:
    """Return the paths of the pictures that are attached to a memory."""
    return [one.dst for one in _from(workspace, memory_id) if (one.type, one.label) == ("file", IMAGE)]


def links_text(workspace: Workspace, memory_id: str) -> str:
    """Return the lines about what a memory is linked to and which pictures it has; each begins with a line break."""
    links, images = [], images_of(workspace, memory_id)
    for one in _from(workspace, memory_id):
        if one.type == "file" and one.label == IMAGE:
            continue
        linkage = linkage_of(one.type, one.dst, one.label)
        written = f"{linkage['type']}:{one_line(one.dst)}"
        links.append(f"{written} ({one_line(linkage['label'])})" if "label" in linkage else written)
    lines = f"\nLinks: {', '.join(links)}" if links else ""
    if images:
        count = f"{len(images)} image{'s' if len(images) > 1 else ''}"
        lines += f"\nImages: [{count}] {', '.join(one_line(path) for path in images)}"
    return lines
