"""How many memories have each value of a field: what a tree of facets shows."""

from __future__ import annotations

from typing import Literal, get_args

from memento_tui.records.memory import RECALLED
from memento_tui.store.database import Database
from memento_tui.store.filters import OneOf, filter_sql
from memento_tui.store.reads import tag_counts

__all__ = ["FACETS", "Facet", "Facets"]

Facet = Literal["namespace", "kind", "tag", "tier", "stability", "source_type", "agent"]
FACETS: tuple[Facet, ...] = get_args(Facet)

_COLUMNS = {"agent": "coalesce(json_extract(source, '$.agent'), '')"}
_MOST_TAGS = 50
_MOST_VALUES = 5_000
"""Namespaces or agents that are told apart; the rarest beyond are left out."""


class Facets:
    """Counts over the recalled memories of one database, all namespaces together.

    Each call reads every memory once: about half a second for a million of them, so a screen asks on a thread.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def counts(self, facet: Facet) -> list[tuple[str, int]]:
        """Return each value of a field with the number of recalled memories that have it, most first.

        Of the tags only the 50 most used are counted. A memory without an agent counts for none.
        """
        with self._database.reading() as connection:
            if facet == "tag":
                return tag_counts(connection, _MOST_TAGS)
            column = _COLUMNS.get(facet, facet)
            recalled, parameters = filter_sql(OneOf("status", RECALLED))
            query = (
                f"SELECT {column} AS value, count(*) AS found FROM memory WHERE {recalled} GROUP BY value"
                " ORDER BY found DESC, value LIMIT ?"
            )
            rows = connection.execute(query, (*parameters, _MOST_VALUES)).fetchall()
        return [(row[0], row[1]) for row in rows if row[0]]
