"""The store as the rest of memento sees it: one data directory's database, its queries by subject, and every write."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from memento_tui import clock
from memento_tui.errors import NotFound
from memento_tui.locations import waiting_location
from memento_tui.model import AnyRecord, Crystal, Skip, WorkingItem
from memento_tui.model.review import RISKY_KINDS
from memento_tui.model.validation import new_id
from memento_tui.moments import format_moment
from memento_tui.paths import DataPaths
from memento_tui.private_files import close_data_directory
from memento_tui.regular_files import open_regular
from memento_tui.storage.activity import ActivityQueries
from memento_tui.storage.audit import AuditQueries
from memento_tui.storage.connection import Connection
from memento_tui.storage.database import Database
from memento_tui.storage.hub_state import HubState
from memento_tui.storage.journal import LIMITED_HISTORY, REWRITTEN_ENTRY, Author, Entry
from memento_tui.storage.journal_queries import JournalQueries
from memento_tui.storage.ledgers import ExposureLedger, ImportLedger, SkipHitLedger, UsageLedger
from memento_tui.storage.long_work import Progress, no_progress
from memento_tui.storage.memory_events import MemoryEventQueries
from memento_tui.storage.memory_queries import MemoryQueries, Timeline, resolve_id
from memento_tui.storage.purge import PurgedRecord, purge_record
from memento_tui.storage.review import ContradictionQueries, InboxQueries, ProposalQueries
from memento_tui.storage.settings import Settings
from memento_tui.storage.statistics import FacetQueries, Statistics
from memento_tui.storage.tables import RECORD_NAMES, TABLES, RecordT, select_records
from memento_tui.storage.transaction import Transaction, transaction
from memento_tui.storage.undo import redo_candidate, revert_entry, undo_candidate
from memento_tui.storage.use_report import UseQueries
from memento_tui.storage.write_history import WriteHistoryQueries

__all__ = ["Store"]

_WAITING_CHANGED = "SELECT 1 FROM change WHERE seq > ? AND record IN ('proposal', 'contradiction') LIMIT 1"

_current_batch: ContextVar[str] = ContextVar("batch", default="")
"""The batch that joins the entries of one block of `Store.one_undo`; empty outside of any."""


def _keep_before_migration(path: Path, progress: Progress) -> None:
    from memento_tui.storage.backup_folder import keep_before_migration  # noqa: PLC0415 - once for each new format

    keep_before_migration(DataPaths(path.parent), progress)


class ListQueries:
    """The skips, working items and current identity of one database."""

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


class Store:
    """One open database. Safe to use from several threads; each has its own connection."""

    def __init__(
        self,
        path: Path,
        *,
        create: bool = True,
        read_only: bool = False,
        database: Database | None = None,
        progress: Progress = no_progress,
    ) -> None:
        """Open the store; ``progress`` is called during the backup and migration of an older file."""
        if not read_only:
            DataPaths(path.parent).check_no_links()
            # Before anything is written: what is made meanwhile is out of the reach of others.
            close_data_directory(path.parent)
        self.database = database or Database(
            path,
            create=create,
            read_only=read_only,
            before_migration=partial(_keep_before_migration, path, progress),
            progress=progress,
        )
        self.memories = MemoryQueries(self.database)
        self.lists = ListQueries(self.database)
        self.timeline = Timeline(self.database)
        self.proposals = ProposalQueries(self.database)
        self.contradictions = ContradictionQueries(self.database)
        self.inbox = InboxQueries(self.database)
        self.journal = JournalQueries(self.database)
        self.activity = ActivityQueries(self.database)
        self.memory_events = MemoryEventQueries(self.database)
        self.statistics = Statistics(self.database)
        self.facets = FacetQueries(self.database)
        self.audit = AuditQueries(self.database)
        self.writes = WriteHistoryQueries(self.database)
        self.usage = UsageLedger(self.database)
        self.exposures = ExposureLedger(self.database)
        self.skip_hits = SkipHitLedger(self.database)
        self.use = UseQueries(self.database)
        self.imports = ImportLedger(self.database)
        self.hub = HubState(self.database)
        self.settings = Settings(self.database)
        self.when_risk_rises: Callable[[int], object] = lambda _count: None
        """Called with how many risky items wait, where there are more of them than before."""
        # Another database is a copy or the past, and says nothing of what waits now.
        if database is None and not read_only:
            self.database.after_entry = self._note_written
            _note_waiting(path.parent, self.inbox.counts(clock.now()))

    def _note_written(self, connection: Connection, before: int) -> None:
        """Note beside the database how many items wait, where the entries after ``before`` may have changed that.

        What was counted before somebody else wrote may be noted after their count: then it counts again.
        """
        if connection.execute(_WAITING_CHANGED, (before,)).fetchone() is None:
            return
        counted = -1
        while counted != (head := self.journal.head()):
            risky, noted = _note_waiting(self.database.path.parent, self.inbox.counts(clock.now()))
            if risky > noted:
                self.when_risk_rises(risky)
            counted = head

    def close(self) -> None:
        """Close the database for good: nothing is written from then on."""
        self.database.close()

    # Writing

    def transaction(self, author: Author, action: str, **options: Any) -> AbstractContextManager[Transaction]:  # noqa: ANN401
        """Begin one write, judged by a guard; see `memento_tui.storage.transaction.transaction`.

        `memento_tui.policy.gate.Gate.transaction` is the way to it for everybody else.
        """
        return transaction(self.database, author, action, **{"batch": _current_batch.get(), **options})

    @contextmanager
    def one_undo(self) -> Iterator[None]:
        """Join the entries that this thread or task writes in the block: one undo takes all of them back."""
        token = _current_batch.set(new_id())
        try:
            yield
        finally:
            _current_batch.reset(token)

    def undo(self, author: Author, seq: int | None = None) -> list[Entry]:
        """Undo an entry, or the person's newest that is in effect; return the entries that were undone.

        Raises:
            NotFound: there is nothing to undo.
            NotAllowed: it was undone already, or is a purge, or the author is no person.
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
        """Redo the person's last undo; return the undo entries that were taken back."""
        with self.database.reading() as connection:
            found = redo_candidate(connection)
        if found is None:
            raise NotFound("There is nothing to redo.")
        return revert_entry(self.database, author, found.seq)

    def purge(self, author: Author, record: str, record_id: str, reason: str) -> tuple[PurgedRecord, ...]:
        """Remove a record and all its texts from the journal; return the records removed with it.

        Nothing brings it back.

        Raises:
            NotFound: neither the record nor a trace of it exists.
            NotAllowed: no reason was given.
            DataDirectoryError: another program keeps the old text in the database's log by reading an older state.

        """
        return purge_record(self.database, author, record, record_id, reason)

    # Reading records of any kind

    def reading(self) -> AbstractContextManager[Connection]:
        """See one state of the database for the length of a block."""
        return self.database.reading()

    def get(self, record: type[RecordT], record_id: str) -> RecordT:
        """Return a record by its whole id. Raises `NotFound`."""
        found = self.find(record, record_id)
        if found is None:
            raise NotFound(f"There is no {RECORD_NAMES[record]} with the id {record_id}.")
        return found

    def get_named(self, kind: str, record_id: str) -> AnyRecord:
        """Return a record of a kind given by name by its whole id. Raises `NotFound`."""
        record: AnyRecord = self.get(TABLES[kind].record, record_id)
        return record

    def find(self, record: type[RecordT], record_id: str) -> RecordT | None:
        """Return a record by its whole id, or ``None``."""
        with self.reading() as connection:
            return next(iter(select_records(connection, record, "id = ?", (record_id,))), None)

    def find_named(self, kind: str, record_id: str) -> AnyRecord | None:
        """Return a record of a kind given by name by its whole id, or ``None``; a journal entry is no record."""
        return None if kind in (REWRITTEN_ENTRY, LIMITED_HISTORY) else self.find(TABLES[kind].record, record_id)

    def is_taken(self, record_id: str) -> bool:
        """Tell whether a record of any kind has this id."""
        query = " UNION ALL ".join(f"SELECT 1 FROM {name} WHERE id = :id" for name in TABLES)
        with self.reading() as connection:
            return connection.execute(f"{query} LIMIT 1", {"id": record_id}).fetchone() is not None

    def resolve(self, kind: str, prefix: str) -> str:
        """Return the id of a record of a kind by a unique beginning of it. Raises `NotFound` or `AmbiguousId`."""
        with self.reading() as connection:
            return resolve_id(connection, kind, prefix)

    def ids_beginning(self, kind: str, beginning: str, limit: int) -> list[str]:
        """Return at most ``limit`` ids of a kind that begin so, the record written last first."""
        query = f"SELECT id FROM {TABLES[kind].name} WHERE id >= ? AND id < ? ORDER BY number DESC LIMIT ?"
        with self.reading() as connection:
            return [str(row[0]) for row in connection.execute(query, (beginning, beginning + "\U0010ffff", limit))]

    def all_of(self, record: type[RecordT]) -> list[RecordT]:
        """Return every record of one of the shorter kinds, oldest first; memories are read in `memories.batches`."""
        with self.reading() as connection:
            return select_records(connection, record, "1 ORDER BY number")

    def versions(self, kind: str, ids: Sequence[str]) -> dict[str, int]:
        """Return the present version of each of the ids of a kind that exists."""
        listed = msgspec.json.encode(list(ids)).decode()
        query = f"SELECT id, version FROM {kind} WHERE id IN (SELECT value FROM json_each(?))"
        with self.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query, (listed,))}


