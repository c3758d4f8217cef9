"""The ledger of when skips fired: for which session, and by which of their own words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from memento_tui import clock
from memento_tui.moments import format_moment
from memento_tui.storage.database import Database
from memento_tui.storage.statements import ADD_SKIP_HIT, COUNT_USE, DROP_OLD_SKIP_HITS

__all__ = ["SkipHit", "SkipHitLedger"]


class SkipHit(msgspec.Struct, frozen=True):
    """One time that a skip fired."""

    at: datetime
    session: str
    """The session that was told of it; empty for one that has no name."""
    channel: str
    words: str
    """The words of the skip that it was found by. The text that held them is not kept."""


class SkipHitLedger:
    """The ledger of one database. It bypasses the journal: what is only asked is not history."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, hits: Iterable[tuple[str, str]], *, session: str, channel: str) -> None:
        """Count and record a hit for each skip, given by its id with the words that it was found by."""
        moment = format_moment(clock.now())
        with self._database.writing() as connection:
            for skip_id, words in hits:
                connection.execute(COUNT_USE, ("skip", skip_id, 0, 1, moment))
                connection.execute(ADD_SKIP_HIT, (skip_id, session, channel, moment, words))
                connection.execute(DROP_OLD_SKIP_HITS, (skip_id,))

    def latest(self, skip_id: str, limit: int) -> Sequence[SkipHit]:
        """Return the last hits of a skip, newest first."""
        query = "SELECT at, session, channel, words FROM skip_hit WHERE skip_id = ? ORDER BY number DESC LIMIT ?"
        with self._database.reading() as connection:
            rows = connection.execute(query, (skip_id, limit)).fetchall()
        return [SkipHit(datetime.fromisoformat(row[0]), *row[1:]) for row in rows]
