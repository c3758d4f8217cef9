"""Open, check and migrate the SQLite file: a connection for each thread, one transaction at a time."""

from __future__ import annotations

import importlib.resources
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources.abc import Traversable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import apsw

from memento_tui.encryption import is_unlocked
from memento_tui.errors import DataDirectoryError, InvalidInput, LostData, ReadOnlyMode
from memento_tui.model.validation import fold_tag, new_id
from memento_tui.private_files import make_private_file
from memento_tui.regular_files import bytes_of
from memento_tui.storage.connection import (
    BUSY_SECONDS,
    Connection,
    open_finished,
    open_for_writing,
    open_without_writing,
)
from memento_tui.storage.failures import explain_failure, is_disk_full
from memento_tui.storage.last_known import (
    LastKnown,
    find_loss,
    forget_last_known,
    note_last_known,
    read_last_known,
)
from memento_tui.storage.long_work import Progress, no_progress

__all__ = [
    "PRAGMAS",
    "Database",
    "add_functions",
    "newest_format",
]

_RETRY_SECONDS = 0.005


PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    # FULL: an acknowledged write survives a power cut, not only a killed process.
    "PRAGMA synchronous = FULL",
    "PRAGMA temp_store = MEMORY",
    # A log of 16 MB: pages that many commits touch are then copied into the database once.
    "PRAGMA wal_autocheckpoint = 4000",
    # Text that was replaced is overwritten at once: a purge finds no copies of it in pages that are free by now.
    "PRAGMA secure_delete = ON",
)


@cache
def _migrations() -> list[tuple[int, Traversable]]:
    """Return the scripts that make each format out of the one before, oldest first; most openings read none of them."""
    folder = importlib.resources.files("memento_tui.storage.migrations")
    return sorted((int(entry.name[:4]), entry) for entry in folder.iterdir() if entry.name.endswith(".sql"))


def newest_format() -> int:
    """Return the number of the newest form of the database that this memento knows."""
    return _migrations()[-1][0]


@dataclass(slots=True)
class _ThreadConnection:
    """The connection of one thread, and the number of blocks that use it now."""

    thread: threading.Thread
    sqlite: Connection
    stands: tuple[int, int] | None = None
    """The size and time of a file that is read as it stands, without its log; ``None`` where SQLite follows it."""
    uses: int = 0
    is_due_to_close: bool = False
    is_closed: bool = False

    def close(self) -> None:
        """Close it, or leave that to the last block that uses it.

        SQLite crashes where a connection is closed while a query of another thread runs on it.
        """
        if self.uses:
            self.is_due_to_close = True
        else:
            self.sqlite.close()
            self.is_closed = True


def _was_locked(connection: Connection) -> bool:
    """Tell whether the person has locked an encrypted database since; a transaction that has begun goes to its end."""
    return bool(connection.key_id) and not connection.in_transaction and not is_unlocked(connection.key_id)


def _holds_past_state(connection: Connection) -> bool:
    """Tell whether a statement that was not read to its end keeps the connection in the state that it began with.

    SQLite does not let go of that state at the end of the transaction, nor when the statement is finished.
    """
    return not connection.in_transaction and connection.txn_state("main") != apsw.SQLITE_TXN_NONE


_MIGRATING = "Bringing the database to the present format"


