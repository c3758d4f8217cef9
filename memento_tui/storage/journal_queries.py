"""Read the journal: its entries, the versions of each record, and the ids of purged records."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Generic

import msgspec

from memento_tui.model import AnyRecord
from memento_tui.storage.connection import Connection, Row
from memento_tui.storage.database import Database
from memento_tui.storage.history_limit import is_dropped
from memento_tui.storage.journal import Change, Entry, select_entries, verify_journal
from memento_tui.storage.purge import purged_ids
from memento_tui.storage.tables import RECORD_NAMES, TABLES, RecordT, Table, table_of

__all__ = ["JournalQueries", "Revision"]


def missing_text(*, purged: bool, dropped: bool) -> str:
    """Return in words why a text is gone; empty where it is there."""
    if dropped:
        return "its text is no longer kept ([history] in config.toml)"
    return "its text was purged" if purged else ""


class Revision(msgspec.Struct, Generic[RecordT], frozen=True):
    """One version in a record's history: the entry that made it and the record afterwards (``None`` if removed)."""

    entry: Entry
    version: int
    removed: bool
    purged: bool
    """Whether its text is gone: it was purged, or dropped by the limit of the history."""
    record: RecordT | None
    dropped: bool = False
    """Whether it was dropped."""

    @property
    def missing(self) -> str:
        """The reason why its text is gone, in words; empty where it is there, or nothing was left of the record."""
        return missing_text(purged=self.purged, dropped=self.dropped)


