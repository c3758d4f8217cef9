"""Make the database's file smaller without losing anything: pack images that are stored whole, return free pages."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil

import apsw
import msgspec

from memento_tui.encryption import key_id_of
from memento_tui.errors import DataDirectoryError
from memento_tui.regular_files import bytes_of
from memento_tui.storage.backup import Progress
from memento_tui.storage.connection import BUSY_SECONDS, Connection
from memento_tui.storage.database import Database
from memento_tui.storage.journal import packed_if_smaller
from memento_tui.storage.long_work import raise_if_stopped

__all__ = ["Compaction", "compact_database"]

_RECORDS_AT_ONCE = 200
"""Records whose images are packed in one write: others wait for it some ten milliseconds."""

_ROOM = 2
"""How many times the size of the file has to be free: it is written anew, once into the log and once beside it."""

_CHECKPOINT_SECONDS = 0.5
"""How long whoever reads an older state is waited for, to take the log into the file: every writer waits too."""

_SELECT_RECORDS = (
    "SELECT record, record_id FROM stored_change WHERE image IS NOT NULL GROUP BY record, record_id HAVING count(*) > 1"
)
_SELECT_VERSIONS = (
    "SELECT version, image, base, seq, ordinal FROM stored_change WHERE record = ? AND record_id = ?"
    " AND nonce IS NOT NULL AND NOT removed ORDER BY version"
)
_PACK = "UPDATE stored_change SET image = NULL, base = ?, packed = ? WHERE seq = ? AND ordinal = ?"


_SELECT_TREES = (
    "SELECT name, name IN (SELECT name FROM sqlite_schema WHERE type = 'index'), pgsize, unused, payload"
    " FROM dbstat WHERE aggregate = 1"
)
_INDEX_ROOM, _TABLE_ROOM = 1.1, 1.25
"""The most that the pages of a rewritten index and table take, as a factor of their content.

