"""One write: any number of records, changed together or not at all, and one journal entry that tells it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from memento_tui.errors import Conflict, NotFound
from memento_tui.records import Memory
from memento_tui.records.ids import new_id
from memento_tui.records.when import to_text, utc_now
from memento_tui.store.database import Database
from memento_tui.store.journal import Author, Change, append
from memento_tui.store.tables import TABLES, AnyRecord, as_plain, name_of

__all__ = ["Transaction", "transaction"]

Record = TypeVar("Record", bound=AnyRecord)


class Transaction:
    """Collects the changes of one write. Made by `transaction`, which holds the write lock meanwhile."""

    def __init__(self, connection: sqlite3.Connection, now: datetime) -> None:
        self.connection = connection
        self.now = now
        self.changes: list[Change] = []
        self.seq = 0
        """The journal entry's sequence number, once the transaction is committed."""

    def get(self, record: str, record_id: str) -> Any:  # noqa: ANN401 - the record that the name says
        """Return a record as it stands within this transaction, or ``None``."""
        table = TABLES[record]
        row = self.connection.execute(f"{table.select} WHERE {record}.id = ?", (record_id,)).fetchone()
        return None if row is None else table.record_of(row)

    def put(self, record: Record, *, base: int) -> Record:
        """Write a record and return it with its new version.

        ``base`` is the version that the caller's change was made from; 0 says that the record is new.

        Raises:
            Conflict: the record is at another version, or exists already, or is gone.

        """
        name = name_of(record)
        self._check_base(name, record, base)
        version = base + 1 if base else self._last_version(name, record.id) + 1
        written: Record = msgspec.structs.replace(record, version=version)
        self._write(name, written, new=not base)
        return written

    def remove(self, record: AnyRecord, *, base: int) -> None:
        """Take a record out of the current rows; the journal keeps what it was."""
        name = name_of(record)
        self._check_base(name, record, base)
        self.connection.execute(f"DELETE FROM {name} WHERE id = ?", (record.id,))
        self.changes.append(Change(name, record.id, base + 1, removed=True, image=None))

    def add_all(self, records: Sequence[AnyRecord]) -> None:
        """Write many new records of one kind; the fast way for imports.

        Raises:
            Conflict: one of them exists already.

        """
        name = name_of(records[0])
        table = TABLES[name]
        known = msgspec.json.encode([record.id for record in records]).decode()
        query = (
            "SELECT record_id, max(version) FROM change"
            " WHERE record = ? AND record_id IN (SELECT value FROM json_each(?)) GROUP BY record_id"
        )
        last = dict(self.connection.execute(query, (name, known)).fetchall())
        if last:
            records = [msgspec.structs.replace(r, version=last.get(r.id, 0) + 1) for r in records]
        rows = [table.row(record) for record in records]
        try:
            self.connection.executemany(table.insert, rows)
        except sqlite3.IntegrityError as error:
            raise Conflict(
                f"One of these {len(records)} records exists already: {error}.", "Import it again."
            ) from error
        if name == "memory":
            self._tag(records)
        self.changes.extend(
            Change(name, record.id, record.version, removed=False, image=table.image_of(record)) for record in records
        )

    def _tag(self, memories: Sequence[Any]) -> None:
        tagged = [memory for memory in memories if memory.tags]
        if not tagged:
            return
        rows = [(tag, memory.id) for memory in tagged for tag in memory.tags]
        self.connection.executemany("INSERT OR IGNORE INTO memory_tag SELECT ?, number FROM memory WHERE id = ?", rows)

    def _check_base(self, name: str, record: AnyRecord, base: int) -> None:
        current = self.get(name, record.id)
        found = current.version if current is not None else 0
        if found == base:
            return
        attempted = as_plain(record)
        if current is None:
            raise Conflict(f"The {name} {record.id} is gone.", "Restore it first.", attempted=attempted)
        if not base:
            message = f"A {name} with the id {record.id} exists already."
        else:
            message = f"The {name} {record.id} was changed meanwhile: you changed version {base}, it is at {found}."
        raise Conflict(message, current=as_plain(current), attempted=attempted)

    def _last_version(self, name: str, record_id: str) -> int:
        row = self.connection.execute(
            "SELECT version FROM change WHERE record = ? AND record_id = ? ORDER BY version DESC LIMIT 1",
            (name, record_id),
        ).fetchone()
        return 0 if row is None else int(row[0])

    def _write(self, name: str, record: AnyRecord, *, new: bool) -> None:
        table = TABLES[name]
        self.connection.execute(table.insert if new else table.upsert, table.row(record))
        if isinstance(record, Memory):
            if not new:
                self.connection.execute(
                    "DELETE FROM memory_tag WHERE number = (SELECT number FROM memory WHERE id = ?)", (record.id,)
                )
            self._tag([record])
        self.changes.append(Change(name, record.id, record.version, removed=False, image=table.image_of(record)))

    def with_status(self, record: str, status: str) -> list[Any]:
        """Return the records of a kind that have a status."""
        table = TABLES[record]
        rows = self.connection.execute(f"{table.select} WHERE {record}.status = ?", (status,)).fetchall()
        return [table.record_of(row) for row in rows]

    def require(self, record: str, record_id: str) -> Any:  # noqa: ANN401 - the record that the name says
        """Return a record as it stands. Raises `NotFound`."""
        found = self.get(record, record_id)
        if found is None:
            raise NotFound(f"There is no {record} with the id {record_id}.")
        return found


@contextmanager
def transaction(
    database: Database,
    author: Author,
    action: str,
    *,
    note: str = "",
    batch: str = "",
    undoes: int | None = None,
    now: datetime | None = None,
) -> Iterator[Transaction]:
    """Write as ``author``: when the block ends, its changes and one journal entry are committed together.

    A block that changes nothing leaves no entry. ``batch`` joins the entries of one long operation.
    """
    with database.writing() as connection:
        moment = now or utc_now()
        running = Transaction(connection, moment)
        yield running
        if not running.changes:
            return
        origin = connection.execute("SELECT value FROM setting WHERE name = 'origin'").fetchone()[0]
        facts = (
            new_id(),
            origin,
            to_text(moment),
            author.actor,
            author.agent,
            author.session,
            author.channel,
            action,
            note,
            batch,
            undoes,
        )
        running.seq = append(connection, facts, running.changes)
