"""Purge records, notes of journal entries and names: remove their text for good, from the journal too."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from typing import Any, Literal, NamedTuple

import msgspec

from memento_tui.errors import DataDirectoryError, NotAllowed, NotFound
from memento_tui.model import Proposal
from memento_tui.storage.connection import Connection
from memento_tui.storage.database import Database
from memento_tui.storage.journal import REWRITTEN_ENTRY, Author, Change, image_digest, present_hash
from memento_tui.storage.tables import TABLES
from memento_tui.storage.transaction import PersonGuard, Transaction, transaction

__all__ = ["NameField", "PurgedRecord", "check_reason", "purge_name", "purge_note", "purge_record", "purged_ids"]

NameField = Literal["agent", "session"]

PURGED_NAME = "purged"
"""The name that stands in the place of one that was purged."""

_KEPT_NOTES = "('purge', 'undo', 'redo', 'restore backup', 'quarantine', 'release')"
"""The actions whose notes memento writes itself, or that say why something was purged."""

_AGENT_FIELDS = ("agent", "author", "created_by", "proposed_by", "decided_by", "resolved_by", "verified_by")
_NAME_FIELDS: dict[NameField, tuple[str, ...]] = {"agent": _AGENT_FIELDS, "session": ("session",)}
"""The fields of records, nested ones too, that hold a name."""

_SESSION_TABLES = ("injection", "confirmation", "hook_session", "skip_hit")


class PurgedRecord(NamedTuple):
    """One record that a purge removed."""

    record: str
    id: str


def purge_record(
    database: Database, author: Author, record: str, record_id: str, reason: str
) -> tuple[PurgedRecord, ...]:
    """Remove a record, the proposals about it, and all their texts from the journal; return the removed records.

    The notes of entries that are about nothing else go too: the reason of a rejection may quote what it rejects.

    Raises:
        NotFound: neither the record nor a trace of it exists.
        NotAllowed: no reason was given.
        DataDirectoryError: another program keeps the old text in the database's log by reading an older state.

    """
    check_reason(reason)
    with transaction(database, author, "purge", guard=PersonGuard(author), note=reason) as tx:
        purge = _Purge(tx)
        if record == "proposal":
            purge.pending_target(record_id)
        if not purge.one(record, record_id):
            raise NotFound(f"There is no {record} with the id {record_id}, and no trace of one.")
        for proposal_id in _proposal_ids(tx.connection, record, record_id):
            purge.pending_target(proposal_id, but=record_id)
            purge.one("proposal", proposal_id)
        for relation_id in _relation_ids(tx.connection, record_id):
            purge.one("relation", relation_id)
        for contradiction_id in _contradiction_ids(tx.connection, record_id):
            purge.one("contradiction", contradiction_id)
        seqs = _entries_about_nothing_else(tx.connection, purge.removed)
        _rewrite_facts(tx, seqs, "note", "")
        _record_rewritten(tx, seqs, notes=seqs)
    truncate_log(database)
    return tuple(purge.removed)


def purge_note(database: Database, author: Author, seq: int, reason: str, *, mark: str) -> None:
    """Remove the note of a journal entry; where it is the reason of a rejection, from the rejected proposal too.

    ``mark`` is the beginning of the entry's hash: in a backup the same number may be another entry.

    Raises like `purge_record`; `NotFound` too where the entry has no note.
    """
    check_reason(reason)
    with transaction(database, author, "purge", guard=PersonGuard(author), note=reason) as tx:
        row = tx.connection.execute("SELECT note, lower(hex(hash)) FROM entry WHERE seq = ?", (seq,)).fetchone()
        if row is None or not row[0] or not row[1].startswith(mark):
            raise NotFound(f"The journal has no entry {seq} with a note.", "`memento history` lists them.")
        _rewrite_facts(tx, [seq], "note", "")
        reason_of_rejections = _Replacement(("note",), row[0], "")
        _rewrite_hub_records(tx.connection, reason_of_rejections)
        _record_rewritten(tx, sorted({seq, *_rewrite_images(tx, reason_of_rejections)}), notes=[seq])
    truncate_log(database)


def purge_name(database: Database, author: Author, field: NameField, name: str, reason: str) -> int:
    """Put another word in the place of an agent's or a session's name, wherever it stands; return in how many entries.

    What stands beside the journal alone, in the ledgers or in what the hub is known to have, leaves no entry.

    Raises like `purge_record`.
    """
    check_reason(reason)
    with transaction(database, author, "purge", guard=PersonGuard(author), note=reason) as tx:
        rows = tx.connection.execute(f"SELECT seq FROM entry WHERE {field} = ?", (name,)).fetchall()
        seqs = {int(row[0]) for row in rows}
        _rewrite_facts(tx, sorted(seqs), field, PURGED_NAME)
        replacement = _Replacement(_NAME_FIELDS[field], name, PURGED_NAME, within="evidence")
        notes = _rewrite_notes(tx, replacement)
        seqs.update(notes)
        seqs.update(_rewrite_images(tx, replacement))
        others = _rewrite_hub_records(tx.connection, replacement)
        others += _rewrite_ledgers(tx.connection, name) if field == "session" else 0
        if not seqs and not others:
            raise NotFound(f"There is no {field} {name!r:.80}, and no trace of one.")
        _record_rewritten(tx, sorted(seqs), notes=notes)
    truncate_log(database)
    return len(seqs)


def check_reason(reason: str) -> None:
    """Raise `NotAllowed` unless a reason is given."""
    if not reason.strip():
        raise NotAllowed("A purge needs a reason; the journal keeps it.", "Say why with --reason.")


class _Purge:
    """The records that one purge removes."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self.removed: list[PurgedRecord] = []

    def one(self, record: str, record_id: str) -> bool:
        """Remove a record and its images; return whether there was any."""
        tx = self._tx
        current = tx.get_named(record, record_id)
        if current is not None:
            tx.remove(current, base=current.version)
        tx.connection.execute(
            "UPDATE stored_change SET image = NULL, nonce = NULL, base = NULL, packed = NULL"
            " WHERE record = ? AND record_id = ? AND NOT removed",
            (record, record_id),
        )
        if not tx.connection.changes():
            return False
        if current is None:
            query = "SELECT max(version) FROM change WHERE record = ? AND record_id = ?"
            version = tx.connection.execute(query, (record, record_id)).fetchone()[0]
            tx.changes.append(Change(record, record_id, version + 1, removed=True, image=None))
        tx.connection.execute("DELETE FROM usage WHERE record = ? AND record_id = ?", (record, record_id))
        if record == "skip":
            tx.connection.execute("DELETE FROM skip_hit WHERE skip_id = ?", (record_id,))
        if record == "memory":
            tx.connection.execute("DELETE FROM confirmation WHERE record_id = ?", (record_id,))
        tx.connection.execute(
            "UPDATE hub_record SET image = NULL WHERE record = ? AND record_id = ?", (record, record_id)
        )
        tx.connection.execute(
            "UPDATE import_ledger SET said = NULL WHERE record = ? AND record_id = ?", (record, record_id)
        )
        self.removed.append(PurgedRecord(record, record_id))
        return True

    def pending_target(self, proposal_id: str, *, but: str = "") -> None:
        """Remove the undecided record that a proposal would create, which holds the same text."""
        proposal = self._tx.get(Proposal, proposal_id)
        if proposal is None or proposal.action != "create" or proposal.target_id == but:
            return
        draft = self._tx.get_named(proposal.target, proposal.target_id)
        if draft is not None and getattr(draft, "status", "") in ("pending", "proposed"):
            self.one(proposal.target, proposal.target_id)


