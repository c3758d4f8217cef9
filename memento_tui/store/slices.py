"""Slices of the memories in an order that a caller names, for interfaces that count rows instead of keeping a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memento_tui.records import Memory
from memento_tui.store.filters import Filter, filter_sql
from memento_tui.store.store import Store
from memento_tui.store.tables import TABLES

__all__ = ["ORDERS", "memory_slice"]

ORDERS: Mapping[str, str] = {
    "created": "memory.created_at",
    "certainty": "memory.certainty",
    "used": "coalesce(usage.used, 0)",
    "last_used": "coalesce(usage.last_used_at, '')",
}
"""What memories may be ordered by, with its column."""


def memory_slice(store: Store, tree: Filter, *, order: str, ascending: bool, limit: int, skip: int) -> Sequence[Memory]:
    """Return ``limit`` memories that a filter selects after the first ``skip``, ordered by one of `ORDERS`.

    The cost grows with the number that the filter selects.
    """
    table = TABLES["memory"]
    sql, parameters = filter_sql(tree)
    way = "ASC" if ascending else "DESC"
    query = f"{table.select} WHERE {sql} ORDER BY {ORDERS[order]} {way}, memory.number {way} LIMIT ? OFFSET ?"
    with store.reading() as connection:
        return [table.record_of(row) for row in connection.execute(query, (*parameters, limit, skip))]
