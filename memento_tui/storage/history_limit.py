"""Let go of the texts of earlier versions, by the person's limit; that there were versions, and whose, stays.

A version's text is dropped as a purge removes one: its image and its nonce are emptied, its digest stays, and so every
hash of the chain. An entry names the versions that were dropped, so that any other text that is missing is found
(`memento_tui.storage.journal`). A purge empties a record's first version too, this never does: by that both are told
apart.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from memento_tui.model.validation import new_id
from memento_tui.moments import format_moment
from memento_tui.storage.backup import Progress
from memento_tui.storage.connection import Connection
from memento_tui.storage.database import Database
from memento_tui.storage.journal import LIMITED_HISTORY, REWRITTEN_ENTRY, Author, Change
from memento_tui.storage.long_work import raise_if_stopped
from memento_tui.storage.statements import OPEN_PROPOSALS
from memento_tui.storage.transaction import PersonGuard, Transaction, transaction

__all__ = ["LIMIT_ACTION", "DroppedVersions", "HistoryLimit", "drop_versions", "is_dropped", "is_shared"]

LIMIT_ACTION = "limit history"
"""The action of the entries that say which versions were dropped."""

_RECORDS_AT_ONCE = 200
"""Records whose versions are dropped in one write: others wait for it some ten milliseconds."""


class HistoryLimit(NamedTuple):
    """Which versions of a record keep their texts, besides the first."""

    newest: int
    """So many of the newest; at least 1."""
    since: datetime
    """And those that were written after this moment."""


class DroppedVersions(NamedTuple):
    """The outcome of a limit."""

    versions: int
    """Versions whose texts were dropped."""
    size: int
    """The bytes that these took."""


_SELECT_LONG = (
    "SELECT record, record_id FROM stored_change WHERE nonce IS NOT NULL AND NOT removed"
    f" AND record NOT IN ('{REWRITTEN_ENTRY}', '{LIMITED_HISTORY}')"
    " GROUP BY record, record_id HAVING count(*) > ? + 1"
)
_SELECT_OLD = (
    "SELECT version, coalesce(length(packed), length(CAST(image AS BLOB)), 0) FROM stored_change AS old"
    " JOIN entry ON entry.seq = old.seq"
    " WHERE record = :record AND record_id = :id AND nonce IS NOT NULL AND NOT removed AND version > 1 AND at < :since"
    " AND version < (SELECT version FROM stored_change WHERE record = :record AND record_id = :id"
    " ORDER BY version DESC LIMIT 1 OFFSET :newest - 1)"
    # What its source had is compared with, when that is imported again.
    " AND NOT EXISTS (SELECT 1 FROM import_ledger AS known WHERE known.record = old.record"
    " AND known.record_id = old.record_id AND known.version = old.version AND known.said IS NULL)"
    # A status that was changed is gone back to: by a release from quarantine, by a restoring of what was deleted.
    " AND NOT EXISTS (SELECT 1 FROM change AS before, change AS after"
    " WHERE before.record = old.record AND before.record_id = old.record_id AND before.version = old.version"
    " AND after.record = old.record AND after.record_id = old.record_id AND after.version = old.version + 1"
    " AND json_extract(before.image, '$.status') IS NOT json_extract(after.image, '$.status'))"
    # What waits for a decision is compared with the versions that it was made from.
    f" AND NOT EXISTS (SELECT 1 FROM proposal WHERE state IN {OPEN_PROPOSALS}"
    " AND (target_id = old.record_id OR instr(payload, old.record_id) OR instr(evidence, old.record_id)))"
    " AND NOT EXISTS (SELECT 1 FROM contradiction WHERE status <> 'resolved' AND old.record_id IN (older, newer))"
)
_STORE_WHOLE = (
    "UPDATE stored_change SET base = NULL, packed = NULL, image = (SELECT image FROM change"
    " WHERE change.seq = stored_change.seq AND change.ordinal = stored_change.ordinal)"
    " WHERE record = :record AND record_id = :id AND packed IS NOT NULL"
    " AND base IN (SELECT value FROM json_each(:versions)) AND version NOT IN (SELECT value FROM json_each(:versions))"
)
"""Stores whole the images that stay but are packed against versions that go."""

_EMPTY = (
    "UPDATE stored_change SET image = NULL, nonce = NULL, base = NULL, packed = NULL"
    " WHERE record = :record AND record_id = :id AND version IN (SELECT value FROM json_each(:versions))"
)


def is_shared(connection: Connection) -> bool:
    """Tell whether the database is in a hub: records are merged by versions of any age."""
    return connection.execute("SELECT 1 FROM hub_record LIMIT 1").fetchone() is not None


def drop_versions(
    database: Database,
    author: Author,
    limit: HistoryLimit,
    *,
    dry_run: bool,
    progress: Progress,
    stop: threading.Event | None,
) -> DroppedVersions:
    """Remove the texts of versions beyond a limit; with ``dry_run`` only count them.

    Raises:
        NotAllowed: an agent asks for more than ``dry_run``.
        DataDirectoryError: the database cannot be written.
        StoppedError: ``stop`` was set; what was dropped by then is named in the journal.

    """
    batch, total = new_id(), DroppedVersions(0, 0)
    with database.reading() as connection:
        records = connection.execute(_SELECT_LONG, (limit.newest,)).fetchall()
    for place in range(0, len(records), _RECORDS_AT_ONCE):
        raise_if_stopped(stop)
        progress("Letting go", place, len(records))
        part = records[place : place + _RECORDS_AT_ONCE]
        if dry_run:
            with database.reading() as connection:
                found = [_old_versions(connection, record, record_id, limit) for record, record_id in part]
        else:
            with transaction(database, author, LIMIT_ACTION, guard=PersonGuard(author), batch=batch) as tx:
                found = [_drop(tx, record, record_id, limit) for record, record_id in part]
        gone = [row for rows in found for row in rows]
        total = DroppedVersions(total.versions + len(gone), total.size + sum(size for _, size in gone))
    return total


def _old_versions(connection: Connection, record: str, record_id: str, limit: HistoryLimit) -> list[tuple[int, int]]:
    """Return the versions of a record that are to be dropped, each with its bytes."""
    given = {"record": record, "id": record_id, "since": format_moment(limit.since), "newest": limit.newest}
    return [(int(version), int(size)) for version, size in connection.execute(_SELECT_OLD, given)]


def _drop(tx: Transaction, record: str, record_id: str, limit: HistoryLimit) -> list[tuple[int, int]]:
    old = _old_versions(tx.connection, record, record_id, limit)
    if old:
        versions = sorted(version for version, _ in old)
        given = {"record": record, "id": record_id, "versions": msgspec.json.encode(versions).decode()}
        tx.connection.execute(_STORE_WHOLE, given)
        tx.connection.execute(_EMPTY, given)
        image = msgspec.json.encode({"record": record, "id": record_id, "versions": versions}).decode()
        name = f"{record} {record_id}"
        tx.changes.append(Change(LIMITED_HISTORY, name, versions[-1], removed=False, image=image))
    return old


_SELECT_FIRST = "SELECT nonce IS NOT NULL FROM stored_change WHERE record = ? AND record_id = ? AND version = 1"


def is_dropped(connection: Connection, changes: Sequence[tuple[str, str]]) -> bool:
    """Tell whether texts that are missing were dropped by a limit, and not purged: each is of a kind and an id."""
    found = (connection.execute(_SELECT_FIRST, change).fetchone() for change in changes)
    return any(row is not None and row[0] for row in found)
