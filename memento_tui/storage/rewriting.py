"""Write a database anew with another key or with none, and put it in the place of the one before."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import zip_longest
from pathlib import Path

import apsw

from memento_tui.encryption import key_id_of, read_key
from memento_tui.errors import DataDirectoryError, LockedWorkspace, NotAllowed
from memento_tui.private_files import make_private_file
from memento_tui.storage.backup import page_problem
from memento_tui.storage.backup_folder import sync_directory
from memento_tui.storage.connection import Connection, open_alone, open_finished, vacuum_target
from memento_tui.storage.database import add_functions
from memento_tui.storage.failures import explain_failure
from memento_tui.storage.long_work import Progress, raise_if_stopped, stoppable

__all__ = ["UNFINISHED", "remove_unfinished", "rewrite_database"]

UNFINISHED = ".part"
"""The end of the name of a file that is not in its place yet."""

_BUSY_SECONDS = 2.0
"""How long another program is waited for that is about to end."""

_ROWS_PER_PROGRESS = 20_000
_OVERWRITTEN_AT_ONCE = 1 << 20
"""Bytes."""


def rewrite_database(
    file: Path,
    key_id: str,
    *,
    before_swap: Callable[[], object] = lambda: None,
    progress: Progress,
    stop: threading.Event | None = None,
) -> None:
    """Write a database anew, encrypted with the unlocked key ``key_id``, or in clear where that is empty.

    No other program may have it open. Every row of the new file is compared with the old one, and ``before_swap``
    called, before the new file takes its place in one step: whoever is ended at any moment leaves the one or the
    other, whole. What the old file held is overwritten, as far as its disk lets it be.

    Raises:
        NotAllowed: another program has it open.
        LockedWorkspace: one of the keys is locked.
        DataDirectoryError: it is damaged, or there is no room for the new file.
        StoppedError: ``stop`` was set; nothing has changed.

    """
    if key_id and read_key(key_id) is None:
        raise LockedWorkspace(file, key_id)
    made = file.with_name(f"{file.name}{UNFINISHED}")
    remove_unfinished(file)
    try:
        with _explained(file), _held_alone(file) as source:
            # Opened before it is replaced; closed after SQLite has closed it too, whose locks go with it.
            old = os.open(file, os.O_RDWR)
            try:
                _write(source, made, key_id, progress, stop)
                _compare(source, made, progress, stop)
                raise_if_stopped(stop)
                before_swap()
                made.replace(file)
                sync_directory(file.parent)
                _overwrite(old)
            finally:
                source.close()
                os.close(old)
    finally:
        made.unlink(missing_ok=True)


def remove_unfinished(file: Path) -> None:
    """Remove the unfinished files of a program that was ended while it rewrote a database. Raises `OSError`."""
    for left in file.parent.glob(f"{file.name}{UNFINISHED}*"):
        left.unlink(missing_ok=True)


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        raise explain_failure(error, file) from error
    except OSError as error:
        raise DataDirectoryError(
            f"{error.filename or file} cannot be written: {error.strerror}.",
            "Check its permissions and the free space. The database is as it was.",
        ) from error


@contextmanager
def _held_alone(file: Path) -> Iterator[Connection]:
    """Hold a database that has no log any more, and that nobody else can read or write until it is closed."""
    connection = open_alone(file, busy_seconds=_BUSY_SECONDS)
    try:
        add_functions(connection)
        try:
            # SQLite gives the log up for whoever is alone; the lock that follows stays until the end.
            connection.execute("PRAGMA journal_mode = DELETE").fetchone()
            connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchone()
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
        except (apsw.BusyError, apsw.LockedError):
            raise NotAllowed(
                f"Another program has {file} open.",
                "Close the app and end the agents' sessions; `memento hub` and `memento serve` too. Then try again.",
            ) from None
        yield connection
    finally:
        connection.close()


def _write(source: Connection, made: Path, key_id: str, progress: Progress, stop: threading.Event | None) -> None:
    progress("Writing the file anew", 0, 1)
    make_private_file(made)
    with stoppable(source, stop):
        source.execute("VACUUM INTO ?", (vacuum_target(made, key_id),))
    with made.open("rb") as written:
        os.fsync(written.fileno())
    progress("Writing the file anew", 1, 1)
    if key_id_of(made) != key_id:
        raise DataDirectoryError(f"{made} was not written as it should be.", "Nothing was changed.")


def _compare(source: Connection, made: Path, progress: Progress, stop: threading.Event | None) -> None:
    """Compare two databases row by row.

    Raises:
        DataDirectoryError: they differ, or the pages of the new one are not in order.

    """
    copy = open_finished(made)
    try:
        add_functions(copy)
        problem = page_problem(copy, stop) or _difference(source, copy, progress, stop)
    finally:
        copy.close()
    if problem:
        raise DataDirectoryError(f"The new file is not what the old one was: {problem}", "Nothing was changed.")


def _difference(source: Connection, copy: Connection, progress: Progress, stop: threading.Event | None) -> str | None:
    schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"
    if source.execute(schema).fetchall() != copy.execute(schema).fetchall():
        return "its tables differ."
    for name in ("user_version", "application_id"):
        if source.execute(f"PRAGMA {name}").fetchall() != copy.execute(f"PRAGMA {name}").fetchall():
            return f"its {name} differs."
    tables = [row[1] for row in source.execute(schema) if row[0] == "table"]
    for place, table in enumerate(tables):
        progress("Comparing the two", place, len(tables))
        query = f"SELECT * FROM {apsw.format_sql_value(table)}"
        both = zip_longest(source.execute(query), copy.execute(query))
        for number, (old, new) in enumerate(both):
            if old != new:
                return f"row {number + 1} of {table} differs."
            if number % _ROWS_PER_PROGRESS == 0:
                raise_if_stopped(stop)
    progress("Comparing the two", len(tables), len(tables))
    return None


def _overwrite(descriptor: int) -> None:
    """Write zeros over a file that has no name any more; a disk that cannot do that has freed it already.

    One that another name leads to is somebody's copy, and stays.
    """
    if os.fstat(descriptor).st_nlink:
        return
    with suppress(OSError):
        _write_zeros(descriptor)


def _write_zeros(descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    for start in range(0, size, _OVERWRITTEN_AT_ONCE):
        os.pwrite(descriptor, bytes(min(_OVERWRITTEN_AT_ONCE, size - start)), start)
    os.fsync(descriptor)
