"""Count and page through the memories that each rule of the audit selects, and hold the rows against the journal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Literal

import msgspec

from memento_tui.errors import DataDirectoryError, InvalidInput
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.moments import format_moment
from memento_tui.storage.backup import Progress, journal_problem, page_problem
from memento_tui.storage.connection import Connection, Row
from memento_tui.storage.database import Database
from memento_tui.storage.journal import verify_chain
from memento_tui.storage.long_work import raise_if_stopped, stoppable
from memento_tui.storage.statements import OPEN_PROPOSALS
from memento_tui.storage.tables import TABLES, cut_page

__all__ = ["AuditQueries", "AuditRules"]

_ROWS_PER_PROGRESS = 500
"""Rows that are compared between two words of progress."""

_NEWEST = "(SELECT max(version) FROM change WHERE record = '{0}' AND record_id = {0}.id)"

_EXPECTED_TAGS = (
    "SELECT DISTINCT fold(tag.value) AS tag, memory.number AS number FROM memory, json_each(memory.tags) AS tag"
)


class _RowFault(msgspec.Struct, frozen=True):
    """A record whose current row differs from the journal."""

    record: str
    record_id: str
    kind: Literal["changed", "missing", "unknown"]
    """``unknown``: there is a row, and the journal says that the record was removed or knows nothing of it."""
    columns: tuple[str, ...] = ()
    """The columns that were changed."""

    @property
    def sentence(self) -> str:
        """The fault, in words."""
        said = {"missing": "is missing", "unknown": "is not in the journal"}
        changed = f"was changed outside of the journal ({', '.join(self.columns)})"
        return f"{self.record} {self.record_id} {said.get(self.kind, changed)}"


def _row_faults(
    connection: Connection,
    *,
    since: int = 0,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    stop: threading.Event | None = None,
) -> Iterator[_RowFault]:
    """Yield the records whose rows are not as the journal says; with ``since`` of those changed after that entry.

    ``progress`` is told the rows that were compared and how many there are. Raises `StoppedError`.
    """
    total = sum(int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]) for name in TABLES)
    done = 0
    for name, table in TABLES.items():
        columns = ", ".join(f"{name}.{column}" for column in table.stored)
        query = (
            f"SELECT change.image, change.removed, {columns} FROM {name} LEFT JOIN change ON change.record = '{name}'"
            f" AND change.record_id = {name}.id AND change.version = {_NEWEST.format(name)}"
        )
        if since:
            query += f" WHERE {name}.id IN (SELECT record_id FROM change WHERE seq > {since:d} AND record = '{name}')"
        identity = table.stored.index("id")
        for image, removed, *found in connection.execute(query):
            done += 1
            if done % _ROWS_PER_PROGRESS == 0:
                raise_if_stopped(stop)
                progress(done, total)
            if image is None or removed:
                yield _RowFault(name, found[identity], "unknown")
                continue
            expected = table.row(table.image.decode(image))
            if found != expected:
                pairs = zip(table.stored, found, expected, strict=True)
                yield _RowFault(name, found[identity], "changed", tuple(c for c, is_, was in pairs if is_ != was))
        for (record_id,) in connection.execute(_select_missing(name, since)):
            yield _RowFault(name, record_id, "missing")
    progress(total, total)


def _select_missing(name: str, since: int) -> str:
    return (
        f"SELECT record_id FROM change WHERE record = '{name}' AND seq > {since:d} AND NOT removed"
        " AND image IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM change AS later WHERE later.record = change.record"
        " AND later.record_id = change.record_id AND later.version > change.version)"
        f" AND NOT EXISTS (SELECT 1 FROM {name} WHERE {name}.id = change.record_id)"
    )


def _tags_differ(connection: Connection) -> bool:
    """Tell whether the table of tags differs from the tags of the memories."""
    query = f"SELECT EXISTS ({_EXPECTED_TAGS} EXCEPT SELECT tag, number FROM memory_tag)"
    query += f" OR (SELECT count(*) FROM memory_tag) <> (SELECT count(*) FROM ({_EXPECTED_TAGS}))"
    return bool(connection.execute(query).fetchone()[0])


def _put_rows_back(connection: Connection) -> list[_RowFault]:
    """Rebuild the rows that differ from the journal, and the table of tags; return the rebuilt records.

    For a running transaction, and a journal that was verified in it: what the journal holds was judged when it was
    written. A row that the journal knows nothing of stays as it is.
    """
    mended = [fault for fault in _row_faults(connection) if fault.kind != "unknown"]
    for fault in mended:
        table = TABLES[fault.record]
        image = connection.execute(
            "SELECT image FROM change WHERE record = ? AND record_id = ? ORDER BY version DESC LIMIT 1",
            (fault.record, fault.record_id),
        ).fetchone()[0]
        connection.execute(table.upsert, table.row(table.image.decode(image)))
    if _tags_differ(connection):
        connection.execute("DELETE FROM memory_tag")
        connection.execute(f"INSERT INTO memory_tag (tag, number) {_EXPECTED_TAGS}")
    return mended


_MEMORIES_PER_PROGRESS = 20_000
"""Memories read between two reports of progress, in one short read that delays no writer."""

_FROM_MEMORY = "FROM memory LEFT JOIN usage ON usage.record = 'memory' AND usage.record_id = memory.id"
_IS_RECALLED = f"memory.status IN ({', '.join(repr(status) for status in RECALLED_STATUSES)})"
_WAS_HERE_BEFORE = (
    "EXISTS (SELECT 1 FROM change JOIN entry ON entry.seq = change.seq WHERE change.record = 'memory'"
    " AND change.record_id = memory.id AND change.version = 1 AND entry.at < ?)"
)
"""Holds for a memory that was stored before a moment: one imported last week was offered to no agent before."""

_SELECT_COPIES = (
    "WITH twin AS (SELECT digest FROM memory GROUP BY digest HAVING count(*) > 1), copied AS"
    f" (SELECT digest FROM memory JOIN twin USING (digest) WHERE {_IS_RECALLED} GROUP BY digest HAVING count(*) > 1)"
)

SqlCondition = tuple[str, list[object]]


class AuditRules(msgspec.Struct, frozen=True, kw_only=True):
    """The moments and numbers from which a memory is worth a look; `memento_tui.maintenance.audit` has the reasons."""

    now: datetime
    soon: datetime
    """A memory that expires before this moment expires soon."""
    unused_since: datetime
    shown_at_least: int
    verified_since: datetime
    untouched_since: datetime
    fades_below_certainty: int
    fades_below_uses: int
    waiting_since: datetime


class AuditQueries:
    """The rot of one database. Safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def counts(
        self, rules: AuditRules, *, progress: Progress | None = None, stop: threading.Event | None = None
    ) -> dict[str, int]:
        """Return how many memories, proposals or contradictions each rule selects, by its code.

        Every memory is read once. Raises `StoppedError` if ``stop`` is set meanwhile.
        """
        found = self._waiting(rules, stop)
        conditions = _conditions(rules)
        sums = ", ".join(f"sum({sql})" for sql, _ in conditions.values())
        parameters = [value for _, values in conditions.values() for value in values]
        query = f"SELECT {sums} {_FROM_MEMORY} WHERE memory.number > ? AND memory.number <= ?"
        totals = [0] * len(conditions)
        last = self._one("SELECT coalesce(max(number), 0) FROM memory", [], stop)
        for start in range(0, last, _MEMORIES_PER_PROGRESS):
            raise_if_stopped(stop)
            with self._database.reading() as connection, stoppable(connection, stop):
                row = connection.execute(query, [*parameters, start, start + _MEMORIES_PER_PROGRESS]).fetchone()
            totals = [total + int(part or 0) for total, part in zip(totals, row, strict=True)]
            if progress is not None:
                progress("Looking at the memories", min(start + _MEMORIES_PER_PROGRESS, last), last)
        return found | dict(zip(conditions, totals, strict=True))

    def _waiting(self, rules: AuditRules, stop: threading.Event | None) -> dict[str, int]:
        copies = (
            f"{_SELECT_COPIES} SELECT count(*) FROM memory "
            f"WHERE digest IN (SELECT digest FROM copied) AND {_IS_RECALLED}"
        )
        merges = f"SELECT count(*) FROM proposal WHERE action = 'merge' AND state IN {OPEN_PROPOSALS}"
        waiting = (
            f"SELECT count(*) FROM proposal WHERE state IN {OPEN_PROPOSALS} AND created_at < ?"
            " AND (state <> 'later' OR coalesce(later_until, '9') <= ?)"
        )
        moments: list[object] = [format_moment(rules.waiting_since), format_moment(rules.now)]
        return {
            "copies": self._one(copies, [], stop),
            "merges": self._one(merges, [], stop),
            "waiting": self._one(waiting, moments, stop),
        }

    def _one(self, query: str, parameters: Sequence[object], stop: threading.Event | None) -> int:
        with self._database.reading() as connection, stoppable(connection, stop):
            return int(connection.execute(query, parameters).fetchone()[0])

    def page(
        self,
        code: str,
        rules: AuditRules,
        *,
        after: str | None = None,
        limit: int = 50,
        stop: threading.Event | None = None,
    ) -> tuple[list[str], str | None]:
        """Return the ids of memories that a rule selects, newest first, and the next page's cursor.

        Memories with the same text stand together. Raises `InvalidInput` for a cursor that is none.
        """
        read = self._copies if code == "copies" else self._selected
        with self._database.reading() as connection, stoppable(connection, stop):
            rows, goes_on = cut_page(read(connection, code, rules, after, limit + 1), limit)
        return [row[0] for row in rows], str(rows[-1][1]) if goes_on else None

    @staticmethod
    def _selected(connection: Connection, code: str, rules: AuditRules, after: str | None, limit: int) -> list[Row]:
        sql, parameters = _conditions(rules)[code]
        before = 1 << 62 if after is None else _number(after, after)
        query = f"SELECT memory.id, memory.number {_FROM_MEMORY} WHERE {sql} AND memory.number < ?"
        query += " ORDER BY memory.number DESC LIMIT ?"
        return connection.execute(query, [*parameters, before, limit]).fetchall()

    @staticmethod
    def _copies(connection: Connection, _code: str, _rules: AuditRules, after: str | None, limit: int) -> list[Row]:
        digest, _, number = (after or "~0").partition("~")
        query = (
            f"{_SELECT_COPIES} SELECT id, hex(digest) || '~' || number FROM memory"
            f" WHERE digest IN (SELECT digest FROM copied) AND {_IS_RECALLED} AND (hex(digest), number) > (?, ?)"
            " ORDER BY hex(digest), number LIMIT ?"
        )
        return connection.execute(query, [digest, _number(number, after or ""), limit]).fetchall()

    def pages_in_order(self, stop: threading.Event | None = None) -> str | None:
        """Return the first fault in the file's pages as a sentence, or ``None``."""
        with self._database.reading() as connection:
            return page_problem(connection, stop)

    def journal_in_order(self, progress: Progress, stop: threading.Event | None = None) -> str | None:
        """Return the first fault in the journal as a sentence, or ``None``. Raises `StoppedError`."""
        with self._database.reading() as connection:
            head = int(connection.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()[0])
            return journal_problem(connection, head, progress=progress, stop=stop)

    def row_faults(
        self,
        since: int,
        limit: int,
        progress: Callable[[int, int], None],
        stop: threading.Event | None = None,
    ) -> list[_RowFault]:
        """Return the first records whose rows are not as the journal says; see `replay.row_faults`."""
        with self._database.reading() as connection:
            return list(islice(_row_faults(connection, since=since, progress=progress, stop=stop), limit))

    def tags_differ(self) -> bool:
        """Tell whether the table of tags differs from the tags of the memories."""
        with self._database.reading() as connection:
            return _tags_differ(connection)

    def put_rows_back(self) -> list[_RowFault]:
        """Rebuild the rows that differ from the journal, once it is verified, in one write; return the rebuilt records.

        Raises:
            DataDirectoryError: the journal is not in order; nothing was changed.

        """
        with self._database.writing() as connection:
            _check_chain(connection)
            return _put_rows_back(connection)

    def check_rows_can_be_put_back(self) -> None:
        """Raise `DataDirectoryError` where entries of the journal were altered or are missing."""
        with self._database.reading() as connection:
            _check_chain(connection)


