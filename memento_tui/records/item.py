"""A working item: what the agent does now, what holds until further notice, and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, get_args

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidField
from memento_tui.records.ids import check_id, new_id
from memento_tui.records.rules import check_extra, check_line, check_namespace, check_tags, check_text, convert

__all__ = ["CATEGORIES", "ITEM_STATUSES", "WorkingItem", "make_item"]

Category = Literal["active_work", "standing_decision", "waiting_for", "session_note"]
ItemStatus = Literal["active", "paused", "completed", "archived"]
CATEGORIES: tuple[str, ...] = get_args(Category)
ITEM_STATUSES: tuple[str, ...] = get_args(ItemStatus)
MAX_PRIORITY = 1_000_000


class WorkingItem(msgspec.Struct, frozen=True, kw_only=True):
    """One working item. A higher priority comes first."""

    id: str
    title: str
    category: Category = "active_work"
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


_EXPECTED = {
    "title": "text",
    "category": f"one of {', '.join(CATEGORIES)}",
    "content": "text",
    "status": f"one of {', '.join(ITEM_STATUSES)}",
    "priority": "a whole number",
    "tags": "a list of words",
    "next_action": "text",
    "namespace": "text",
    "extra": "an object",
}
_MOMENTS = ("created_at", "updated_at")


def make_item(fields: Mapping[str, Any], *, now: datetime | None = None) -> WorkingItem:
    """Make a working item of plain values. Raises `InvalidField`."""
    values = {"id": new_id(), "created_at": now or clock.now(), "title": "", **fields}
    values.setdefault("updated_at", values["created_at"])
    item = convert(values, WorkingItem, expected=_EXPECTED, moments=_MOMENTS)
    check_id(item.id)
    check_line(item.title, "title", required=True)
    check_text(item.content, "content", required=False)
    check_line(item.next_action, "next_action")
    check_namespace(item.namespace)
    check_extra(item.extra)
    if abs(item.priority) > MAX_PRIORITY:
        raise InvalidField("priority", f"must be from -{MAX_PRIORITY:,} to {MAX_PRIORITY:,}; not {item.priority}")
    return msgspec.structs.replace(item, tags=check_tags(item.tags))
