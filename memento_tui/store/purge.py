"""Purging: the one way to remove text for good, for a secret that leaked. The journal says that, and why."""

from __future__ import annotations

import sqlite3

from memento_tui.errors import DataDirectoryError, NotAllowed, NotFound
from memento_tui.store.database import Database
from memento_tui.store.journal import Author, Change
from memento_tui.store.transaction import Transaction, transaction

__all__ = ["purge", "purged_ids"]


def purge(database: Database, author: Author, record: str, record_id: str, reason: str) -> None:
    """Remove a record, the proposals about it, and every text of them that the journal holds.

    Raises:
        NotFound: neither the record nor a trace of it exists.
        NotAllowed: no reason was given.
        DataDirectoryError: another program keeps the old text in the database's log by reading an older state.

    """
    if not reason.strip():
        raise NotAllowed("A purge needs a reason; the journal keeps it.", "Say why with --reason.")
    with transaction(database, author, "purge", note=reason) as tx:
        if not _empty(tx, record, record_id):
            raise NotFound(f"There is no {record} with the id {record_id}, and no trace of one.")
        for proposal_id in _proposals_about(tx.connection, record, record_id):
            _empty_draft(tx, record_id, proposal_id)
            _empty(tx, "proposal", proposal_id)
        for relation_id in _relations_of(tx.connection, record_id):
            _empty(tx, "relation", relation_id)
        for contradiction_id in _contradictions_of(tx.connection, record_id):
            _empty(tx, "contradiction", contradiction_id)
    _empty_log(database)


def purged_ids(connection: sqlite3.Connection, record: str, ids: str) -> set[str]:
    """Return those of the ids, given as a JSON list, whose text was purged and that do not exist any more."""
    query = (
        "SELECT DISTINCT record_id FROM change WHERE record = ? AND record_id IN (SELECT value FROM json_each(?))"
        f" AND nonce IS NULL AND NOT EXISTS (SELECT 1 FROM {record} WHERE id = change.record_id)"
    )
    return {row[0] for row in connection.execute(query, (record, ids))}


def _empty(tx: Transaction, record: str, record_id: str) -> bool:
    """Remove a record and its images; tell whether there was any."""
    current = tx.get(record, record_id)
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


def _empty_draft(tx: Transaction, record_id: str, proposal_id: str) -> None:
    """Remove the pending memory that a proposal is about, where it was made of the purged one among others."""
    proposal = tx.get("proposal", proposal_id)
    if proposal is None or proposal.target != "memory" or proposal.action != "create":
        return
    draft = tx.get("memory", proposal.target_id)
    if draft is not None and draft.status == "pending" and draft.id != record_id:
        _empty(tx, "memory", draft.id)


def _relations_of(connection: sqlite3.Connection, record_id: str) -> list[str]:
    """Return the ids of the relations at a record, whose labels speak of it."""
    query = (
        "SELECT DISTINCT record_id FROM change WHERE record = 'relation' AND image IS NOT NULL"
        " AND ? IN (json_extract(image, '$.src'), json_extract(image, '$.dst'))"
    )
    return [row[0] for row in connection.execute(query, (record_id,)).fetchall()]


def _proposals_about(connection: sqlite3.Connection, record: str, record_id: str) -> list[str]:
    """Return the ids of the proposals that hold what a record says or would say, those that were undone too."""
    query = (
        "SELECT DISTINCT record_id FROM change WHERE record = 'proposal' AND image IS NOT NULL AND ("
        "(json_extract(image, '$.target') = ? AND json_extract(image, '$.target_id') = ?)"
        " OR EXISTS (SELECT 1 FROM json_each(image, '$.evidence.about') WHERE value = ?))"
    )
    return [row[0] for row in connection.execute(query, (record, record_id, record_id)).fetchall()]


def _contradictions_of(connection: sqlite3.Connection, record_id: str) -> list[str]:
    """Return the ids of the contradictions that quote a memory."""
    query = (
        "SELECT DISTINCT record_id FROM change WHERE record = 'contradiction' AND image IS NOT NULL"
        " AND ? IN (json_extract(image, '$.older'), json_extract(image, '$.newer'))"
    )
    return [row[0] for row in connection.execute(query, (record_id,)).fetchall()]


def _empty_log(database: Database) -> None:
    """Take the old pages out of the write-ahead log too; waits for whoever still reads them."""
    with database.translated():
        is_busy = database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if is_busy:
        raise DataDirectoryError(
            "The text was purged, but another program still keeps it in the database's log.",
            "Close the other programs that use this data directory: it is gone when the last of them ends.",
        )
