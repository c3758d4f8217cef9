"""What a writer is given, what it reports, and how it puts a file in place."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.interchange.incoming import Refused
from memento_tui.records import Crystal, Memory, Relation, Skip, WorkingItem

__all__ = ["Outgoing", "Written", "cannot_write", "put_in_place"]

Outgoing: TypeAlias = Memory | Skip | WorkingItem | Crystal | Relation


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What an export did."""

    records: int
    """How many records the written files hold."""
    files: int
    """How many files were written; those that held the same bytes already are not counted."""
    left_out: int = 0
    """How many records the format has no place for."""
    refused: tuple[Refused, ...] = ()
    """The files that were not written, and why."""
    told: tuple[str, ...] = ()
    """What a person should know of the files that were written, in sentences."""


def cannot_write(path: Path, error: OSError) -> InvalidInput:
    """Return the error for a path that the system does not let us write."""
    return InvalidInput(f"{path} cannot be written: {error.strerror or error}.", "Choose another place.")


def put_in_place(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file whole or not at all. Only its owner may read a new one; one that is replaced keeps its mode.

    Raises:
        OSError: the folder or the file cannot be written.

    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".memento-", suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(chunks)
            stream.flush()
            os.fsync(descriptor)
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink()
        raise
