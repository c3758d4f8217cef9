"""Keep named values beside the journal, and the identity of the database."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from memento_tui.storage.database import Database
from memento_tui.storage.statements import SELECT_SETTING, WRITE_SETTING

__all__ = ["Settings"]


class Settings:
    """The values that one database keeps about itself by name. They have no history and cannot be undone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str) -> str | None:
        """Return a value, or ``None`` where it was never set."""
        with self._database.translated():  # a transaction of its own would take longer than the one statement
            row = self._database.connection.execute(SELECT_SETTING, (name,)).fetchone()
        return None if row is None else str(row[0])

    def set(self, name: str, value: str) -> None:
        """Write a value."""
        with self._database.writing() as connection:
            connection.execute(WRITE_SETTING, (name, value))

    def change(self, name: str, change: Callable[[str | None], str]) -> None:
        """Replace a value by what ``change`` returns for it, without another writer coming between."""
        with self._database.writing() as connection:
            row = connection.execute(SELECT_SETTING, (name,)).fetchone()
            value = change(None if row is None else str(row[0]))
            connection.execute(WRITE_SETTING, (name, value))

    def identity(self) -> str:
        """Return a short digest that identifies this database, so that an index knows whose it is."""
        return hashlib.sha256(self._database.origin.encode()).hexdigest()[:16]