class Database:
    """One database file, with a connection for each thread that uses it.

    With ``read_only`` nothing is written at all, while others may write. ``before_migration`` is called before an older
    format is brought to the present one, while nobody else can write, and ``progress`` with the steps of that.

    Raises:
        LostData: it is not what the directory held; a copy elsewhere (``is_copy``) is not asked.
        DataDirectoryError: the file is missing (without ``create``), damaged, unreadable or from a newer version.

    """

    def __init__(
        self,
        path: Path,
        *,
        create: bool = True,
        is_copy: bool = False,
        read_only: bool = False,
        before_migration: Callable[[], object] = lambda: None,
        progress: Progress = no_progress,
    ) -> None:
        self._begin(path, is_copy=is_copy, read_only=read_only, before_migration=before_migration, progress=progress)
        known = None if is_copy else read_last_known(path)
        if not self._is_there():
            self._check_loss(known, None)
            if read_only or not create:
                raise DataDirectoryError(
                    f"There is no memento data in {path.parent}.",
                    "Check the path; `memento add`, `memento import` or the app itself begin a new one.",
                )
            self._make_files()
        self._check_loss(known, self.connection)
        self.migrate()
        self.note_last_known()

    def _begin(
        self,
        path: Path,
        *,
        is_copy: bool,
        read_only: bool = False,
        before_migration: Callable[[], object] = lambda: None,
        progress: Progress = no_progress,
    ) -> None:
        """Set the state of a database that has no connection yet."""
        self.path = path
        self.is_read_only = read_only
        """Whether nothing is written, to the database or beside it."""
        self._is_copy = is_copy
        self._before_migration = before_migration
        self._progress = progress
        self._noted_entry = 0
        self._noting = threading.Lock()
        self.after_entry: Callable[[Connection, int], object] = lambda _connection, _before: None
        """Called after each write that made a journal entry, with the number of the entry before it."""
        self._local = threading.local()
        self._connections: list[_ThreadConnection] = []
        self._guard = threading.Lock()
        self._is_closed = False

    def _check_loss(self, known: LastKnown | None, connection: Connection | None) -> None:
        """Raise `LostData` where the database is not the directory's last known one; not for one on a read-only medium.

        SQLite does not read the log of a database on a read-only medium.
        """
        if connection is not None and connection.readonly("main"):
            return
        with nullcontext() if connection is None else self.translated():
            said, hint = find_loss(self.path, known, connection)
        if said:
            self.close()
            raise LostData(said, hint)

    def note_last_known(self) -> None:
        """Write the number and hash of the newest entry to a file beside the database; see `storage.last_known`."""
        if not self._is_copy and not self.is_read_only:
            with self.translated():
                self._note_entry(self.connection)

    def _note_entry(self, connection: Connection) -> tuple[int, int]:
        """Note the newest entry; return the number of the one noted before, and its own: none twice."""
        with self._noting:
            before = self._noted_entry
            self._noted_entry = note_last_known(self.path, connection, before)
            return before, self._noted_entry

    def forget_last_known(self) -> None:
        """Let another state be put in place of this one. Raises `OSError`."""
        with self._noting:
            forget_last_known(self.path)
            self._noted_entry = 0

    def _is_there(self) -> bool:
        try:
            str(self.path).encode()
        except UnicodeEncodeError:
            raise DataDirectoryError(
                f"The path {self.path} is not UTF-8, and that of a database has to be.",
                "Give the directory another name, or name another with --data-dir or MEMENTO_HOME."
                " If its name is UTF-8, set a locale that is, such as LC_ALL=C.UTF-8.",
            ) from None
        try:
            return self.path.exists()
        except OSError as error:
            raise DataDirectoryError(
                f"{self.path} cannot be reached: {error.strerror}.",
                "Check that you may read the data directory, or name another with --data-dir or MEMENTO_HOME.",
            ) from error

    def _make_files(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Made here, and not by SQLite, which asks the umask; its log has the mode of the database.
            make_private_file(self.path)
        except OSError as error:
            raise DataDirectoryError(
                f"{error.filename or self.path.parent} cannot be made: {error.strerror}.",
                "Name another with --data-dir or MEMENTO_HOME.",
            ) from error

    @property
    def connection(self) -> Connection:
        """The connection of the calling thread, to be used inside `translated`, `reading` or `writing`."""
        return self._own().sqlite

    def _own(self) -> _ThreadConnection:
        own: _ThreadConnection | None = getattr(self._local, "connection", None)
        if own is not None and own.stands and not own.uses and own.stands != self._standing():
            own.close()
        if own is not None and not own.is_closed and _was_locked(own.sqlite):
            own.close()
        if own is not None and not own.is_closed and not own.uses and _holds_past_state(own.sqlite):
            own.close()
        if own is None or own.is_closed:
            stands = self._standing() if self.is_read_only else None
            own = self._local.connection = _ThreadConnection(threading.current_thread(), self._connect(), stands)
            with self._guard:
                self._close_orphans()
                self._connections.append(own)
        return own

    def _standing(self) -> tuple[int, int] | None:
        """Return the size and time of a file that has no log; ``None`` where another program has it open."""
        if self.path.with_name(f"{self.path.name}-wal").exists():
            return None
        try:
            facts = self.path.stat()
        except OSError:
            return None  # opening it says why
        return facts.st_size, facts.st_mtime_ns

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Keep the connection of the calling thread open for the length of the block."""
        own = self._own()
        with self._guard:
            own.uses += 1
        try:
            yield
        finally:
            with self._guard:
                own.uses -= 1
                if own.is_due_to_close:
                    own.close()

    def _connect(self) -> Connection:
        if self.path.is_fifo():  # to open it would wait for its writer
            raise DataDirectoryError(f"{self.path} is a pipe. memento does not use the directory.", "Remove it.")
        if self.is_read_only:
            made = self._connect_without_writing()
            add_functions(made)
            return made
        try:
            made = _open_configured(self.path)
        except apsw.Error as error:
            # A database on a read-only medium whose log was never made, or on a full disk, which has no room for what
            # several programs share of the log, cannot even be opened the usual way.
            is_closed = isinstance(error, (apsw.ReadOnlyError, apsw.CantOpenError)) or is_disk_full(self.path)
            if not is_closed or not self.path.is_file():
                raise explain_failure(error, self.path) from error
            made = self._connect_reading()
        add_functions(made)
        return made

    def _connect_without_writing(self) -> Connection:
        try:
            made = open_without_writing(self.path, busy_seconds=BUSY_SECONDS)
            made.execute("SELECT 1 FROM sqlite_schema LIMIT 1")
        except apsw.CantOpenError as error:
            if self.path.with_name(f"{self.path.name}-shm").exists() or not self.path.exists():
                raise explain_failure(error, self.path) from error
            raise DataDirectoryError(
                f"{self.path} has a log that was not taken into it, and read-only nothing may be mended.",
                "Start memento once without --read-only and MEMENTO_READ_ONLY.",
            ) from error
        except apsw.Error as error:
            raise explain_failure(error, self.path) from error
        return made

    def _connect_reading(self) -> Connection:
        """Open a file on a read-only medium or a full disk, for reading alone."""
        try:
            made = self._connect_alone() or open_finished(self.path)
            made.execute("SELECT 1 FROM sqlite_schema LIMIT 1")
        except apsw.Error as error:
            raise explain_failure(error, self.path) from error
        return made

    def _connect_alone(self) -> Connection | None:
        """Open a file with a log on a full disk, so that nothing has to be shared about the log; others wait.

        ``None`` where there is no log, or the file is on a read-only medium.
        """
        log = self.path.with_name(f"{self.path.name}-wal")
        if not is_disk_full(self.path) or not bytes_of(log):
            return None
        return open_for_writing(self.path, busy_seconds=BUSY_SECONDS, alone=True)

    def migrate(self) -> None:
        """Bring the schema to the present version."""
        steps = _migrations()
        newest = steps[-1][0]
        with self.translated():
            found = int(self.connection.execute("PRAGMA user_version").fetchone()[0])
        if found > newest:
            raise DataDirectoryError(
                f"{self.path} was written by a newer memento (format {found}; this one knows {newest}).",
                "Update memento: pip install --upgrade memento-tui. Nothing was changed.",
            )
        if found == newest:
            return
        if self.is_read_only:
            raise DataDirectoryError(
                f"{self.path} was written by an older memento (format {found}; this one writes {newest}).",
                "Start memento once without --read-only and MEMENTO_READ_ONLY: it brings the file up to date.",
            )
        with self.writing() as connection:
            # Another process may have migrated while this one waited for the lock.
            found = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if 0 < found < newest:
                self._before_migration()
            for number, script in steps:
                if number > found:
                    if found:  # a new one is made at once
                        self._progress(_MIGRATING, number - found - 1, newest - found)
                    for statement in _split_statements(script.read_text(encoding="utf-8")):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("INSERT OR IGNORE INTO setting VALUES ('origin', ?)", (new_id(),))

    @cached_property
    def origin(self) -> str:
        """The random name of this database, which every journal entry made here carries."""
        with self.translated():
            row = self.connection.execute("SELECT value FROM setting WHERE name = 'origin'").fetchone()
        return str(row[0])

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn SQLite's errors into sentences, and those about values that it cannot hold."""
        try:
            with self._in_use():
                yield
        except apsw.Error as error:
            raise explain_failure(error, self.path) from error
        except UnicodeDecodeError as error:
            raise explain_failure(apsw.CorruptError("a text in it is not UTF-8"), self.path) from error
        except UnicodeEncodeError as error:
            raise InvalidInput(f"The text {error.object!r:.60} is not UTF-8.", "Convert it to UTF-8 first.") from error
        except OverflowError as error:
            raise InvalidInput("A number is too large for the database.") from error

    def check_writable(self) -> None:
        """Raise `ReadOnlyMode` where nothing is to be written, and `DataDirectoryError` once the database is closed."""
        if self.is_read_only:
            raise ReadOnlyMode
        if self._is_closed:
            raise DataDirectoryError(
                f"{self.path.parent} was closed, so nothing is written to it any more.", "Open the workspace again."
            )

    @contextmanager
    def writing(self, *, waits_for_disk: bool = True) -> Iterator[Connection]:
        """Hold the one write lock for a transaction: committed when the block ends, undone when it raises.

        Within `joined_writes` it is committed with the others. One that does not wait for the disk survives the end of
        the process at once, and a power cut from the next on that waits.

        Raises:
            ReadOnlyMode: nothing is to be written.
            DataDirectoryError: it was closed.

        """
        self.check_writable()
        with self.translated():
            connection = self.connection
            if getattr(self._local, "joins_writes", False):
                with _savepoint(connection):
                    yield connection
                return
            with nullcontext() if waits_for_disk else _without_wait(connection):
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    self._commit(connection)
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")

    @contextmanager
    def joined_writes(self) -> Iterator[None]:
        """Commit this thread's writes in the block together, with one wait for the disk; other writers wait meanwhile.

        Each write is whole by itself: one that raises is undone alone, and those before it hold. Raises `ReadOnlyMode`.
        """
        self.check_writable()
        with self.translated():
            connection = self.connection
            connection.execute("BEGIN IMMEDIATE")
            self._local.joins_writes = True
            try:
                yield
            finally:
                self._local.joins_writes = False
                if connection.in_transaction:  # SQLite itself undoes all where the disk is full
                    self._commit(connection)

    def _commit(self, connection: Connection) -> None:
        connection.execute("COMMIT")
        if not self._is_copy:
            before, noted = self._note_entry(connection)
            if noted != before:
                self.after_entry(connection, before)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """See one state of the database for the length of the block."""
        with self.translated():
            connection = self.connection
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    def _close_orphans(self) -> None:
        """Close the connections of threads that have ended."""
        for one in self._connections:
            if not one.thread.is_alive():
                one.close()
        self._connections = [one for one in self._connections if one.thread.is_alive()]

    def close(self) -> None:
        """Close the connections of all threads; one that another thread is using, as soon as it is done.

        Nothing can be written afterwards. A thread that still reads opens a connection of its own.
        """
        self._is_closed = True
        with self._guard:
            for one in self._connections:
                one.close()
            self._connections.clear()


@contextmanager
def _without_wait(connection: Connection) -> Iterator[None]:
    """Let SQLite acknowledge the block's transaction as soon as its log has it, on the disk or not."""
    level = connection.pragma("synchronous")
    connection.pragma("synchronous", "NORMAL")
    try:
        yield
    finally:
        connection.pragma("synchronous", level)


@contextmanager
def _savepoint(connection: Connection) -> Iterator[None]:
    """Roll back the block's writes where it raises, but not the earlier ones of the running transaction."""
    connection.execute("SAVEPOINT one_write")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK TO one_write")
            connection.execute("RELEASE one_write")
        raise
    connection.execute("RELEASE one_write")


def add_functions(connection: Connection) -> None:
    """Add the functions that queries use."""
    connection.create_scalar_function("fold", _fold, 1, deterministic=True)
    connection.create_scalar_function("has_stem", _has_stem, 2, deterministic=True)


def _fold(*values: Any) -> str:  # noqa: ANN401 - a column's value
    return fold_tag(values[0])


def _has_stem(*values: Any) -> bool:  # noqa: ANN401 - a column's value, and a stem
    from memento_tui.text.terms import terms  # noqa: PLC0415 - with it comes Tantivy, which few statements need

    text, stem = values
    return stem in terms(text)


def _open_configured(path: Path) -> Connection:
    made = open_for_writing(path, busy_seconds=BUSY_SECONDS)
    try:
        _configure_connection(made)
    except BaseException:
        made.close()
        raise
    return made


def _configure_connection(connection: Connection) -> None:
    """Set the pragmas and functions of one connection.

    While another process makes the same database, turning its log on fails at once instead of waiting; it is tried
    again for as long as any other statement would wait.
    """
    ends = monotonic() + BUSY_SECONDS
    for pragma in PRAGMAS:
        while True:
            try:
                connection.execute(pragma)
                break
            except (apsw.BusyError, apsw.LockedError):
                if monotonic() > ends:
                    raise
            sleep(_RETRY_SECONDS)


def _split_statements(script: str) -> Iterator[str]:
    """Split a script where SQLite says that a statement is complete, so that all of it fits one transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if apsw.complete(statement):
            yield statement
            statement = ""
