"""Keep the database's knowledge of its hub: the membership, each shared record's state, and the entries exchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from memento_tui.model import AnyRecord, Proposal
from memento_tui.model.validation import is_under
from memento_tui.storage.connection import Connection
from memento_tui.storage.database import Database
from memento_tui.storage.journal import HUB_CHANNEL, REWRITTEN_ENTRY, Change, Entry, select_entries
from memento_tui.storage.purge import purged_ids
from memento_tui.storage.settings import Settings
from memento_tui.storage.statements import OPEN_PROPOSALS
from memento_tui.storage.tables import TABLES, record_name, select_records
from memento_tui.storage.transaction import Transaction

__all__ = [
    "CARD_KEY",
    "HUB_SETTING",
    "HubMembership",
    "HubRecord",
    "HubState",
    "KnownEntry",
    "decode_membership",
    "membership_of",
]

HUB_SETTING = "hub"
"""The setting that holds this workspace's part in a hub; empty where it has none."""


class HubMembership(msgspec.Struct, frozen=True):
    """The part of one workspace in a hub."""

    url: str
    """The address of the hub's database, without a password."""
    workspace: str
    workspace_name: str
    member: str
    """The id of this machine at the hub."""
    name: str
    role: str
    namespaces: tuple[str, ...] = ()
    """The namespaces that are shared, each with all below it."""
    held: tuple[str, ...] = ()
    """The namespaces in which other members' writes wait for this machine's person, each with all below it."""
    pushed: int = 0
    """The number of the newest entry of this journal that needs no sending any more."""
    since: int = 0
    """The number of the newest entry of this journal when the machine joined."""
    synced_at: str = ""
    """When this machine and the hub were last together; empty for never."""
    problem: str = ""
    """Why the last attempt failed, as a sentence; empty where it did not."""
    keys: dict[str, str] = {}
    """The first key that this machine saw of each member, in hexadecimal digits; any other key is refused."""
    notes: tuple[str, ...] = ()
    """The notes that the person has not read, a sentence each, oldest first."""

    def shares(self, namespace: str) -> bool:
        """Tell whether a namespace is shared."""
        return any(is_under(namespace, one) for one in self.namespaces)

    def holds(self, namespace: str) -> bool:
        """Tell whether other members' writes in a namespace wait for this machine's person."""
        return any(is_under(namespace, one) for one in self.held)


decode_membership = msgspec.json.Decoder(HubMembership).decode
"""Reads a part in a hub from the setting that holds it."""


def membership_of(settings: Settings) -> HubMembership | None:
    """Return a workspace's part in a hub, or ``None``."""
    known = settings.get(HUB_SETTING)
    return decode_membership(known) if known else None


CARD_KEY = "hub"
"""The key of the evidence that holds the hub's version of a record; a proposal with it is not shared."""


class HubRecord(msgspec.Struct, frozen=True):
    """A shared record as the hub is known to have it; ``after`` is ``None`` where it was removed there."""

    record: str
    record_id: str
    version: int
    after: AnyRecord | None


class KnownEntry(msgspec.Struct, frozen=True):
    """An entry of the hub that was taken in."""

    id: str
    seq: int
    hash: bytes


