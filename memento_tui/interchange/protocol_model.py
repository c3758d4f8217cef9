"""Memento Protocol's words for what memento stores, shared by its files, its tools and its HTTP interface.

| Memento Protocol | here |
|---|---|
| workspace `default` / any other | namespace `global` / the workspace's name |
| memory type | kind; a name that is no kind of ours stays in `kind_raw` |
| tags that begin with `source:` | system tags: provenance never groups memories |
| section of the working memory | a working item, category `session_note`, whose `extra` names the section |
| linkage `memory` / `item` / `file` | relation `related` / `item` / `file` with its label |
| `consolidated_from` | relation `consolidated_from` |
| identity | crystal |
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from memento_tui.records import Memory, WorkingItem
from memento_tui.records.memory import KINDS
from memento_tui.records.rules import check_namespace

__all__ = [
    "DEFAULT_TYPE",
    "RELATION_OF_LINKAGE",
    "SECTION",
    "kind_fields",
    "namespace_of",
    "new_hex_id",
    "section_fields",
    "section_of",
    "tag_fields",
    "type_of",
    "workspace_of",
]

DEFAULT_TYPE = "observation"
SECTION = "protocol_section"
"""The name in `WorkingItem.extra` under which an item keeps the section that it is."""

RELATION_OF_LINKAGE: Mapping[str, str] = {"memory": "related", "item": "item", "file": "file"}

_DEFAULT_WORKSPACE, _DEFAULT_NAMESPACE = "default", "global"
_PROVENANCE = "source:"


def new_hex_id() -> str:
    """Return a random id of 8 hexadecimal digits, which is what this system's clients expect of one."""
    return secrets.token_hex(4)


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


def section_fields(section: str, content: str) -> dict[str, Any]:
    """Return the fields of the working item that is a section of the working memory."""
    return {"title": section, "category": "session_note", "content": content, "extra": {SECTION: section}}


def section_of(item: WorkingItem) -> str:
    """Return the section that an item is; empty for any other item."""
    section = item.extra.get(SECTION, "")
    return section if isinstance(section, str) else ""