class JournalQueries:
    """The journal of one database. Safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def head(self) -> int:
        """Return the sequence number of the newest entry; 0 in an empty journal."""
        with self._database.translated():
            row = self._database.connection.execute("SELECT max(seq) FROM entry").fetchone()
        return int(row[0] or 0)

    def mark(self, seq: int) -> str:
        """Return the beginning of entry ``seq``'s hash, which a restored backup's entry does not share; "" if none."""
        with self._database.translated():  # a transaction of its own would take longer than the one statement
            row = self._database.connection.execute("SELECT hash FROM entry WHERE seq = ?", (seq,)).fetchone()
        return "" if row is None else str(row[0].hex()[:16])

    def entries(self, *, before: int | None = None, limit: int = 50) -> list[Entry]:
        """Return entries, newest first; those before entry ``before``."""
        where, parameters = ("1", []) if before is None else ("seq < ?", [before])
        with self._database.reading() as connection:
            return list(select_entries(connection, f"{where} ORDER BY seq DESC LIMIT ?", [*parameters, limit]))

    def last_of_action(self, action: str) -> int:
        """Return the number of the newest entry with an action, such as ``purge``; 0 for none."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT coalesce(max(seq), 0) FROM entry WHERE action = ?", (action,)).fetchone()
        return int(row[0])

    def entries_after(self, seq: int, limit: int = 500) -> list[Entry]:
        """Return entries after ``seq``, oldest first."""
        with self._database.reading() as connection:
            return list(select_entries(connection, "seq > ? ORDER BY seq LIMIT ?", (seq, limit)))

    def changes(self, seq: int) -> list[Change]:
        """Return the changes of one entry, a record each."""
        query = "SELECT record, record_id, version, removed, image FROM change WHERE seq = ? ORDER BY ordinal"
        with self._database.reading() as connection:
            return [Change(r[0], r[1], r[2], bool(r[3]), r[4]) for r in connection.execute(query, (seq,))]

    def changed_memories(self, after: int, limit: int) -> tuple[list[str], int]:
        """Return the ids of memories changed after entry ``after`` and the entry that this reaches.

        Whole entries are taken until at least ``limit`` changes are found, so that the second value is exact.
        """
        query = "SELECT seq, record_id FROM change WHERE seq > ? AND record = 'memory' ORDER BY seq, ordinal"
        found: dict[str, None] = {}
        reached, taken = after, 0
        with self._database.reading() as connection:
            head = int(connection.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()[0])
            for row in connection.execute(query, (after,)):
                if taken >= limit and row[0] != reached:
                    return list(found), reached
                found[row[1]] = None
                reached, taken = row[0], taken + 1
        return list(found), head

    def history(self, record: type[RecordT], record_id: str) -> list[Revision[RecordT]]:
        """Return every version of a record, newest first."""
        query = (
            "SELECT seq, version, removed, image, nonce FROM change WHERE record = ? AND record_id = ?"
            " ORDER BY version DESC"
        )
        with self._database.reading() as connection:
            rows = connection.execute(query, (RECORD_NAMES[record], record_id)).fetchall()
            return [_revision(connection, table_of(record), record_id, row) for row in rows]

    def image(self, record: type[RecordT], record_id: str, version: int) -> RecordT | None:
        """Return a record as it was at a version, or ``None`` where it was removed or purged then."""
        query = "SELECT image FROM change WHERE record = ? AND record_id = ? AND version = ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (RECORD_NAMES[record], record_id, version)).fetchone()
        return None if row is None or row[0] is None else table_of(record).image.decode(row[0])

    def image_named(self, kind: str, record_id: str, version: int) -> AnyRecord | None:
        """Return a record of a kind given by name as it was at a version; see `image`."""
        return self.image(TABLES[kind].record, record_id, version)

    def image_when(self, record: type[RecordT], record_id: str, seq: int) -> RecordT | None:
        """Return a record as it was after entry ``seq``, or ``None`` where it did not exist or was purged."""
        query = "SELECT image FROM change WHERE record = ? AND record_id = ? AND seq <= ? ORDER BY version DESC LIMIT 1"
        with self._database.reading() as connection:
            row = connection.execute(query, (RECORD_NAMES[record], record_id, seq)).fetchone()
        return None if row is None or row[0] is None else table_of(record).image.decode(row[0])

    def written_in(self, kind: str, record_id: str, version: int) -> int:
        """Return the number of the entry that wrote a version of a record; 0 where none did."""
        query = "SELECT seq FROM change WHERE record = ? AND record_id = ? AND version = ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (kind, record_id, version)).fetchone()
        return 0 if row is None else int(row[0])

    def is_changed_by_others(self, kind: str, record_id: str, after: int) -> bool:
        """Tell whether anyone but a person changed a record after entry ``after``."""
        query = (
            "SELECT 1 FROM change JOIN entry ON entry.seq = change.seq"
            " WHERE change.record = ? AND change.record_id = ? AND change.seq > ? AND entry.actor <> 'person' LIMIT 1"
        )
        with self._database.reading() as connection:
            return connection.execute(query, (kind, record_id, after)).fetchone() is not None

    def first_written(self, kind: str, ids: Sequence[str]) -> dict[str, datetime]:
        """Return when each of the ids of a kind first came into this database."""
        listed = msgspec.json.encode(list(ids)).decode()
        query = (
            "SELECT change.record_id, min(entry.at) FROM change JOIN entry ON entry.seq = change.seq"
            " WHERE change.record = ? AND change.record_id IN (SELECT value FROM json_each(?))"
            " GROUP BY change.record_id"
        )
        with self._database.reading() as connection:
            rows = connection.execute(query, (kind, listed)).fetchall()
        return {row[0]: datetime.fromisoformat(row[1]) for row in rows}

    def purged(self, kind: str, ids: Sequence[str]) -> set[str]:
        """Return those of the ids of a kind that were purged and do not exist any more."""
        with self._database.reading() as connection:
            return purged_ids(connection, kind, msgspec.json.encode(list(ids)).decode())

    def removed_by(self, kind: str, ids: Sequence[str]) -> dict[str, str]:
        """Return who removed those of the ids of a kind that were removed last: ``person``, ``agent`` or ``system``.

        What went because its making was undone, or a backup restored, was not removed by anybody.
        """
        query = (
            "SELECT change.record_id, entry.actor FROM change JOIN entry ON entry.seq = change.seq"
            " WHERE change.record = ?1 AND change.record_id IN (SELECT value FROM json_each(?2)) AND change.removed"
            " AND entry.action NOT IN ('undo', 'restore backup') AND change.version ="
            " (SELECT max(version) FROM change AS newest WHERE newest.record = ?1"
            " AND newest.record_id = change.record_id)"
        )
        with self._database.reading() as connection:
            return dict(connection.execute(query, (kind, msgspec.json.encode(list(ids)).decode())).fetchall())

    def verify(self) -> str | None:
        """Return the first fault in the journal as a sentence, or ``None``."""
        with self._database.reading() as connection:
            return verify_journal(connection)


def _revision(connection: Connection, table: Table[RecordT], record_id: str, row: Row) -> Revision[RecordT]:
    entry = next(select_entries(connection, "seq = ?", (row[0],)))
    image = None if row[3] is None else table.image.decode(row[3])
    dropped = row[4] is None and is_dropped(connection, [(table.name, record_id)])
    return Revision(entry, row[1], bool(row[2]), purged=row[4] is None, record=image, dropped=dropped)