def purged_ids(connection: Connection, record: str, ids: str) -> set[str]:
    """Return those of the ids, given as a JSON list, whose text was purged and that do not exist any more."""
    query = (
        "SELECT DISTINCT record_id FROM change WHERE record = ? AND record_id IN (SELECT value FROM json_each(?))"
        # Of what was dropped by the limit of the history the first version stays.
        f" AND version = 1 AND nonce IS NULL AND NOT EXISTS (SELECT 1 FROM {record} WHERE id = change.record_id)"
    )
    return {row[0] for row in connection.execute(query, (record, ids))}


def _relation_ids(connection: Connection, record_id: str) -> list[str]:
    """Return the ids of the relations at a record, whose labels may quote it."""
    query = (
        "SELECT DISTINCT record_id FROM change WHERE record = 'relation' AND image IS NOT NULL"
        " AND ? IN (json_extract(image, '$.src'), json_extract(image, '$.dst'))"
    )
    return [row[0] for row in connection.execute(query, (record_id,)).fetchall()]


def _proposal_ids(connection: Connection, record: str, record_id: str) -> list[str]:
    """Return the ids of the proposals that hold a record's text, those that were undone too."""
    query = (
        "SELECT DISTINCT record_id FROM change WHERE record = 'proposal' AND image IS NOT NULL AND ("
        "(json_extract(image, '$.target') = ? AND json_extract(image, '$.target_id') = ?)"
        " OR EXISTS (SELECT 1 FROM json_each(image, '$.evidence.about') WHERE value = ?))"
    )
    return [row[0] for row in connection.execute(query, (record, record_id, record_id)).fetchall()]


