"""Read the short lists: skips, working items and the current identity."""

from __future__ import annotations

from datetime import datetime

from memento_tui.model import Crystal, Skip, WorkingItem
from memento_tui.moments import format_moment
from memento_tui.storage.database import Database
from memento_tui.storage.tables import select_records

__all__ = ["ListQueries"]


class ListQueries:
    """The short lists of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def skips(self, *, at: datetime | None = None) -> list[Skip]:
        """Return the skips, soonest to end first; with ``at`` only those that hold at that moment."""
        with self._database.reading() as connection:
            if at is None:
                return select_records(connection, Skip, "1 ORDER BY skip.expires_at")
            where = "skip.expires_at > ? ORDER BY skip.expires_at"
            return select_records(connection, Skip, where, (format_moment(at),))

    def items(self, *, category: str | None = None, status: str | None = None) -> list[WorkingItem]:
        """Return the working items, highest priority first, then the one changed last."""
        where = "(? IS NULL OR category = ?) AND (? IS NULL OR status = ?) ORDER BY priority DESC, updated_at DESC"
        with self._database.reading() as connection:
            return select_records(connection, WorkingItem, where, (category, category, status, status))

    def current_crystal(self) -> Crystal | None:
        """Return the crystal that holds now, or ``None``."""
        where = "status = 'current' ORDER BY number DESC LIMIT 1"
        with self._database.reading() as connection:
            return next(iter(select_records(connection, Crystal, where)), None)
