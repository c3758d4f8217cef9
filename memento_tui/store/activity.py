"""Reading the journal as a list: which entries there are, what each touched, and whether it still holds.

Sequence numbers have no gaps (the journal's verification sees to it), so that the place of an entry in the whole list
is arithmetic. Where a filter selects, one narrow index is read in order; see the migration that makes it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta

import msgspec

from memento_tui.records.when import to_text
from memento_tui.store.activity_rows import ActivityRow, ChangedRecord, activity_rows, changed_records
from memento_tui.store.database import Database

__all__ = ["Activity", "DayCount", "JournalFilter", "Tally"]

_MOST_COUNTED = 20_000
"""Records that a tally counts by kind."""

_ACTORS = ("person", "agent", "system")

_PREFIXES = ("actor", "agent", "session", "channel", "action")


class JournalFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which entries are wanted. What is left empty does not narrow."""

    actor: tuple[str, ...] = ()
    """Beginnings, in whatever case, of which one must fit; so for the next four."""
    agent: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    channel: tuple[str, ...] = ()
    action: tuple[str, ...] = ()
    first_seq: int | None = None
    """The lowest sequence number that is wanted."""
    before_seq: int | None = None
    """The lowest sequence number that is not wanted any more."""
    since: datetime | None = None
    before: datetime | None = None
    memories: tuple[str, ...] | None = None
    """Only entries that touched one of these memories, or whose note holds all of ``words``."""
    words: tuple[str, ...] = ()

    @property
    def is_range(self) -> bool:
        """Whether only sequence numbers limit it."""
        return self == JournalFilter(first_seq=self.first_seq, before_seq=self.before_seq)


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What was done by agents after an entry, in numbers."""

    after: int
    entries: int
    by_agent: dict[str, int]
    by_action: dict[str, int]
    by_record: dict[str, int]
    """How many times records of each kind were written."""
    is_capped: bool
    """Whether there was more than was counted."""


class DayCount(msgspec.Struct, frozen=True):
    """How many entries were made on one day (UTC), by each actor."""

    day: str
    person: int
    agent: int
    system: int


class Activity:
    """The journal of one database, newest entry first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def total(self, wanted: JournalFilter) -> int:
        """Return how many entries a filter selects."""
        with self._database.reading() as connection:
            if wanted.is_range:
                return len(_range(connection, wanted))
            sql, parameters = _where(wanted)
            return int(connection.execute(f"SELECT count(*) FROM {_LIST} WHERE {sql}", parameters).fetchone()[0])

    def seqs(self, wanted: JournalFilter, start: int, count: int) -> list[int]:
        """Return the sequence numbers of ``count`` entries from index ``start``."""
        with self._database.reading() as connection:
            return _seqs(connection, wanted, start, count)

    def page(self, wanted: JournalFilter, start: int, count: int) -> list[ActivityRow]:
        """Return the rows of ``count`` entries from index ``start``."""
        with self._database.reading() as connection:
            return activity_rows(connection, _seqs(connection, wanted, start, count))

    def rows(self, seqs: Sequence[int]) -> list[ActivityRow]:
        """Return the rows of some entries, newest first, without those that do not exist."""
        with self._database.reading() as connection:
            return activity_rows(connection, seqs)

    def position(self, wanted: JournalFilter, seq: int) -> int | None:
        """Return the index of an entry in what a filter selects, or ``None`` where it is not selected."""
        with self._database.reading() as connection:
            if wanted.is_range:
                selected = _range(connection, wanted)
                return selected.index(seq) if seq in selected else None
            sql, parameters = _where(wanted)
            found = connection.execute(f"SELECT 1 FROM {_LIST} WHERE seq = ? AND {sql}", (seq, *parameters)).fetchone()
            if found is None:
                return None
            query = f"SELECT count(*) FROM {_LIST} WHERE seq > ? AND {sql}"
            return int(connection.execute(query, (seq, *parameters)).fetchone()[0])

    def changed(self, seq: int, limit: int) -> list[ChangedRecord]:
        """Return what an entry did to each of its first ``limit`` records, with what these were before."""
        with self._database.reading() as connection:
            return changed_records(connection, seq, limit)

    def batch(self, name: str) -> tuple[int, int]:
        """Return how many entries a bulk write has, and how many records these changed."""
        query = (
            "SELECT count(*), sum((SELECT coalesce(max(ordinal) + 1, 0) FROM change WHERE change.seq = entry.seq))"
            " FROM entry WHERE batch = ? AND batch <> ''"
        )
        with self._database.reading() as connection:
            row = connection.execute(query, (name,)).fetchone()
        return int(row[0]), int(row[1] or 0)

    def tally(self, after: int, limit: int) -> Tally:
        """Return what agents did after an entry, from the newest ``limit`` of their entries."""
        query = f"SELECT seq, agent, action FROM {_LIST} WHERE seq > ? AND actor = 'agent' ORDER BY seq DESC LIMIT ?"
        kinds = (
            "SELECT record, count(*) FROM (SELECT record FROM change WHERE seq IN (SELECT value FROM json_each(?))"
            f" LIMIT {_MOST_COUNTED}) GROUP BY record ORDER BY 2 DESC, 1"
        )
        with self._database.reading() as connection:
            found = connection.execute(query, (after, limit + 1)).fetchall()
            counted = found[:limit]
            by_record = dict(map(tuple, connection.execute(kinds, (_listed([row[0] for row in counted]),))))
        return Tally(
            after=after,
            entries=len(counted),
            by_agent=_counts(row[1] for row in counted),
            by_action=_counts(row[2] for row in counted),
            by_record=by_record,
            is_capped=len(found) > limit or sum(by_record.values()) >= _MOST_COUNTED,
        )

    def days(self, last: date, count: int) -> list[DayCount]:
        """Return how much was done on each of the ``count`` days up to ``last``, the first day first."""
        # A moment is its day, a "T" and a time, so that it sorts between its day and that day with a "U".
        of_day = "at >= day.value AND at < day.value || 'U'"
        counts = [f"(SELECT count(*) FROM entry INDEXED BY entry_day WHERE actor = ? AND {of_day})" for _ in _ACTORS]
        listed = _listed([(last - timedelta(days=back)).isoformat() for back in reversed(range(count))])
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT day.value, {', '.join(counts)} FROM json_each(?) AS day", (*_ACTORS, listed)
            )
            return [DayCount(*row) for row in found]


