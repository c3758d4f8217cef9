"""Undo and redo journal entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from memento_tui import clock
from memento_tui.errors import Conflict, NotAllowed, NotFound
from memento_tui.model import Crystal
from memento_tui.model.claims import DECIDED_FIELDS, gives_trust
from memento_tui.model.validation import new_id, text_fields, to_plain
from memento_tui.storage.connection import Connection
from memento_tui.storage.database import Database
from memento_tui.storage.history_limit import LIMIT_ACTION, is_dropped
from memento_tui.storage.journal import Author, Entry, Origin, origin_of, select_entries
from memento_tui.storage.tables import TABLES, select_records
from memento_tui.storage.transaction import PersonGuard, Transaction, write_entry

__all__ = ["IS_PURGED", "IS_UNDONE", "redo_candidate", "revert_entry", "undo_candidate"]

# An entry is in effect unless an undo of it is. An undo is in effect unless it was itself taken back (a redo).
IS_UNDONE = (
    "EXISTS (SELECT 1 FROM entry AS u WHERE u.undoes = {0}.seq"
    " AND NOT EXISTS (SELECT 1 FROM entry AS r WHERE r.undoes = u.seq))"
)

IS_PURGED = (
    "(EXISTS (SELECT 1 FROM stored_change AS change INDEXED BY change_purged"
    " WHERE change.seq = {0}.seq AND change.nonce IS NULL)"
    " AND NOT EXISTS (SELECT 1 FROM change WHERE change.seq = {0}.seq AND change.nonce IS NOT NULL"
    " AND NOT EXISTS (SELECT 1 FROM change AS old WHERE old.record = change.record"
    " AND old.record_id = change.record_id AND old.version = change.version - 1 AND old.nonce IS NULL)))"
)
"""SQL: whether a purge removed so much of an entry that nothing of it can be undone."""


def undo_candidate(connection: Connection) -> Entry | None:
    """Return the person's newest entry that is in effect and was not purged: the one that the undo key undoes."""
    where = "actor = 'person' AND channel <> 'hub' AND undoes IS NULL AND action NOT IN"
    where += f" ('purge', 'restore backup', '{LIMIT_ACTION}')"
    where += f" AND NOT {IS_UNDONE.format('entry')}"
    where += f" AND NOT {IS_PURGED.format('entry')}"
    return next(select_entries(connection, f"{where} ORDER BY seq DESC LIMIT 1"), None)


def redo_candidate(connection: Connection) -> Entry | None:
    """Return the undo that the redo key takes back: the newest in effect, unless the person has done more since."""
    where = (
        "actor = 'person' AND channel <> 'hub' AND action = 'undo'"
        " AND NOT EXISTS (SELECT 1 FROM entry AS r WHERE r.undoes = entry.seq)"
        " AND NOT EXISTS (SELECT 1 FROM entry AS n WHERE n.actor = 'person' AND n.channel <> 'hub'"
        " AND n.undoes IS NULL AND n.seq > entry.seq)"
        f" AND NOT {IS_PURGED.format('entry')}"
    )
    return next(select_entries(connection, f"{where} ORDER BY seq DESC LIMIT 1"), None)


def revert_entry(database: Database, author: Author, seq: int) -> list[Entry]:
    """Undo entry ``seq`` and, if it belongs to a batch, the batch's other entries; return the undone entries.

    Reverting an undo is a redo; reverting a redo is reverting what it did again. It happens as a whole or not at all,
    but for records whose text was purged meanwhile: those are passed over.

    Raises:
        NotFound: there is no such entry.
        NotAllowed: it is a purge or the restoring of a backup, it was taken back already, or the author is no person.
        Conflict: a later entry changed the same fields, trust would come to a text that never had it, or all of the
            text was purged.

    """
    guard = PersonGuard(author)
    with database.writing() as connection:
        target = _require_entry(connection, seq)
        while target.action == "redo":
            target = _require_entry(connection, _require_entry(connection, target.undoes).undoes)
        targets = [target]
        if target.batch:
            # A purge among the others is none of what can be taken back.
            others = "batch = ? AND action <> 'purge' ORDER BY seq DESC"
            targets = [target, *select_entries(connection, others, (target.batch,))]
            targets = sorted({entry.seq: entry for entry in targets}.values(), key=lambda entry: -entry.seq)
        targets = _without_purged(connection, target, targets)
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