def _contradiction_ids(connection: Connection, record_id: str) -> list[str]:
    """Return the ids of the contradictions that quote a memory."""
    query = (
        "SELECT DISTINCT record_id FROM change WHERE record = 'contradiction' AND image IS NOT NULL"
        " AND ? IN (json_extract(image, '$.older'), json_extract(image, '$.newer'))"
    )
    return [row[0] for row in connection.execute(query, (record_id,)).fetchall()]


def _entries_about_nothing_else(connection: Connection, removed: Iterable[PurgedRecord]) -> list[int]:
    """Return the entries with a note that changed some of these records and no other."""
    given = msgspec.json.encode([list(one) for one in removed]).decode()
    is_removed = (
        "EXISTS (SELECT 1 FROM json_each(:removed) WHERE json_extract(value, '$[0]') = {0}.record"
        " AND json_extract(value, '$[1]') = {0}.record_id)"
    )
    query = (
        "SELECT DISTINCT entry.seq FROM json_each(:removed) AS gone"
        " CROSS JOIN change ON change.record = json_extract(gone.value, '$[0]')"
        " AND change.record_id = json_extract(gone.value, '$[1]')"
        f" JOIN entry ON entry.seq = change.seq AND entry.note <> '' AND entry.action NOT IN {_KEPT_NOTES}"
        " WHERE NOT EXISTS (SELECT 1 FROM change AS other WHERE other.seq = entry.seq"
        f" AND NOT {is_removed.format('other')}) ORDER BY entry.seq"
    )
    return [int(row[0]) for row in connection.execute(query, {"removed": given}).fetchall()]


# Entries that are rewritten. Their hash no longer fits them, so the purge names the hash that they have from now on:
# `verify_journal` accepts an entry that is as a purge after it says, and no other change.


def _rewrite_facts(tx: Transaction, seqs: Iterable[int], column: str, value: str) -> None:
    tx.connection.executemany(f"UPDATE entry SET {column} = ? WHERE seq = ?", [(value, seq) for seq in seqs])


def _record_rewritten(tx: Transaction, seqs: Iterable[int], *, notes: Collection[int]) -> None:
    """Add changes to the transaction that name each rewritten entry's new hash, and whether its note was removed."""
    query = "SELECT coalesce(max(version), 0) + 1 FROM change WHERE record = ? AND record_id = ?"
    for seq in seqs:
        version = tx.connection.execute(query, (REWRITTEN_ENTRY, str(seq))).fetchone()[0]
        image = msgspec.json.encode({"hash": present_hash(tx.connection, seq), "note": seq in notes}).decode()
        tx.changes.append(Change(REWRITTEN_ENTRY, str(seq), version, removed=False, image=image))