class HubState:
    """The knowledge that one database has of its hub. Reads within a running transaction see its writes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, kind: str, record_id: str) -> HubRecord | None:
        """Return a record as the hub has it, or ``None`` where it never was there."""
        query = "SELECT version, local_version, image FROM hub_record WHERE record = ? AND record_id = ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (kind, record_id)).fetchone()
            if row is None:
                return None
            image = row[2]
            if row[1] is not None:
                query = "SELECT image FROM change WHERE record = ? AND record_id = ? AND version = ?"
                found = connection.execute(query, (kind, record_id, row[1])).fetchone()
                image = None if found is None else found[0]
        return HubRecord(kind, record_id, row[0], None if image is None else TABLES[kind].image.decode(image))

    def put(self, tx: Transaction, rows: Iterable[HubRecord]) -> None:
        """Store the hub's state of some records, in a running transaction."""
        tx.connection.executemany(
            "INSERT OR REPLACE INTO hub_record VALUES (?, ?, ?, ?, ?)", [_row(tx.connection, row) for row in rows]
        )

    def was_here(self, kind: str, record_id: str) -> bool:
        """Tell whether this journal knows a record, whether it still is or not."""
        query = "SELECT 1 FROM change WHERE record = ? AND record_id = ? LIMIT 1"
        with self._database.reading() as connection:
            return connection.execute(query, (kind, record_id)).fetchone() is not None

    def take(self, tx: Transaction, entry: KnownEntry) -> None:
        """Note at the end of a running transaction that an entry of the hub was taken in by it."""
        query = "SELECT coalesce(max(seq), 0) + 1 FROM entry"
        local_seq = tx.connection.execute(query).fetchone()[0] if tx.changes else None
        tx.connection.execute(
            "INSERT INTO hub_entry (id, seq, hash, local_seq) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash,"
            " local_seq = coalesce(local_seq, excluded.local_seq)",
            (entry.id, entry.seq, entry.hash, local_seq),
        )

    def send(self, entries: Iterable[tuple[str, int]]) -> None:
        """Note before they are sent which entries go to the hub: the id and number of each, 0 for one of no journal."""
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT INTO hub_entry (id, local_seq) VALUES (?, ?) ON CONFLICT (id) DO NOTHING", list(entries)
            )

    def is_in_journal(self, entry_id: str) -> bool:
        """Tell whether an entry of the hub stands in this journal, because it was written or taken in here."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT local_seq FROM hub_entry WHERE id = ?", (entry_id,)).fetchone()
        return row is not None and row[0] is not None

    def reached(self) -> tuple[int, bytes]:
        """Return the number and hash of the newest entry of the hub that was taken in; 0 and nothing for none."""
        query = "SELECT seq, hash FROM hub_entry WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT 1"
        with self._database.reading() as connection:
            row = connection.execute(query).fetchone()
        return (0, b"") if row is None else (int(row[0]), bytes(row[1]))

    def open_cards(self, kind: str, record_id: str) -> list[Proposal]:
        """Return the proposals that wait because the hub holds another state of a record."""
        where = f"target_id = ? AND target = ? AND state IN {OPEN_PROPOSALS}"
        with self._database.reading() as connection:
            found = select_records(connection, Proposal, where, (record_id, kind))
        return [one for one in found if CARD_KEY in one.evidence]

    def forget(self) -> None:
        """Forget the hub; the records stay."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM hub_record")
            connection.execute("DELETE FROM hub_entry")

    def forget_reached(self) -> None:
        """Have the next round take in the hub's journal from its beginning; the known states of records stay."""
        with self._database.writing() as connection:
            connection.execute("UPDATE hub_entry SET seq = NULL, hash = NULL")

    def hashes(self) -> list[tuple[int, bytes]]:
        """Return the number and hash of each entry of the hub that was taken in, oldest first."""
        query = "SELECT seq, hash FROM hub_entry WHERE seq IS NOT NULL ORDER BY seq"
        with self._database.reading() as connection:
            return [(int(row[0]), bytes(row[1])) for row in connection.execute(query)]

    def rewind(self, seq: int, records: Iterable[HubRecord]) -> None:
        """Forget the hub's entries after ``seq``, which it has lost, and set its records to the given ones."""
        with self._database.writing() as connection:
            connection.execute("UPDATE hub_entry SET seq = NULL, hash = NULL WHERE seq > ?", (seq,))
            connection.execute("DELETE FROM hub_record")
            connection.executemany(
                "INSERT INTO hub_record VALUES (?, ?, ?, ?, ?)", (_row(connection, row) for row in records)
            )

    def records(self, after: tuple[str, str], limit: int, *, kept_since: int | None = None) -> list[HubRecord]:
        """Return the records that the hub has or had, by kind and id, those after a kind and id.

        With ``kept_since`` only those that were changed here by an entry after that number which the hub has not got.
        """
        where = "(record, record_id) > (?, ?)"
        given: list[object] = [*after]
        if kept_since is not None:
            where += f" AND EXISTS ({_KEPT_CHANGE})"
            given += [kept_since, HUB_CHANNEL, self._database.origin]
        query = f"SELECT record, record_id FROM hub_record WHERE {where} ORDER BY 1, 2 LIMIT ?"
        with self._database.reading() as connection:
            names = connection.execute(query, (*given, limit)).fetchall()
        return [known for kind, record_id in names if (known := self.record(kind, record_id)) is not None]

    # This journal

    def own_entries_after(self, seq: int, limit: int) -> list[Entry]:
        """Return the entries after number ``seq`` that were written here and not pulled, oldest first."""
        where = "seq > ? AND channel <> ? AND origin = ? ORDER BY seq LIMIT ?"
        with self._database.reading() as connection:
            return list(select_entries(connection, where, (seq, HUB_CHANNEL, self._database.origin, limit)))

    def purged_notes(self, after: int, until: int) -> list[str]:
        """Return the ids at the hub of the entries whose note a purge here changed, one of these entries.

        They are those after number ``after`` up to ``until``. An entry out of which only a name was taken keeps its
        note. Earlier versions did not say whether the note was changed: there, one that is empty was.
        """
        query = (
            "SELECT DISTINCT h.id FROM change AS c JOIN entry AS e ON e.seq = CAST(c.record_id AS INTEGER)"
            " JOIN hub_entry AS h ON h.local_seq = e.seq"
            " WHERE c.record = ? AND c.seq > ? AND c.seq <= ? AND coalesce(c.image ->> '$.note', e.note = '')"
        )
        with self._database.reading() as connection:
            return [row[0] for row in connection.execute(query, (REWRITTEN_ENTRY, after, until))]

    def changes(self, seq: int) -> list[tuple[Change, AnyRecord | None]]:
        """Return the last change of each record by an entry, with the record before that entry, ``None`` for a new one.

        What a purge has emptied is left out.
        """
        query = (
            "SELECT record, record_id, min(version), max(version) FROM change WHERE seq = ? AND nonce IS NOT NULL"
            " GROUP BY record, record_id ORDER BY min(ordinal)"
        )
        with self._database.reading() as connection:
            return list(self._changes(connection, connection.execute(query, (seq,)).fetchall()))

    @staticmethod
    def _changes(connection: Connection, rows: Sequence[Sequence[object]]) -> Iterator[tuple[Change, AnyRecord | None]]:
        query = "SELECT removed, image FROM change WHERE record = ? AND record_id = ? AND version = ?"
        for kind, record_id, first, last in rows:
            if kind not in TABLES:
                continue
            removed, image = connection.execute(query, (kind, record_id, last)).fetchone()
            before = connection.execute(query, (kind, record_id, int(str(first)) - 1)).fetchone()
            known = None if before is None or before[1] is None else TABLES[str(kind)].image.decode(before[1])
            yield Change(str(kind), str(record_id), int(str(last)), bool(removed), image), known

    def unshared(self, kind: str, where: Sequence[str], limit: int) -> list[AnyRecord]:
        """Return records of a kind in these namespaces, or below them, of which the hub knows nothing, oldest first.

        Relations have no namespace: that of the memory where they begin counts, and both ends must be there. What is
        restricted is left out.
        """
        table = TABLES[kind]
        column = "(SELECT namespace FROM memory WHERE memory.id = relation.src)" if kind == "relation" else "namespace"
        under = " OR ".join(f"{column} = ? OR {column} GLOB ?" for _ in where)
        parameters = [value for one in where for value in (one, f"{_glob_quoted(one)}/*")]
        unknown = f"NOT EXISTS (SELECT 1 FROM hub_record WHERE record = '{kind}' AND record_id = {kind}.id)"
        if kind == "memory":
            unknown += " AND sensitivity <> 'restricted'"
        if kind == "relation":
            unknown += f" AND {_IS_RELATION_SHARED}"
        query = f"{table.select} WHERE ({under}) AND {unknown} ORDER BY {kind}.number LIMIT ?"
        with self._database.reading() as connection:
            return [table.record_of(row) for row in connection.execute(query, [*parameters, limit])]


