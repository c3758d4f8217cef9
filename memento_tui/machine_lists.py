"""The short lists that this machine has beside its data directories: changed under a lock, and put in place whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memento_tui.errors import DataDirectoryError
from memento_tui.private_files import PRIVATE_FILE_MODE, make_private_directory, replace_file

__all__ = ["changing", "write"]

_LOCK_SECONDS = 10.0
"""How long a change waits for another program's, which takes milliseconds."""


@contextmanager
def changing(file: Path, what: str) -> Iterator[None]:
    """Keep other programs from changing a list for the length of a block; ``what`` names it in a sentence.

    Raises:
        DataDirectoryError: another program has been changing it for ten seconds, or its lock cannot be made.

    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 - who only reads a list does without

    lock = FileLock(file.with_suffix(".lock"), timeout=_LOCK_SECONDS, mode=PRIVATE_FILE_MODE)
    try:
        make_private_directory(file.parent)
        lock.acquire()
    except Timeout as error:
        raise DataDirectoryError(
            f"Another program has been changing {what} in {file} for {_LOCK_SECONDS:.0f} seconds.",
            "Wait for it to finish, then try again.",
        ) from error
    except OSError as error:
        raise _not_written(file, what, error) from error
    try:
        yield
    finally:
        lock.release()


def write(file: Path, what: str, content: bytes) -> None:
    """Put a list in the place of the former one, its owner's alone. Raises `DataDirectoryError` where that fails."""
    try:
        make_private_directory(file.parent)
        replace_file(file, content, mode=PRIVATE_FILE_MODE)
    except OSError as error:
        raise _not_written(file, what, error) from error


def _not_written(file: Path, what: str, error: OSError) -> DataDirectoryError:
    return DataDirectoryError(
        f"{what[0].upper()}{what[1:]} in {file} cannot be written: {error.strerror}.",
        "Check the directory and its disk.",
    )
