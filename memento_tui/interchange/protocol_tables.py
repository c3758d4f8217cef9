"""The tables of Memento Protocol's hosted database, which its HTTP interface answers from too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from memento_tui.interchange.incoming import Incoming, Refused, source_digest
from memento_tui.interchange.protocol_columns import (
    Column,
    category,
    compact,
    counted,
    flag,
    identity,
    item_status,
    kind,
    line,
    listed,
    moment_written_iso,
    moment_written_sql,
    plain_tags,
    priority,
    row_of,
    tags,
    taken,
    text,
    when,
)
from memento_tui.interchange.protocol_records import At, Links, Place, crystal, item, memory, section, skip

__all__ = [
    "CONSOLIDATION",
    "CRYSTAL",
    "ITEM",
    "MEMORY",
    "SECTION_ROW",
    "SKIP",
    "consolidation_of",
    "crystal_of",
    "digest_of",
    "item_of",
    "memory_of",
    "section_of",
    "skip_of",
]

MEMORY: tuple[Column, ...] = (
    identity("id"),
    text("content", "content"),
    kind("type"),
    tags("tags", compact),
    when("created_at", "created_at", moment_written_sql),
    when("expires_at", "expires_at", moment_written_iso, is_optional=True),
    counted("relevance", 1.0),
    counted("access_count", 0),
    counted("last_accessed_at"),
    flag("consolidated", 1, 0),
    counted("embedded_at"),
    counted("images", "[]"),
)
"""All but ``consolidated_into`` and ``linkages``, which lead to other rows."""
CONSOLIDATION: tuple[Column, ...] = (
    identity("id"),
    text("summary", "content"),
    tags("tags", compact),
    counted("type", "auto"),
    when("created_at", "created_at", moment_written_sql),
    counted("method", "template"),
    counted("template_summary"),
)
SKIP: tuple[Column, ...] = (
    identity("id"),
    line("item", "item"),
    line("reason", "reason"),
    when("expires_at", "expires_at", moment_written_iso, is_optional=True),
    when("added_at", "created_at", moment_written_sql),
)
ITEM: tuple[Column, ...] = (
    identity("id"),
    category("category"),
    line("title", "title"),
    text("content", "content"),
    item_status("status"),
    priority("priority"),
    plain_tags("tags", compact),
    line("next_action", "next_action", empty=None),
    counted("last_touched"),
    when("created_at", "created_at", moment_written_sql),
    when("updated_at", "updated_at", moment_written_sql),
)
SECTION_ROW: tuple[Column, ...] = (
    text("section_key", "key"),
    line("heading", "title"),
    text("content", "content"),
    when("updated_at", "updated_at", moment_written_sql),
)
CRYSTAL: tuple[Column, ...] = (
    identity("id"),
    text("crystal", "content"),
    counted("source_count", 0),
    when("created_at", "created_at", moment_written_sql),
)

_OF_USE = frozenset(("relevance", "access_count", "last_accessed_at", "embedded_at"))
"""What changes by itself, or when a memory is only read."""

_NEW = {
    name: row_of(columns, {}, {})
    for name, columns in (
        ("memory", MEMORY),
        ("consolidation", CONSOLIDATION),
        ("skip", SKIP),
        ("item", ITEM),
        ("section", SECTION_ROW),
        ("crystal", CRYSTAL),
    )
}
"""What a column says that an older table does not have."""


def digest_of(row: Mapping[str, Any]) -> bytes:
    """Return the digest of what a row says; that it was used or rated anew does not change it."""
    said = {name: value for name, value in sorted(row.items()) if name not in _OF_USE}
    return source_digest(msgspec.json.encode(said))


def memory_of(place: Place, row: Mapping[str, Any], at: At) -> Incoming | Refused:
    """Return the memory of a row of ``memories``."""
    own = {name: value for name, value in row.items() if name not in ("linkages", "consolidated_into")}
    usual = {"linkages": "[]", "consolidated_into": None}
    kept = {name: row[name] for name, value in usual.items() if name in row and row[name] != value}
    links = Links(linkages=listed(row.get("linkages")), kept=kept)
    return memory(place, MEMORY, {**_NEW["memory"], **own}, at, links)


def consolidation_of(place: Place, row: Mapping[str, Any], at: At) -> Incoming | Refused:
    """Return the memory of a row of ``consolidations``: the text that stands for others which are not recalled."""
    own = {name: value for name, value in row.items() if name != "source_ids"}
    sources = [one for one in listed(row.get("source_ids")) if isinstance(one, str)]
    links = Links(sources=sources, kept={"table": "consolidations", "source_ids": row.get("source_ids")})
    found = memory(place, CONSOLIDATION, {**_NEW["consolidation"], **own}, at, links)
    if isinstance(found, Incoming):
        found.fields["kind"] = "observation"
    return found


def skip_of(place: Place, row: Mapping[str, Any], at: At) -> Incoming | Refused:
    """Return the skip, or the standing decision, of a row of ``skip_list``."""
    return skip(place, SKIP, {**_NEW["skip"], **row}, at, "expires_at")


def item_of(place: Place, row: Mapping[str, Any], at: At) -> Incoming | Refused:
    """Return the working item of a row of ``working_memory_items``."""
    return item(place, ITEM, {**_NEW["item"], **row}, at)


def section_of(place: Place, row: Mapping[str, Any], at: At) -> Incoming | None:
    """Return the working item of a row of ``working_memory_sections``; ``None`` for a section that says nothing."""
    fields, kept = taken(SECTION_ROW, {**_NEW["section"], **row})
    if not fields["key"].strip() or not fields["content"].strip():
        return None
    kept["table"] = "working_memory_sections"
    found = section(place, fields["key"], fields["title"], fields["content"], kept, at)
    if "updated_at" in fields:
        found.fields["created_at"] = found.fields["updated_at"] = fields["updated_at"]
    return found


def crystal_of(place: Place, row: Mapping[str, Any], at: At, *, is_current: bool) -> Incoming | Refused:
    """Return the crystal of a row of ``identity_snapshots``."""
    return crystal(place, CRYSTAL, {**_NEW["crystal"], **row}, at, is_current=is_current)
