"""Read the journal as a list: entries, the changes of each, and whether they are still in effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import msgspec

from memento_tui.moments import format_moment
from memento_tui.storage.connection import Connection, Row
from memento_tui.storage.database import Database
from memento_tui.storage.history_limit import LIMIT_ACTION, is_dropped
from memento_tui.storage.journal import ACTORS, FORMER_NAMES, LIMITED_HISTORY, REWRITTEN_ENTRY, Entry, select_entries
from memento_tui.storage.journal_queries import missing_text
from memento_tui.storage.tables import TABLES
from memento_tui.storage.undo import IS_PURGED

__all__ = [
    "ActivityQueries",
    "ActivityRow",
    "AgentTotals",
    "ChangedRecord",
    "DayCount",
    "JournalFilter",
]

_MAX_CHANGES_EXAMINED = 8
"""Changes of an entry among which the headline record of its row is chosen."""

_RECORDS_BY_IMPORTANCE = (
    *("memory", "skip", "item", "crystal", "contradiction", "proposal", "relation"),
    *(REWRITTEN_ENTRY, LIMITED_HISTORY),
)
"""The kinds of records, in the order in which one is chosen as the headline of an entry."""


class ActivityRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the activity list: an entry and its headline record."""

    entry: Entry
    touched: int
    """How many records the entry changed."""
    record: str
    """The kind of the headline record; empty where the entry changed none."""
    record_id: str
    headline: str
    """The first line of that record's text, or of its text before it was removed; empty where that was purged."""
    removed: bool
    purged: bool
    """Whether a purge removed so much of this entry and its batch that it cannot be undone."""
    undone_by: int | None
    """The entry that took this one back, if that still holds."""
    proposes: bool = False
    """Whether the entry made a proposal, which waits for a person, and changed nothing that is in force."""

    @property
    def id(self) -> str:
        """The sequence number, as a list's identity."""
        return str(self.entry.seq)

    @property
    def obstacle(self) -> str:
        """The reason, in a sentence, why the entry cannot be undone; empty where none is known."""
        if self.entry.action == "purge":
            return f"Entry {self.entry.seq} is a purge; what it removed is gone for good."
        if self.entry.action == LIMIT_ACTION:
            return f"Entry {self.entry.seq} let earlier versions go; only a backup has them."
        if self.undone_by is not None:
            return f"Entry {self.entry.seq} was taken back already, by entry {self.undone_by}."
        if self.purged:
            return f"The text that entry {self.entry.seq} wrote was purged or dropped; it cannot return."
        return ""


class ChangedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One record that an entry changed, before and after (``None`` where there was none, or it is purged)."""

    record: str
    record_id: str
    version: int
    removed: bool
    purged: bool
    """Whether its text is gone: it was purged, or dropped by the limit of the history."""
    before: Any
    after: Any
    dropped: bool = False
    """Whether it was dropped."""

    @property
    def missing(self) -> str:
        """The reason why its text is gone, in words; empty where it is there."""
        return missing_text(purged=self.purged, dropped=self.dropped)


# An undo of a redo is an undo of what was done again, so that is where a redo's own fate is told.
_SELECT_ENTRY_FACTS = (
    "SELECT entry.seq, (SELECT coalesce(max(ordinal) + 1, 0) FROM change WHERE change.seq = entry.seq),"
    f" {IS_PURGED.format('entry')} AND NOT EXISTS (SELECT 1 FROM entry AS joined WHERE joined.batch = entry.batch"
    f" AND joined.batch <> '' AND joined.action <> 'purge' AND NOT {IS_PURGED.format('joined')}),"
    " (SELECT max(u.seq) FROM entry AS u WHERE u.undoes ="
    " CASE entry.action WHEN 'redo' THEN (SELECT undo.undoes FROM entry AS undo WHERE undo.seq = entry.undoes)"
    " ELSE entry.seq END AND NOT EXISTS (SELECT 1 FROM entry AS r WHERE r.undoes = u.seq))"
    " FROM entry WHERE entry.seq IN (SELECT value FROM json_each(?))"
)
_SELECT_FIRST_CHANGES = (
    "SELECT seq, record, record_id, version, removed FROM change"
    f" WHERE seq IN (SELECT value FROM json_each(?)) AND ordinal < {_MAX_CHANGES_EXAMINED} ORDER BY seq, ordinal"
)


_SELECT_FIRST_UNDONE = (
    "WITH RECURSIVE back(seq, undone) AS ("
    " SELECT seq, undoes FROM entry WHERE undoes IS NOT NULL AND seq IN (SELECT value FROM json_each(?))"
    " UNION ALL SELECT back.seq, entry.undoes FROM back JOIN entry ON entry.seq = back.undone"
    " WHERE entry.undoes IS NOT NULL)"
    " SELECT seq, min(undone) FROM back GROUP BY seq"
)


_SELECT_PROPOSING = (
    "SELECT DISTINCT seq FROM change AS made WHERE seq IN (SELECT value FROM json_each(?))"
    " AND record = 'proposal' AND version = 1 AND NOT EXISTS (SELECT 1 FROM change AS other"
    " WHERE other.seq = made.seq AND (other.record IN ('memory', 'skip', 'item', 'contradiction')"
    " OR other.record = 'crystal' AND json_extract(other.image, '$.status') IS NOT 'proposed'))"
)
"""Those of some entries that made a proposal and changed nothing that is in force."""


def activity_rows(connection: Connection, seqs: Sequence[int]) -> list[ActivityRow]:
    """Return the rows of some entries, newest first, without those that do not exist."""
    listed = msgspec.json.encode(list(seqs)).decode()
    found = list(select_entries(connection, "seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC", (listed,)))
    facts = {row[0]: row for row in connection.execute(_SELECT_ENTRY_FACTS, (listed,))}
    spoken_of = _changes_spoken_of(connection, [entry.seq for entry in found])
    return [_activity_row(connection, entry, facts[entry.seq], spoken_of.get(entry.seq)) for entry in found]


def _changes_spoken_of(connection: Connection, seqs: Sequence[int]) -> dict[int, Row]:
    """Return the change of each entry whose record is its headline.

    An undo or a redo speaks of the record of which the entry speaks that was undone in the first place.
    """
    undone = dict(connection.execute(_SELECT_FIRST_UNDONE, (msgspec.json.encode(seqs).decode(),)).fetchall())
    asked = msgspec.json.encode([*seqs, *undone.values()]).decode()
    found: dict[int, Row] = {}
    for change in connection.execute(_SELECT_FIRST_CHANGES, (asked,)):
        known = found.get(change[0])
        if known is None or _is_headline_before(connection, change, known):
            found[change[0]] = change
    query = "SELECT seq, record, record_id, version, removed FROM change WHERE seq = ? AND record = ? AND record_id = ?"
    for seq, first in undone.items():
        if (spoken := found.get(first)) is not None:
            own = connection.execute(query, (seq, spoken[1], spoken[2])).fetchone()
            if own is not None:
                found[seq] = own
    return found


def _is_headline_before(connection: Connection, change: Row, known: Row) -> bool:
    """Tell whether the record of a change is a better headline than that of an earlier change of the same entry."""
    if change[1] == known[1] == "crystal":
        return _has_passed(connection, known) and not _has_passed(connection, change)
    return _RECORDS_BY_IMPORTANCE.index(change[1]) < _RECORDS_BY_IMPORTANCE.index(known[1])


def _has_passed(connection: Connection, change: Row) -> bool:
    """Tell whether an identity only gave way to another one."""
    seen = _seen_fields(connection, change[1], change[2], change[3])
    return seen is not None and seen.status == "past"


def _activity_row(connection: Connection, entry: Entry, facts: Row, change: Row | None) -> ActivityRow:
    return ActivityRow(
        entry=entry,
        touched=facts[1],
        purged=bool(facts[2]),
        undone_by=facts[3],
        record="" if change is None else change[1],
        record_id="" if change is None else change[2],
        removed=change is not None and bool(change[4]),
        headline="" if change is None else _headline(connection, change),
        proposes=change is not None and _proposes(connection, change),
    )


def _proposes(connection: Connection, change: Row) -> bool:
    """Tell whether an entry only proposed something, from the change that is its headline.

    A proposal is a headline where no record changed that it could be about. An identity waits as a record of its own.
    """
    if change[3] != 1:
        return False
    if change[1] == "crystal":
        seen = _seen_fields(connection, change[1], change[2], change[3])
        return seen is not None and seen.status == "proposed"
    return bool(change[1] == "proposal")


class _HeadlineFields(msgspec.Struct):
    """The fields of a record's image from which its headline is made, whatever its kind."""

    title: str = ""
    item: str = ""
    content: str = ""
    why: str = ""
    action: str = ""
    target: str = ""
    target_id: str = ""
    payload: dict[str, Any] = {}
    type: str = ""
    src: str = ""
    dst: str = ""
    status: str = ""


