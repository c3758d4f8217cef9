"""The records as they were after one entry of the journal, in a database of their own that is kept in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

import apsw

from memento_tui.errors import NotAllowed
from memento_tui.model.validation import fold_tag, new_id
from memento_tui.moments import format_moment
from memento_tui.storage.backup import Progress
from memento_tui.storage.connection import Connection
from memento_tui.storage.database import Database, add_functions
from memento_tui.storage.journal import Entry, select_entries
from memento_tui.storage.long_work import raise_if_stopped
from memento_tui.storage.tables import TABLES, Table

__all__ = ["PastDatabase", "entry_at"]

_ROWS_PER_WRITE = 2000

_SELECT_IMAGES = (
    "WITH newest AS (SELECT record_id, max(version), removed, image FROM change WHERE record = :record AND seq <= :seq"
    " GROUP BY record_id),"
    " first AS (SELECT record_id, min(version), seq, ordinal FROM change WHERE record = :record GROUP BY record_id)"
    " SELECT newest.image FROM newest JOIN first USING (record_id)"
    " WHERE NOT removed AND image IS NOT NULL ORDER BY first.seq, first.ordinal"
)
"""The image of each record after an entry, in the order in which they were first written.

SQLite takes the other columns of a group from the row of its `max` or `min`.
"""


_COUNT_LET_GO = (
    "SELECT count(*) FROM (SELECT record_id, max(version), removed, nonce FROM stored_change"
    " WHERE record = :record AND seq <= :seq GROUP BY record_id) AS newest WHERE NOT removed AND nonce IS NULL"
    " AND EXISTS (SELECT 1 FROM stored_change AS first WHERE first.record = :record"
    " AND first.record_id = newest.record_id AND first.version = 1 AND first.nonce IS NOT NULL)"
)
"""Counts the records whose texts of then were dropped by the limit of the history."""


def entry_at(database: Database, moment: datetime) -> Entry | None:
    """Return the last journal entry that was written by a moment, or ``None`` where none was."""
    with database.reading() as connection:
        return next(select_entries(connection, "at <= ? ORDER BY seq DESC LIMIT 1", (format_moment(moment),)), None)


class PastDatabase(Database):
    """The records of a database as they were after entry ``seq`` of its journal. It holds no journal itself.

    Counters of use are no history and are zero. A text that was purged since is in no past either. Nothing can be
    written: whoever tries gets `NotAllowed`.

    Raises:
        StoppedError: ``stop`` was set.

    """

    def __init__(self, source: Database, seq: int, *, progress: Progress | None, stop: threading.Event | None) -> None:
        self._name = f"file:/memento-{new_id()}?vfs=memdb"
        self._is_filled = False
        self.missing = 0
        """How many records are left out, because the limit of the history let their texts of then go."""
        self._begin(source.path, is_copy=True)
        self._kept = self._connect()  # what is in memory goes with its last connection
        try:
            self.migrate()
            self._fill(source, seq, progress or (lambda _what, _done, _total: None), stop)
        except BaseException:
            self.close()
            raise
        self._is_filled = True

    def _connect(self) -> Connection:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        made = Connection(self._name, flags=flags)
        add_functions(made)
        if self._is_filled:
            made.execute("PRAGMA query_only = ON")
        return made

    def _fill(self, source: Database, seq: int, progress: Progress, stop: threading.Event | None) -> None:
        with source.reading() as journal, self.writing() as connection:
            query = "SELECT count(*) FROM change WHERE seq <= ? AND version = 1"
            total = int(journal.execute(query, (seq,)).fetchone()[0])
            done = 0
            for name, table in TABLES.items():
                given = {"record": name, "seq": seq}
                self.missing += int(journal.execute(_COUNT_LET_GO, given).fetchone()[0])
                images = (row[0] for row in journal.execute(_SELECT_IMAGES, given))
                for count in _write_images(connection, table, images):
                    raise_if_stopped(stop)
                    done += count
                    progress("Going back", min(done, total), total)
            progress("Going back", total, total)

    def writing(self, *, waits_for_disk: bool = True) -> Any:  # noqa: ANN401 - as in the base class
        """Refuse, once the records are there. Raises `NotAllowed`."""
        if self._is_filled:
            raise NotAllowed("This is the past: nothing can be changed in it.", "Go back to the present first.")
        return super().writing(waits_for_disk=waits_for_disk)

    def close(self) -> None:
        """Close the connections of all threads; the records are gone then."""
        super().close()
        self._kept.close()


def _write_images(connection: Connection, table: Table[Any], images: Iterator[str]) -> Iterator[int]:
    """Write the records of these images; yield how many were written each time."""
    number = 0
    while batch := [table.image.decode(image) for image in islice(images, _ROWS_PER_WRITE)]:
        numbered = list(enumerate(batch, number + 1))
        connection.executemany(table.insert_numbered, [(place, *table.row(record)) for place, record in numbered])
        if table.name == "memory":
            tags = [(fold_tag(tag), place) for place, record in numbered for tag in record.tags]
            connection.executemany("INSERT OR IGNORE INTO memory_tag VALUES (?, ?)", tags)
        number += len(batch)
        yield len(batch)
