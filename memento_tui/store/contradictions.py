"""Reading contradictions: those that wait, and those between or around memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from memento_tui.records import Contradiction
from memento_tui.records.memory import RECALLED
from memento_tui.records.when import to_text
from memento_tui.store.database import Database
from memento_tui.store.tables import select

__all__ = ["BOTH_HOLD", "Contradictions"]

_UNRESOLVED = "contradiction.status <> 'resolved'"

BOTH_HOLD = (
    "(SELECT count(*) FROM memory WHERE memory.id IN (contradiction.older, contradiction.newer)"
    f" AND memory.status IN ({', '.join(repr(status) for status in RECALLED if status != 'superseded')})) = 2"
)
"""Nobody is asked about a memory that was deleted, rejected, archived or superseded meanwhile."""


class Contradictions:
    """The contradictions of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _select(self, where: str, parameters: Sequence[object]) -> list[Contradiction]:
        with self._database.reading() as connection:
            return select(connection, "contradiction", where, parameters)

    def page(
        self, *, at: datetime, resolved: bool = False, after: str | None = None, limit: int = 50
    ) -> tuple[list[Contradiction], str | None]:
        """Return the contradictions that wait for a person at a moment, surest first, and the next page's cursor.

        ``resolved`` returns those that were resolved instead, the latest first.
        """
        if resolved:
            where, order, parameters = "contradiction.status = 'resolved'", "number DESC", list[object]()
            beyond = "number < (SELECT number FROM contradiction WHERE id = ?)"
        else:
            where = f"{_UNRESOLVED} AND {BOTH_HOLD} AND (status = 'open' OR coalesce(later_until, '9') <= ?)"
            order, parameters = "score DESC, number", [to_text(at)]
            beyond = "(-score, number) > (SELECT -score, number FROM contradiction WHERE id = ?)"
        if after is not None:
            where += f" AND {beyond}"
            parameters.append(after)
        found = self._select(f"{where} ORDER BY {order} LIMIT ?", [*parameters, limit])
        return found, found[-1].id if len(found) == limit else None

    def count(self, *, at: datetime) -> int:
        """Return how many wait for a person at a moment."""
        where = f"{_UNRESOLVED} AND {BOTH_HOLD} AND (status = 'open' OR coalesce(later_until, '9') <= ?)"
        with self._database.reading() as connection:
            query = f"SELECT count(*) FROM contradiction WHERE {where}"
            return int(connection.execute(query, (to_text(at),)).fetchone()[0])

    def around(self, ids: Sequence[str]) -> list[Contradiction]:
        """Return the unresolved contradictions, put off or not, that have one of the memories as a side."""
        listed = msgspec.json.encode(list(ids)).decode()
        among = "(SELECT value FROM json_each(?))"
        where = f"(older IN {among} OR newer IN {among}) AND {_UNRESOLVED} AND {BOTH_HOLD} ORDER BY score DESC, number"
        return self._select(where, (listed, listed))

    def of(self, memory_id: str) -> list[Contradiction]:
        """Return the unresolved contradictions of one memory, whatever became of the other side."""
        return self._select(f"(older = ? OR newer = ?) AND {_UNRESOLVED} ORDER BY number", (memory_id, memory_id))

    def between(self, one: str, other: str) -> list[Contradiction]:
        """Return every contradiction of two memories, whichever is the older and whatever became of it."""
        where = "(older = ? AND newer = ?) OR (older = ? AND newer = ?) ORDER BY number DESC"
        return self._select(where, (one, other, other, one))
