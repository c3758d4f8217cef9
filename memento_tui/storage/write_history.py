"""Read the writes of agents' sessions from the journal: their number, the last ones, and a session's records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from memento_tui.model import AnyRecord
from memento_tui.moments import format_moment
from memento_tui.storage.database import Database
from memento_tui.storage.journal import HUB_CHANNEL, Author
from memento_tui.storage.statements import SELECT_WRITERS, last_writers
from memento_tui.storage.tables import TABLES
from memento_tui.storage.undo import IS_UNDONE

__all__ = ["SessionRecord", "SessionWrites", "WriteHistoryQueries", "session_note"]

WRITTEN_KINDS = ("memory", "skip", "item", "crystal")
"""The kinds of records whose texts an agent is told."""

_SESSION_RECORD = "change.record, change.record_id, min(change.version), max(change.version), count(*)"
"""The columns of a `SessionRecord`."""

_WRITING_ACTIONS = "('remember', 'edit', 'skip add', 'skip edit', 'skip decide', 'item add', 'item edit')"
"""The actions by which a person writes a record, or a part of it."""

_WRITTEN = f"({', '.join(repr(kind) for kind in WRITTEN_KINDS)})"


def session_note(session: str) -> str:
    """Return the note of an entry that quarantines a session or gives it back, by which the entry is found again."""
    return f"session {session}"


class SessionWrites(msgspec.Struct, frozen=True):
    """The writes of one session."""

    session: str
    agent: str
    """The name that the agent had last; a session has one agent nearly always."""
    first_at: datetime
    last_at: datetime
    entries: int
    records: int
    """How many different memories, skips, working items and crystals it wrote."""


class SessionRecord(msgspec.Struct, frozen=True):
    """One record that a session wrote, by the versions that it made."""

    record: str
    record_id: str
    first_version: int
    last_version: int
    versions: int
    """How many versions of the record the session made."""

    @property
    def is_created(self) -> bool:
        """Whether the session made it; else it changed it."""
        return self.first_version == 1


class WriteHistoryQueries:
    """The writes of agents in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count_since(self, author: Author, since: datetime) -> int:
        """Return how many times the author's session wrote a record after a moment.

        An author without a session, as over HTTP, is known by channel and name.
        """
        query = (
            "SELECT count(*) FROM entry INDEXED BY entry_day CROSS JOIN change ON change.seq = entry.seq"
            f" WHERE entry.actor = ? AND entry.at >= ? AND change.record IN {_WRITTEN}"
            " AND entry.undoes IS NULL AND entry.session = ? AND (entry.session <> '' OR (agent = ? AND channel = ?))"
        )
        parameters = (author.actor, format_moment(since), author.session, author.agent, author.channel)
        with self._database.reading() as connection:
            return int(connection.execute(query, parameters).fetchone()[0])

    def count_noted(self, author: Author, note: str, since: datetime) -> int:
        """Return how many records an author's entries with a note wrote after a moment, whatever the session."""
        query = (
            "SELECT count(*) FROM entry INDEXED BY entry_day CROSS JOIN change ON change.seq = entry.seq"
            f" WHERE entry.actor = ? AND entry.at >= ? AND change.record IN {_WRITTEN}"
            " AND entry.channel = ? AND entry.note = ?"
        )
        with self._database.reading() as connection:
            parameters = (author.actor, format_moment(since), author.channel, note)
            return int(connection.execute(query, parameters).fetchone()[0])

    def recent(self, author: Author, since: datetime, limit: int) -> list[AnyRecord]:
        """Return the last records that the author's session, or its agent, wrote, newest first, each once."""
        query = (
            "SELECT change.record, change.record_id, change.image"
            " FROM entry INDEXED BY entry_day CROSS JOIN change ON change.seq = entry.seq"
            f" WHERE entry.actor = ?1 AND entry.at >= ?2 AND change.record IN {_WRITTEN} AND change.image IS NOT NULL"
            " AND ((entry.session = ?3 AND ?3 <> '') OR (entry.agent = ?4 AND ?4 <> ''))"
            " ORDER BY entry.at DESC, entry.seq DESC, change.ordinal DESC LIMIT ?5"
        )
        parameters = (author.actor, format_moment(since), author.session, author.agent, 4 * limit)
        found: dict[tuple[str, str], AnyRecord] = {}
        with self._database.reading() as connection:
            for kind, record_id, image in connection.execute(query, parameters):
                if (kind, record_id) not in found and len(found) < limit:
                    found[kind, record_id] = TABLES[kind].image.decode(image)
        return list(found.values())

    def sessions(self, limit: int = 50, session: str = "") -> list[SessionWrites]:
        """Return the sessions that wrote, the one that wrote last first; with ``session`` only that one."""
        query = (
            "SELECT entry.session, entry.agent, first_at, last_at, entries, seqs FROM"
            " (SELECT min(at) AS first_at, max(at) AS last_at, count(*) AS entries, group_concat(seq) AS seqs,"
            " max(seq) AS newest FROM entry INDEXED BY entry_list"
            " WHERE session <> '' AND actor <> 'person' AND (?1 = '' OR session = ?1)"
            " GROUP BY session ORDER BY newest DESC LIMIT ?2)"
            " CROSS JOIN entry ON entry.seq = newest ORDER BY newest DESC"
        )
        count = (
            "SELECT count(DISTINCT record || ' ' || record_id) FROM change"
            f" WHERE seq IN (SELECT value FROM json_each('[' || ? || ']')) AND record IN {_WRITTEN}"
        )
        found = []
        with self._database.reading() as connection:
            for row in connection.execute(query, (session, limit)).fetchall():
                records = int(connection.execute(count, (row[5],)).fetchone()[0])
                moments = (datetime.fromisoformat(row[2]), datetime.fromisoformat(row[3]))
                found.append(SessionWrites(row[0], row[1], *moments, entries=row[4], records=records))
        return found

    def session_names(self, prefix: str) -> list[str]:
        """Return the names of up to ten sessions that wrote and begin so."""
        query = (
            "SELECT DISTINCT session FROM entry INDEXED BY entry_list"
            " WHERE actor <> 'person' AND substr(session, 1, ?) = ? ORDER BY session LIMIT 10"
        )
        with self._database.reading() as connection:
            return [str(row[0]) for row in connection.execute(query, (len(prefix), prefix))]

    def records_of(self, session: str) -> list[SessionRecord]:
        """Return the records and relations that a session wrote, in the order in which it first did."""
        query = (
            f"SELECT {_SESSION_RECORD} FROM entry INDEXED BY entry_list CROSS JOIN change ON change.seq = entry.seq"
            " WHERE entry.session = ? AND entry.actor <> 'person'"
            f" AND (change.record IN {_WRITTEN} OR change.record = 'relation')"
            " GROUP BY change.record, change.record_id ORDER BY min(change.seq), min(change.ordinal)"
        )
        with self._database.reading() as connection:
            return [SessionRecord(*row) for row in connection.execute(query, (session,))]

    def versions_by_person(self, record: str, record_id: str, after: int) -> list[int]:
        """Return the versions of a record after one that a person made, other than by a quarantine or its end."""
        query = (
            "SELECT change.version FROM stored_change AS change INDEXED BY change_record"
            " CROSS JOIN entry ON entry.seq = change.seq"
            " WHERE change.record = ? AND change.record_id = ? AND change.version > ? AND entry.actor = 'person'"
            " AND entry.action NOT IN ('quarantine', 'release') ORDER BY change.version"
        )
        with self._database.reading() as connection:
            return [int(row[0]) for row in connection.execute(query, (record, record_id, after))]

    def is_written_by_person(self, record: str, record_id: str, *, first: bool = False) -> bool:
        """Tell whether a person made a record or edited it, whatever became of it since; with ``first`` made it."""
        query = (
            "SELECT 1 FROM stored_change AS change INDEXED BY change_record CROSS JOIN entry ON entry.seq = change.seq"
            " WHERE change.record = ? AND change.record_id = ? AND entry.actor = 'person'"
            f" AND entry.action IN {_WRITING_ACTIONS} AND (change.version = 1 OR NOT ?) LIMIT 1"
        )
        with self._database.reading() as connection:
            return connection.execute(query, (record, record_id, first)).fetchone() is not None

    def has_of_person(self, record: str) -> bool:
        """Tell whether a person wrote or decided about any record of a kind, whatever became of it since."""
        query = (
            "SELECT 1 FROM stored_change AS change INDEXED BY change_record CROSS JOIN entry ON entry.seq = change.seq"
            " WHERE change.record = ? AND entry.actor = 'person' LIMIT 1"
        )
        with self._database.reading() as connection:
            return connection.execute(query, (record,)).fetchone() is not None

    def is_quarantined(self, session: str) -> bool:
        """Tell whether a person took a session out of recall, and neither gave it back nor undid that."""
        since, until = (self.entries_noted(action, session_note(session))[:1] for action in ("quarantine", "release"))
        return bool(since) and since > until

    def quarantined_writer(self, record: str, record_id: str) -> str:
        """Return a session that wrote a record and is out of recall now; empty for none."""
        query = (
            "SELECT DISTINCT entry.session FROM stored_change AS change INDEXED BY change_record"
            " CROSS JOIN entry ON entry.seq = change.seq WHERE change.record = ? AND change.record_id = ?"
            " AND entry.session <> '' AND entry.actor <> 'person'"
        )
        with self._database.reading() as connection:
            sessions = [str(row[0]) for row in connection.execute(query, (record, record_id))]
        return next((session for session in sessions if self.is_quarantined(session)), "")

    def entries_noted(self, action: str, note: str) -> list[int]:
        """Return the entries with an action and a note that were not undone, the last first."""
        query = (
            "SELECT seq FROM entry INDEXED BY entry_note WHERE note <> '' AND note = ? AND action = ?"
            f" AND NOT {IS_UNDONE.format('entry')} ORDER BY seq DESC"
        )
        with self._database.reading() as connection:
            return [int(row[0]) for row in connection.execute(query, (note, action))]

    def memories_of(self, session: str, since: str = "") -> list[SessionRecord]:
        """Return the memories that a session's agent wrote on this machine, from a moment on."""
        query = (
            f"SELECT {_SESSION_RECORD} FROM entry INDEXED BY entry_list CROSS JOIN change ON change.seq = entry.seq"
            " WHERE entry.session = ? AND entry.actor = 'agent' AND entry.at >= ? AND entry.channel <> ?"
            " AND change.record = 'memory'"
            " GROUP BY change.record_id ORDER BY min(change.seq)"
        )
        with self._database.reading() as connection:
            return [SessionRecord(*row) for row in connection.execute(query, (session, since, HUB_CHANNEL))]

    def written_between(self, since: str, until: str, ids: Iterable[str], host: str = "") -> list[SessionRecord]:
        """Return those of some memories that agents of this machine wrote between two moments.

        With ``host`` those alone that the agent of this host wrote, and in no session that hooks know by its name.
        """
        query = (
            f"SELECT {_SESSION_RECORD} FROM stored_change AS change INDEXED BY change_record CROSS JOIN entry"
            " ON entry.seq = change.seq WHERE change.record = 'memory'"
            " AND change.record_id IN (SELECT value FROM json_each(?1)) AND entry.actor = 'agent'"
            " AND entry.at BETWEEN ?2 AND ?3 AND entry.channel <> ?4 AND (?5 = '' OR"
            " (lower(entry.agent) = ?5 OR substr(lower(entry.agent), 1, length(?5) + 1) = ?5 || '-')"
            " AND NOT EXISTS (SELECT 1 FROM hook_session WHERE session = entry.session AND host <> ''))"
            " GROUP BY change.record_id"
        )
        listed = msgspec.json.encode(list(ids)).decode()
        with self._database.reading() as connection:
            rows = connection.execute(query, (listed, since, until, HUB_CHANNEL, host))
            return [SessionRecord(*row) for row in rows]

    def members(self, record: str, ids: Sequence[str]) -> dict[str, str]:
        """Return the member of the hub whose person wrote each record of a kind first; others are left out."""
        query = (
            "SELECT change.record_id, entry.agent"
            " FROM stored_change AS change INDEXED BY change_record JOIN entry ON entry.seq = change.seq"
            " WHERE change.record = ? AND change.record_id IN (SELECT value FROM json_each(?)) AND change.version = 1"
            " AND entry.channel = ? AND entry.actor = 'person'"
        )
        with self._database.reading() as connection:
            return dict(connection.execute(query, (record, msgspec.json.encode(list(ids)).decode(), HUB_CHANNEL)))

    def from_hub(self, record: str, ids: Sequence[str]) -> set[str]:
        """Return those of the records of a kind of which any version came from the hub."""
        query = (
            "SELECT DISTINCT change.record_id"
            " FROM stored_change AS change INDEXED BY change_record JOIN entry ON entry.seq = change.seq"
            " WHERE change.record = ? AND change.record_id IN (SELECT value FROM json_each(?)) AND entry.channel = ?"
        )
        with self._database.reading() as connection:
            ids_as_json = msgspec.json.encode(list(ids)).decode()
            return {found for (found,) in connection.execute(query, (record, ids_as_json, HUB_CHANNEL))}

    def writers(self, record: str, ids: Sequence[str]) -> dict[str, str]:
        """Return the session or agent that wrote each record of a kind last; one that a person changed has none."""
        with self._database.reading() as connection:
            return last_writers(connection.execute(SELECT_WRITERS, (record, msgspec.json.encode(list(ids)).decode())))
