"""The store as the rest of memento sees it: every read and write of one data directory's database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, Literal, overload

import msgspec

from memento_tui.errors import NotFound
from memento_tui.model import AnyRecord, Crystal, Memory, Relation, Skip, WorkingItem
from memento_tui.model.filters import Filter
from memento_tui.model.validation import new_id
from memento_tui.moments import format_moment
from memento_tui.storage import journal, memory_queries
from memento_tui.storage.activity import ActivityQueries
from memento_tui.storage.audit import AuditQueries
from memento_tui.storage.database import Database
from memento_tui.storage.filters import filter_sql
from memento_tui.storage.journal import Author, Change, Entry
from memento_tui.storage.ledgers import ExposureLedger, ImportLedger, UsageLedger
from memento_tui.storage.memory_queries import Timeline
from memento_tui.storage.review import ContradictionQueries, InboxQueries, ProposalQueries
from memento_tui.storage.settings import Settings
from memento_tui.storage.statistics import FacetQueries, Statistics
from memento_tui.storage.tables import RECORD_NAMES, TABLES, RecordT, Table, select_records, table_of
from memento_tui.storage.transaction import Transaction, transaction
from memento_tui.storage.undo import purge_record, purged_ids, redo_candidate, revert_entry, undo_candidate

__all__ = ["MemoryOrder", "Revision", "Store", "memory_slice"]

_current_batch: ContextVar[str] = ContextVar("batch", default="")
"""What joins the entries of one block of `Store.together`; empty outside of any."""


def _type_of(record: Any) -> Any:  # noqa: ANN401
    return TABLES[record].record if isinstance(record, str) else record


class Revision(msgspec.Struct, Generic[RecordT], frozen=True):
    """One version in a record's history: the entry that made it and the record afterwards (``None`` if removed)."""

    entry: Entry
    version: int
    removed: bool
    purged: bool
    record: RecordT | None


