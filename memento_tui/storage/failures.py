"""Explain SQLite's failures to the person: the problem of the file, and its remedy."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import apsw

from memento_tui.errors import DamagedFile, DataDirectoryError, LockedWorkspace
from memento_tui.storage.connection import BUSY_SECONDS, LockedDatabase

__all__ = ["LOG_ENDS", "explain_failure", "folder_in_place_of_log", "is_disk_full"]

LOG_ENDS = ("-wal", "-journal", "-shm")
"""The ends of the names of the files that SQLite keeps beside a database which is in use, or was when it was left."""

_FEWEST_BYTES = 64 * 1024
"""Free bytes below which a disk counts as full: the shared index of the log alone takes half of them."""


def explain_failure(error: apsw.Error, path: Path) -> DataDirectoryError:
    """Return the error that explains SQLite's failure to the person."""
    return LockedWorkspace(path, str(error)) if isinstance(error, LockedDatabase) else _explain(error, path)


def _explain(error: apsw.Error, path: Path) -> DataDirectoryError:
    may_be_full = isinstance(error, (apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError))
    if isinstance(error, apsw.FullError) or (may_be_full and is_disk_full(path)):
        return DataDirectoryError(
            f"The disk that holds {path.parent} is full. Nothing was changed.",
            "Free some space and try again.",
        )
    if isinstance(error, (apsw.ReadOnlyError, apsw.CantOpenError)):
        return _not_opened(error, path)
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return DataDirectoryError(
            f"Another program has been writing to {path} for over {BUSY_SECONDS:.0f} seconds.",
            "Wait for it to finish, then try again.",
        )
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return DamagedFile(
            f"{path} is damaged: {error}.",
            "Keep the file, and put a backup in its place: `memento backup restore`. Nothing was changed.",
        )
    # SQLite's own words may be "not an error": those of a copy that could not be written.
    is_of_disk = isinstance(error, apsw.IOError)
    cause, hint = ("disk I/O error", _hint_of_limit()) if is_of_disk else (error, "`memento doctor` may say more.")
    return DataDirectoryError(f"{path}: {cause}.", hint)


def _not_opened(error: apsw.Error, path: Path) -> DataDirectoryError:
    if (folder := folder_in_place_of_log(path)) is not None:
        return DataDirectoryError(
            f"{folder} is a folder, and the database keeps its log in a file of that name. Nothing was changed.",
            "Move the folder away.",
        )
    if isinstance(error, apsw.ReadOnlyError):
        return DataDirectoryError(
            f"{path.parent} is read-only, so nothing can be written there.",
            "Make it writable, or name another with --data-dir or MEMENTO_HOME.",
        )
    return DataDirectoryError(
        f"{path} cannot be opened.",
        "Check that the directory exists and that you may read and write it.",
    )


def _hint_of_limit() -> str:
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit == resource.RLIM_INFINITY:
        return "Check the disk; `memento doctor` may say more."
    return f"No file may have more than {limit:,} bytes here. Raise that limit (`ulimit -f`), and try again."


def folder_in_place_of_log(path: Path) -> Path | None:
    """Return the folder that lies where a database's log would, if there is one."""
    places = (path.with_name(path.name + end) for end in LOG_ENDS)
    return next((place for place in places if place.is_dir()), None)


def is_disk_full(path: Path) -> bool:
    """Tell whether the disk of a file has no room for even a few pages."""
    try:
        facts = os.statvfs(path.parent)
    except OSError:
        return False
    return facts.f_bavail * facts.f_frsize < _FEWEST_BYTES
