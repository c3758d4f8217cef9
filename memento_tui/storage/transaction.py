"""Write any number of records in one transaction, with one journal entry that records it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple, Protocol, cast

import apsw
import msgspec

from memento_tui import clock
from memento_tui.errors import Conflict, NotAllowed, NotFound
from memento_tui.model import AnyRecord, Memory, Relation
from memento_tui.model.validation import check_unreserved_id, fold_tag, new_id, to_plain
from memento_tui.moments import format_moment
from memento_tui.storage.connection import Connection
from memento_tui.storage.database import Database
from memento_tui.storage.journal import Author, Change, EntryFacts, append_entry
from memento_tui.storage.tables import RECORD_NAMES, TABLES, RecordT, record_name, select_records

__all__ = ["EntrySource", "PersonGuard", "Transaction", "WriteGuard", "transaction", "write_entry"]


class EntrySource(NamedTuple):
    """The place of an entry that was written elsewhere: the id that it has everywhere, and the database's name."""

    id: str
    origin: str


class WriteGuard(Protocol):
    """The judge of every change of a transaction. A transaction cannot be begun without one.

    Each method raises `NotAllowed` where the change must not be written.
    """

    def admit(self, tx: Transaction, before: RecordT | None, after: RecordT) -> RecordT:
        """Return a record as it may be stored; ``before`` is the record as it stands, ``None`` for a new one."""
        ...

    def admit_removal(self, tx: Transaction, before: AnyRecord) -> None:
        """Let a record be removed from the current rows."""
        ...


class PersonGuard:
    """The guard of an undo, a redo, a purge and a restored backup: a person's own, who may bring back any state."""

    def __init__(self, author: Author) -> None:
        if author.actor != "person":
            raise NotAllowed("Only a person takes changes back or removes them for good.")

    def admit(self, _tx: Transaction, _before: RecordT | None, after: RecordT) -> RecordT:
        """Return the record as it is."""
        return after

    def admit_removal(self, _tx: Transaction, before: AnyRecord) -> None:
        """Let any record be removed."""