_decode_headline_fields = msgspec.json.Decoder(_HeadlineFields).decode


def _headline(connection: Connection, change: Row) -> str:
    """Return the first line of a record's text after a change, or before it where the change removed the record."""
    version = change[3] - 1 if change[4] else change[3]
    seen = _seen_fields(connection, change[1], change[2], version)
    if seen is None:
        return ""
    if change[1] == "relation":
        return f"{seen.type}: {seen.src} -> {seen.dst}"
    if change[1] == "proposal":
        proposed = _first_line(seen.payload) or _last_headline(connection, seen.target, seen.target_id)
        return proposed or f"{seen.action} {seen.target} {seen.target_id}"
    return _record_line(seen)


def _seen_fields(connection: Connection, record: str, record_id: str, version: int) -> _HeadlineFields | None:
    """Return the fields of a version of a record; ``None`` where its text is gone."""
    query = "SELECT image FROM change WHERE record = ? AND record_id = ? AND version = ?"
    row = connection.execute(query, (record, record_id, version)).fetchone()
    return None if row is None or row[0] is None else _decode_headline_fields(row[0])


def _last_headline(connection: Connection, record: str, record_id: str) -> str:
    """Return the first line of a record's newest text that is kept."""
    query = "SELECT image FROM change WHERE record = ? AND record_id = ? ORDER BY version DESC LIMIT 1"
    row = connection.execute(query, (record, record_id)).fetchone()
    return "" if row is None or row[0] is None else _record_line(_decode_headline_fields(row[0]))


def _record_line(seen: _HeadlineFields) -> str:
    return _first_line({"title": seen.title, "item": seen.item, "content": seen.content, "why": seen.why})


def _first_line(texts: Mapping[str, Any]) -> str:
    for name in ("title", "item", "content", "why"):
        lines = (line.strip().lstrip("#").strip() for line in str(texts.get(name) or "")[:400].splitlines())
        line = next((line for line in lines if line), "")
        if line:
            return line
    return ""


_SELECT_CHANGED = (
    "SELECT change.record, change.record_id, change.version, change.removed, change.nonce IS NULL,"
    " old.image, change.image FROM change LEFT JOIN change AS old ON old.record = change.record"
    " AND old.record_id = change.record_id AND old.version = change.version - 1"
    " WHERE change.seq = ? ORDER BY change.ordinal LIMIT ?"
)


def changed_records(connection: Connection, seq: int, limit: int) -> list[ChangedRecord]:
    """Return the first ``limit`` records that an entry changed, each before and after."""
    return [
        ChangedRecord(
            record=row[0],
            record_id=row[1],
            version=row[2],
            removed=bool(row[3]),
            purged=bool(row[4]) or row[0] == REWRITTEN_ENTRY,
            dropped=row[0] == LIMITED_HISTORY or (bool(row[4]) and is_dropped(connection, [(row[0], row[1])])),
            before=_decode_image(row[0], row[5]),
            after=_decode_image(row[0], row[6]),
        )
        for row in connection.execute(_SELECT_CHANGED, (seq, limit))
    ]


def _decode_image(record: str, image: str | None) -> Any:  # noqa: ANN401 - the record that the name says
    return None if image is None or record not in TABLES else TABLES[record].image.decode(image)


_MAX_COUNTED_ENTRIES = 20_000
"""Records that a tally counts by kind."""

_PREFIX_FIELDS = ("actor", "agent", "session", "channel", "action")


class JournalFilter(msgspec.Struct, frozen=True, kw_only=True):
    """A filter on journal entries. Fields that are empty do not restrict."""

    actor: tuple[str, ...] = ()
    """Prefixes of the actor, in any case, one of which must match; the next four fields are alike."""
    agent: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    channel: tuple[str, ...] = ()
    action: tuple[str, ...] = ()
    first_seq: int | None = None
    """The lowest sequence number to select."""
    before_seq: int | None = None
    """The sequence number after the highest to select."""
    since: datetime | None = None
    before: datetime | None = None
    memories: tuple[str, ...] | None = None
    """Only entries that touched one of these memories, or whose note holds all of ``words``."""
    words: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    """Only entries that changed a record of one of these kinds, of which there are few."""

    @property
    def is_range(self) -> bool:
        """Whether only sequence numbers limit it."""
        return self == JournalFilter(first_seq=self.first_seq, before_seq=self.before_seq)


