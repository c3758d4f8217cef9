"""How much of what there is: counts over all memories, each answered once for each state of the store."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

import msgspec

from memento_tui.records.memory import KINDS, RECALLED, STABILITIES, STATUSES, TIERS
from memento_tui.records.when import to_text
from memento_tui.store import reads
from memento_tui.store.database import Database
from memento_tui.store.filters import AllOf, Between, OneOf, filter_sql

__all__ = ["Facets", "Statistics"]

_HIDDEN = tuple(status for status in STATUSES if status not in RECALLED)

Answer = TypeVar("Answer")


class Facets(msgspec.Struct, frozen=True):
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
        return sum(count for status, count in self.statuses().items() if status in RECALLED)

    def statuses(self) -> dict[str, int]:
        """Return how many memories have each status, most frequent first."""
        return self._once("statuses", self._statuses)

    def _statuses(self) -> dict[str, int]:
        # Nearly all are active: those are what is left of a count of all, which an index answers.
        query = "SELECT status, count(*) FROM memory WHERE status <> 'active' GROUP BY status"
        with self._database.reading() as connection:
            others = {str(row[0]): int(row[1]) for row in connection.execute(query)}
            total = int(connection.execute("SELECT count(*) FROM memory").fetchone()[0])
        return _ordered({"active": total - sum(others.values()), **others})

    def facets(self) -> Facets:
        """Return the counts of kinds, tiers and stabilities: about a second at a million."""
        return self._once("facets", self._facets)

    def _facets(self) -> Facets:
        fields = {"kind": KINDS, "tier": TIERS, "stability": STABILITIES}
        # One pass that adds up is twice as fast as one that groups.
        sums = [f"sum({field} = '{value}')" for field, values in fields.items() for value in values]
        query = f"SELECT {', '.join(sums)} FROM memory WHERE status NOT IN ({', '.join('?' * len(_HIDDEN))})"
        with self._database.reading() as connection:
            row = iter(connection.execute(query, _HIDDEN).fetchone())
        kinds, tiers, stabilities = [
            _ordered({value: int(next(row) or 0) for value in values}) for values in fields.values()
        ]
        return Facets(kinds, tiers, stabilities)

    def tags(self, limit: int) -> list[tuple[str, int]]:
        """Return the most used tags with their numbers: 0.4 seconds at a million memories."""

        def count() -> list[tuple[str, int]]:
            with self._database.reading() as connection:
                return reads.tag_counts(connection, limit)

        return self._once(f"tags {limit}", count)

    def expiring(self, start: datetime, end: datetime, limit: int) -> tuple[int, list[reads.Glance]]:
        """Return how many recalled memories expire between two moments, and the ``limit`` that do so first."""
        sql, parameters = filter_sql(AllOf((Between("expires_at", start, end), OneOf("status", RECALLED))))
        query = f"SELECT memory.id FROM memory WHERE {sql} ORDER BY expires_at, number LIMIT ?"
        with self._database.reading() as connection:
            total = connection.execute(f"SELECT count(*) FROM memory WHERE {sql}", parameters).fetchone()[0]
            ids = [row[0] for row in connection.execute(query, [*parameters, limit])]
            return int(total), reads.glances_by_id(connection, ids)

    def skips_ending(self, start: datetime, end: datetime) -> list[tuple[str, str, datetime]]:
        """Return the id, the item and the end of the skips that end between two moments, the first one first."""
        query = "SELECT id, item, expires_at FROM skip WHERE expires_at > ? AND expires_at <= ? ORDER BY expires_at"
        with self._database.reading() as connection:
            rows = connection.execute(query, (to_text(start), to_text(end))).fetchall()
        return [(row[0], row[1], datetime.fromisoformat(row[2])) for row in rows]

    def _once(self, name: str, count: Callable[[], Answer]) -> Answer:
        """Return what ``count`` returns, or returned before where nothing was written since."""
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


def _ordered(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(((value, count) for value, count in counts.items() if count), key=lambda pair: -pair[1]))
