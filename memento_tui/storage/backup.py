"""Copy the database while it is in use, verify a copy page by page and entry by entry, restore one."""

from __future__ import annotations

import functools
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import apsw
import msgspec

from memento_tui import clock
from memento_tui.encryption import key_id_of
from memento_tui.errors import DamagedFile, DataDirectoryError, NotFound
from memento_tui.private_files import PRIVATE_FILE_MODE
from memento_tui.regular_files import bytes_of, status_of
from memento_tui.storage import journal
from memento_tui.storage.connection import Connection, open_finished, open_for_writing
from memento_tui.storage.database import Database, newest_format
from memento_tui.storage.failures import LOG_ENDS, explain_failure
from memento_tui.storage.journal import Author
from memento_tui.storage.long_work import Progress, raise_if_stopped, stoppable
from memento_tui.storage.settings import Settings
from memento_tui.storage.statements import SELECT_SETTING, WRITE_SETTING
from memento_tui.storage.transaction import PersonGuard, Transaction, write_entry

__all__ = [
    "LOG_ENDS",
    "Progress",
    "copy_database",
    "copy_file",
    "holds_text_of",
    "journal_problem",
    "migrate_copy",
    "page_problem",
    "purge_copy",
    "read_contents",
    "restore_copy",
    "verify_copy",
    "whole_file",
]

_PAGES_PER_STEP = 2000
"""Pages of 4 kB copied between two checks whether to stop."""

_ENTRIES_PER_PROGRESS = 200
"""Journal entries that are checked between two words of progress."""


class BackupContents(msgspec.Struct, frozen=True):
    """The facts about a copy that need no full read of it."""

    head: int
    """The newest journal entry; 0 where there is none."""
    memories: int
    origin: str
    """The name of the database that it is a copy of."""
    mark: str
    """The beginning of the newest entry's hash: its number is another entry where a backup was restored meanwhile."""
    written_at: datetime | None
    """When that entry was written; ``None`` where there is none."""


class Fault(NamedTuple):
    """The reason why a copy cannot be restored."""

    sentence: str
    is_lasting: bool
    """Whether it lies in the file, so that another attempt would find the same."""


def copy_database(source: Connection, file: Path, *, progress: Progress, stop: threading.Event | None) -> None:
    """Write the state of a database that a read transaction sees to a new file that only its owner may read.

    It is encrypted as the database is. Whoever writes meanwhile goes on. The file is on the disk when this returns. A
    copy that is stopped or fails leaves no file.

    Raises:
        DataDirectoryError: the database cannot be read, or the file not be written.
        StoppedError: ``stop`` was set.

    """
    with _removed_on_failure(file):
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        # What this transaction has read is what is copied, whatever is committed meanwhile.
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        raise_if_stopped(stop)
        target = open_for_writing(file, busy_seconds=0, key_id=key_id_of(source.filename))
        try:
            target.execute("PRAGMA synchronous = OFF")  # one fsync at the end does
            _copy_pages(source, target, "Copying", progress, stop)
            # Without a log beside it the copy is one file.
            target.execute("PRAGMA journal_mode = DELETE")
        finally:
            target.close()
        with file.open("rb") as written:
            os.fsync(written.fileno())


