"""What was remembered around the same time as one memory, in whatever namespace."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

import msgspec

from memento_tui.errors import NotFound
from memento_tui.store.database import Database
from memento_tui.store.reads import Glance, glances_by_id

__all__ = ["Around", "Moment"]

_HIDDEN = "status NOT IN ('deleted', 'rejected')"

# The index of the timeline is used where a query says `number > 0`, and nowhere else.
_LATER = (
    f"SELECT id, created_at FROM memory WHERE number > 0 AND (created_at, number) > (?, ?) AND {_HIDDEN}"
    " ORDER BY created_at, number LIMIT ?"
)
_EARLIER = (
    f"SELECT id, created_at FROM memory WHERE number > 0 AND (created_at, number) < (?, ?) AND {_HIDDEN}"
    " ORDER BY created_at DESC, number DESC LIMIT ?"
)


class Moment(msgspec.Struct, frozen=True):
    """One memory on the timeline."""

    glance: Glance
    created_at: datetime

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.glance.id


class Around:
    """The timeline of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def window(self, memory_id: str, *, later: int = 10, earlier: int = 10) -> list[Moment]:
        """Return a memory with those remembered just after and just before it, the latest first.

        The order is that of `Memory.created_at`, so that an import of old notes lies where its notes were written; of
        those with the same moment, the one that arrived last comes first. Deleted and rejected memories are left out,
        except for the one that is asked about.

        Raises:
            NotFound: there is no such memory.

        """
        with self._database.reading() as connection:
            place = connection.execute("SELECT created_at, number FROM memory WHERE id = ?", (memory_id,)).fetchone()
            if place is None:
                raise NotFound(f"There is no memory with the id {memory_id}.")
            after = connection.execute(_LATER, (*place, later)).fetchall()
            before = connection.execute(_EARLIER, (*place, earlier)).fetchall()
            return _moments(connection, [*reversed(after), (memory_id, place[0]), *before])


def _moments(connection: sqlite3.Connection, rows: Sequence[Sequence[str]]) -> list[Moment]:
    glances = {glance.id: glance for glance in glances_by_id(connection, [row[0] for row in rows])}
    return [Moment(glances[row[0]], datetime.fromisoformat(row[1])) for row in rows]