class Transaction:
    """Collects the changes of one write. Made by `transaction`, which holds the write lock meanwhile."""

    def __init__(self, connection: Connection, now: datetime, guard: WriteGuard) -> None:
        self.connection = connection
        self._guard = guard
        self.now = now
        self.changes: list[Change] = []
        self.action = ""
        """The action under which it is entered where it came to another one than was begun; else empty."""
        self.leaves_entry = False
        """Whether an entry is written even without changes, for the sake of its note."""
        self.seq = 0
        """The journal entry's sequence number, once the transaction is committed."""

    def get(self, record: type[RecordT], record_id: str) -> RecordT | None:
        """Return a record as it stands within this transaction, or ``None``."""
        return next(iter(select_records(self.connection, record, "id = ?", (record_id,))), None)

    def get_named(self, kind: str, record_id: str) -> AnyRecord | None:
        """Return a record of a kind given by name as it stands within this transaction, or ``None``."""
        return self.get(TABLES[kind].record, record_id)

    def put(self, record: RecordT, *, base: int) -> RecordT:
        """Write a record and return it with its new version.

        ``base`` is the version that the caller's change was made from; 0 says that the record is new.

        Raises:
            Conflict: the record is at another version, or exists already, or is gone.
            InvalidField: a new record has an id that is kept for proposals.
            NotAllowed: the guard of this transaction does not let the change in.

        """
        name = record_name(record)
        if base:
            before = cast("RecordT", self._check_base(name, record, base))
            admitted = self._guard.admit(self, before, record)
            written: RecordT = msgspec.structs.replace(admitted, version=base + 1)
            self._replace(name, before, written)
        else:
            version = self._last_version(name, record.id) + 1
            _check_id_space(name, record.id, version)
            self._check_absent(name, record)
            admitted = self._guard.admit(self, None, record)
            written = admitted if admitted.version == version else msgspec.structs.replace(admitted, version=version)
            self._insert(name, written)
        image = TABLES[name].image_of(written)
        self.changes.append(Change(name, record.id, written.version, removed=False, image=image))
        return written

    def remove(self, record: AnyRecord, *, base: int) -> None:
        """Remove a record from the current rows; the journal keeps its last state. Raises like `put`."""
        name = record_name(record)
        before = self._check_base(name, record, base)
        self._guard.admit_removal(self, before)
        if isinstance(before, Memory):
            self._untag(before)
        self.connection.execute(f"DELETE FROM {name} WHERE id = ?", (record.id,))
        self.changes.append(Change(name, record.id, base + 1, removed=True, image=None))

    def add_all(self, records: Sequence[RecordT]) -> Sequence[RecordT]:
        """Write many new records of one kind and return them with their versions; the fast way for imports.

        Raises:
            Conflict: one of them exists already.
            InvalidField: one has an id that is kept for proposals.
            NotAllowed: the guard of this transaction does not let one of them in.

        """
        name = record_name(records[0])
        table = TABLES[name]
        records = [self._guard.admit(self, None, record) for record in records]
        known = msgspec.json.encode([record.id for record in records]).decode()
        query = (
            "SELECT record_id, max(version) FROM change"
            " WHERE record = ? AND record_id IN (SELECT value FROM json_each(?)) GROUP BY record_id"
        )
        last = dict(self.connection.execute(query, (name, known)).fetchall())
        if last or any(record.version != 1 for record in records):
            records = [msgspec.structs.replace(r, version=last.get(r.id, 0) + 1) for r in records]
        for record in records:
            _check_id_space(name, record.id, record.version)
        first = int(self.connection.execute(f"SELECT coalesce(max(number), 0) + 1 FROM {name}").fetchone()[0])
        rows = [(number, *table.row(record)) for number, record in enumerate(records, first)]
        try:
            self.connection.executemany(table.insert_numbered, rows)
        except apsw.ConstraintError as error:
            raise Conflict(
                f"One of these {len(records)} records exists already: {error}.", "Import it again."
            ) from error
        if name == "memory":
            tags = [
                (fold_tag(tag), number)
                for number, record in enumerate(records, first)
                for tag in getattr(record, "tags", ())
            ]
            self.connection.executemany("INSERT OR IGNORE INTO memory_tag VALUES (?, ?)", tags)
        self.changes.extend(
            Change(name, record.id, record.version, removed=False, image=table.image_of(record)) for record in records
        )
        return records

    def _tag(self, memory: Memory) -> None:
        query = "INSERT OR IGNORE INTO memory_tag SELECT ?, number FROM memory WHERE id = ?"
        self.connection.executemany(query, [(fold_tag(tag), memory.id) for tag in memory.tags])

    def _check_base(self, name: str, record: AnyRecord, base: int) -> AnyRecord:
        current = self.get_named(name, record.id)
        if current is None:
            raise Conflict(f"The {name} {record.id} is gone.", "Restore it first.", attempted=to_plain(record))
        if current.version != base:
            raise Conflict(
                f"The {name} {record.id} has changed: you changed version {base}, it is at {current.version}.",
                current=to_plain(current),
                attempted=to_plain(record),
            )
        return current

    def _last_version(self, name: str, record_id: str) -> int:
        row = self.connection.execute(
            "SELECT version FROM change WHERE record = ? AND record_id = ? ORDER BY version DESC LIMIT 1",
            (name, record_id),
        ).fetchone()
        return 0 if row is None else int(row[0])

    def _check_absent(self, name: str, record: AnyRecord) -> None:
        current = self.get_named(name, record.id)
        if current is not None:
            raise Conflict(
                f"A {name} with the id {record.id} exists already.",
                current=to_plain(current),
                attempted=to_plain(record),
            )

    def _insert(self, name: str, record: AnyRecord) -> None:
        table = TABLES[name]
        self.connection.execute(table.insert, table.row(record))
        if isinstance(record, Memory):
            self._tag(record)

    def _replace(self, name: str, before: AnyRecord, record: AnyRecord) -> None:
        table = TABLES[name]
        self.connection.execute(table.upsert, table.row(record))
        if isinstance(record, Memory) and isinstance(before, Memory) and record.tags != before.tags:
            self._untag(before)
            self._tag(record)

    def _untag(self, memory: Memory) -> None:
        query = "DELETE FROM memory_tag WHERE tag = ? AND number = (SELECT number FROM memory WHERE id = ?)"
        self.connection.executemany(query, [(fold_tag(tag), memory.id) for tag in memory.tags])

    def with_status(self, record: type[RecordT], status: str) -> list[RecordT]:
        """Return the records of a type that have a status."""
        return select_records(self.connection, record, "status = ?", (status,))

    def relations_from(self, memory_id: str, kind: str) -> list[Relation]:
        """Return the relations of a type that begin at a memory, as they stand within this transaction."""
        return select_records(self.connection, Relation, "src = ? AND type = ? ORDER BY number", (memory_id, kind))

    def require(self, record: type[RecordT], record_id: str) -> RecordT:
        """Return a record as it stands. Raises `NotFound`."""
        found = self.get(record, record_id)
        if found is None:
            raise NotFound(f"There is no {RECORD_NAMES[record]} with the id {record_id}.")
        return found


def _check_id_space(name: str, record_id: str, version: int) -> None:
    """Refuse an id that is kept for proposals. One that a record had before that rule may come back by an undo.

    ``version`` is what the journal gives the record, whatever the record states of it.
    """
    if name != "proposal" and version == 1:
        check_unreserved_id(record_id)


@contextmanager
def transaction(
    database: Database,
    author: Author,
    action: str,
    *,
    guard: WriteGuard,
    note: str = "",
    batch: str = "",
    now: datetime | None = None,
    source: EntrySource | None = None,
) -> Iterator[Transaction]:
    """Write as ``author``: when the block ends, its changes and one journal entry are committed together.

    A block that changes nothing leaves no entry unless it asks for one. ``batch`` joins the entries of one long
    operation. ``guard`` judges every change, and returns what may be stored. ``source`` says where an entry was written
    that came from elsewhere.
    """
    with database.writing() as connection:
        running = Transaction(connection, now or clock.now(), guard)
        yield running
        if running.changes or running.leaves_entry:
            name = running.action or action
            write_entry(database, running, author, name, note=note, batch=batch, undoes=None, source=source)


def write_entry(
    database: Database,
    tx: Transaction,
    author: Author,
    action: str,
    *,
    note: str,
    batch: str,
    undoes: int | None,
    source: EntrySource | None = None,
) -> None:
    """Append the journal entry of a running transaction."""
    facts = EntryFacts(
        id=new_id() if source is None else source.id,
        origin=database.origin if source is None else source.origin,
        at=format_moment(tx.now),
        actor=author.actor,
        agent=author.agent,
        session=author.session,
        channel=author.channel,
        action=action,
        note=note,
        batch=batch,
        undoes=undoes,
    )
    tx.seq = append_entry(tx.connection, facts, tx.changes)