_KEPT_CHANGE = (
    "SELECT 1 FROM stored_change AS c JOIN entry AS e ON e.seq = c.seq"
    " WHERE c.record = hub_record.record AND c.record_id = hub_record.record_id"
    " AND e.seq > ? AND e.channel <> ? AND e.origin = ?"
    " AND NOT EXISTS (SELECT 1 FROM hub_entry AS h WHERE h.id = e.id AND h.seq IS NOT NULL)"
)
"""SQL that selects a record's changes by entries of this machine that were not sent to the hub."""

_HUB_HAS_MEMORY = "EXISTS (SELECT 1 FROM hub_record AS h WHERE h.record = 'memory' AND h.record_id = {})"

_IS_RELATION_SHARED = (
    f"{_HUB_HAS_MEMORY.format('relation.src')} AND (relation.type IN ('file', 'item')"
    f" OR {_HUB_HAS_MEMORY.format('relation.dst')}"
    " OR NOT EXISTS (SELECT 1 FROM memory WHERE memory.id = relation.dst))"
)


def _glob_quoted(text: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)


def _row(connection: Connection, known: HubRecord) -> tuple[object, ...]:
    """Return the values of a row: the text itself only where the journal here does not hold the same.

    The text of a record that was purged here is not kept, whatever the hub has.
    """
    ids = msgspec.json.encode([known.record_id]).decode()
    if known.after is None or purged_ids(connection, known.record, ids):
        return (known.record, known.record_id, known.version, None, None)
    image = TABLES[record_name(known.after)].image_of(known.after)
    query = "SELECT version FROM change WHERE record = ? AND record_id = ? ORDER BY version DESC LIMIT 1"
    last = connection.execute(query, (known.record, known.record_id)).fetchone()
    if last is not None:
        version = int(last[0])
        same = TABLES[known.record].image_of(msgspec.structs.replace(known.after, version=version))
        query = "SELECT 1 FROM change WHERE record = ? AND record_id = ? AND version = ? AND image = ?"
        if connection.execute(query, (known.record, known.record_id, version, same)).fetchone() is not None:
            return (known.record, known.record_id, known.version, version, None)
    return (known.record, known.record_id, known.version, None, image)
