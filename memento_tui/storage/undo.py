"""Undo and redo journal entries, and purge records, which removes their text for good."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

from memento_tui import clock
from memento_tui.errors import Conflict, DataDirectoryError, NotAllowed, NotFound
from memento_tui.model import Crystal, Memory, Proposal
from memento_tui.model.validation import new_id
from memento_tui.storage.database import Database
from memento_tui.storage.journal import Author, Change, Entry, select_entries
from memento_tui.storage.tables import TABLES, select_records
from memento_tui.storage.transaction import PersonGuard, Transaction, transaction, write_entry

__all__ = ["IS_UNDONE", "purge_record", "purged_ids", "redo_candidate", "revert_entry", "undo_candidate"]

# An entry is in effect unless an undo of it is. An undo is in effect unless it was itself taken back (a redo).
IS_UNDONE = (
    "EXISTS (SELECT 1 FROM entry AS u WHERE u.undoes = {0}.seq"
    " AND NOT EXISTS (SELECT 1 FROM entry AS r WHERE r.undoes = u.seq))"
)

_IS_PURGED = "EXISTS (SELECT 1 FROM change WHERE change.seq = entry.seq AND nonce IS NULL)"


def undo_candidate(connection: sqlite3.Connection) -> Entry | None:
    """Return the person's newest entry that is in effect and was not purged: the one that the undo key undoes."""
    where = "actor = 'person' AND undoes IS NULL AND action NOT IN ('purge', 'restore backup')"
    where += f" AND NOT {IS_UNDONE.format('entry')}"
    where += f" AND NOT {_IS_PURGED}"
    return next(select_entries(connection, f"{where} ORDER BY seq DESC LIMIT 1"), None)


def redo_candidate(connection: sqlite3.Connection) -> Entry | None:
    """Return the undo that the redo key takes back: the newest in effect, unless the person has done more since."""
    where = (
        "actor = 'person' AND action = 'undo' AND NOT EXISTS (SELECT 1 FROM entry AS r WHERE r.undoes = entry.seq)"
        " AND NOT EXISTS (SELECT 1 FROM entry AS n WHERE n.actor = 'person' AND n.undoes IS NULL AND n.seq > entry.seq)"
        f" AND NOT {_IS_PURGED}"
    )
    return next(select_entries(connection, f"{where} ORDER BY seq DESC LIMIT 1"), None)


def revert_entry(database: Database, author: Author, seq: int) -> list[Entry]:
    """Undo entry ``seq`` and, if it belongs to a batch, the batch's other entries; return the undone entries.

    Reverting an undo is a redo; reverting a redo is reverting what it did again. It happens as a whole or not at all.

    Raises:
        NotFound: there is no such entry.
        NotAllowed: it is a purge or the restoring of a backup, it was taken back already, or the author is no person.
        Conflict: a later entry changed the same fields, or the text was purged.

    """
    guard = PersonGuard(author)
    with database.writing() as connection:
        target = _require_entry(connection, seq)
        while target.action == "redo":
            target = _require_entry(connection, _require_entry(connection, target.undoes).undoes)
        targets = [target]
        if target.batch:
            targets = list(select_entries(connection, "batch = ? ORDER BY seq DESC", (target.batch,)))
        batch = new_id() if len(targets) > 1 else ""
        now = clock.now()
        for entry in targets:
            tx = Transaction(connection, now, guard)
            _revert_entry(tx, entry)
            action = "redo" if entry.action == "undo" else "undo"
            note = f"{action} of {entry.seq} ({entry.action})"
            write_entry(database, tx, author, action, note=note, batch=batch, undoes=entry.seq)
        _check_one_current_crystal(connection)
    return targets


def _check_one_current_crystal(connection: sqlite3.Connection) -> None:
    """Raise `Conflict` if two identities would be current: one was written since, and only one can hold."""
    if len(select_records(connection, Crystal, "status = 'current'")) > 1:
        raise Conflict("Another identity was written since.", "Restore the one you want: memento crystal restore ID.")


def _require_entry(connection: sqlite3.Connection, seq: int | None) -> Entry:
    found = next(select_entries(connection, "seq = ?", (seq,)), None)
    if found is None:
        raise NotFound(f"The journal has no entry {seq}.", "`memento history` lists them.")
    return found


