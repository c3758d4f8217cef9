"""Text that a person is writing, kept in a file until it is stored, so that nothing ends it but the person."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec
from filelock import FileLock, Timeout

from memento_tui.errors import DataDirectoryError
from memento_tui.paths import DataPaths
from memento_tui.records.ids import new_id
from memento_tui.tui.widgets.draft import Draft

__all__ = ["Unsaved", "UnsavedFile", "find_unsaved"]

_PREFIX = "app-"
"""Begins the names of these files; what the command line keeps lies beside them."""


@dataclass(frozen=True)
class Unsaved:
    """What was being written, and about which record."""

    record: Literal["memory", "proposal"]
    record_id: str
    """Empty for a new memory."""
    version: int
    """The version of the record that it was made from."""
    draft: Draft


class UnsavedFile:
    """One file of the drafts' directory. While this is held, no other app offers it to anybody."""

    def __init__(self, paths: DataPaths, path: Path | None = None) -> None:
        self.path = path or paths.drafts / f"{_PREFIX}{new_id()}.md"
        self._lock = FileLock(self.path.with_suffix(".lock"), timeout=0)

    def hold(self) -> bool:
        """Take the file, unless it was taken already; tell whether nobody else has it.

        Raises:
            DataDirectoryError: nothing can be written there.

        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._lock.is_locked:
                self._lock.acquire()
        except Timeout:
            return False
        except OSError as error:
            raise _unwritable(self.path, error) from error
        return True

    def keep(self, unsaved: Unsaved) -> None:
        """Write what there is now over what was kept before. Raises `DataDirectoryError`."""
        fresh = self.path.with_suffix(".new")
        try:
            fresh.unlink(missing_ok=True)
            # Private: the text may be confidential. Whole or not at all: a kill in the middle leaves the file before.
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(handle, "wb") as file:  # noqa: PTH123 - a descriptor has no path
                file.write(_written(unsaved).encode("utf-8", "surrogatepass"))
            fresh.replace(self.path)
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def read(self) -> Unsaved | None:
        """Return what was kept, or ``None`` where it is gone or is no such file."""
        try:
            return _read(self.path.read_bytes().decode("utf-8", "surrogatepass"))
        except (OSError, ValueError, KeyError, msgspec.ValidationError):
            return None

    def release(self) -> None:
        """Leave the file for another day."""
        self._lock.release()
        Path(self._lock.lock_file).unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove the file once its text is stored, or is not wanted."""
        self.path.unlink(missing_ok=True)
        self.release()


def find_unsaved(paths: DataPaths) -> Iterator[tuple[UnsavedFile, Unsaved, datetime]]:
    """Yield the files that nobody is writing to, the newest first, each held, with when it was written.

    The caller releases or discards each.
    """
    found = [(path.stat().st_mtime, path) for path in paths.drafts.glob(f"{_PREFIX}*.md")]
    for written, path in sorted(found, reverse=True):
        file = UnsavedFile(paths, path)
        if not file.hold():
            continue
        unsaved = file.read()
        if unsaved is None:
            file.release()
        else:
            yield file, unsaved, datetime.fromtimestamp(written, UTC)


def _unwritable(path: Path, error: OSError) -> DataDirectoryError:
    return DataDirectoryError(
        f"What you write cannot be kept in {path.parent}: {error.strerror or error}.",
        "Save it before you leave; it is not safe from a crash.",
    )


def _written(unsaved: Unsaved) -> str:
    draft = asdict(unsaved.draft)
    content = draft.pop("content")
    values = {"record": unsaved.record, "id": unsaved.record_id, "version": unsaved.version, **draft}
    head = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    return "\n".join([*head, "", content])


def _read(text: str) -> Unsaved:
    head, _, content = text.partition("\n\n")
    values = {name: json.loads(value) for name, _, value in (line.partition(": ") for line in head.split("\n"))}
    record, record_id, version = values.pop("record"), values.pop("id"), values.pop("version")
    draft = {**values, "content": content}
    kept = {"record": record, "record_id": record_id, "version": version, "draft": draft}
    return msgspec.convert(kept, Unsaved)
