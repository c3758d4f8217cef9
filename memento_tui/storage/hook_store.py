"""Read and write the database for memento-hook, which imports next to nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from memento_tui import clock
from memento_tui.named_tuple import NamedTuple
from memento_tui.storage.connection import open_for_writing
from memento_tui.storage.last_known import find_loss, read_last_known
from memento_tui.storage.statements import (
    ADD_SKIP_HIT,
    COUNT_USE,
    DROP_OLD_SKIP_HITS,
    NEWEST_ENTRY,
    OPEN_PROPOSALS,
    SELECT_KEPT_BOTH,
    SELECT_SETTING,
    SELECT_SUCCESSORS,
    SELECT_WRITERS,
    WRITE_SETTING,
    last_writers,
)

__all__ = [
    "DATABASE_FORMAT",
    "BegunSession",
    "ContradictionRow",
    "FiredSkip",
    "FormatMismatch",
    "HookStore",
    "ItemRow",
    "LessonRow",
    "LostDatabase",
    "MemoryRow",
    "MemorySource",
    "ShownMemory",
    "SkipRow",
]

DATABASE_FORMAT = 13
"""The schema version (``user_version``) that this module's statements are written for."""

_CURRENT_STATUSES = "('active', 'compacted')"
"""The statuses of memories that are shown; of one that was superseded or consolidated, its successor is."""

_IS_SHOWABLE = (
    f"status IN {_CURRENT_STATUSES} AND sensitivity <> 'restricted' AND coalesce(expires_at, '9') > :now"
    " AND coalesce(valid_to, '9') > :now AND coalesce(valid_from, '') <= :now"
)
"""SQL: whether a memory may be shown without a query at the moment ``:now``."""

_MOST_LOOKED_THROUGH = 5_000
"""Memories, the last changed ones, among which those of a project are looked for when its session starts."""

_TITLE_ALONE = "title_alone"
"""The name by which the ledger keeps, among the numbers of an exposure, that the title alone was shown."""

_MEMORY_COLUMNS = (
    "id, version, namespace, title, substr(content, 1, 20000), kind, tags, certainty, stability, source_type,"
    " json_extract(source, '$.session', '$.agent', '$.url'), status, created_at, updated_at, verified_at, expires_at,"
    " pinned, coalesce(used, 0), last_used_at, sensitivity, valid_from, valid_to, validity_context,"
    " confidence, surprise, tier"
    " FROM memory LEFT JOIN usage ON usage.record = 'memory' AND usage.record_id = memory.id"
)


class LostDatabase(Exception):
    """The database is gone, or is not the one that the directory held; the text names the remedy."""


class FormatMismatch(Exception):
    """The database has the schema of another version of memento; ``found`` is its number."""

    def __init__(self, found: int) -> None:
        super().__init__(f"the database has format {found}; hooks read format {DATABASE_FORMAT}")
        self.found = found


class BegunSession(NamedTuple):
    """The start of a session, as its host's hooks reported it."""

    host: str
    since: str
    """The moment at which its context began, as the journal writes moments."""
    transcript: str
    """The path of its transcript; empty until one is named."""


class MemorySource(NamedTuple):
    """Where a memory is from; each part is empty where it is unknown."""

    session: str
    agent: str
    url: str


class MemoryRow(NamedTuple):
    """The fields of a memory that a hook needs, named as in `memento_tui.model.Memory`."""

    id: str
    version: int
    namespace: str
    title: str
    content: str
    kind: str
    tags: tuple[str, ...]
    certainty: int
    stability: str
    source_type: str
    source: MemorySource
    status: str
    created_at: datetime
    updated_at: datetime
    verified_at: datetime | None
    expires_at: datetime | None
    pinned: bool
    used_count: int
    last_used_at: datetime | None
    sensitivity: str
    valid_from: datetime | None
    valid_to: datetime | None
    validity_context: str
    confidence: float
    surprise: float | None
    tier: str


class SkipRow(NamedTuple):
    """A skip that holds."""

    id: str
    item: str
    reason: str
    expires_at: datetime
    namespace: str
    is_unverified: bool = False
    """No person wrote or approved it."""


class FiredSkip(NamedTuple):
    """A skip that a text is about, with the words of the skip that the text holds."""

    skip: SkipRow
    words: str