def _revert_entry(tx: Transaction, entry: Entry) -> None:
    if entry.action == "purge":
        raise NotAllowed(f"Entry {entry.seq} is a purge; what it removed is gone for good.")
    if entry.action == "restore backup":
        raise NotAllowed(
            f"Entry {entry.seq} says that a backup was restored.",
            "What was there before is a backup too: memento backup list.",
        )
    query = f"SELECT {IS_UNDONE.format('entry')} FROM entry WHERE seq = ?"
    if tx.connection.execute(query, (entry.seq,)).fetchone()[0]:
        raise NotAllowed(f"Entry {entry.seq} was taken back already.", "Undo or redo a later one.")
    rows = tx.connection.execute(
        "SELECT record, record_id, version, removed, image, nonce FROM change WHERE seq = ? ORDER BY ordinal DESC",
        (entry.seq,),
    ).fetchall()
    for row in rows:
        _revert_change(tx, entry, row)


def _revert_change(tx: Transaction, entry: Entry, row: sqlite3.Row) -> None:
    name, record_id, version, removed = row[0], row[1], row[2], bool(row[3])
    if row[5] is None:
        raise Conflict(f"The text that entry {entry.seq} wrote to {name} {record_id} was purged.", "It cannot return.")
    before = _record_before(tx.connection, name, record_id, version)
    after = None if removed else TABLES[name].image.decode(row[4])
    current = tx.get_named(name, record_id)
    if before is None:
        if current is None:
            raise Conflict(f"The {name} {record_id} is gone already.", "Undo the later entry that removed it instead.")
        tx.remove(current, base=current.version)
    elif current is None:
        if after is not None:
            raise Conflict(f"The {name} {record_id} is gone.", "Undo its deletion first.")
        tx.put(before, base=0)
    elif after is None:
        raise Conflict(f"A {name} with the id {record_id} exists again.", "Undo the later entry first.")
    else:
        tx.put(_merge_reverted_fields(entry, name, before, after, current), base=current.version)


def _changed_columns(name: str, one: Any, other: Any) -> list[str]:  # noqa: ANN401 - any record
    """Return the columns in which two states of a record differ, other than those that say when and how often."""
    columns = (column for column in TABLES[name].columns if column not in ("version", "updated_at"))
    return [column for column in columns if getattr(one, column) != getattr(other, column)]


def _merge_reverted_fields(entry: Entry, name: str, before: Any, after: Any, current: Any) -> Any:  # noqa: ANN401 - any record
    """Return ``current`` with the fields that the entry changed set to their former values."""
    changed = _changed_columns(name, before, after)
    disputed = [c for c in changed if getattr(current, c) != getattr(after, c)]
    if disputed:
        raise Conflict(
            f"Entry {entry.seq} cannot be taken back: {', '.join(disputed)} of {name} {current.id} changed again.",
            "Undo the later entry first.",
        )
    values = {column: getattr(before, column) for column in changed}
    if hasattr(current, "updated_at") and current.updated_at == after.updated_at:
        values["updated_at"] = before.updated_at
    return msgspec.structs.replace(current, **values)


def _record_before(connection: sqlite3.Connection, name: str, record_id: str, version: int) -> Any:  # noqa: ANN401 - any record
    """Return the record as it was before the change that made ``version``, or ``None`` if it did not exist."""
    row = connection.execute(
        "SELECT removed, image, nonce FROM change WHERE record = ? AND record_id = ? AND version = ?",
        (name, record_id, version - 1),
    ).fetchone()
    if row is None or row[0]:
        return None
    if row[2] is None:
        raise Conflict(f"The earlier text of {name} {record_id} was purged.", "It cannot return.")
    return TABLES[name].image.decode(row[1])


def purge_record(database: Database, author: Author, record: str, record_id: str, reason: str) -> None:
    """Remove a record, the proposals about it, and every text of them that the journal holds.

    Raises:
        NotFound: neither the record nor a trace of it exists.
        NotAllowed: no reason was given.
        DataDirectoryError: another program keeps the old text in the database's log by reading an older state.

    """
    if not reason.strip():
        raise NotAllowed("A purge needs a reason; the journal keeps it.", "Say why with --reason.")
    with transaction(database, author, "purge", guard=PersonGuard(author), note=reason) as tx:
        if not _purge_one(tx, record, record_id):
            raise NotFound(f"There is no {record} with the id {record_id}, and no trace of one.")
        for proposal_id in _proposal_ids(tx.connection, record, record_id):
            _purge_pending_memory(tx, record_id, proposal_id)
            _purge_one(tx, "proposal", proposal_id)
        for relation_id in _relation_ids(tx.connection, record_id):
            _purge_one(tx, "relation", relation_id)
        for contradiction_id in _contradiction_ids(tx.connection, record_id):
            _purge_one(tx, "contradiction", contradiction_id)
    _truncate_wal(database)