_LIST = "entry INDEXED BY entry_list"


def _range(connection: sqlite3.Connection, wanted: JournalFilter) -> range:
    """Return the sequence numbers that a filter without conditions selects, newest first."""
    head = int(connection.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()[0])
    last = head if wanted.before_seq is None else min(head, wanted.before_seq - 1)
    first = max(1, wanted.first_seq or 1)
    return range(last, first - 1, -1)


def _seqs(connection: sqlite3.Connection, wanted: JournalFilter, start: int, count: int) -> list[int]:
    if wanted.is_range:
        return list(_range(connection, wanted)[start : start + count])
    sql, parameters = _where(wanted)
    query = f"SELECT seq FROM {_LIST} WHERE {sql} ORDER BY seq DESC LIMIT ? OFFSET ?"
    return [row[0] for row in connection.execute(query, (*parameters, count, start))]


def _where(wanted: JournalFilter) -> tuple[str, list[object]]:
    """Return the condition on the table ``entry`` that a filter means, and its parameters."""
    parts, parameters = ["1"], list[object]()
    for column in _PREFIXES:
        values: tuple[str, ...] = getattr(wanted, column)
        if values:
            fits = " OR ".join([f"{column} LIKE ? ESCAPE '!'"] * len(values))
            parts.append(f"({fits})")
            parameters += [_like(value) + "%" for value in values]
    bounds = (
        ("seq >= ?", wanted.first_seq),
        ("seq < ?", wanted.before_seq),
        ("at >= ?", None if wanted.since is None else to_text(wanted.since)),
        ("at < ?", None if wanted.before is None else to_text(wanted.before)),
    )
    for condition, bound in bounds:
        if bound is not None:
            parts.append(condition)
            parameters.append(bound)
    touching = _touching(wanted)
    if touching:
        alternatives = " OR ".join(sql for sql, _ in touching)
        parts.append(f"({alternatives})")
        parameters += [value for _, values in touching for value in values]
    return " AND ".join(parts), parameters


def _touching(wanted: JournalFilter) -> list[tuple[str, list[object]]]:
    """Return the conditions of which one must hold: a note with all the words, a change of one of the memories."""
    found: list[tuple[str, list[object]]] = []
    if wanted.words:
        holds = " AND ".join(["note LIKE ? ESCAPE '!'"] * len(wanted.words))
        sql = f"seq IN (SELECT seq FROM entry INDEXED BY entry_note WHERE note <> '' AND {holds})"
        found.append((sql, [f"%{_like(word)}%" for word in wanted.words]))
    if wanted.memories is not None:
        sql = (
            "seq IN (SELECT seq FROM change INDEXED BY change_record"
            " WHERE record = 'memory' AND record_id IN (SELECT value FROM json_each(?)))"
        )
        found.append((sql, [_listed(wanted.memories)]))
    return found


def _like(text: str) -> str:
    """Return text as a pattern of LIKE that is this text; the escape is ``!``."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _listed(values: Sequence[object]) -> str:
    return msgspec.json.encode(list(values)).decode()


def _counts(values: Iterable[str]) -> dict[str, int]:
    """Return how often each value comes, the most frequent first."""
    counted: dict[str, int] = {}
    for value in values:
        counted[value] = counted.get(value, 0) + 1
    return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
