"""Memento Protocol's words for what memento stores, shared by its files, its tools and its HTTP interface.

| Memento Protocol | here |
|---|---|
| workspace `default` / any other | namespace `global` / the workspace's name |
| memory type | kind; a name that is no kind of ours stays in `kind_raw` |
| tags that begin with `source:` | system tags: provenance never groups memories |
| section of the working memory | a working item, category `session_note`, whose `extra` names the section |
| working item of category `skip_list` | standing decision `Skip: ...` whose `extra` names the category |
| linkage `memory` / `item` / `file` | relation `related` / `item` / `file` with its label |
| `consolidated_from` | relation `consolidated_from` |
| identity | crystal |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memento_tui.records import Memory, WorkingItem
from memento_tui.records.memory import KINDS
from memento_tui.records.rules import check_namespace

__all__ = [
    "DEFAULT_TYPE",
    "ITEM_CATEGORIES",
    "LABEL_OF_RELATION",
    "RELATION_OF_LINKAGE",
    "SECTION",
    "SECTIONS",
    "category_of",
    "changed_item_fields",
    "item_fields",
    "item_title",
    "kind_fields",
    "linkage_of",
    "namespace_of",
    "section_fields",
    "section_key",
    "section_of",
    "tag_fields",
    "type_of",
    "workspace_of",
]

DEFAULT_TYPE = "observation"
SECTION = "protocol_section"
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

LABEL_OF_RELATION: Mapping[str, str] = {
    "consolidated_from": "consolidated-from",
    "supersedes": "supersedes",
    "contradicts": "contradicts",
}
"""The labels that say a relation's type, which a linkage does not know."""

_DEFAULT_WORKSPACE, _DEFAULT_NAMESPACE = "default", "global"
_PROVENANCE = "source:"
_CATEGORY, _SKIPPED, _SKIP = "protocol_category", "skip_list", "Skip: "


def namespace_of(workspace: str) -> str:
    """Return the namespace of a workspace. Raises `InvalidField` for a name that cannot be one."""
    name = workspace.strip()
    return _DEFAULT_NAMESPACE if name in ("", _DEFAULT_WORKSPACE) else check_namespace(name)


def workspace_of(namespace: str) -> str:
    """Return the workspace of a namespace."""
    return _DEFAULT_WORKSPACE if namespace == _DEFAULT_NAMESPACE else namespace


def kind_fields(written: str) -> dict[str, str]:
    """Return the fields of a memory of the type ``written``; the default type if it is empty."""
    name = written.strip() or DEFAULT_TYPE
    return {"kind": name} if name in KINDS else {"kind": DEFAULT_TYPE, "kind_raw": name}


def type_of(memory: Memory) -> str:
    """Return the type of a memory, as it was written if it came from elsewhere."""
    return memory.kind_raw or memory.kind


def tag_fields(written: Iterable[str]) -> dict[str, list[str]]:
    """Return the fields of a memory with these tags, provenance apart."""
    tags = list(written)
    return {
        "tags": [tag for tag in tags if not tag.startswith(_PROVENANCE)],
        "system_tags": [tag for tag in tags if tag.startswith(_PROVENANCE)],
    }


def linkage_of(relation: str, target: str, label: str) -> dict[str, str]:
    """Return a relation of some type, to the id or path ``target``, as a linkage of the memory that it begins at."""
    kind = relation if relation in ("item", "file") else "memory"
    said = label or LABEL_OF_RELATION.get(relation, "")
    return {"type": kind, "path" if kind == "file" else "id": target, **({"label": said} if said else {})}


def section_fields(section: str, content: str) -> dict[str, Any]:
    """Return the fields of the working item that is a section of the working memory."""
    return {"title": section, "category": "session_note", "content": content, "extra": {SECTION: section}}


def section_of(item: WorkingItem) -> str:
    """Return the section that an item is; empty for any other item."""
    section = item.extra.get(SECTION, "")
    return section if isinstance(section, str) else ""


def section_key(name: str) -> str:
    """Return the key of the section that a key or a heading names; a name of its own is its own key."""
    folded = "_".join(name.lower().split())
    return folded if folded in SECTIONS else name.strip()


def item_fields(category: str, title: str) -> dict[str, Any]:
    """Return the fields of a working item of one of `ITEM_CATEGORIES`.

    What is never to be done has no end, so it is no skip here, which always ends: it is a standing decision, and says
    in its title what it is.
    """
    if category != _SKIPPED:
        return {"category": category, "title": title, "extra": {}}
    return {"category": "standing_decision", "title": f"{_SKIP}{title}", "extra": {_CATEGORY: _SKIPPED}}


def category_of(item: WorkingItem) -> str:
    """Return the category of a working item, one of `ITEM_CATEGORIES`."""
    is_skipped = item.extra.get(_CATEGORY) == _SKIPPED and item.category == "standing_decision"
    return _SKIPPED if is_skipped else item.category


def changed_item_fields(item: WorkingItem, category: str | None, title: str | None) -> dict[str, Any]:
    """Return the fields that another category or title (``None`` for no other) of a working item changes."""
    fields = item_fields(category or category_of(item), item_title(item) if title is None else title)
    kept = {name: value for name, value in item.extra.items() if name != _CATEGORY}
    return {**fields, "extra": {**kept, **fields["extra"]}}


def item_title(item: WorkingItem) -> str:
    """Return the title of a working item as `item_fields` was given it."""
    return item.title.removeprefix(_SKIP) if category_of(item) == _SKIPPED else item.title