def purged_ids(connection: sqlite3.Connection, record: str, ids: str) -> set[str]:
    """Return those of the ids, given as a JSON list, whose text was purged and that do not exist any more."""
    query = (
        "SELECT DISTINCT record_id FROM change WHERE record = ? AND record_id IN (SELECT value FROM json_each(?))"
        f" AND nonce IS NULL AND NOT EXISTS (SELECT 1 FROM {record} WHERE id = change.record_id)"
    )
    return {row[0] for row in connection.execute(query, (record, ids))}


def _purge_one(tx: Transaction, record: str, record_id: str) -> bool:
    """Remove a record and its images; return whether there was any."""
    current = tx.get_named(record, record_id)
    if current is not None:
        tx.remove(current, base=current.version)
    emptied = tx.connection.execute(
        "UPDATE change SET image = NULL, nonce = NULL WHERE record = ? AND record_id = ? AND NOT removed",
        (record, record_id),
    ).rowcount
    if not emptied:
        return False
    if current is None:
        query = "SELECT max(version) FROM change WHERE record = ? AND record_id = ?"
        version = tx.connection.execute(query, (record, record_id)).fetchone()[0]
        tx.changes.append(Change(record, record_id, version + 1, removed=True, image=None))
    tx.connection.execute("DELETE FROM usage WHERE record = ? AND record_id = ?", (record, record_id))
    if record == "memory":
        tx.connection.execute("DELETE FROM confirmation WHERE record_id = ?", (record_id,))
    tx.connection.execute(
        "UPDATE import_ledger SET said = NULL WHERE record = ? AND record_id = ?", (record, record_id)
    )
    return True


def _purge_pending_memory(tx: Transaction, record_id: str, proposal_id: str) -> None:
    """Remove the pending memory that a proposal is about, where it was made of the purged one among others."""
    proposal = tx.get(Proposal, proposal_id)
    if proposal is None or proposal.target != "memory" or proposal.action != "create":
        return
    draft = tx.get(Memory, proposal.target_id)
    if draft is not None and draft.status == "pending" and draft.id != record_id:
        _purge_one(tx, "memory", draft.id)


def _relation_ids(connection: sqlite3.Connection, record_id: str) -> list[str]:
    """Return the ids of the relations at a record, whose labels may quote it."""
    query = (
        "SELECT DISTINCT record_id FROM change WHERE record = 'relation' AND image IS NOT NULL"
        " AND ? IN (json_extract(image, '$.src'), json_extract(image, '$.dst'))"
    )
    return [row[0] for row in connection.execute(query, (record_id,)).fetchall()]


def _proposal_ids(connection: sqlite3.Connection, record: str, record_id: str) -> list[str]:
    """Return the ids of the proposals that hold a record's text, those that were undone too."""
    query = (
        "SELECT DISTINCT record_id FROM change WHERE record = 'proposal' AND image IS NOT NULL AND ("
        "(json_extract(image, '$.target') = ? AND json_extract(image, '$.target_id') = ?)"
        " OR EXISTS (SELECT 1 FROM json_each(image, '$.evidence.about') WHERE value = ?))"
    )
    return [row[0] for row in connection.execute(query, (record, record_id, record_id)).fetchall()]


def _contradiction_ids(connection: sqlite3.Connection, record_id: str) -> list[str]:
    """Return the ids of the contradictions that quote a memory."""
    query = (
        "SELECT DISTINCT record_id FROM change WHERE record = 'contradiction' AND image IS NOT NULL"
        " AND ? IN (json_extract(image, '$.older'), json_extract(image, '$.newer'))"
    )
    return [row[0] for row in connection.execute(query, (record_id,)).fetchall()]


def _truncate_wal(database: Database) -> None:
    """Take the old pages out of the write-ahead log too; waits for whoever still reads them."""
    with database.translated():
        is_busy = database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if is_busy:
        raise DataDirectoryError(
            "The text was purged, but another program still keeps it in the database's log.",
            "Close the other programs that use this data directory: it is gone when the last of them ends.",
        )
