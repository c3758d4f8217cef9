"""A skip: something that the agent is not to do or read again, why, and until when."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidField
from memento_tui.records.ids import check_id, new_id
from memento_tui.records.rules import check_extra, check_line, check_namespace, convert, encodable

__all__ = ["Skip", "make_skip"]


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


_EXPECTED = {
    "item": "text",
    "reason": "text",
    "namespace": "text",
    "hits": "a whole number",
    "extra": "an object",
}
_MOMENTS = ("expires_at", "created_at", "updated_at", "last_hit_at")


def make_skip(fields: Mapping[str, Any], *, now: datetime | None = None, stored: bool = False) -> Skip:
    """Make a skip of plain values. ``stored`` accepts one that has ended already, as an import may hold.

    Raises:
        InvalidField: a field is missing or wrong, or the end is not in the future.

    """
    moment = now or clock.now()
    for name, why in (("item", "what to skip"), ("reason", "why"), ("expires_at", "until when")):
        if fields.get(name) in (None, ""):
            raise InvalidField(name, "is missing", f"A skip says {why}.")
    values = {"id": new_id(), "created_at": moment, **fields}
    values.setdefault("updated_at", values["created_at"])
    skip = convert(values, Skip, expected=_EXPECTED, moments=_MOMENTS)
    check_id(skip.id)
    check_line(skip.item, "item", required=True)
    check_line(skip.reason, "reason", required=True)
    encodable(skip.created_by, "created_by")
    check_namespace(skip.namespace)
    check_extra(skip.extra)
    if skip.hits < 0:
        raise InvalidField("hits", "cannot be negative")
    if not stored and skip.expires_at <= (now or clock.now()):
        raise InvalidField("expires_at", f"is not in the future: {skip.expires_at:%Y-%m-%d %H:%M}Z has passed")
    return skip
