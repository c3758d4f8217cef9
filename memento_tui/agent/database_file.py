"""The database's file as a server opened it: the same one for as long as the server runs.

A database that was deleted or replaced stays open in the processes that hold it. They would go on acknowledging writes
that nobody ever reads again.
"""

from __future__ import annotations

from pathlib import Path

from memento_tui.errors import DataDirectoryError

__all__ = ["DatabaseFile"]


class DatabaseFile:
    """A database's file, to be made once the database is open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened = _identity(path)

    def check(self) -> None:
        """Raise `DataDirectoryError` where another file, or none, is at the path by now."""
        if _identity(self._path) != self._opened:
            raise DataDirectoryError(
                f"{self._path} was deleted or replaced while memento served it.",
                "Start the server again; until then nothing is read or written.",
            )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
