"""A relation: an arrow from a memory to another memory, a file or a working item."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, get_args

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidField
from memento_tui.records.ids import check_id, new_id
from memento_tui.records.rules import check_line, convert

__all__ = ["RELATION_TYPES", "Relation", "make_relation"]

RelationType = Literal["related", "supersedes", "contradicts", "consolidated_from", "file", "item"]
RELATION_TYPES: tuple[str, ...] = get_args(RelationType)


class Relation(msgspec.Struct, frozen=True, kw_only=True):
    """``src`` is a memory's id; ``dst`` another's, a path where the type is ``file``, or a working item's id."""

    id: str
    src: str
    dst: str
    type: RelationType = "related"
    label: str = ""
    created_at: datetime
    version: int = 1


_EXPECTED = {
    "type": f"one of {', '.join(RELATION_TYPES)}",
    "src": "an id",
    "dst": "an id or a path",
    "label": "text",
}


def make_relation(fields: Mapping[str, Any], *, now: datetime | None = None) -> Relation:
    """Make a relation of plain values. Raises `InvalidField`."""
    values = {"id": new_id(), "created_at": now or clock.now(), **fields}
    relation = convert(values, Relation, expected=_EXPECTED, moments=("created_at",))
    check_id(relation.id)
    check_id(relation.src, "src")
    check_line(relation.dst, "dst", required=True)
    check_line(relation.label, "label")
    if relation.src == relation.dst and relation.type not in ("file", "item"):
        raise InvalidField("dst", "is the memory itself; a relation joins two")
    return relation
