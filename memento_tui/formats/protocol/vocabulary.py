"""Translate between Memento Protocol's terms (workspace, type, section, linkage) and memento's."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

from memento_tui.formats.base import one_line
from memento_tui.model import Memory, WorkingItem
from memento_tui.model.memory import KINDS
from memento_tui.model.validation import check_namespace

__all__ = [
    "DEFAULT_TYPE",
    "ITEM_CATEGORIES",
    "RELATION_OF_LINKAGE",
    "SECTIONS",
    "SECTION_EXTRA",
    "ProtocolEdge",
    "category_of",
    "changed_item_fields",
    "item_fields",
    "item_title",
    "kind_fields",
    "linkage_from_relation",
    "linkages_for_memory",
    "links_from_linkages",
    "memory_type",
    "merge_ids",
    "namespace_of_workspace",
    "section_fields",
    "section_key",
    "section_of",
    "tag_fields",
    "workspace_of_namespace",
]

DEFAULT_TYPE = "observation"
SECTION_EXTRA = "protocol_section"
"""The name in `WorkingItem.extra` under which an item keeps the section that it is."""

SECTIONS: Mapping[str, str] = {
    "active_work": "Active Work",
    "standing_decisions": "Standing Decisions",
    "skip_list": "Skip List",
    "waiting_for": "Waiting For",
    "activity_log": "Activity Log",
    "session_notes": "Session Notes",
}
"""The headings of the working memory's usual sections by their keys, in the order of the document."""

ITEM_CATEGORIES = ("active_work", "standing_decision", "skip_list", "waiting_for", "session_note")

RELATION_OF_LINKAGE: Mapping[str, str] = {"memory": "related", "item": "item", "file": "file"}

_LABEL_OF_RELATION: Mapping[str, str] = {
    "consolidated_from": "consolidated-from",
    "supersedes": "supersedes",
    "contradicts": "contradicts",
}
"""The labels that stand for a relation's type, which a linkage has no field for."""

_DEFAULT_WORKSPACE, _DEFAULT_NAMESPACE = "default", "global"
_PROVENANCE_PREFIX = "source:"
_CATEGORY_EXTRA, _SKIP_CATEGORY, _SKIP_PREFIX = "protocol_category", "skip_list", "Skip: "


def namespace_of_workspace(workspace: str) -> str:
    """Return the namespace of a workspace. Raises `InvalidField` for a name that cannot be one."""
    name = workspace.strip()
    return _DEFAULT_NAMESPACE if name in ("", _DEFAULT_WORKSPACE) else check_namespace(name)


def workspace_of_namespace(namespace: str) -> str:
    """Return the workspace of a namespace."""
    return _DEFAULT_WORKSPACE if namespace == _DEFAULT_NAMESPACE else namespace


def kind_fields(written: str) -> dict[str, str]:
    """Return the fields of a memory of the type ``written``; the default type if it is empty."""
    name = written.strip() or DEFAULT_TYPE
    return {"kind": name} if name in KINDS else {"kind": DEFAULT_TYPE, "kind_raw": name}


def memory_type(memory: Memory) -> str:
    """Return the type of a memory, as it was written if it came from elsewhere."""
    return memory.kind_raw or memory.kind


def tag_fields(written: Iterable[str]) -> dict[str, list[str]]:
    """Return the fields of a memory with these tags, provenance apart."""
    tags = list(written)
    return {
        "tags": [tag for tag in tags if not tag.startswith(_PROVENANCE_PREFIX)],
        "system_tags": [tag for tag in tags if tag.startswith(_PROVENANCE_PREFIX)],
    }


def linkage_from_relation(relation: str, target: str, label: str) -> dict[str, str]:
    """Return a relation of some type, to the id or path ``target``, as a linkage of the memory that it begins at."""
    kind = relation if relation in ("item", "file") else "memory"
    shown_label = label or _LABEL_OF_RELATION.get(relation, "")
    return {"type": kind, "path" if kind == "file" else "id": target, **({"label": shown_label} if shown_label else {})}


def section_fields(section: str, content: str) -> dict[str, Any]:
    """Return the fields of the working item that is a section of the working memory."""
    return {"title": section, "category": "session_note", "content": content, "extra": {SECTION_EXTRA: section}}


def section_of(item: WorkingItem) -> str:
    """Return the section that an item is; empty for any other item."""
    section = item.extra.get(SECTION_EXTRA, "")
    return section if isinstance(section, str) else ""


def section_key(name: str) -> str:
    """Return the key of the section that a key or a heading names; a name of its own is its own key."""
    folded = "_".join(name.lower().split())
    return folded if folded in SECTIONS else name.strip()


