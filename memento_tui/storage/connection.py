"""One connection to a SQLite file, through the SQLite that comes with apsw and not the one of the machine.

Every process opens the database through this one library: two in one process take each other's locks away.
"""

from __future__ import annotations

from pathlib import Path

import apsw

from memento_tui.encryption import database_name, key_id_of, read_key

TYPE_CHECKING = False  # as in `typing`, whose import a hook would wait for
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    class _Cursor(apsw.Cursor):
        """A result with the types of a row that the query's author knows."""

        def fetchone(self) -> Any: ...  # noqa: ANN401
        def fetchall(self) -> list[Any]: ...


__all__ = [
    "BUSY_SECONDS",
    "SQLITE_VERSION",
    "Connection",
    "LockedDatabase",
    "Row",
    "open_alone",
    "open_finished",
    "open_for_writing",
    "open_without_writing",
    "vacuum_target",
]

Row = tuple["Any", ...]
"""One row of a result; whoever wrote the query knows its types."""

SQLITE_VERSION = apsw.sqlite_lib_version()

BUSY_SECONDS = 60.0
"""How long a writer waits for another. A batch of an import holds the lock for tens of milliseconds."""

_READ_AND_WRITE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE


class LockedDatabase(apsw.Error):
    """The file is encrypted, and its key is locked; the message is the id of the key."""


class Connection(apsw.Connection):
    """A connection that commits each statement by itself outside of a transaction.

    It has the function by which the view of the journal holds every image whole: no statement on that can do without.
    No trigger of the file runs: memento makes none, and one that somebody put there would write past the gate for ever.
    """

    def __init__(self, filename: str, *, flags: int = _READ_AND_WRITE, vfs: str | None = None) -> None:
        super().__init__(filename, flags=flags, vfs=vfs)
        self.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        self.create_scalar_function("unpacked", _unpacked, 2, deterministic=True)
        self.key_id = ""
        """The id of the key that the file is encrypted with; empty where it is in clear."""

    def use_key(self, key_id: str) -> None:
        """Read and write encrypted pages; the first thing that is done with a connection.

        Raises:
            LockedDatabase: the key is locked, or this SQLite cannot encrypt.

        """
        key = read_key(key_id)
        if key is None:
            raise LockedDatabase(key_id)
        self.pragma("cipher", "chacha20")
        if self.pragma("key", _cipher_key(key_id, key)) != "ok":
            raise LockedDatabase(f"{key_id}, and the package apsw has taken the place of apsw-sqlite3mc")
        self.pragma("temp_store", "MEMORY")  # what a large sort would put on the disk is not encrypted
        self.key_id = key_id

    if TYPE_CHECKING:

        def execute(self, statements: str, bindings: Sequence[object] | Mapping[str, object] = ()) -> _Cursor: ...  # type: ignore[override]  # noqa: D102
        def executemany(self, statements: str, bindings: Iterable[Sequence[object]]) -> _Cursor: ...  # type: ignore[override]  # noqa: D102


def _cipher_key(key_id: str, key: bytes) -> str:
    """Return a key as SQLite takes it: as it is, without a derivation, with the bytes that the file begins with."""
    return f"raw:{key.hex()}{database_name(key_id).hex()}"


def open_for_writing(
    path: Path, *, busy_seconds: float, create: bool = False, alone: bool = False, key_id: str | None = None
) -> Connection:
    """Open a database; ``busy_seconds`` is how long a statement waits for another's lock.

    With ``alone`` no other process can use it meanwhile, and nothing is written beside it to share its log. An empty
    file is encrypted from then on with the key ``key_id``; another says itself which key it has.

    Raises:
        apsw.Error: it cannot be opened.
        LockedDatabase: it is encrypted, and locked.

    """
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    key = key_id_of(path) if key_id is None else key_id
    # The file system of one program alone has to be named together with that which encrypts.
    alone_vfs = "multipleciphers-unix-excl" if key else "unix-excl"
    made = _unlocked(Connection(str(path), flags=flags, vfs=alone_vfs if alone else None), key)
    made.set_busy_timeout(round(busy_seconds * 1000))
    made.transaction_mode = "IMMEDIATE"  # of a block `with connection:`, which takes the write lock as it begins
    return made


def open_alone(path: Path, *, busy_seconds: float) -> Connection:
    """Open a database that `vacuum_target` may name another beside. Raises like `open_for_writing`."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    made = _unlocked(Connection(path.absolute().as_uri(), flags=flags), key_id_of(path))
    made.set_busy_timeout(round(busy_seconds * 1000))
    return made


def vacuum_target(path: Path, key_id: str) -> str:
    """Return the name by which ``VACUUM INTO`` encrypts a new file with an unlocked key, or writes it in clear.

    Raises:
        LockedDatabase: the key is locked.

    """
    from urllib.parse import urlencode  # noqa: PLC0415 - no hook needs it

    key = read_key(key_id) if key_id else None
    if key_id and key is None:
        raise LockedDatabase(key_id)
    # Without a word about keys the new file would have that of the old one.
    options = {"cipher": "chacha20", "key": _cipher_key(key_id, key) if key else ""}
    return f"{path.absolute().as_uri()}?{urlencode(options)}"


def open_finished(path: Path) -> Connection:
    """Open a file that nobody writes as it is: nothing is written beside it, not even a lock.

    Raises:
        apsw.Error: it cannot be opened.
        LockedDatabase: it is encrypted, and locked.

    """
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return _unlocked(Connection(f"{path.absolute().as_uri()}?immutable=1", flags=flags), key_id_of(path))


def open_without_writing(path: Path, *, busy_seconds: float) -> Connection:
    """Open a database that others may write meanwhile, log included; nothing is written, neither to it nor beside it.

    Raises:
        apsw.Error: it cannot be opened, or has a log whose shared index is missing.
        LockedDatabase: it is encrypted, and locked.

    """
    if not path.with_name(f"{path.name}-wal").exists():
        # Nobody has it open. To open it the usual way would begin a log.
        return open_finished(path)
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    made = Connection(f"{path.absolute().as_uri()}?readonly_shm=1", flags=flags)
    _unlocked(made, key_id_of(path))
    made.set_busy_timeout(round(busy_seconds * 1000))
    return made


def _unlocked(connection: Connection, key_id: str) -> Connection:
    if key_id:
        try:
            connection.use_key(key_id)
        except BaseException:
            connection.close()
            raise
    return connection


def _unpacked(*values: Any) -> str | None:  # noqa: ANN401 - what is packed, and the image that it is packed against
    from memento_tui.storage.packing import unpack  # noqa: PLC0415 - most connections read no packed image

    return unpack(*values)