class ItemRow(NamedTuple):
    """An active working item."""

    id: str
    title: str
    category: str
    content: str
    next_action: str
    namespace: str
    is_unverified: bool = False
    """No person wrote or approved it."""


class IdentityRow(NamedTuple):
    """The current identity."""

    content: str
    is_unverified: bool
    """No person wrote or approved it."""


_UNVERIFIED = "coalesce(json_extract(extra, '$.unverified'), 0)"
"""Whether no person wrote or approved a skip, a working item or an identity, in SQL."""


class LessonRow(NamedTuple):
    """A lesson of a transcript that a person has not decided on: the kind of record it would be, and its text."""

    kind: str
    text: str


class ContradictionRow(NamedTuple):
    """An unresolved contradiction: why, and the ids of its two sides."""

    id: str
    kind: str
    why: str
    older: str
    newer: str


class ShownMemory(NamedTuple):
    """One memory that is about to be shown to a session."""

    memory: MemoryRow
    rank: int
    score: float
    tokens: int
    why: dict[str, float]
    is_named_alone: bool = False
    """Its title is shown, and not its text."""


class HookStore:
    """The database of one data directory, for memento-hook. For one thread.

    Raises:
        FileNotFoundError: there is no database, and was none.
        LostDatabase: it is not what the directory held.
        FormatMismatch: it is of another version of memento.
        apsw.Error: it cannot be read.

    """

    def __init__(self, path: Path, *, busy_seconds: float = 1.0) -> None:
        known = read_last_known(path)
        if not path.is_file():
            if known is not None and any(said := find_loss(path, known, None)):
                raise LostDatabase(" ".join(said))
            raise FileNotFoundError(path)
        self._connection = open_for_writing(path, busy_seconds=busy_seconds)
        if any(said := find_loss(path, known, self._connection)):
            self._connection.close()
            raise LostDatabase(" ".join(said))
        # Counters and the ledger may lose their last rows at a power cut; waiting for the disk would cost more.
        self._connection.execute("PRAGMA synchronous = NORMAL")
        found = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
        if found != DATABASE_FORMAT:
            self._connection.close()
            raise FormatMismatch(found)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def head(self) -> tuple[int, str]:
        """Return the journal's newest sequence number and the mark of that entry; see `Store.mark`."""
        row = self._connection.execute(NEWEST_ENTRY).fetchone()
        return (0, "") if row is None else (int(row[0]), row[1].hex()[:16])

    def mark(self, seq: int) -> str:
        """Return the mark of one entry; empty where there is none."""
        row = self._connection.execute("SELECT hash FROM entry WHERE seq = ?", (seq,)).fetchone()
        return "" if row is None else str(row[0].hex()[:16])

    def has_more_changes(self, seq: int, most: int) -> bool:
        """Tell whether more than ``most`` records were changed after an entry of the journal."""
        query = "SELECT 1 FROM change WHERE seq > ? LIMIT 1 OFFSET ?"
        return self._connection.execute(query, (seq, most)).fetchone() is not None

    def memories(self, ids: Iterable[str]) -> dict[str, MemoryRow]:
        """Return those of the memories that may be shown unasked, by id."""
        query = f"SELECT {_MEMORY_COLUMNS} WHERE id IN (SELECT value FROM json_each(:ids)) AND {_IS_SHOWABLE}"
        rows = self._connection.execute(query, {"ids": json.dumps(list(ids)), "now": _now()})
        return {row[0]: _memory_of_row(row) for row in rows}

    def essentials(self) -> list[MemoryRow]:
        """Return the memories for every session, the last changed first; see `maintenance.trust.is_essential`."""
        # Each half has an index of its own; of an OR the planner reads every memory.
        essential = (
            "SELECT number FROM memory WHERE pinned = 1 AND stability <> 'draft'"
            " UNION ALL SELECT number FROM memory WHERE tier = 'shared' AND stability = 'stable'"
        )
        query = f"SELECT {_MEMORY_COLUMNS} WHERE number IN ({essential}) AND {_IS_SHOWABLE} ORDER BY updated_at DESC"
        return [_memory_of_row(row) for row in self._connection.execute(query, {"now": _now()})]

    def project_memories(self, namespaces: Iterable[str], kinds: Iterable[str], limit: int) -> list[MemoryRow]:
        """Return the last changed memories of some namespaces that a person verified, or that are of some kinds.

        What nobody verified and is from outside is left out. The pinned drafts of every namespace are among them.
        """
        names = list(namespaces)
        # The newest are found in an index; a project that is not among them would else cost a look at every memory.
        newest = (
            "SELECT number, namespace, kind, stability, source_type FROM memory"
            f" WHERE status IN {_CURRENT_STATUSES} ORDER BY updated_at DESC LIMIT {_MOST_LOOKED_THROUGH}"
        )
        inside = " OR ".join(
            f"namespace = :n{n} OR (namespace >= :n{n} || '/' AND namespace < :n{n} || '0')" for n in range(len(names))
        )
        told = (
            f"SELECT number FROM ({newest}) WHERE ({inside or 'false'}) AND (stability <> 'draft'"
            " OR (kind IN (SELECT value FROM json_each(:kinds)) AND source_type <> 'external'))"
            " UNION ALL SELECT number FROM memory WHERE pinned = 1"
        )
        query = (
            f"SELECT {_MEMORY_COLUMNS} WHERE number IN ({told}) AND (pinned = 0 OR stability = 'draft')"
            f" AND {_IS_SHOWABLE} ORDER BY updated_at DESC LIMIT :limit"
        )
        given = {f"n{place}": name for place, name in enumerate(names)}
        values = {**given, "kinds": json.dumps(list(kinds)), "now": _now(), "limit": limit}
        return [_memory_of_row(row) for row in self._connection.execute(query, values)]

    def lessons_of(self, session: str, limit: int) -> list[LessonRow]:
        """Return the waiting lessons from a session's own transcript, in the order in which they were learned.

        Only what waits for no other reason: nothing that reads like orders, held a secret or is from outside; and
        nothing at all of a session that is quarantined.
        """
        query = (
            "SELECT proposal.target, proposal.payload, memory.kind, memory.title, memory.content FROM proposal"
            " LEFT JOIN memory ON proposal.target = 'memory' AND memory.id = proposal.target_id"
            " WHERE proposal.state = 'pending' AND proposal.session = :session AND proposal.action = 'create'"
            " AND proposal.reasons = '[\"distilled\"]' AND (proposal.target IN ('skip', 'item')"
            " OR (memory.status = 'pending' AND memory.source_type <> 'external' AND memory.sensitivity = 'normal'))"
            f" AND NOT EXISTS (SELECT 1 FROM proposal AS other WHERE other.state IN {OPEN_PROPOSALS}"
            " AND other.session = :session AND other.reasons LIKE '%\"quarantined\"%')"
            " ORDER BY proposal.created_at, proposal.number LIMIT :limit"
        )
        return [_lesson_of_row(row) for row in self._connection.execute(query, {"session": session, "limit": limit})]

    def count_proposals(self) -> int:
        """Return how many proposals wait for a decision."""
        query = (
            "SELECT count(*) FROM proposal WHERE state IN ('pending', 'needs_review')"
            " OR (state = 'later' AND coalesce(later_until, '9') <= ?)"
        )
        return int(self._connection.execute(query, (_now(),)).fetchone()[0])

    def superseded(self, ids: Iterable[str]) -> set[str]:
        """Return those of the memories that another takes the place of; see `Store.successors`."""
        return {str(row[0]) for row in self._connection.execute(SELECT_SUCCESSORS, (json.dumps(list(ids)),))}

    def writers(self, record: str, ids: Iterable[str]) -> dict[str, str]:
        """Return who wrote each record of a kind last; see `WriteHistoryQueries.writers`."""
        return last_writers(self._connection.execute(SELECT_WRITERS, (record, json.dumps(list(ids)))))

    def related_to_file(self, names: Sequence[str]) -> list[str]:
        """Return the ids of memories that a relation ties to a file by one of its names."""
        query = "SELECT src FROM relation WHERE type = 'file' AND dst IN (SELECT value FROM json_each(?))"
        return [str(row[0]) for row in self._connection.execute(query, (json.dumps(list(names)),))]

    def unresolved_contradictions(self, ids: Iterable[str]) -> list[ContradictionRow]:
        """Return the unresolved contradictions of some memories, surest first."""
        query = (
            "SELECT id, kind, why, older, newer FROM contradiction WHERE status <> 'resolved'"
            " AND (older IN (SELECT value FROM json_each(?1)) OR newer IN (SELECT value FROM json_each(?1)))"
            " ORDER BY score DESC, number"
        )
        return [ContradictionRow(*row) for row in self._connection.execute(query, (json.dumps(list(ids)),))]

    def kept_both(self, ids: Iterable[str]) -> list[tuple[str, str]]:
        """Return the pairs of some memories that a person let stand side by side, each with its condition."""
        rows = self._connection.execute(SELECT_KEPT_BOTH, (json.dumps(list(ids)),))
        return [(str(row[0]), str(row[1])) for row in rows]

    def skips(self) -> list[SkipRow]:
        """Return the skips that hold now, soonest to end first."""
        query = (
            f"SELECT id, item, reason, expires_at, namespace, {_UNVERIFIED} FROM skip WHERE expires_at > ?"
            " ORDER BY expires_at"
        )
        rows = self._connection.execute(query, (_now(),))
        return [SkipRow(row[0], row[1], row[2], datetime.fromisoformat(row[3]), row[4], bool(row[5])) for row in rows]

    def items(self) -> list[ItemRow]:
        """Return the active working items, the highest priority first."""
        query = (
            f"SELECT id, title, category, content, next_action, namespace, {_UNVERIFIED} FROM item"
            " WHERE status = 'active' ORDER BY priority DESC, updated_at DESC"
        )
        rows = self._connection.execute(query)
        return [ItemRow(row[0], row[1], row[2], row[3], row[4], row[5], bool(row[6])) for row in rows]

    def identity(self) -> IdentityRow | None:
        """Return the current identity, or ``None`` where none was written."""
        query = f"SELECT content, {_UNVERIFIED} FROM crystal WHERE status = 'current'"
        row = self._connection.execute(query).fetchone()
        return None if row is None else IdentityRow(str(row[0]), bool(row[1]))

    def setting(self, name: str) -> str | None:
        """Return a value that the database keeps about itself, or ``None`` where it was never set."""
        row = self._connection.execute(SELECT_SETTING, (name,)).fetchone()
        return None if row is None else str(row[0])

    def keep_setting(self, name: str, value: str) -> None:
        """Write such a value."""
        self._connection.execute(WRITE_SETTING, (name, value))

    def already_shown(self, session: str) -> dict[str, int]:
        """Return the versions of the memories that the session's context holds with their text already, by id."""
        return self._shown_versions(session, f"json_extract(why, '$.{_TITLE_ALONE}') IS NULL")

    def named_alone(self, session: str) -> dict[str, int]:
        """Return the versions of the memories of which the session's context holds the title alone, by id."""
        return self._shown_versions(session, f"json_extract(why, '$.{_TITLE_ALONE}') IS NOT NULL")

    def _shown_versions(self, session: str, condition: str) -> dict[str, int]:
        query = (
            "SELECT memory_id, max(memory_version) FROM injection WHERE session = ?1 AND at >="
            f" coalesce((SELECT fresh_at FROM hook_session WHERE session = ?1), '') AND {condition} GROUP BY memory_id"
        )
        return {str(row[0]): int(row[1]) for row in self._connection.execute(query, (session,))}

    def begin_session(self, session: str, host: str, namespace: str, transcript: str, *, fresh: bool) -> None:
        """Note a session; ``fresh`` says that its context holds nothing that was shown before.

        Its host and its transcript are those that were named first. One whose beginning nobody saw began when it was
        first shown something, at the latest now.
        """
        first_shown = "(SELECT min(at) FROM injection WHERE session = ?1)"
        query = (
            f"INSERT INTO hook_session VALUES (?1, ?2, ?3, iif(?6, ?4, coalesce({first_shown}, ?4)), ?5, 0, 0)"
            " ON CONFLICT (session) DO UPDATE SET host = iif(host = '', ?2, host), namespace = ?3,"
            " fresh_at = iif(?6 OR fresh_at = '', excluded.fresh_at, fresh_at),"
            " transcript = iif(transcript = '', ?5, transcript)"
        )
        self._connection.execute(query, (session, host, namespace, _now(), transcript, fresh))

    def begun(self, session: str) -> BegunSession | None:
        """Return the record of a session's start; ``None`` where the hooks did not see it begin."""
        query = "SELECT host, fresh_at, transcript FROM hook_session WHERE session = ? AND host <> ''"
        row = self._connection.execute(query, (session,)).fetchone()
        return None if row is None else BegunSession(str(row[0]), str(row[1]), str(row[2]))

    def keep_transcript(self, session: str, transcript: str) -> None:
        """Note the transcript of a session of which none was named."""
        query = "UPDATE hook_session SET transcript = ? WHERE session = ? AND transcript = ''"
        self._connection.execute(query, (transcript, session))

    def learned_bytes(self, session: str) -> int:
        """Return how many bytes of a session's transcript have been read."""
        row = self._connection.execute("SELECT learned FROM hook_session WHERE session = ?", (session,)).fetchone()
        return 0 if row is None else int(row[0])

    def set_learned_bytes(self, session: str, size: int) -> None:
        """Record how many bytes of a session's transcript have been read."""
        made = "INSERT INTO hook_session VALUES (?1, '', '', '', '', ?2, 0)"
        query = f"{made} ON CONFLICT (session) DO UPDATE SET learned = ?2"
        self._connection.execute(query, (session, size))

    def is_reminded(self, session: str) -> bool:
        """Tell whether the person was reminded that a session remembered nothing."""
        row = self._connection.execute("SELECT reminded FROM hook_session WHERE session = ?", (session,)).fetchone()
        return row is not None and bool(row[0])

    def set_reminded(self, session: str) -> None:
        """Record that the person was reminded."""
        made = "INSERT INTO hook_session VALUES (?1, '', '', '', '', 0, 1)"
        query = f"{made} ON CONFLICT (session) DO UPDATE SET reminded = 1"
        self._connection.execute(query, (session,))

    def shown_and_unused(self, session: str) -> dict[str, datetime]:
        """Return the ids of the memories that a session was shown and did not use, with when each was first shown."""
        query = (
            "SELECT memory_id, min(at) FROM injection WHERE session = ? GROUP BY memory_id HAVING count(used_at) = 0"
        )
        rows = self._connection.execute(query, (session,))
        return {str(row[0]): datetime.fromisoformat(row[1]) for row in rows}

    def record_shown(self, session: str, shown: Sequence[ShownMemory], fired: Sequence[FiredSkip] = ()) -> None:
        """Record a session's exposures in the ledger and the counters, and a hit for each skip that fired."""
        if not shown and not fired:
            return
        moment = _now()
        # The ledger is read from its newest row: what was shown first is to stand first.
        rows = [
            (
                os.urandom(8).hex(),
                entry.memory.id,
                entry.memory.version,
                session,
                "hook",
                moment,
                entry.rank,
                entry.score,
                entry.tokens,
                json.dumps(entry.why | ({_TITLE_ALONE: 1.0} if entry.is_named_alone else {})),
            )
            for entry in reversed(shown)
        ]
        counts: list[tuple[str, str, int, int, str | None]] = [
            *(("memory", entry.memory.id, 1, 0, None) for entry in shown),
            *(("skip", one.skip.id, 0, 1, moment) for one in fired),
        ]
        with self._connection:
            self._connection.executemany(
                "INSERT INTO injection (id, memory_id, memory_version, session, channel, at, rank, score, tokens, why)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            self._connection.executemany(COUNT_USE, counts)
            hits = [(one.skip.id, session, "hook", moment, one.words) for one in fired]
            self._connection.executemany(ADD_SKIP_HIT, hits)
            self._connection.executemany(DROP_OLD_SKIP_HITS, [(one.skip.id,) for one in fired])


def _lesson_of_row(row: tuple[object, ...]) -> LessonRow:
    target, payload, kind, title, content = row
    if target != "memory":
        proposed = json.loads(str(payload))
        if target == "skip":
            return LessonRow("skip", f"{proposed.get('item', '')}, because {proposed.get('reason', '')}")
        kind, title, content = "working item", proposed.get("title", ""), proposed.get("content", "")
    # A title that was made of the text says nothing more.
    is_named = bool(title) and not str(content).startswith(str(title).removesuffix(" ..."))
    return LessonRow(str(kind), f"{title}: {content}" if is_named else str(content))


def _now() -> str:
    return clock.now().isoformat(timespec="microseconds")[:-6] + "Z"


def _memory_of_row(row: tuple[object, ...]) -> MemoryRow:
    values = list(row)
    values[6] = tuple(json.loads(str(row[6])))
    values[10] = MemorySource(*(part or "" for part in json.loads(str(row[10]))))
    for place in (12, 13, 14, 15, 18, 20, 21):
        values[place] = None if row[place] is None else datetime.fromisoformat(str(row[place]))
    values[16] = bool(row[16])
    return MemoryRow._make(values)