class _Replacement:
    """Replaces ``old`` where it is the whole value of one of some fields, and as a word in the texts of another."""

    def __init__(self, fields: tuple[str, ...], old: str, new: str, *, within: str = "") -> None:
        self._fields = fields
        self.old = old
        self._new = new
        self._within = within
        self.written = msgspec.json.encode(old).decode()[1:-1]
        """The text that is replaced, as it stands within a text in JSON."""
        self._word = re.compile(rf"(?<![\w-]){re.escape(old)}(?![\w-])")

    def of_text(self, text: str) -> str:
        """Return a text with the word replaced."""
        return self._word.sub(lambda _: self._new, text)

    def of(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        """Return nested JSON with everything replaced."""
        if isinstance(value, dict):
            return {key: self._of_field(key, part) for key, part in value.items()}
        return [self.of(part) for part in value] if isinstance(value, list) else value

    def _of_field(self, key: str, value: Any) -> Any:  # noqa: ANN401 - as above
        if key in self._fields and value == self.old:
            return self._new
        return self._of_texts(value) if key == self._within else self.of(value)

    def _of_texts(self, value: Any) -> Any:  # noqa: ANN401 - as above
        if isinstance(value, dict):
            return {key: self._of_texts(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self._of_texts(part) for part in value]
        return self.of_text(value) if isinstance(value, str) else value


def _rewrite_notes(tx: Transaction, replacement: _Replacement) -> set[int]:
    """Replace a name in the notes of the journal; return the entries that they belong to."""
    query = "SELECT seq, note FROM entry WHERE note <> '' AND instr(note, ?)"
    rows = tx.connection.execute(query, (replacement.old,)).fetchall()
    changed = [(new, int(seq)) for seq, note in rows if (new := replacement.of_text(note)) != note]
    tx.connection.executemany("UPDATE entry SET note = ? WHERE seq = ?", changed)
    return {seq for _, seq in changed}


_STORE_WHOLE = (
    "UPDATE stored_change SET base = NULL, packed = NULL, image = (SELECT image FROM change"
    " WHERE change.seq = stored_change.seq AND change.ordinal = stored_change.ordinal)"
    " WHERE record = ? AND record_id = ? AND packed IS NOT NULL"
)
"""Stores every image of a record whole."""


def _rewrite_images(tx: Transaction, replacement: _Replacement) -> set[int]:
    """Replace a text in the records, as they are and as they were; return the entries that wrote those."""
    query = (
        "SELECT seq, ordinal, record, record_id, version, image FROM change"
        " WHERE image IS NOT NULL AND nonce IS NOT NULL AND instr(image, ?)"
    )
    found = tx.connection.execute(query, (replacement.written,)).fetchall()
    # An image that is rewritten may be what others are packed against.
    tx.connection.executemany(_STORE_WHOLE, {(record, record_id) for _, _, record, record_id, _, _ in found})
    touched = set()
    for seq, ordinal, record, record_id, version, written_image in found:
        before = msgspec.json.decode(written_image)
        if (image := replacement.of(before)) == before:
            continue
        text, nonce = msgspec.json.encode(image).decode(), os.urandom(16)
        tx.connection.execute(
            "UPDATE stored_change SET image = ?, nonce = ?, digest = ? WHERE seq = ? AND ordinal = ?",
            (text, nonce, image_digest(nonce, text), seq, ordinal),
        )
        touched.add(int(seq))
        current = tx.get_named(record, record_id)
        if current is not None and current.version == version:
            table = TABLES[record]
            tx.connection.execute(table.upsert, table.row(table.image.decode(text)))
    return touched


def _rewrite_hub_records(connection: Connection, replacement: _Replacement) -> int:
    """Replace a text in the stored states of the hub's records; return in how many."""
    query = "SELECT record, record_id, image FROM hub_record WHERE image IS NOT NULL AND instr(image, ?)"
    rows = connection.execute(query, (replacement.written,)).fetchall()
    read = [(msgspec.json.decode(image), record, record_id) for record, record_id, image in rows]
    changed = [
        (msgspec.json.encode(after).decode(), record, record_id)
        for before, record, record_id in read
        if (after := replacement.of(before)) != before
    ]
    connection.executemany("UPDATE hub_record SET image = ? WHERE record = ? AND record_id = ?", changed)
    return len(changed)


def _rewrite_ledgers(connection: Connection, name: str) -> int:
    """Replace a session's name in the ledgers beside the journal; return how many rows there were."""
    changed = 0
    for table in _SESSION_TABLES:
        query = f"UPDATE OR REPLACE {table} SET session = ? WHERE session = ?"
        connection.execute(query, (PURGED_NAME, name))
        changed += connection.changes()
    return changed


def truncate_log(database: Database) -> None:
    """Take the old pages out of the write-ahead log too; waits for whoever still reads them."""
    with database.translated():
        is_busy = database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if is_busy:
        raise DataDirectoryError(
            "The text was purged, but another program still keeps it in the database's log.",
            "Close the other programs that use this data directory: it is gone when the last of them ends.",
        )
