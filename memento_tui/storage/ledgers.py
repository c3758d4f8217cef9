"""The ledgers beside the journal: exposures to sessions, counters of use, the sources of imports, and hits of skips."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from memento_tui import clock
from memento_tui.model import Exposure
from memento_tui.moments import format_moment
from memento_tui.storage.connection import Row
from memento_tui.storage.database import Database
from memento_tui.storage.memory_queries import MemorySummary, summaries_by_id
from memento_tui.storage.statements import ADD_SKIP_HIT, COUNT_USE, DROP_OLD_SKIP_HITS
from memento_tui.storage.tables import TABLES
from memento_tui.storage.transaction import Transaction

__all__ = [
    "ExposureFilter",
    "ExposureLedger",
    "ExposureRow",
    "ImportLedger",
    "ImportedRecord",
    "SessionTotals",
    "SkipHit",
    "SkipHitLedger",
    "UsageLedger",
]

_EXPOSURE_COLUMNS = ", ".join(Exposure.__struct_fields__)
_EXPOSURE_PLACEHOLDERS = ", ".join("?" * len(Exposure.__struct_fields__))
_decode_scores = msgspec.json.Decoder(dict[str, float]).decode


class ExposureFilter(msgspec.Struct, frozen=True, kw_only=True):
    """A filter on exposures. Fields that are empty do not restrict."""

    session: tuple[str, ...] = ()
    """Beginnings of which one must fit; so for ``channel``."""
    channel: tuple[str, ...] = ()
    memories: tuple[str, ...] | None = None
    """Whole ids of which one must fit; so for ``ids``, those of the rows themselves."""
    ids: tuple[str, ...] | None = None
    since: datetime | None = None
    before: datetime | None = None


class ExposureRow(msgspec.Struct, frozen=True):
    """One exposure, with the memory as it is now (``None`` where it is gone)."""

    exposure: Exposure
    memory: MemorySummary | None

    @property
    def id(self) -> str:
        """The identity within the ledger."""
        return self.exposure.id


class SessionTotals(msgspec.Struct, frozen=True):
    """The totals of one session's exposures."""

    session: str
    shown: int
    tokens: int
    used: int
    """How many of those it was seen to use."""
    last_at: datetime