def _check_chain(connection: Connection) -> None:
    if problem := verify_chain(connection):
        raise DataDirectoryError(
            f"The records cannot be mended from the journal. {problem}",
            "Put a backup in its place: `memento backup list`, then `memento backup restore`.",
        )


def _number(text: str, cursor: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(f"{cursor!r:.60} is not a cursor.", "Use the `next` of the page before.") from None


def _conditions(rules: AuditRules) -> dict[str, SqlCondition]:
    """Return the condition of each rule on a memory beside its counters of use."""
    now = format_moment(rules.now)
    unused, untouched = format_moment(rules.unused_since), format_moment(rules.untouched_since)
    used = "coalesce(usage.used, 0)"
    faded = (
        f"({_IS_RECALLED} AND memory.updated_at < ? AND memory.stability = 'draft' AND NOT memory.pinned"
        f" AND memory.certainty < ? AND {used} < ? AND memory.created_at < ?"
        f" AND coalesce(usage.last_used_at, '') < ? AND {_WAS_HERE_BEFORE})"
    )
    useless = (
        f"({_IS_RECALLED} AND memory.created_at < ? AND {used} = 0 AND NOT memory.pinned"
        f" AND memory.kind <> 'instruction' AND {_WAS_HERE_BEFORE})"
    )
    return {
        "expired": (f"({_IS_RECALLED} AND memory.expires_at < ?)", [now]),
        "expiring": (
            f"({_IS_RECALLED} AND memory.expires_at >= ? AND memory.expires_at < ?)",
            [now, format_moment(rules.soon)],
        ),
        "old_verification": (
            f"({_IS_RECALLED} AND memory.stability = 'verified' AND memory.verified_at < ?)",
            [format_moment(rules.verified_since)],
        ),
        "untouched": (
            faded,
            [untouched, rules.fades_below_certainty, rules.fades_below_uses, untouched, untouched, untouched],
        ),
        "never_used": (useless, [unused, unused]),
        "recall_loop": (f"({_IS_RECALLED} AND coalesce(usage.shown, 0) >= ? AND {used} = 0)", [rules.shown_at_least]),
        "untagged": (f"({_IS_RECALLED} AND memory.tags = '[]')", []),
    }