def _without_purged(connection: Connection, target: Entry, targets: list[Entry]) -> list[Entry]:
    """Return the entries of which something can be taken back. Raises `Conflict` if a purge took the text of all."""
    query = f"SELECT {IS_PURGED.format('entry')} FROM entry WHERE seq = ?"
    left = [entry for entry in targets if not connection.execute(query, (entry.seq,)).fetchone()[0]]
    if not left:
        gone = "SELECT record, record_id FROM stored_change WHERE seq = ?"
        if is_dropped(connection, connection.execute(gone, (target.seq,)).fetchall()):
            raise Conflict(
                f"Entry {target.seq} cannot be taken back: the versions that it needs are no longer kept.",
                "[history] in config.toml says which are; a backup may hold them: memento backup list.",
            )
        raise Conflict(f"The text that entry {target.seq} wrote was purged.", "It cannot return.")
    return left


def _check_one_current_crystal(connection: Connection) -> None:
    """Raise `Conflict` if two identities would be current: one was written since, and only one can hold."""
    if len(select_records(connection, Crystal, "status = 'current'")) > 1:
        raise Conflict("Another identity was written since.", "Restore the one you want: memento crystal restore ID.")


_LARGEST_SEQ = 2**63 - 1
"""The largest number that SQLite holds."""


def _require_entry(connection: Connection, seq: int | None) -> Entry:
    is_possible = seq is not None and seq <= _LARGEST_SEQ
    found = next(select_entries(connection, "seq = ?", (seq,)), None) if is_possible else None
    if found is None:
        raise NotFound(f"The journal has no entry {seq}.", "`memento history` lists them.")
    return found


def _revert_entry(tx: Transaction, entry: Entry) -> None:
    if entry.action == "purge":
        raise NotAllowed(f"Entry {entry.seq} is a purge; what it removed is gone for good.")
    if entry.action == LIMIT_ACTION:
        raise NotAllowed(f"Entry {entry.seq} let earlier versions go.", "A backup may hold them: memento backup list.")
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
    for name, record_id, version, removed, image, nonce in rows:
        if nonce is not None and not _is_purged_before(tx.connection, name, record_id, version):
            _revert_change(tx, entry, name, record_id, version, None if removed else image)


def _is_purged_before(connection: Connection, name: str, record_id: str, version: int) -> bool:
    """Tell whether a purge took the text that a record had before a change."""
    query = "SELECT 1 FROM change WHERE record = ? AND record_id = ? AND version = ? AND nonce IS NULL"
    found = connection.execute(query, (name, record_id, version - 1)).fetchone()
    return found is not None


def _revert_change(tx: Transaction, entry: Entry, name: str, record_id: str, version: int, image: str | None) -> None:
    """Undo one change; ``image`` is the record as the entry wrote it, ``None`` where it removed the record."""
    before = _record_before(tx.connection, name, record_id, version)
    after = None if image is None else TABLES[name].image.decode(image)
    current = tx.get_named(name, record_id)
    if before is None:
        if current is None:
            raise Conflict(f"The {name} {record_id} is gone already.", "Undo the later entry that removed it instead.")
        # What somebody wrote into it since would go unseen.
        _former_values(tx.connection, entry, name, after, current, _differing_columns(name, after, current))
        tx.remove(current, base=current.version)
    elif current is None:
        if after is not None:
            raise Conflict(f"The {name} {record_id} is gone.", "Undo its deletion first.")
        tx.put(before, base=0)
    elif after is None:
        raise Conflict(f"A {name} with the id {record_id} exists again.", "Undo the later entry first.")
    else:
        values = _reverted_fields(tx.connection, entry, name, before, after, current)
        reverted = msgspec.structs.replace(current, **values)
        if gives_trust(current, reverted):
            _check_written_by_others(tx.connection, entry, name, before, after, reverted)
        _check_trusted_texts(tx.connection, entry, name, current, reverted)
        tx.put(reverted, base=current.version)