def item_fields(category: str, title: str) -> dict[str, Any]:
    """Return the fields of a working item of one of `ITEM_CATEGORIES`.

    A skip without an end cannot be a skip here, which always ends: it becomes a standing decision, and says
    in its title what it is.
    """
    if category != _SKIP_CATEGORY:
        return {"category": category, "title": title, "extra": {}}
    return {
        "category": "standing_decision",
        "title": f"{_SKIP_PREFIX}{title}",
        "extra": {_CATEGORY_EXTRA: _SKIP_CATEGORY},
    }


def category_of(item: WorkingItem) -> str:
    """Return the category of a working item, one of `ITEM_CATEGORIES`."""
    is_skipped = item.extra.get(_CATEGORY_EXTRA) == _SKIP_CATEGORY and item.category == "standing_decision"
    return _SKIP_CATEGORY if is_skipped else item.category


def changed_item_fields(item: WorkingItem, category: str | None, title: str | None) -> dict[str, Any]:
    """Return the fields that another category or title (``None`` for no other) of a working item changes."""
    fields = item_fields(category or category_of(item), item_title(item) if title is None else title)
    kept = {name: value for name, value in item.extra.items() if name != _CATEGORY_EXTRA}
    return {**fields, "extra": {**kept, **fields["extra"]}}


def item_title(item: WorkingItem) -> str:
    """Return the title of a working item as `item_fields` was given it."""
    return item.title.removeprefix(_SKIP_PREFIX) if category_of(item) == _SKIP_CATEGORY else item.title


_CONSOLIDATED_FROM = "consolidated_from"
_MAX_LABEL_LENGTH = 200


class ProtocolEdge(NamedTuple):
    """One relation as the format sees it: its type here, and its end by the id or path that is written."""

    type: str
    target: str
    label: str


def links_from_linkages(
    linkages: Iterable[object], sources: Iterable[str], prefix: str
) -> tuple[tuple[str, str, str], ...]:
    """Return the links of a memory for `ImportRecord`: of its linkages, then to its sources.

    ``prefix`` is what the keys of the workspace's memories begin with.
    """
    edges = [edge for linkage in linkages if (edge := _edge_from_linkage(linkage)) is not None]
    edges += [ProtocolEdge(_CONSOLIDATED_FROM, source, "") for source in sources]
    by_end: dict[tuple[str, str], ProtocolEdge] = {}
    for edge in edges:
        by_end.setdefault((edge.type, edge.target), edge)
    return tuple(
        (edge.type, edge.target if edge.type in ("item", "file") else prefix + edge.target, edge.label)
        for edge in by_end.values()
    )


def _edge_from_linkage(linkage: object) -> ProtocolEdge | None:
    """Return the relation that a linkage means, or ``None`` where it cannot be understood."""
    if not isinstance(linkage, dict):
        return None
    kind, label = linkage.get("type"), linkage.get("label")
    target = linkage.get("path" if kind == "file" else "id")
    if (
        not isinstance(kind, str)
        or kind not in RELATION_OF_LINKAGE
        or not isinstance(target, str)
        or not target.strip()
    ):
        return None
    shown = one_line(label, _MAX_LABEL_LENGTH) if isinstance(label, str) else ""
    if kind == "memory" and shown == _LABEL_OF_RELATION[_CONSOLIDATED_FROM]:
        return ProtocolEdge(_CONSOLIDATED_FROM, target, "")
    return ProtocolEdge(RELATION_OF_LINKAGE[kind], target, shown)


def linkages_for_memory(
    given: Iterable[object], edges: Iterable[ProtocolEdge], present: Container[str], naming: Container[str] = ()
) -> list[Any]:
    """Return the linkages of a memory: those that it came with and still has, in their order, then the others.

    Linkages that memento has no relation for stay: those not understood, and those that lead to a memory that is not
    ``present``. ``naming`` are the memories that say themselves that they were consolidated into this one.
    """
    left = {(edge.type, edge.target): edge for edge in edges}
    still: list[Any] = []
    standing = set(left)
    left = {place: edge for place, edge in left.items() if place[0] != _CONSOLIDATED_FROM or place[1] not in naming}
    for linkage in given:
        edge = _edge_from_linkage(linkage)
        place = None if edge is None else (edge.type, edge.target)
        leads_out = edge is not None and edge.type not in ("item", "file") and edge.target not in present
        if place is None or leads_out or place in standing:
            still.append(linkage)
            left.pop(place or ("", ""), None)
    return still + [linkage_from_relation(*edge) for edge in left.values()]


def merge_ids(given: Iterable[object], current: Iterable[str], present: Container[str]) -> list[Any]:
    """Return a list of ids: those of ``given`` that still hold or lead to nothing here, then the other current ones."""
    now = dict.fromkeys(current)
    still = [
        identity for identity in given if not isinstance(identity, str) or identity in now or identity not in present
    ]
    kept = {identity for identity in still if isinstance(identity, str)}
    return still + [identity for identity in now if identity not in kept]