class ExposureLedger:
    """The ledger of one database, newest row first. It bypasses the journal: reading is not history."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, exposures: Sequence[Exposure], counted: Iterable[str] = ()) -> None:
        """Add exposures to the ledger, and count the memories ``counted`` as shown.

        What an agent asked for does not wait until the disk has either.
        """
        with self._database.writing(waits_for_disk=False) as connection:
            connection.executemany(COUNT_USE, [("memory", memory_id, 1, 0, None) for memory_id in counted])
            connection.executemany(
                f"INSERT INTO injection ({_EXPOSURE_COLUMNS}) VALUES ({_EXPOSURE_PLACEHOLDERS})",
                [_exposure_values(exposure) for exposure in exposures],
            )

    def mark_used(self, session: str, memory_ids: Iterable[str]) -> None:
        """Mark the exposures of some memories to a session as used."""
        query = "UPDATE injection SET used_at = ? WHERE session = ? AND memory_id = ? AND used_at IS NULL"
        moment = format_moment(clock.now())
        with self._database.writing() as connection:
            connection.executemany(query, [(moment, session, memory_id) for memory_id in memory_ids])

    def set_session_project(self, session: str, namespace: str) -> None:
        """Record the namespace of the project that a session works in, as hooks do of theirs."""
        made = "INSERT INTO hook_session VALUES (?1, '', ?2, '', '', 0, 0)"
        query = f"{made} ON CONFLICT (session) DO UPDATE SET namespace = ?2"
        with self._database.writing() as connection:
            connection.execute(query, (session, namespace))

    def session_project(self, session: str) -> str:
        """Return the namespace of the project that a session works in; empty where nobody said."""
        query = "SELECT namespace FROM hook_session WHERE session = ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (session,)).fetchone()
        return "" if row is None else str(row[0])

    def newest(self) -> int:
        """Return the number of the newest row; 0 in an empty ledger. It only grows."""
        with self._database.reading() as connection:
            return int(connection.execute("SELECT coalesce(max(number), 0) FROM injection").fetchone()[0])

    def total(self, criteria: ExposureFilter) -> int:
        """Return how many rows a filter selects."""
        sql, parameters = _exposure_condition(criteria)
        with self._database.reading() as connection:
            return int(connection.execute(f"SELECT count(*) FROM injection WHERE {sql}", parameters).fetchone()[0])

    def page(self, criteria: ExposureFilter, start: int, count: int) -> list[ExposureRow]:
        """Return ``count`` rows from index ``start``."""
        sql, parameters = _exposure_condition(criteria)
        query = f"SELECT {_EXPOSURE_COLUMNS} FROM injection WHERE {sql} ORDER BY number DESC LIMIT ? OFFSET ?"
        with self._database.reading() as connection:
            found = [_exposure_of_row(row) for row in connection.execute(query, (*parameters, count, start))]
            shown = summaries_by_id(connection, list({exposure.memory_id for exposure in found}))
        summaries = {summary.id: summary for summary in shown}
        return [ExposureRow(exposure, summaries.get(exposure.memory_id)) for exposure in found]

    def ids(self, criteria: ExposureFilter, start: int, count: int) -> list[str]:
        """Return the ids of ``count`` rows from index ``start``."""
        sql, parameters = _exposure_condition(criteria)
        query = f"SELECT id FROM injection WHERE {sql} ORDER BY number DESC LIMIT ? OFFSET ?"
        with self._database.reading() as connection:
            return [row[0] for row in connection.execute(query, (*parameters, count, start))]

    def position(self, criteria: ExposureFilter, exposure_id: str) -> int | None:
        """Return the index of an exposure among those that a filter selects, or ``None`` where it is not selected."""
        sql, parameters = _exposure_condition(criteria)
        with self._database.reading() as connection:
            query = f"SELECT number FROM injection WHERE id = ? AND {sql}"
            row = connection.execute(query, (exposure_id, *parameters)).fetchone()
            if row is None:
                return None
            query = f"SELECT count(*) FROM injection WHERE number > ? AND {sql}"
            return int(connection.execute(query, (row[0], *parameters)).fetchone()[0])

    def sessions(self, criteria: ExposureFilter, limit: int) -> list[SessionTotals]:
        """Return the totals of each session, the one last served first."""
        sql, parameters = _exposure_condition(criteria)
        query = f"{_SELECT_SESSION_TOTALS} WHERE {sql} GROUP BY session ORDER BY max(number) DESC LIMIT ?"
        with self._database.reading() as connection:
            return [_session_totals(row) for row in connection.execute(query, (*parameters, limit))]

    def sessions_shown(self, memory_ids: Sequence[str], since: datetime) -> dict[str, int]:
        """Return in how many sessions each memory was shown from a moment on; those shown in none are left out."""
        sql, parameters = _exposure_condition(ExposureFilter(memories=tuple(memory_ids), since=since))
        query = f"SELECT memory_id, count(DISTINCT session) FROM injection WHERE {sql} GROUP BY memory_id"
        with self._database.reading() as connection:
            return {row[0]: int(row[1]) for row in connection.execute(query, parameters)}

    def session(self, name: str) -> SessionTotals | None:
        """Return the totals of one session, or ``None`` where it was shown nothing."""
        with self._database.reading() as connection:
            row = connection.execute(f"{_SELECT_SESSION_TOTALS} WHERE session = ? GROUP BY session", (name,)).fetchone()
        return None if row is None else _session_totals(row)


_SELECT_SESSION_TOTALS = "SELECT session, count(*), sum(tokens), count(used_at), max(at) FROM injection"


def _session_totals(row: Row) -> SessionTotals:
    return SessionTotals(row[0], shown=row[1], tokens=row[2], used=row[3], last_at=datetime.fromisoformat(row[4]))


def _exposure_condition(criteria: ExposureFilter) -> tuple[str, list[object]]:
    parts, parameters = ["1"], list[object]()
    for column in ("session", "channel"):
        values: tuple[str, ...] = getattr(criteria, column)
        if values:
            # A range and not LIKE, which the index of sessions could not serve.
            fits = " OR ".join([f"({column} >= ? AND {column} < ?)"] * len(values))
            parts.append(f"({fits})")
            parameters += [bound for value in values for bound in (value, value + "\U0010ffff")]
    for column, ids in (("memory_id", criteria.memories), ("id", criteria.ids)):
        if ids is not None:
            parts.append(f"{column} IN (SELECT value FROM json_each(?))")
            parameters.append(msgspec.json.encode(ids).decode())
    for condition, bound in (("at >= ?", criteria.since), ("at < ?", criteria.before)):
        if bound is not None:
            parts.append(condition)
            parameters.append(format_moment(bound))
    return " AND ".join(parts), parameters


def _exposure_values(exposure: Exposure) -> tuple[object, ...]:
    return tuple(map(_column_value, msgspec.structs.astuple(exposure)))


def _column_value(value: object) -> object:
    if isinstance(value, datetime):
        return format_moment(value)
    return msgspec.json.encode(value).decode() if isinstance(value, dict) else value


def _exposure_of_row(row: Row) -> Exposure:
    values = dict(zip(Exposure.__struct_fields__, row, strict=True))
    values["at"] = datetime.fromisoformat(values["at"])
    values["used_at"] = None if values["used_at"] is None else datetime.fromisoformat(values["used_at"])
    return Exposure(**{**values, "why": _decode_scores(values["why"])})


_ADD_CONFIRMATION = (
    "INSERT OR IGNORE INTO confirmation SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM stored_change AS change"
    " INDEXED BY change_record CROSS JOIN entry ON entry.seq = change.seq"
    " WHERE change.record = 'memory' AND change.record_id = ?1 AND entry.session = ?2 AND entry.actor = 'agent')"
)


class UsageLedger:
    """The counters of how often the records of one database were shown and used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count(self, record: str, ids: Iterable[str], *, shown: int = 0, used: int = 0, session: str = "") -> None:
        """Add to the counters; ``session`` is where a memory was of use, and counts once for each memory.

        The session that wrote a memory does not confirm it: it would agree with itself. That a memory was shown does
        not wait until the disk has it.
        """
        moment = format_moment(clock.now()) if used else None
        counted = list(ids)
        with self._database.writing(waits_for_disk=used > 0) as connection:
            connection.executemany(COUNT_USE, [(record, record_id, shown, used, moment) for record_id in counted])
            if used and session and record == "memory":
                rows = [(record_id, session, moment) for record_id in counted]
                connection.executemany(_ADD_CONFIRMATION, rows)

    def sessions(self, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return in how many different sessions each of the memories was of use, and how many of them have counted.

        Those never used are left out. A session has counted once it moved the memory's certainty.
        """
        listed = msgspec.json.encode(list(ids)).decode()
        query = (
            "SELECT confirmation.record_id, count(*), max(coalesce(usage.counted, 0)) FROM confirmation"
            " LEFT JOIN usage ON usage.record = 'memory' AND usage.record_id = confirmation.record_id"
            " WHERE confirmation.record_id IN (SELECT value FROM json_each(?)) GROUP BY confirmation.record_id"
        )
        with self._database.reading() as connection:
            return {row[0]: (int(row[1]), int(row[2])) for row in connection.execute(query, (listed,))}

    def confirmed(self) -> list[str]:
        """Return the ids of all memories that were of use in some session."""
        with self._database.reading() as connection:
            return [row[0] for row in connection.execute("SELECT DISTINCT record_id FROM confirmation")]

    def mark_counted(self, tx: Transaction, memory_id: str, sessions: int) -> None:
        """Note in a running transaction how many sessions have moved a memory's certainty."""
        query = "UPDATE usage SET counted = ? WHERE record = 'memory' AND record_id = ?"
        tx.connection.execute(query, (sessions, memory_id))


class ImportedRecord(msgspec.Struct, frozen=True):
    """One line of the import ledger: the source of a record, and the digest and version that were imported."""

    source: str
    key: str
    record: str
    record_id: str
    digest: bytes
    version: int
    in_source: str | None = None
    """The record as the source had it, as JSON, where that differs from the record at ``version``."""


class ImportLedger:
    """The ledger of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, source: str) -> dict[str, ImportedRecord]:
        """Return the lines of one source, by key."""
        query = "SELECT source, key, record, record_id, digest, version, said FROM import_ledger WHERE source = ?"
        with self._database.reading() as connection:
            return {row[1]: ImportedRecord(*row) for row in connection.execute(query, (source,))}

    def of_others(self, source: str) -> dict[tuple[str, str], ImportedRecord]:
        """Return the ledger's lines of all import sources but this one, by the kind and id of the record."""
        query = "SELECT source, key, record, record_id, digest, version, said FROM import_ledger WHERE source <> ?"
        with self._database.reading() as connection:
            return {(row[2], row[3]): ImportedRecord(*row) for row in connection.execute(query, (source,))}

    def of_formats(self, names: Sequence[str]) -> list[ImportedRecord]:
        """Return the lines for memories that came in these formats, whatever their source."""
        query = (
            "SELECT source, key, record, record_id, digest, version, said FROM import_ledger"
            " WHERE record = 'memory' AND substr(source, 1, instr(source, ':') - 1) = ?"
        )
        with self._database.reading() as connection:
            return [ImportedRecord(*row) for name in names for row in connection.execute(query, (name,))]

    def in_source(self, row: ImportedRecord) -> Any:  # noqa: ANN401 - the record that the name says
        """Return a record as its source had it when it was last read, or ``None`` where that was purged."""
        if row.in_source is not None:
            return TABLES[row.record].image.decode(row.in_source)
        query = "SELECT image FROM change WHERE record = ? AND record_id = ? AND version = ?"
        with self._database.reading() as connection:
            found = connection.execute(query, (row.record, row.record_id, row.version)).fetchone()
        return None if found is None or found[0] is None else TABLES[row.record].image.decode(found[0])

    def write(self, tx: Transaction, rows: Iterable[ImportedRecord]) -> None:
        """Note in a running transaction where its records came from."""
        tx.connection.executemany(
            "INSERT OR REPLACE INTO import_ledger (source, key, record, record_id, digest, version, said)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(r.source, r.key, r.record, r.record_id, r.digest, r.version, r.in_source) for r in rows],
        )

    def drop(self, tx: Transaction, source: str, keys: Iterable[str]) -> None:
        """Forget in a running transaction that records came from a source; the records stay."""
        tx.connection.executemany(
            "DELETE FROM import_ledger WHERE source = ? AND key = ?", [(source, key) for key in keys]
        )


class SkipHit(msgspec.Struct, frozen=True):
    """One time that a skip fired."""

    at: datetime
    session: str
    """The session that was shown the skip; empty for one that has no name."""
    channel: str
    words: str
    """The words of the skip that it was found by. The text that held them is not kept."""


class SkipHitLedger:
    """The ledger of one database's skip hits. It bypasses the journal, because a question is no change."""

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
