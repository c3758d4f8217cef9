"""The records of the short lists: skips, working items and identity crystals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidField
from memento_tui.model.validation import (
    check_encodable,
    check_extra,
    check_id,
    check_line,
    check_namespace,
    check_tags,
    check_text,
    convert_fields,
    new_id,
)

__all__ = [
    "ITEM_CATEGORIES",
    "ITEM_STATUSES",
    "LONGEST_SKIP",
    "UNVERIFIED_KEY",
    "Crystal",
    "Skip",
    "WorkingItem",
    "end_in_time",
    "is_unverified",
    "make_crystal",
    "make_item",
    "make_skip",
]


UNVERIFIED_KEY = "unverified"
"""The name in ``extra`` that says that no person wrote or approved the texts of a record. The gate keeps it."""


class Skip(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the skip list. It always ends: a skip without an end becomes stale avoidance."""

    id: str
    item: str
    reason: str
    expires_at: datetime
    namespace: str = "global"
    created_at: datetime
    updated_at: datetime
    created_by: str = ""
    extra: dict[str, Any] = {}
    hits: int = 0
    last_hit_at: datetime | None = None
    version: int = 1


_SKIP_FIELDS = {
    "item": "text",
    "reason": "text",
    "namespace": "text",
    "hits": "a whole number",
    "extra": "an object",
}
LONGEST_SKIP = timedelta(days=731)
"""Two years, one of them a leap year: after that nobody remembers why a skip is there."""
_SKIP_MOMENTS = ("expires_at", "created_at", "updated_at", "last_hit_at")


def make_skip(fields: Mapping[str, Any], *, now: datetime | None = None, stored: bool = False) -> Skip:
    """Make a skip of plain values. ``stored`` accepts one that has ended already, as an import may hold.

    Raises:
        InvalidField: a field is missing or wrong, or the end is not in the future, or more than two years away.

    """
    moment = now or clock.now()
    for name, why in (("item", "what to skip"), ("reason", "why"), ("expires_at", "until when")):
        if fields.get(name) in (None, ""):
            raise InvalidField(name, "is missing", f"A skip says {why}.")
    values = {"id": new_id(), "created_at": moment, **fields}
    values.setdefault("updated_at", values["created_at"])
    skip = convert_fields(values, Skip, expected=_SKIP_FIELDS, moments=_SKIP_MOMENTS)
    check_id(skip.id)
    check_line(skip.item, "item", required=True)
    check_line(skip.reason, "reason", required=True)
    check_encodable(skip.created_by, "created_by")
    check_namespace(skip.namespace)
    check_extra(skip.extra)
    if skip.hits < 0:
        raise InvalidField("hits", "cannot be negative")
    if not stored and skip.expires_at <= (now or clock.now()):
        raise InvalidField("expires_at", f"is not in the future: {skip.expires_at:%Y-%m-%d %H:%M}Z has passed")
    if not stored and skip.expires_at > (now or clock.now()) + LONGEST_SKIP:
        raise InvalidField(
            "expires_at",
            f"is more than two years away: {skip.expires_at:%Y-%m-%d}",
            "A skip ends while somebody remembers why it is there: name an earlier end. What holds for good is a"
            " standing decision, which a person makes of a skip with `memento skip decide`.",
        )
    return skip


def end_in_time(skip: Skip) -> Skip:
    """Return a skip of another system with the latest end that a skip may have, if its own is later.

    That is two years after it was made; for an older one, which would have ended by that, two years from now.
    """
    now = clock.now()
    latest = skip.created_at + LONGEST_SKIP
    if not now < latest <= now + LONGEST_SKIP:
        latest = now + LONGEST_SKIP
    return skip if skip.expires_at <= latest else msgspec.structs.replace(skip, expires_at=latest)


ItemCategory = Literal["active_work", "standing_decision", "waiting_for", "session_note"]
ItemStatus = Literal["active", "paused", "completed", "archived"]
ITEM_CATEGORIES: tuple[str, ...] = get_args(ItemCategory)
ITEM_STATUSES: tuple[str, ...] = get_args(ItemStatus)
MAX_ITEM_PRIORITY = 1_000_000


class WorkingItem(msgspec.Struct, frozen=True, kw_only=True):
    """One working item. A higher priority comes first."""

    id: str
    title: str
    category: ItemCategory = "active_work"
    content: str = ""
    status: ItemStatus = "active"
    priority: int = 0
    tags: tuple[str, ...] = ()
    next_action: str = ""
    namespace: str = "global"
    created_at: datetime
    updated_at: datetime
    extra: dict[str, Any] = {}
    version: int = 1


_ITEM_FIELDS = {
    "title": "text",
    "category": f"one of {', '.join(ITEM_CATEGORIES)}",
    "content": "text",
    "status": f"one of {', '.join(ITEM_STATUSES)}",
    "priority": "a whole number",
    "tags": "a list of words",
    "next_action": "text",
    "namespace": "text",
    "extra": "an object",
}
_ITEM_MOMENTS = ("created_at", "updated_at")


def make_item(fields: Mapping[str, Any], *, now: datetime | None = None) -> WorkingItem:
    """Make a working item of plain values. Raises `InvalidField`."""
    values = {"id": new_id(), "created_at": now or clock.now(), "title": "", **fields}
    values.setdefault("updated_at", values["created_at"])
    item = convert_fields(values, WorkingItem, expected=_ITEM_FIELDS, moments=_ITEM_MOMENTS)
    check_id(item.id)
    check_line(item.title, "title", required=True)
    check_text(item.content, "content", required=False)
    check_line(item.next_action, "next_action")
    check_namespace(item.namespace)
    check_extra(item.extra)
    if abs(item.priority) > MAX_ITEM_PRIORITY:
        raise InvalidField(
            "priority", f"must be from -{MAX_ITEM_PRIORITY:,} to {MAX_ITEM_PRIORITY:,}; not {item.priority}"
        )
    return msgspec.structs.replace(item, tags=check_tags(item.tags))


CrystalStatus = Literal["proposed", "current", "past", "rejected"]
CRYSTAL_STATUSES: tuple[str, ...] = get_args(CrystalStatus)


class Crystal(msgspec.Struct, frozen=True, kw_only=True):
    """One snapshot. After it is written only its status changes."""

    id: str
    content: str
    parent: str = ""
    """The id of the crystal that was current when this one was written."""
    author: str = ""
    """``person``, or the name of the agent that wrote it."""
    status: CrystalStatus = "current"
    created_at: datetime
    extra: dict[str, Any] = {}
    version: int = 1


_CRYSTAL_FIELDS = {
    "content": "text",
    "status": f"one of {', '.join(CRYSTAL_STATUSES)}",
    "parent": "an id",
    "author": "text",
}


def make_crystal(fields: Mapping[str, Any], *, now: datetime | None = None) -> Crystal:
    """Make a crystal of plain values. Raises `InvalidField`."""
    values = {"id": new_id(), "created_at": now or clock.now(), "content": "", **fields}
    crystal = convert_fields(values, Crystal, expected=_CRYSTAL_FIELDS, moments=("created_at",))
    check_id(crystal.id)
    check_text(crystal.content, "content")
    check_line(crystal.author, "author")
    if crystal.parent:
        check_id(crystal.parent, "parent")
    check_extra(crystal.extra)
    return crystal


def is_unverified(record: Skip | WorkingItem | Crystal) -> bool:
    """Tell whether the texts of a record are an agent's or a file's, and no person has written or approved them."""
    return bool(record.extra.get(UNVERIFIED_KEY))