class AgentTotals(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of the agents' entries after a journal entry."""

    after: int
    entries: int
    by_agent: dict[str, int]
    by_action: dict[str, int]
    proposed: dict[str, int]
    """By action, how many of its entries only proposed the change."""
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


class ActivityQueries:
    """The journal of one database, newest entry first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def total(self, criteria: JournalFilter) -> int:
        """Return how many entries a filter selects."""
        with self._database.reading() as connection:
            if criteria.is_range:
                return len(_seq_range(connection, criteria))
            sql, parameters = _where(criteria)
            return int(connection.execute(f"SELECT count(*) FROM {_ENTRY_LIST} WHERE {sql}", parameters).fetchone()[0])

    def seqs(self, criteria: JournalFilter, start: int, count: int) -> list[int]:
        """Return the sequence numbers of ``count`` entries from index ``start``."""
        with self._database.reading() as connection:
            return _seqs(connection, criteria, start, count)

    def page(self, criteria: JournalFilter, start: int, count: int) -> list[ActivityRow]:
        """Return the rows of ``count`` entries from index ``start``."""
        with self._database.reading() as connection:
            return activity_rows(connection, _seqs(connection, criteria, start, count))

    def rows(self, seqs: Sequence[int]) -> list[ActivityRow]:
        """Return the rows of some entries, newest first, without those that do not exist."""
        with self._database.reading() as connection:
            return activity_rows(connection, seqs)

    def position(self, criteria: JournalFilter, seq: int) -> int | None:
        """Return the index of an entry among those that a filter selects, or ``None`` where it is not selected."""
        with self._database.reading() as connection:
            if criteria.is_range:
                selected = _seq_range(connection, criteria)
                return selected.index(seq) if seq in selected else None
            sql, parameters = _where(criteria)
            found = connection.execute(
                f"SELECT 1 FROM {_ENTRY_LIST} WHERE seq = ? AND {sql}", (seq, *parameters)
            ).fetchone()
            if found is None:
                return None
            query = f"SELECT count(*) FROM {_ENTRY_LIST} WHERE seq > ? AND {sql}"
            return int(connection.execute(query, (seq, *parameters)).fetchone()[0])

    def changed(self, seq: int, limit: int) -> list[ChangedRecord]:
        """Return the first ``limit`` records that an entry changed, each before and after."""
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

    def tally(self, after: int, limit: int) -> AgentTotals:
        """Return the totals of the agents' entries after an entry, counted over the newest ``limit`` of them."""
        query = (
            f"SELECT seq, agent, action FROM {_ENTRY_LIST} WHERE seq > ? AND actor = 'agent' ORDER BY seq DESC LIMIT ?"
        )
        kinds = (
            "SELECT record, count(*) FROM (SELECT record FROM change WHERE seq IN (SELECT value FROM json_each(?))"
            f" LIMIT {_MAX_COUNTED_ENTRIES}) GROUP BY record ORDER BY 2 DESC, 1"
        )
        with self._database.reading() as connection:
            found = connection.execute(query, (after, limit + 1)).fetchall()
            counted = found[:limit]
            listed = (_json_list([row[0] for row in counted]),)
            by_record = dict(map(tuple, connection.execute(kinds, listed)))
            proposing = {row[0] for row in connection.execute(_SELECT_PROPOSING, listed)}
        return AgentTotals(
            after=after,
            entries=len(counted),
            by_agent=_count_values(row[1] for row in counted),
            by_action=_count_values(row[2] for row in counted),
            proposed=_count_values(row[2] for row in counted if row[0] in proposing),
            by_record=by_record,
            is_capped=len(found) > limit or sum(by_record.values()) >= _MAX_COUNTED_ENTRIES,
        )

    def days(self, last: date, count: int) -> list[DayCount]:
        """Return how much was done on each of the ``count`` days up to ``last``, the first day first."""
        # A moment is its day, a "T" and a time, so that it sorts between its day and that day with a "U".
        of_day = "at >= day.value AND at < day.value || 'U'"
        counts = [f"(SELECT count(*) FROM entry INDEXED BY entry_day WHERE actor = ? AND {of_day})" for _ in ACTORS]
        listed = _json_list([(last - timedelta(days=back)).isoformat() for back in reversed(range(count))])
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT day.value, {', '.join(counts)} FROM json_each(?) AS day", (*ACTORS, listed)
            )
            return [DayCount(*row) for row in found]