@contextmanager
def _removed_on_failure(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _remove(file)
        raise DataDirectoryError(
            f"{file} cannot be written: {error.strerror}.", "Check the folder's permissions and the free space."
        ) from error
    except apsw.Error as error:
        _remove(file)
        raise explain_failure(error, file) from error
    except BaseException:
        _remove(file)
        raise


def _remove(file: Path) -> None:
    for name in (file, *_beside(file)):
        name.unlink(missing_ok=True)


def _beside(file: Path) -> Iterator[Path]:
    return (file.with_name(file.name + end) for end in LOG_ENDS)


def _has_log(file: Path) -> bool:
    """Tell whether a database file has a log beside it that holds a part of its content."""
    return bytes_of(*(log for log in _beside(file) if not log.name.endswith("-shm"))) > 0


@contextmanager
def whole_file(file: Path, scratch: Path) -> Iterator[Path]:
    """Hold a file that has in it all that was written to it: itself, or a copy called ``scratch`` with its log in it.

    Raises:
        DataDirectoryError: it cannot be copied, or is being written.

    """
    if not _has_log(file):
        yield file
        return
    try:
        copy_file(file, scratch)
        yield scratch
    finally:
        _remove(scratch)


def copy_file(file: Path, target: Path) -> None:
    """Copy a database that nobody has open, with its log, to one file that only its owner may read.

    Raises:
        DataDirectoryError: it cannot be read, or is being written, or the copy cannot be written.

    """
    with _removed_on_failure(target):
        before = _state(file)
        for source in (file, *_beside(file)):
            if source.exists() and not source.name.endswith("-shm"):
                copied = target.with_name(target.name + source.name.removeprefix(file.name))
                try:
                    shutil.copyfile(source, copied)
                except OSError as error:
                    said = f"{error.filename or source} cannot be copied: {error.strerror}."
                    raise DataDirectoryError(said, "Check its permissions and the free space.") from error
                copied.chmod(PRIVATE_FILE_MODE)
        if _state(file) != before:
            raise DataDirectoryError(f"{file} is being written by another program.", "Close that one first.")
        if _has_log(target):
            connection = open_for_writing(target, busy_seconds=0)
            try:
                connection.execute("PRAGMA journal_mode = DELETE").fetchone()
            finally:
                connection.close()


def _state(file: Path) -> list[tuple[str, int, int]]:
    found = [(path.name, status_of(path)) for path in (file, *_beside(file)) if not path.name.endswith("-shm")]
    return [(name, facts.st_size, facts.st_mtime_ns) for name, facts in found if facts is not None]


def _copy_pages(
    source: Connection, target: Connection, what: str, progress: Progress, stop: threading.Event | None
) -> None:
    """Replace a database's pages by another's, as one write."""
    with target.backup("main", source, "main") as copying:
        while not copying.done:
            copying.step(_PAGES_PER_STEP)
            if copying.remaining:
                raise_if_stopped(stop)  # at the end it has happened
            progress(what, copying.page_count - copying.remaining, copying.page_count)


@contextmanager
def _open_read_only(file: Path) -> Iterator[Connection]:
    """Open a finished copy as it is: nothing is written, not even a lock."""
    try:
        connection = open_finished(file)
    except apsw.Error as error:
        raise explain_failure(error, file) from error
    try:
        yield connection
    except apsw.NotADBError as error:
        raise DamagedFile(f"{file} is damaged, or no backup of memento: {error}.", "Use another backup.") from error
    except apsw.Error as error:
        raise explain_failure(error, file) from error
    finally:
        connection.close()


def read_contents(file: Path) -> BackupContents:
    """Return the contents of a copy. Raises `DataDirectoryError` if it is cut off, damaged or no copy at all."""
    with _open_read_only(file) as connection:
        pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        if pages * size > file.stat().st_size:
            raise DamagedFile(f"{file} is cut off.", "Use another backup.")
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'memory'").fetchone() is None:
            raise DamagedFile(f"{file} is empty, or no backup of memento.", "Use another backup.")
        memories, origin = connection.execute(
            "SELECT (SELECT count(*) FROM memory), (SELECT value FROM setting WHERE name = 'origin')"
        ).fetchone()
        newest = connection.execute("SELECT seq, hash, at FROM entry ORDER BY seq DESC LIMIT 1").fetchone()
    seq, mark, at = newest or (0, b"", None)
    return BackupContents(int(seq), int(memories), str(origin), mark.hex()[:16], _moment_of(at))


def _moment_of(written: object) -> datetime | None:
    """Return a moment as the journal writes it; ``None`` for anything else, as nobody has verified the copy yet."""
    try:
        return datetime.fromisoformat(str(written))
    except ValueError:
        return None


def holds_text_of(file: Path, record: str, record_id: str) -> bool:
    """Tell whether a copy holds any version of a record that was not purged from it.

    Raises:
        DataDirectoryError: it cannot be read.

    """
    query = "SELECT 1 FROM change WHERE record = ? AND record_id = ? AND image IS NOT NULL LIMIT 1"
    with _open_read_only(file) as connection:
        return connection.execute(query, (record, record_id)).fetchone() is not None


def verify_copy(file: Path, *, progress: Progress, stop: threading.Event | None) -> Fault | None:
    """Read a copy from its first page to its last entry; return the first fault, or ``None``.

    Raises:
        StoppedError: ``stop`` was set.

    """
    try:
        head = read_contents(file).head
        with _open_read_only(file) as connection:
            known = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if known > newest_format():
                return Fault(f"It was written by a newer memento (format {known}).", is_lasting=False)
            progress("Checking the pages", 0, 1)
            problem = page_problem(connection, stop)
            problem = problem or journal_problem(connection, head, progress=progress, stop=stop)
            return Fault(problem, is_lasting=True) if problem else None
    except DataDirectoryError as error:
        return Fault(error.message, is_lasting=isinstance(error, DamagedFile))


def page_problem(connection: Connection, stop: threading.Event | None = None) -> str | None:
    """Return the first thing that SQLite finds wrong with the pages of a database, or ``None``."""
    with stoppable(connection, stop):
        found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    return None if found == "ok" else f"The file is damaged: {found}."


def journal_problem(
    connection: Connection, head: int, *, progress: Progress, stop: threading.Event | None
) -> str | None:
    """Return the first fault in the journal as a sentence, or ``None``. ``head`` is its newest entry."""

    def tell(seq: int) -> None:
        if seq % _ENTRIES_PER_PROGRESS == 0 or seq == head:
            raise_if_stopped(stop)
            progress("Checking the journal", min(seq, head), head)

    with stoppable(connection, stop):
        return journal.verify_journal(connection, tell)


def purge_copy(file: Path, purge: Callable[[Database], object]) -> bool:
    """Bring a copy to the present format and purge it; tell whether there was anything to purge in it.

    Raises:
        DataDirectoryError: it is damaged, or cannot be written.

    """
    copy = Database(file, is_copy=True)
    try:
        purge(copy)
        with copy.translated():
            copy.connection.execute("PRAGMA journal_mode = DELETE")  # without a log beside it the copy is one file
    except NotFound:
        return False
    finally:
        copy.close()
    return True


def restore_copy(
    database: Database,
    file: Path,
    author: Author,
    note: str,
    *,
    kept_settings: Sequence[str],
    progress: Progress,
    stop: threading.Event | None,
) -> int:
    """Replace a database's contents by a copy's in one write; return the journal entry that records it.

    ``file`` is a copy of the copy: it is brought to the present format, and the entry is written there. Every other
    program sees either all that was there before or all that is there after; one that reads meanwhile reads on.
    ``kept_settings`` names settings that are not of the past: they stay as they are.

    Raises:
        DataDirectoryError: the database cannot be written, or another program writes for long.
        StoppedError: ``stop`` was set; nothing has changed.

    """
    present = Settings(database)
    kept = {name: functools.partial(_present_value, present, name) for name in kept_settings}
    seq = migrate_copy(file, author, note, settings=kept)
    try:
        raise_if_stopped(stop)
        source = open_for_writing(file, busy_seconds=0)
        try:
            database.forget_last_known()
            with database.translated():
                _copy_pages(source, database.connection, "Restoring", progress, stop)
        finally:
            source.close()
    finally:
        _remove(file)
    _truncate_log(database)
    database.note_last_known()
    return seq


def _present_value(settings: Settings, name: str, _: str | None) -> str | None:
    return settings.get(name)


def migrate_copy(
    file: Path, author: Author, note: str, *, settings: Mapping[str, Callable[[str | None], str | None]]
) -> int:
    """Bring a copy to the present format and write into its journal that it was restored; return that entry.

    ``settings`` gives the new value of some settings for the one in the copy; ``None`` is no value.
    """
    copy = Database(file, is_copy=True)
    try:
        with copy.writing() as connection:
            for name, change in settings.items():
                row = connection.execute(SELECT_SETTING, (name,)).fetchone()
                value = change(None if row is None else str(row[0]))
                connection.execute("DELETE FROM setting WHERE name = ?", (name,))
                if value is not None:
                    connection.execute(WRITE_SETTING, (name, value))
            tx = Transaction(connection, clock.now(), PersonGuard(author))
            write_entry(copy, tx, author, "restore backup", note=note, batch="", undoes=None)
        with copy.translated():
            copy.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        copy.close()
    return tx.seq


def _truncate_log(database: Database) -> None:
    """Move the restored pages from the log into the file, unless a reader needs an older state; those move later."""
    with database.translated():
        database.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
