"""A contradiction: two memories that cannot both hold as they stand."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, get_args

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidField
from memento_tui.records.ids import check_id, new_id
from memento_tui.records.rules import check_line, convert

__all__ = ["CONTRADICTION_KINDS", "RESOLUTIONS", "Contradiction", "make_contradiction"]

ContradictionKind = Literal["temporal", "scoped", "genuine"]
ContradictionStatus = Literal["open", "later", "resolved"]
Resolution = Literal["", "newer_supersedes", "older_stands", "both_valid", "merged", "not_a_contradiction"]
CONTRADICTION_KINDS: tuple[str, ...] = get_args(ContradictionKind)
RESOLUTIONS: tuple[str, ...] = get_args(Resolution)[1:]


class Contradiction(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories by their ids, and the words that differ: each span is a start and an end in its content."""

    id: str
    older: str
    newer: str
    kind: ContradictionKind = "genuine"
    older_spans: tuple[tuple[int, int], ...] = ()
    newer_spans: tuple[tuple[int, int], ...] = ()
    why: str = ""
    score: float = 0.0
    """From 0 to 1: how sure the finder is."""
    status: ContradictionStatus = "open"
    resolution: Resolution = ""
    resolved_by: str = ""
    resolved_at: datetime | None = None
    later_until: datetime | None = None
    lowered: tuple[str, ...] = ()
    """The ids of the sides that lost a grade of certainty when it was found."""
    created_at: datetime
    version: int = 1


_EXPECTED = {
    "older": "an id",
    "newer": "an id",
    "kind": f"one of {', '.join(CONTRADICTION_KINDS)}",
    "older_spans": "a list of pairs of whole numbers",
    "newer_spans": "a list of pairs of whole numbers",
    "score": "a number from 0 to 1",
    "status": "one of open, later, resolved",
    "resolution": f"one of {', '.join(RESOLUTIONS)}",
}


def make_contradiction(fields: Mapping[str, Any], *, now: datetime | None = None) -> Contradiction:
    """Make a contradiction of plain values. Raises `InvalidField`."""
    values = {"id": new_id(), "created_at": now or clock.now(), **fields}
    found = convert(values, Contradiction, expected=_EXPECTED, moments=("created_at", "resolved_at", "later_until"))
    check_id(found.id)
    check_id(found.older, "older")
    check_id(found.newer, "newer")
    check_line(found.why, "why")
    if found.older == found.newer:
        raise InvalidField("newer", "is the same memory as older; a contradiction has two sides")
    if not 0 <= found.score <= 1:
        raise InvalidField("score", f"must be a number from 0 to 1; not {found.score}")
    if (found.status == "resolved") != bool(found.resolution):
        raise InvalidField("resolution", "belongs to a contradiction that is resolved, and to no other")
    return found
