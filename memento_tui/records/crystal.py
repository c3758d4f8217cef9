"""An identity crystal: a snapshot, in prose, of who the agent is. A new one never overwrites an old one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, get_args

import msgspec

from memento_tui import clock
from memento_tui.records.ids import check_id, new_id
from memento_tui.records.rules import check_extra, check_line, check_text, convert

__all__ = ["CRYSTAL_STATUSES", "Crystal", "make_crystal"]

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


_EXPECTED = {
    "content": "text",
    "status": f"one of {', '.join(CRYSTAL_STATUSES)}",
    "parent": "an id",
    "author": "text",
}


def make_crystal(fields: Mapping[str, Any], *, now: datetime | None = None) -> Crystal:
    """Make a crystal of plain values. Raises `InvalidField`."""
    values = {"id": new_id(), "created_at": now or clock.now(), "content": "", **fields}
    crystal = convert(values, Crystal, expected=_EXPECTED, moments=("created_at",))
    check_id(crystal.id)
    check_text(crystal.content, "content")
    check_line(crystal.author, "author")
    if crystal.parent:
        check_id(crystal.parent, "parent")
    check_extra(crystal.extra)
    return crystal