Rows of a table are long and may go on in pages of their own, so more is left unused. Measured on databases of 300 and
600 memories of 300 and 2,500 characters that were edited twice to four times.
"""


class Compaction(msgspec.Struct, frozen=True):
    """The outcome of making a database smaller."""

    before: int
    """Bytes of the database and its log."""
    after: int
    """Bytes afterwards; in a dry run as far as they can be told."""
    packed: int
    """Images of earlier versions that were stored whole, and are not any more."""
    dry_run: bool
    is_read: bool = False
    """Whether another program is reading an older state, so that the file shrinks only when that ends."""


def compact_database(
    database: Database, *, dry_run: bool, progress: Progress, stop: threading.Event | None
) -> Compaction:
    """Pack the images that are stored whole but differ little from another version, and rewrite the file.

    Others go on reading, and writing but while the file is written anew. Nothing that anybody reads changes: every
    image and every digest of the journal is what it was. What is killed has lost nothing, and can be begun again.

    Raises:
        DataDirectoryError: there is no room for a second copy of the file, or it cannot be written.
        ReadOnlyMode: nothing is to be written.
        StoppedError: ``stop`` was set; what was packed is packed.

    """
    before = _file_bytes(database)
    if not dry_run:
        database.check_writable()
        _check_room(database, before)
    with database.reading() as connection:
        records = connection.execute(_SELECT_RECORDS).fetchall()
    packed, saved = 0, 0
    for place in range(0, len(records), _RECORDS_AT_ONCE):
        raise_if_stopped(stop)
        progress("Packing", place, len(records))
        batch = records[place : place + _RECORDS_AT_ONCE]
        with database.reading() if dry_run else database.writing() as connection:
            rows = [row for record, record_id in batch for row in _packable(connection, record, record_id)]
            if not dry_run:
                connection.executemany(_PACK, [row[1:] for row in rows])
        packed += len(rows)
        saved += sum(row[0] for row in rows)
    raise_if_stopped(stop)
    if dry_run:
        return Compaction(before, min(before, _bytes_anew(database, saved)), packed, dry_run=True)
    progress("Writing the file anew", 0, 1)
    is_read = _write_anew(database)
    progress("Writing the file anew", 1, 1)
    return Compaction(before, _file_bytes(database), packed, dry_run=False, is_read=is_read)


def _write_anew(database: Database) -> bool:
    """Write the file without free pages; return whether another program reads a state that is still in the log."""
    with database.translated():
        try:
            with _temporary_files_beside(database):
                database.connection.execute("VACUUM")
        except apsw.FullError as error:
            raise DataDirectoryError(
                f"The disk that holds {database.path.parent} became full while the file was written anew. Nothing is"
                " lost: what was packed stays packed, and the file is as it was.",
                "Free some space and compact again.",
            ) from error
        with _busy_timeout(database.connection, _CHECKPOINT_SECONDS):
            return bool(database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])


@contextmanager
def _busy_timeout(connection: Connection, seconds: float) -> Iterator[None]:
    """Let the statements of a block wait that long for others, and not as long as any writer does."""
    connection.set_busy_timeout(round(seconds * 1000))
    try:
        yield
    finally:
        connection.set_busy_timeout(round(BUSY_SECONDS * 1000))


@contextmanager
def _temporary_files_beside(database: Database) -> Iterator[None]:
    """Let SQLite keep its temporary files in the data directory, not in memory or in a folder of all users.

    It does not encrypt those: of an encrypted database they stay in memory.
    """
    if key_id_of(database.path):
        yield
        return
    connection = database.connection
    connection.execute("PRAGMA temp_store = FILE")
    connection.execute(f"PRAGMA temp_store_directory = {apsw.format_sql_value(str(database.path.parent.absolute()))}")
    try:
        yield
    finally:
        connection.execute("PRAGMA temp_store_directory = ''")
        connection.execute("PRAGMA temp_store = MEMORY")


def _packable(connection: Connection, record: str, record_id: str) -> Iterator[tuple[int, int, bytes, int, int]]:
    """Yield for each image of a record that is worth packing the bytes saved, and the values of `_PACK`."""
    versions = connection.execute(_SELECT_VERSIONS, (record, record_id)).fetchall()
    needed = {base for _, _, base, _, _ in versions}
    whole: tuple[int, str] | None = None
    for version, image, _, seq, ordinal in versions:
        if image is None:
            continue
        packed = None if whole is None or version in needed else packed_if_smaller(image, whole[1])
        if whole is None or packed is None:
            whole = (version, image)
        else:
            yield len(image.encode()) - len(packed), whole[0], packed, seq, ordinal


def _file_bytes(database: Database) -> int:
    return bytes_of(database.path, database.path.with_name(f"{database.path.name}-wal"))


def _bytes_anew(database: Database, saved: int) -> int:
    """Return about how many bytes the file will take, written anew, once ``saved`` bytes of images are packed away."""
    with database.reading() as connection:
        page = int(connection.execute("PRAGMA page_size").fetchone()[0])
        trees = connection.execute(_SELECT_TREES).fetchall()
    total = 0
    for name, is_index, size, unused, payload in trees:
        kept = min(size, (size - unused) * (_INDEX_ROOM if is_index else _TABLE_ROOM))
        # The room that is left in a page is what the next row does not fit into: it shrinks with the rows.
        if name == "stored_change" and payload:
            kept *= 1 - saved / payload
        total += page * max(1, ceil(kept / page))
    return total


def _check_room(database: Database, size: int) -> None:
    free = shutil.disk_usage(database.path.parent).free
    if free < _ROOM * size:
        raise DataDirectoryError(
            f"There is no room to write {database.path} anew: that takes {_ROOM * size / 1e6:,.0f} MB for a while, and"
            f" {free / 1e6:,.0f} are free. Nothing was changed.",
            "Free some space; `memento backup rm` removes older backups.",
        )