_ENTRY_LIST = "entry INDEXED BY entry_list"


def _seq_range(connection: Connection, criteria: JournalFilter) -> range:
    """Return the sequence numbers that a filter without conditions selects, newest first."""
    head = int(connection.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()[0])
    last = head if criteria.before_seq is None else min(head, criteria.before_seq - 1)
    first = max(1, criteria.first_seq or 1)
    return range(last, first - 1, -1)


def _seqs(connection: Connection, criteria: JournalFilter, start: int, count: int) -> list[int]:
    if criteria.is_range:
        return list(_seq_range(connection, criteria)[start : start + count])
    sql, parameters = _where(criteria)
    query = f"SELECT seq FROM {_ENTRY_LIST} WHERE {sql} ORDER BY seq DESC LIMIT ? OFFSET ?"
    return [row[0] for row in connection.execute(query, (*parameters, count, start))]


def _where(criteria: JournalFilter) -> tuple[str, list[object]]:
    """Return the condition on the table ``entry`` that a filter means, and its parameters."""
    parts, parameters = ["1"], list[object]()
    for column in _PREFIX_FIELDS:
        values: tuple[str, ...] = getattr(criteria, column)
        if values:
            patterns = [_like_pattern(value) + "%" for value in values]
            former, present = FORMER_NAMES.get(column, ("", ""))
            if any(present.startswith(value.lower()) for value in values):
                patterns.append(former)
            fits = " OR ".join([f"{column} LIKE ? ESCAPE '!'"] * len(patterns))
            parts.append(f"({fits})")
            parameters += patterns
    bounds = (
        ("seq >= ?", criteria.first_seq),
        ("seq < ?", criteria.before_seq),
        ("at >= ?", None if criteria.since is None else format_moment(criteria.since)),
        ("at < ?", None if criteria.before is None else format_moment(criteria.before)),
    )
    for condition, bound in bounds:
        if bound is not None:
            parts.append(condition)
            parameters.append(bound)
    if criteria.records:
        parts.append(
            "seq IN (SELECT seq FROM stored_change AS change INDEXED BY change_record"
            " WHERE record IN (SELECT value FROM json_each(?)))"
        )
        parameters.append(_json_list(criteria.records))
    touching = _text_conditions(criteria)
    if touching:
        alternatives = " OR ".join(sql for sql, _ in touching)
        parts.append(f"({alternatives})")
        parameters += [value for _, values in touching for value in values]
    return " AND ".join(parts), parameters


def _text_conditions(criteria: JournalFilter) -> list[tuple[str, list[object]]]:
    """Return the conditions of which one must hold: a note with all the words, a change of one of the memories."""
    found: list[tuple[str, list[object]]] = []
    if criteria.words:
        holds = " AND ".join(["note LIKE ? ESCAPE '!'"] * len(criteria.words))
        sql = f"seq IN (SELECT seq FROM entry INDEXED BY entry_note WHERE note <> '' AND {holds})"
        found.append((sql, [f"%{_like_pattern(word)}%" for word in criteria.words]))
    if criteria.memories is not None:
        sql = (
            "seq IN (SELECT seq FROM stored_change AS change INDEXED BY change_record"
            " WHERE record = 'memory' AND record_id IN (SELECT value FROM json_each(?)))"
        )
        found.append((sql, [_json_list(criteria.memories)]))
    return found


def _like_pattern(text: str) -> str:
    """Return text as a pattern of LIKE that is this text; the escape is ``!``."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _json_list(values: Sequence[object]) -> str:
    return msgspec.json.encode(list(values)).decode()


def _count_values(values: Iterable[str]) -> dict[str, int]:
    """Return how often each value comes, the most frequent first."""
    counted: dict[str, int] = {}
    for value in values:
        counted[value] = counted.get(value, 0) + 1
    return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