def _differing_columns(name: str, one: Any, other: Any) -> list[str]:  # noqa: ANN401 - any record
    """Return the columns in which two states of a record differ, without ``version`` and ``updated_at``."""
    columns = (column for column in TABLES[name].columns if column not in ("version", "updated_at"))
    return [column for column in columns if getattr(one, column) != getattr(other, column)]


def _reverted_fields(
    connection: Connection,
    entry: Entry,
    name: str,
    before: Any,  # noqa: ANN401 - any record
    after: Any,  # noqa: ANN401 - any record
    current: Any,  # noqa: ANN401 - any record
) -> dict[str, Any]:
    """Return the former values of the fields that the entry changed."""
    changed = _differing_columns(name, before, after)
    values = _former_values(connection, entry, name, after, current, changed)
    values |= {column: getattr(before, column) for column in changed}
    if hasattr(current, "updated_at") and current.updated_at == after.updated_at:
        values["updated_at"] = before.updated_at
    return values


def _former_values(
    connection: Connection,
    entry: Entry,
    name: str,
    after: Any,  # noqa: ANN401 - any record
    current: Any,  # noqa: ANN401 - any record
    columns: Sequence[str],
) -> dict[str, Any]:
    """Return the values of fields before the program's own changes that came after an entry.

    A field that the program itself changed again is no obstacle: what the person undoes counts for more, and what the
    program did to the record by that change is taken back with it. Fields that somebody else changed are left out.

    Raises `Conflict` where anybody else changed one of ``columns`` again.
    """
    conflicting = {column for column in columns if getattr(current, column) != getattr(after, column)}
    if not conflicting:
        return {}
    later = list(_changes_since(connection, name, after.id, after))
    opposing = [
        change for change in later if change.origin != "maintenance" and conflicting.intersection(change.columns)
    ]
    if opposing or any(change.is_final for change in later):
        first = [change.seq for change in later if change.is_in_effect and conflicting.intersection(change.columns)]
        raise Conflict(
            f"Entry {entry.seq} cannot be taken back:"
            f" {', '.join(sorted(conflicting))} of {name} {current.id} changed again.",
            f"Undo entry {first[-1]} first." if first else "Undo the later entry first.",
            current=to_plain(current),
            attempted=to_plain(after),
        )
    values: dict[str, Any] = {}
    for change in later:
        if change.origin != "maintenance":
            for column in change.columns:
                values.pop(column, None)
        elif conflicting.intersection(change.columns):
            for column in change.columns:
                values.setdefault(column, getattr(change.previous, column))
    return values


def _check_written_by_others(
    connection: Connection,
    entry: Entry,
    name: str,
    before: Any,  # noqa: ANN401 - any record
    after: Any,  # noqa: ANN401 - any record
    reverted: Any,  # noqa: ANN401 - any record
) -> None:
    """Raise `Conflict` where trust would come back to fields that others than the person wrote after an entry.

    A person gave it to ``before``, and has not decided about what stands there now.
    """
    later = _changes_since(connection, name, after.id, after)
    by_others = [change for change in later if change.origin not in ("maintenance", "person")]
    changed = {column for change in by_others for column in change.columns}
    unseen = sorted(changed.intersection(_differing_columns(name, before, reverted)).difference(DECIDED_FIELDS))
    if unseen:
        raise Conflict(
            f"Entry {entry.seq} cannot be taken back: {', '.join(unseen)} of {name} {reverted.id}"
            f" {'was' if len(unseen) == 1 else 'were'} changed by others since, and would get the trust of what was"
            " there before.",
            f"Look at it as it is now and decide anew, or undo entry {_last_about(by_others, unseen)} first.",
            current=to_plain(reverted),
            attempted=to_plain(before),
        )


def _last_about(changes: Sequence[_Change], columns: Sequence[str]) -> int:
    """Return the newest entry that changed one of some fields."""
    return max(change.seq for change in changes if set(columns).intersection(change.columns))


