"""What a workspace on a server of Memento Protocol holds, as an export compares it with what it would send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from memento_tui.interchange.incoming import Incoming
from memento_tui.interchange.protocol_columns import KEPT, listed
from memento_tui.interchange.protocol_model import item_fields
from memento_tui.interchange.protocol_records import Place
from memento_tui.interchange.protocol_rest import read_workspace
from memento_tui.interchange.protocol_server import Server
from memento_tui.records.memory import content_digest

__all__ = ["Held", "HeldItem", "held_by", "item_key", "linkage_key"]


class HeldItem(msgspec.Struct, frozen=True):
    """A working item of the server."""

    id: str
    content: str


class Held(msgspec.Struct, kw_only=True):
    """What a workspace holds. Rows that no record can be made of are not among it."""

    memories: dict[bytes, str] = {}
    """Ids by the digest of the text."""
    linkages: dict[str, list[dict[str, Any]]] = {}
    """By the id of the memory that they begin at."""
    items: dict[tuple[str, str], HeldItem] = {}
    """By category and title, as records have them."""
    skips: set[tuple[str, str]] = set()
    """Item and reason."""
    identity: str = ""


def held_by(server: Server, workspace: str) -> Held:
    """Return what a workspace holds. Raises `InvalidInput` if the server does not answer as it should."""
    held = Held()
    for one in read_workspace(server, workspace, Place()):
        if isinstance(one, Incoming):
            _take(held, one)
    return held


def _take(held: Held, one: Incoming) -> None:
    fields = one.fields
    match one.record:
        case "memory":
            identity = str(fields.get("id", ""))
            held.memories.setdefault(content_digest(fields["content"]), identity)
            linkages = listed(fields.get("extra", {}).get(KEPT, {}).get("linkages"))
            held.linkages[identity] = [linkage for linkage in linkages if isinstance(linkage, dict)]
        case "skip":
            held.skips.add((fields["item"], fields["reason"]))
        case "item":
            key = (fields["category"], fields["title"])
            held.items.setdefault(key, HeldItem(str(fields.get("id", "")), fields["content"]))
        case "crystal":
            held.identity = fields["content"]


def item_key(category: str, title: str) -> tuple[str, str]:
    """Return what `Held.items` knows an item by that the wire gives this category and title."""
    fields = item_fields(category, title)
    return fields["category"], fields["title"]


def linkage_key(linkage: Mapping[str, Any]) -> tuple[object, object, object]:
    """Return what is the same for two linkages of a memory that say the same."""
    return linkage.get("type"), linkage.get("id") or linkage.get("path"), linkage.get("label") or ""
