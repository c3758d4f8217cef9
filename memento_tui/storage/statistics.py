"""Count memories: totals, statuses, facets, tags and those that expire, cached for each state of the database."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from typing import Literal, TypeVar, get_args

import msgspec

from memento_tui.model.filters import AllOf, Between, OneOf
from memento_tui.model.memory import KINDS, RECALLED_STATUSES, STABILITIES, STATUSES, TIERS
from memento_tui.model.memory_fields import FIELDS_BY_NAME
from memento_tui.moments import format_moment
from memento_tui.storage import memory_queries
from memento_tui.storage.database import Database
from memento_tui.storage.filters import filter_sql
from memento_tui.storage.memory_queries import tag_counts

__all__ = ["FACETS", "Facet", "FacetCounts", "FacetQueries", "Statistics"]

_HIDDEN_STATUSES = tuple(status for status in STATUSES if status not in RECALLED_STATUSES)

Answer = TypeVar("Answer")


class FacetCounts(msgspec.Struct, frozen=True):
    """How many recalled memories have each value of a field, most frequent first; values that none has are left out."""

    kinds: dict[str, int]
    tiers: dict[str, int]
    stabilities: dict[str, int]


class Statistics:
    """The counts of one database. Safe to use from several threads.

    An answer is kept for as long as nothing is written: the slow ones read every memory.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._guard = threading.Lock()
        self._kept: dict[str, tuple[bytes, object]] = {}

    def recalled(self) -> int:
        """Return how many memories a search may return: 15 ms at a million."""
        return sum(count for status, count in self.statuses().items() if status in RECALLED_STATUSES)

    def statuses(self) -> dict[str, int]:
        """Return how many memories have each status, most frequent first."""
        return self._once("statuses", self._statuses)

    def _statuses(self) -> dict[str, int]:
        # Nearly all are active: those are what is left of a count of all, which an index answers.
        query = "SELECT status, count(*) FROM memory WHERE status <> 'active' GROUP BY status"
        with self._database.reading() as connection:
            others = {str(row[0]): int(row[1]) for row in connection.execute(query)}
            total = int(connection.execute("SELECT count(*) FROM memory").fetchone()[0])
        return _most_first({"active": total - sum(others.values()), **others})

    def facets(self) -> FacetCounts:
        """Return the counts of kinds, tiers and stabilities: about a second at a million."""
        return self._once("facets", self._facets)

    def _facets(self) -> FacetCounts:
        fields = {"kind": KINDS, "tier": TIERS, "stability": STABILITIES}
        # One pass that adds up is twice as fast as one that groups.
        sums = [f"sum({field} = '{value}')" for field, values in fields.items() for value in values]
        query = f"SELECT {', '.join(sums)} FROM memory WHERE status NOT IN ({', '.join('?' * len(_HIDDEN_STATUSES))})"
        with self._database.reading() as connection:
            row = iter(connection.execute(query, _HIDDEN_STATUSES).fetchone())
        kinds, tiers, stabilities = [
            _most_first({value: int(next(row) or 0) for value in values}) for values in fields.values()
        ]
        return FacetCounts(kinds, tiers, stabilities)

    def tags(self, limit: int) -> list[tuple[str, int]]:
        """Return the most used tags with their numbers: 0.4 seconds at a million memories."""

        def count() -> list[tuple[str, int]]:
            with self._database.reading() as connection:
                return memory_queries.tag_counts(connection, limit)

        return self._once(f"tags {limit}", count)

    def expiring(self, start: datetime, end: datetime, limit: int) -> tuple[int, list[memory_queries.MemorySummary]]:
        """Return how many recalled memories expire between two moments, and the ``limit`` that do so first."""
        sql, parameters = filter_sql(AllOf((Between("expires_at", start, end), OneOf("status", RECALLED_STATUSES))))
        query = f"SELECT memory.id FROM memory WHERE {sql} ORDER BY expires_at, number LIMIT ?"
        with self._database.reading() as connection:
            total = connection.execute(f"SELECT count(*) FROM memory WHERE {sql}", parameters).fetchone()[0]
            ids = [row[0] for row in connection.execute(query, [*parameters, limit])]
            return int(total), memory_queries.summaries_by_id(connection, ids)

    def skips_ending(self, start: datetime, end: datetime) -> list[tuple[str, str, datetime]]:
        """Return the id, the item and the end of the skips that end between two moments, the first one first."""
        query = "SELECT id, item, expires_at FROM skip WHERE expires_at > ? AND expires_at <= ? ORDER BY expires_at"
        with self._database.reading() as connection:
            rows = connection.execute(query, (format_moment(start), format_moment(end))).fetchall()
        return [(row[0], row[1], datetime.fromisoformat(row[2])) for row in rows]

    def _once(self, name: str, count: Callable[[], Answer]) -> Answer:
        """Return the result of ``count``, from the cache where nothing was written since."""
        with self._database.reading() as connection:
            # The hash, because a restored backup may come to as many entries as there were.
            row = connection.execute("SELECT hash FROM entry ORDER BY seq DESC LIMIT 1").fetchone()
            head = bytes(row[0]) if row is not None else b""
        with self._guard:
            kept = self._kept.get(name)
        if kept is not None and kept[0] == head:
            return kept[1]  # type: ignore[return-value] # what was kept under a name is what its count returns
        # What is written while it counts may be in the answer: it is kept under the state before, and counted again.
        answer = count()
        with self._guard:
            self._kept[name] = (head, answer)
        return answer


def _most_first(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(((value, count) for value, count in counts.items() if count), key=lambda pair: -pair[1]))


Facet = Literal["namespace", "kind", "tag", "tier", "stability", "source_type", "agent"]
FACETS: tuple[Facet, ...] = get_args(Facet)

_MAX_TAGS = 50
_MAX_VALUES = 5_000
"""Namespaces or agents that are counted one by one; the rarest beyond are left out."""


class FacetQueries:
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
                return tag_counts(connection, _MAX_TAGS)
            column = FIELDS_BY_NAME[facet].sql or f"memory.{facet}"
            recalled, parameters = filter_sql(OneOf("status", RECALLED_STATUSES))
            query = (
                f"SELECT {column} AS value, count(*) AS found FROM memory WHERE {recalled} GROUP BY value"
                " ORDER BY found DESC, value LIMIT ?"
            )
            rows = connection.execute(query, (*parameters, _MAX_VALUES)).fetchall()
        return [(row[0], row[1]) for row in rows if row[0]]
