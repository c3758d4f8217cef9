"""Undo and redo of any journal entry: a new entry that takes back what an older one did.

An undo gives back each field that the entry changed, and leaves alone what later entries changed elsewhere in the
same record. Where a later entry changed the same field, the two contradict each other and the undo is a `Conflict`.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

from memento_tui import clock
from memento_tui.errors import Conflict, NotAllowed, NotFound
from memento_tui.records.ids import new_id
from memento_tui.store.database import Database
from memento_tui.store.journal import Author, Entry, entries
from memento_tui.store.tables import TABLES, select
from memento_tui.store.transaction import Transaction, write_entry

__all__ = ["redo_candidate", "revert", "undo_candidate"]

# An entry is in effect unless an undo of it is. An undo is in effect unless it was itself taken back (a redo).
_UNDONE = (
    "EXISTS (SELECT 1 FROM entry AS u WHERE u.undoes = {0}.seq"
    " AND NOT EXISTS (SELECT 1 FROM entry AS r WHERE r.undoes = u.seq))"
)

_PURGED = "EXISTS (SELECT 1 FROM change WHERE change.seq = entry.seq AND nonce IS NULL)"


def undo_candidate(connection: sqlite3.Connection) -> Entry | None:
    """Return the person's newest entry that is in effect and was not purged: what the undo key takes back."""
    where = "actor = 'person' AND undoes IS NULL AND action NOT IN ('purge', 'restore backup')"
    where += f" AND NOT {_UNDONE.format('entry')}"
    where += f" AND NOT {_PURGED}"
    return next(entries(connection, f"{where} ORDER BY seq DESC LIMIT 1"), None)


def redo_candidate(connection: sqlite3.Connection) -> Entry | None:
    """Return the undo that the redo key takes back: the newest in effect, unless the person has done more since."""
    where = (
        "actor = 'person' AND action = 'undo' AND NOT EXISTS (SELECT 1 FROM entry AS r WHERE r.undoes = entry.seq)"
        " AND NOT EXISTS (SELECT 1 FROM entry AS n WHERE n.actor = 'person' AND n.undoes IS NULL AND n.seq > entry.seq)"
        f" AND NOT {_PURGED}"
    )
    return next(entries(connection, f"{where} ORDER BY seq DESC LIMIT 1"), None)


def revert(database: Database, author: Author, seq: int) -> list[Entry]:
    """Take back entry ``seq``, with the other entries of its batch if it belongs to one; return what was taken back.

    Reverting an undo is a redo; reverting a redo is reverting what it did again. It happens as a whole or not at all.

    Raises:
        NotFound: there is no such entry.
        NotAllowed: it is a purge or the restoring of a backup, or it was taken back already.
        Conflict: a later entry changed the same fields, or the text was purged.

    """
    with database.writing() as connection:
        target = _entry(connection, seq)
        while target.action == "redo":
            target = _entry(connection, _entry(connection, target.undoes).undoes)
        targets = [target]
        if target.batch:
            targets = list(entries(connection, "batch = ? ORDER BY seq DESC", (target.batch,)))
        batch = new_id() if len(targets) > 1 else ""
        now = clock.now()
        for entry in targets:
            tx = Transaction(connection, now)
            _revert_entry(tx, entry)
            action = "redo" if entry.action == "undo" else "undo"
            note = f"{action} of {entry.seq} ({entry.action})"
            write_entry(database, tx, author, action, note=note, batch=batch, undoes=entry.seq)
        _check_identity(connection)
    return targets


def _check_identity(connection: sqlite3.Connection) -> None:
    """Refuse what would leave two identities current: one was written since, and only one can hold."""
    if len(select(connection, "crystal", "status = 'current'")) > 1:
        raise Conflict("Another identity was written since.", "Restore the one you want: memento crystal restore ID.")


def _entry(connection: sqlite3.Connection, seq: int | None) -> Entry:
    found = next(entries(connection, "seq = ?", (seq,)), None)
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
    query = f"SELECT {_UNDONE.format('entry')} FROM entry WHERE seq = ?"
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
    before = _image_before(tx.connection, name, record_id, version)
    after = None if removed else TABLES[name].image.decode(row[4])
    current = tx.get(name, record_id)
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
        tx.put(_merged(entry, name, before, after, current), base=current.version)


def _differing(name: str, one: Any, other: Any) -> list[str]:  # noqa: ANN401 - any record
    """Return the columns in which two states of a record differ, other than those that say when and how often."""
    columns = (column for column in TABLES[name].columns if column not in ("version", "updated_at"))
    return [column for column in columns if getattr(one, column) != getattr(other, column)]


def _merged(entry: Entry, name: str, before: Any, after: Any, current: Any) -> Any:  # noqa: ANN401 - any record
    """Return ``current`` with the fields that the entry changed put back."""
    changed = _differing(name, before, after)
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


def _image_before(connection: sqlite3.Connection, name: str, record_id: str, version: int) -> Any:  # noqa: ANN401 - any record
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