class Store:
    """One open database. Safe to use from several threads; each has its own connection."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.database = Database(path, create=create)
        self.screen: Callable[[Any], Any] = lambda record: record
        """Returns what may be stored of a record; whoever governs the store sets it."""
        self.proposals = ProposalQueries(self.database)
        self.contradictions = ContradictionQueries(self.database)
        self.usage = UsageLedger(self.database)
        self.audit = AuditQueries(self.database)
        self.waiting = InboxQueries(self.database)
        self.statistics = Statistics(self.database)
        self.activity = ActivityQueries(self.database)
        self.injections = ExposureLedger(self.database)
        self.imports = ImportLedger(self.database)
        self.around = Timeline(self.database)
        self.facets = FacetQueries(self.database)
        self.settings = Settings(self.database)

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    # Writing

    def transaction(self, author: Author, action: str, **options: Any) -> AbstractContextManager[Transaction]:  # noqa: ANN401
        """Begin one write; see `memento_tui.storage.transaction.transaction`."""
        return transaction(
            self.database, author, action, screen=self.screen, **{"batch": _current_batch.get(), **options}
        )

    @contextmanager
    def together(self) -> Iterator[None]:
        """Join the entries that this thread or task writes in the block: one undo takes all of them back."""
        token = _current_batch.set(new_id())
        try:
            yield
        finally:
            _current_batch.reset(token)

    def undo(self, author: Author, seq: int | None = None) -> list[Entry]:
        """Take back an entry, or the person's newest that stands; return what was taken back.

        Raises:
            NotFound: there is nothing to undo.
            NotAllowed: it was undone already, or is a purge.
            Conflict: later entries changed the same fields.

        """
        if seq is None:
            with self.database.reading() as connection:
                found = undo_candidate(connection)
            if found is None:
                raise NotFound("There is nothing to undo.")
            seq = found.seq
        return revert_entry(self.database, author, seq)

    def redo(self, author: Author) -> list[Entry]:
        """Do again what the person undid last; return the undo entries that were taken back."""
        with self.database.reading() as connection:
            found = redo_candidate(connection)
        if found is None:
            raise NotFound("There is nothing to redo.")
        return revert_entry(self.database, author, found.seq)

    def purge(self, author: Author, record: str, record_id: str, reason: str) -> None:
        """Remove a record and every text of it that the journal holds. Nothing brings it back.

        Raises:
            NotFound: neither the record nor a trace of it exists.
            NotAllowed: no reason was given.
            DataDirectoryError: another program keeps the old text in the database's log by reading an older state.

        """
        purge_record(self.database, author, record, record_id, reason)

    # Reading

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """See one state of the database for the length of a block."""
        return self.database.reading()

    def head(self) -> int:
        """Return the sequence number of the newest journal entry; 0 in an empty store."""
        with self.database.translated():
            row = self.database.connection.execute("SELECT max(seq) FROM entry").fetchone()
        return int(row[0] or 0)

    @overload
    def get(self, record: type[RecordT], record_id: str) -> RecordT: ...

    @overload
    def get(self, record: str, record_id: str) -> Any: ...  # noqa: ANN401

    def get(self, record: Any, record_id: str) -> Any:
        """Return a record by its whole id. Raises `NotFound`."""
        record = _type_of(record)
        found = self.find(record, record_id)
        if found is None:
            raise NotFound(f"There is no {RECORD_NAMES[record]} with the id {record_id}.")
        return found

    def get_named(self, kind: str, record_id: str) -> AnyRecord:
        """Return a record of a kind given by name by its whole id. Raises `NotFound`."""
        record: AnyRecord = self.get(TABLES[kind].record, record_id)
        return record

    @overload
    def find(self, record: type[RecordT], record_id: str) -> RecordT | None: ...

    @overload
    def find(self, record: str, record_id: str) -> Any: ...  # noqa: ANN401

    def find(self, record: Any, record_id: str) -> Any:
        """Return a record by its whole id, or ``None``."""
        record = _type_of(record)
        return next(iter(self._select(record, "id = ?", (record_id,))), None)

    def find_named(self, kind: str, record_id: str) -> AnyRecord | None:
        """Return a record of a kind given by name by its whole id, or ``None``."""
        return self.find(TABLES[kind].record, record_id)

    def _select(self, record: type[RecordT], where: str, parameters: Sequence[object] = ()) -> list[RecordT]:
        with self.reading() as connection:
            return select_records(connection, record, where, parameters)

    def resolve(self, record: str, prefix: str) -> str:
        """Return the id that a prefix stands for. Raises `NotFound` or `AmbiguousId`."""
        with self.reading() as connection:
            return memory_queries.resolve_id(connection, record, prefix)

    def page(self, tree: Filter, *, after: str | None = None, limit: int = 50) -> memory_queries.Page[Memory]:
        """Return whole memories that a filter selects, most recently changed first."""
        with self.reading() as connection:
            return memory_queries.memory_page(connection, tree, after=after, limit=limit)

    def glances(self, tree: Filter, **options: Any) -> memory_queries.Page[memory_queries.MemorySummary]:  # noqa: ANN401 - glance_page's own
        """Return list rows; see `memento_tui.storage.memory_queries.summary_page`."""
        with self.reading() as connection:
            return memory_queries.summary_page(connection, tree, **options)

    def position(self, tree: Filter, memory_id: str) -> int | None:
        """Return the index of a memory in the list that a filter makes, or ``None``."""
        with self.reading() as connection:
            return memory_queries.position_of(connection, tree, memory_id)

    def ids(self, tree: Filter, start: int, count: int) -> list[str]:
        """Return the ids of a part of the list that a filter makes."""
        with self.reading() as connection:
            return memory_queries.ids_page(connection, tree, start, count)

    def summaries_by_id(self, ids: Sequence[str]) -> list[memory_queries.MemorySummary]:
        """Return list rows of these ids, in their order."""
        with self.reading() as connection:
            return memory_queries.summaries_by_id(connection, ids)

    def memories(self, ids: Sequence[str], tree: Filter | None = None) -> dict[str, Memory]:
        """Return the memories of these ids that the filter selects, by id."""
        with self.reading() as connection:
            return memory_queries.memories_by_id(connection, ids, tree)

    def all_memories(self, batch: int = 1000) -> Iterator[list[Memory]]:
        """Yield every memory in batches."""
        with self.database.translated():
            yield from memory_queries.all_memories(self.database.connection, batch=batch)

    @overload
    def all_of(self, record: type[RecordT]) -> list[RecordT]: ...

    @overload
    def all_of(self, record: str) -> Any: ...  # noqa: ANN401

    def all_of(self, record: Any) -> Any:
        """Return every record of one of the shorter kinds, oldest first; for memories there is `all_memories`."""
        return self._select(_type_of(record), "1 ORDER BY number")

    def count(self, tree: Filter) -> int:
        """Return how many memories a filter selects."""
        with self.reading() as connection:
            return memory_queries.count_memories(connection, tree)

    def count_all(self) -> int:
        """Return how many memories there are, whatever their status."""
        with self.reading() as connection:
            return int(connection.execute("SELECT count(*) FROM memory").fetchone()[0])

    def namespaces(self) -> list[tuple[str, int]]:
        """Return each namespace with its number of recalled memories."""
        with self.reading() as connection:
            return memory_queries.namespace_counts(connection)

    def tags(self, limit: int = 100) -> list[tuple[str, int]]:
        """Return the most used tags with their numbers."""
        with self.reading() as connection:
            return memory_queries.tag_counts(connection, limit)

    def twins(self, digest: bytes) -> list[Memory]:
        """Return the recalled or pending memories whose content has this digest, oldest first."""
        query = "SELECT 1 FROM memory WHERE digest = ? LIMIT 1"
        with self.reading() as connection:
            if connection.execute(query, (digest,)).fetchone() is None:
                return []
        where = "digest = ? AND status NOT IN ('deleted', 'rejected', 'archived') ORDER BY number"
        return self._select(Memory, where, (digest,))

    def memories_with_digests(self, digests: Sequence[bytes]) -> list[Memory]:
        """Return the recalled or pending memories whose content has one of the digests, oldest first."""
        if not digests:
            return []
        listed = msgspec.json.encode([digest.hex() for digest in digests]).decode()
        where = (
            "digest IN (SELECT unhex_(value) FROM json_each(?))"
            " AND status NOT IN ('deleted', 'rejected', 'archived') ORDER BY number"
        )
        return self._select(Memory, where, (listed,))

    def successors(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return, for each of the memories that others replace, the ids of those: they supersede or consolidate it.

        A successor must be recalled itself, and a draft takes the place of drafts only: else an agent could demote what
        is verified.
        """
        with self.reading() as connection:
            return memory_queries.successors(connection, ids)

    def relations_of(self, record_id: str) -> list[Relation]:
        """Return the relations that begin or end at a memory."""
        return self._select(Relation, "src = ? OR dst = ? ORDER BY number", (record_id, record_id))

    def relations_since(self, seq: int) -> list[Relation]:
        """Return the relations that journal entries after ``seq`` wrote, and that exist."""
        where = "relation.id IN (SELECT record_id FROM change WHERE seq > ? AND record = 'relation') ORDER BY number"
        return self._select(Relation, where, (seq,))

    def skips(self, *, at: datetime | None = None) -> list[Skip]:
        """Return the skips, soonest to end first; with ``at`` only those that hold at that moment."""
        if at is None:
            return self._select(Skip, "1 ORDER BY skip.expires_at")
        return self._select(Skip, "skip.expires_at > ? ORDER BY skip.expires_at", (format_moment(at),))

    def items(self, *, category: str | None = None, status: str | None = None) -> list[WorkingItem]:
        """Return the working items, highest priority first, then the one changed last."""
        where = "(? IS NULL OR category = ?) AND (? IS NULL OR status = ?) ORDER BY priority DESC, updated_at DESC"
        return self._select(WorkingItem, where, (category, category, status, status))

    def crystals(self, limit: int = 100) -> list[Crystal]:
        """Return the identity crystals, newest first."""
        return self._select(Crystal, "1 ORDER BY created_at DESC, number DESC LIMIT ?", (limit,))

    def current_crystal(self) -> Crystal | None:
        """Return the crystal that holds now, or ``None``."""
        return next(iter(self._select(Crystal, "status = 'current' ORDER BY number DESC LIMIT 1")), None)

    # The journal

    @overload
    def history(self, record: type[RecordT], record_id: str) -> list[Revision[RecordT]]: ...

    @overload
    def history(self, record: str, record_id: str) -> Any: ...  # noqa: ANN401

    def history(self, record: Any, record_id: str) -> Any:
        """Return every version of a record, newest first."""
        record = _type_of(record)
        query = (
            "SELECT seq, version, removed, image, nonce FROM change WHERE record = ? AND record_id = ?"
            " ORDER BY version DESC"
        )
        with self.reading() as connection:
            rows = connection.execute(query, (RECORD_NAMES[record], record_id)).fetchall()
            return [self._revision(connection, table_of(record), row) for row in rows]

    def _revision(self, connection: sqlite3.Connection, table: Table[RecordT], row: sqlite3.Row) -> Revision[RecordT]:
        entry = next(journal.select_entries(connection, "seq = ?", (row[0],)))
        image = None if row[3] is None else table.image.decode(row[3])
        return Revision(entry, row[1], bool(row[2]), purged=row[4] is None, record=image)

    def entries(self, *, before: int | None = None, limit: int = 50) -> list[Entry]:
        """Return journal entries, newest first."""
        with self.reading() as connection:
            where, parameters = ("1", []) if before is None else ("seq < ?", [before])
            return list(journal.select_entries(connection, f"{where} ORDER BY seq DESC LIMIT ?", [*parameters, limit]))

    def entries_after(self, seq: int, limit: int = 500) -> list[Entry]:
        """Return journal entries after ``seq``, oldest first."""
        with self.reading() as connection:
            return list(journal.select_entries(connection, "seq > ? ORDER BY seq LIMIT ?", (seq, limit)))

    def changes(self, seq: int) -> list[Change]:
        """Return what one entry did to each record."""
        query = "SELECT record, record_id, version, removed, image FROM change WHERE seq = ? ORDER BY ordinal"
        with self.reading() as connection:
            return [Change(r[0], r[1], r[2], bool(r[3]), r[4]) for r in connection.execute(query, (seq,))]

    def changed_memories(self, after: int, limit: int) -> tuple[list[str], int]:
        """Return the ids of memories changed after entry ``after`` and the entry that this reaches.

        Whole entries are taken until at least ``limit`` changes are found, so that the second value is exact.
        """
        query = "SELECT seq, record_id FROM change WHERE seq > ? AND record = 'memory' ORDER BY seq, ordinal"
        found: dict[str, None] = {}
        reached, taken = after, 0
        with self.reading() as connection:
            head = int(connection.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()[0])
            for row in connection.execute(query, (after,)):
                if taken >= limit and row[0] != reached:
                    return list(found), reached
                found[row[1]] = None
                reached, taken = row[0], taken + 1
        return list(found), head

    def verify(self) -> str | None:
        """Return what is wrong with the journal, or ``None``."""
        with self.reading() as connection:
            return journal.verify_journal(connection)

    # Beside the journal

    def versions(self, record: str, ids: Sequence[str]) -> dict[str, int]:
        """Return the present version of each of the ids that exists."""
        listed = msgspec.json.encode(list(ids)).decode()
        query = f"SELECT id, version FROM {record} WHERE id IN (SELECT value FROM json_each(?))"
        with self.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query, (listed,))}

    def derived_from(self, memory_id: str) -> list[str]:
        """Return the ids of the memories that were made of one, or took it in, and may hold its text."""
        with self.reading() as connection:
            return memory_queries.derived_from(connection, memory_id)

    def first_written(self, record: str, ids: Sequence[str]) -> dict[str, datetime]:
        """Return when each of the ids first came into this store."""
        listed = msgspec.json.encode(list(ids)).decode()
        query = (
            "SELECT change.record_id, min(entry.at) FROM change JOIN entry ON entry.seq = change.seq"
            " WHERE change.record = ? AND change.record_id IN (SELECT value FROM json_each(?))"
            " GROUP BY change.record_id"
        )
        with self.reading() as connection:
            rows = connection.execute(query, (record, listed)).fetchall()
        return {row[0]: datetime.fromisoformat(row[1]) for row in rows}

    def purged(self, record: str, ids: Sequence[str]) -> set[str]:
        """Return those of the ids that were purged and do not exist any more."""
        with self.reading() as connection:
            return purged_ids(connection, record, msgspec.json.encode(list(ids)).decode())

    @overload
    def image(self, record: type[RecordT], record_id: str, version: int) -> RecordT | None: ...

    @overload
    def image(self, record: str, record_id: str, version: int) -> Any: ...  # noqa: ANN401

    def image(self, record: Any, record_id: str, version: int) -> Any:
        """Return a record as it was at a version, or ``None`` where it was removed or purged then."""
        record = _type_of(record)
        query = "SELECT image FROM change WHERE record = ? AND record_id = ? AND version = ?"
        with self.reading() as connection:
            row = connection.execute(query, (RECORD_NAMES[record], record_id, version)).fetchone()
        return None if row is None or row[0] is None else table_of(record).image.decode(row[0])

    def image_named(self, kind: str, record_id: str, version: int) -> AnyRecord | None:
        """Return a record of a kind given by name as it was at a version; see `image`."""
        return self.image(TABLES[kind].record, record_id, version)

    def mark(self, seq: int) -> str:
        """Return what tells journal entry ``seq`` from one of another past, as a restored backup has; "" if none."""
        with self.reading() as connection:
            found = next(journal.select_entries(connection, "seq = ?", (seq,)), None)
        return "" if found is None else found.hash.hex()[:16]

    def is_taken(self, record_id: str) -> bool:
        """Tell whether a record of any kind has this id."""
        query = " UNION ALL ".join(f"SELECT 1 FROM {name} WHERE id = :id" for name in TABLES)
        with self.reading() as connection:
            return connection.execute(f"{query} LIMIT 1", {"id": record_id}).fetchone() is not None

    def keep_setting(self, name: str, value: str) -> None:
        """Write a value that this store keeps about itself, beside the journal."""
        self.settings.set(name, value)

    def change_setting(self, name: str, change: Callable[[str | None], str]) -> None:
        """Write what ``change`` makes of such a value, without another writer coming between."""
        self.settings.change(name, change)

    def setting(self, name: str) -> str | None:
        """Return a value that this store keeps about itself."""
        return self.settings.get(name)

    def identity(self) -> str:
        """Return a short digest that tells this store from every other, so that an index knows whose it is."""
        return self.settings.identity()


MemoryOrder = Literal["created", "certainty", "used", "last_used"]

MEMORY_ORDERS: Mapping[MemoryOrder, str] = {
    "created": "memory.created_at",
    "certainty": "memory.certainty",
    "used": "coalesce(usage.used, 0)",
    "last_used": "coalesce(usage.last_used_at, '')",
}
"""What memories may be ordered by, with its column."""


def memory_slice(
    store: Store, tree: Filter, *, order: MemoryOrder, ascending: bool, limit: int, skip: int
) -> Sequence[Memory]:
    """Return ``limit`` memories that a filter selects after the first ``skip``, ordered by one of `MEMORY_ORDERS`.

    The cost grows with the number that the filter selects.
    """
    table = TABLES["memory"]
    sql, parameters = filter_sql(tree)
    way = "ASC" if ascending else "DESC"
    query = f"{table.select} WHERE {sql} ORDER BY {MEMORY_ORDERS[order]} {way}, memory.number {way} LIMIT ? OFFSET ?"
    with store.reading() as connection:
        return [table.record_of(row) for row in connection.execute(query, (*parameters, limit, skip))]
