"""Counters of use, and the sessions in which a memory was of use. They bypass the journal: reading is not history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from memento_tui import clock
from memento_tui.records.when import to_text
from memento_tui.store.database import Database
from memento_tui.store.transaction import Transaction

__all__ = ["Usage"]


class Usage:
    """What was shown and used of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count(self, record: str, ids: Iterable[str], *, shown: int = 0, used: int = 0, session: str = "") -> None:
        """Add to the counters; ``session`` is where a memory was of use, and counts once for each memory."""
        moment = to_text(clock.now()) if used else None
        query = (
            "INSERT INTO usage (record, record_id, shown, used, last_used_at) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (record, record_id) DO UPDATE SET"
            " shown = shown + excluded.shown, used = used + excluded.used,"
            " last_used_at = coalesce(excluded.last_used_at, last_used_at)"
        )
        counted = list(ids)
        with self._database.writing() as connection:
            connection.executemany(query, [(record, record_id, shown, used, moment) for record_id in counted])
            if used and session and record == "memory":
                rows = [(record_id, session, moment) for record_id in counted]
                connection.executemany("INSERT OR IGNORE INTO confirmation VALUES (?, ?, ?)", rows)

    def sessions(self, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return in how many different sessions each of the memories was of use, and how many of them have counted.

        Those never used are left out. A session has counted once it moved the memory's certainty.
        """
        listed = msgspec.json.encode(list(ids)).decode()
        query = (
            "SELECT confirmation.record_id, count(*), max(coalesce(usage.counted, 0)) FROM confirmation"
            " LEFT JOIN usage ON usage.record = 'memory' AND usage.record_id = confirmation.record_id"
            " WHERE confirmation.record_id IN (SELECT value FROM json_each(?)) GROUP BY confirmation.record_id"
        )
        with self._database.reading() as connection:
            return {row[0]: (int(row[1]), int(row[2])) for row in connection.execute(query, (listed,))}

    def confirmed(self) -> list[str]:
        """Return the ids of all memories that were of use in some session."""
        with self._database.reading() as connection:
            return [row[0] for row in connection.execute("SELECT DISTINCT record_id FROM confirmation")]

    def mark_counted(self, tx: Transaction, memory_id: str, sessions: int) -> None:
        """Note in a running transaction how many sessions have moved a memory's certainty."""
        query = "UPDATE usage SET counted = ? WHERE record = 'memory' AND record_id = ?"
        tx.connection.execute(query, (sessions, memory_id))