_WAITING_FILE_BYTES = 32
"""The length of the file: always the same, so that it is written over in one piece."""


def _note_waiting(root: Path, counts: Mapping[str, int]) -> tuple[int, int]:
    """Note beside the database how many of each kind wait; return how many risky ones there are, and were before.

    It is for status lines, which cannot open a database. What was put off comes back at its time, and what is no
    contradiction any more because a side is gone leaves, without a write of a proposal or a contradiction: until the
    next one, or until a program opens the workspace, the file is behind. It also stays behind where it cannot be
    written: the write that it follows is acknowledged already.
    """
    from memento_tui.status_line import waiting  # noqa: PLC0415 - it must load without this

    noted = waiting(os.fspath(root))
    found = sum(counts.values()), sum(counts.get(kind, 0) for kind in RISKY_KINDS)
    path = waiting_location(os.fspath(root))
    if found != noted or not os.path.exists(path):  # noqa: PTH110 - a path as text
        try:
            descriptor = open_regular(path, os.O_WRONLY | os.O_CREAT)
        except OSError:
            return noted[1], noted[1]
        try:
            os.pwrite(descriptor, f"{f'{found[0]} {found[1]}':{_WAITING_FILE_BYTES - 1}}\n".encode(), 0)
            os.ftruncate(descriptor, _WAITING_FILE_BYTES)  # where something else stood there
        except OSError:
            return noted[1], noted[1]
        finally:
            os.close(descriptor)
    return found[1], noted[1]