def _check_trusted_texts(
    connection: Connection,
    entry: Entry,
    name: str,
    current: Any,  # noqa: ANN401 - any record
    reverted: Any,  # noqa: ANN401 - any record
) -> None:
    """Raise `Conflict` where a text would stand under trust that it never had, and that no person wrote."""
    kind: type[msgspec.Struct] = TABLES[name].record
    texts = [c for c in text_fields(kind) if c in TABLES[name].columns and c not in DECIDED_FIELDS]
    is_kept = not gives_trust(current, reverted)
    if is_kept and all(getattr(current, column) == getattr(reverted, column) for column in texts):
        return
    trusted: dict[str, list[Any]] = {column: [getattr(current, column)] if is_kept else [] for column in texts}
    given: int | None = None
    for change in _changes_since(connection, name, current.id):
        if change.record is None:
            continue
        is_trusted = not gives_trust(change.record, reverted)
        is_persons = change.origin == "person" and not change.is_revert
        for column, values in trusted.items():
            value = getattr(change.record, column)
            is_made_of_one = change.origin == "maintenance" and getattr(change.previous, column, None) in values
            if is_trusted or is_made_of_one or (is_persons and column in change.columns):
                values.append(value)
        if change.is_in_effect and change.previous is not None and gives_trust(change.previous, change.record):
            given = change.seq
    unknown = [column for column in texts if getattr(reverted, column) not in trusted[column]]
    if unknown:
        raise Conflict(
            f"Entry {entry.seq} cannot be taken back: {', '.join(unknown)} of {name} {reverted.id} would get trust that"
            " was given to another text.",
            "Look at it as it is now and decide anew" + ("." if given is None else f", or undo entry {given} first."),
            current=to_plain(current),
            attempted=to_plain(reverted),
        )


class _Change(NamedTuple):
    """One change of a record."""

    seq: int
    previous: Any
    """The record as it last was before the change, ``None`` if that is not known."""
    record: Any
    """The record after it; ``None`` where the change removed it, or its text is gone."""
    columns: Sequence[str]
    """The changed columns; all of them where the record before or after is not known."""
    origin: Origin
    is_revert: bool
    """Whether it took back another change."""
    is_in_effect: bool
    """Whether it is a change of its own, and was not taken back."""
    is_final: bool
    """Whether it removed the record, or a purge took its text."""


def _changes_since(
    connection: Connection,
    name: str,
    record_id: str,
    state: Any = None,  # noqa: ANN401 - any record
) -> Iterator[_Change]:
    """Yield the changes of a record after a state of it, or all of them, oldest first.

    They go on after a removal: the id may come back, and what others write then is theirs.
    """
    rows = connection.execute(
        "SELECT change.seq, image, removed, nonce, entry.actor, entry.channel, entry.undoes IS NOT NULL,"
        f" entry.undoes IS NULL AND NOT {IS_UNDONE.format('entry')}"
        " FROM change JOIN entry ON entry.seq = change.seq"
        " WHERE record = ? AND record_id = ? AND version > ? ORDER BY version",
        (name, record_id, 0 if state is None else state.version),
    )
    previous = state
    for seq, image, removed, nonce, actor, channel, is_revert, is_in_effect in rows:
        origin = origin_of(Author(actor=actor, channel=channel))
        is_final = nonce is None or bool(removed)
        record = None if is_final else TABLES[name].image.decode(image)
        if removed:
            columns: Sequence[str] = ()
        elif record is None or previous is None:
            columns = TABLES[name].columns
        else:
            columns = _differing_columns(name, previous, record)
        yield _Change(seq, previous, record, columns, origin, bool(is_revert), bool(is_in_effect), is_final)
        previous = previous if record is None else record


def _record_before(connection: Connection, name: str, record_id: str, version: int) -> Any:  # noqa: ANN401 - any record
    """Return the record as it was before the change that made ``version``, or ``None`` if it did not exist."""
    row = connection.execute(
        "SELECT removed, image FROM change WHERE record = ? AND record_id = ? AND version = ?",
        (name, record_id, version - 1),
    ).fetchone()
    return None if row is None or row[0] else TABLES[name].image.decode(row[1])
