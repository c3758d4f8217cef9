"""Text that a person is typing in the app, kept on disk until it is stored, and found again after a crash."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from memento_tui import clock
from memento_tui.errors import DataDirectoryError
from memento_tui.paths import DataPaths
from memento_tui.records.ids import new_id

__all__ = ["KeptText", "Unsaved", "discard_holding", "discard_typed", "left_behind"]

_TELLING_NOTHING = 8


class KeptText(msgspec.Struct, frozen=True, kw_only=True):
    """What was typed, what it was made from, and the process that held it."""

    record: str
    """``memory``, ``crystal`` or the like."""
    record_id: str
    """Empty for a record that is not stored yet."""
    base_version: int
    """The version that the text was made from; 0 for a record that is not stored yet."""
    title: str | None
    tags: tuple[str, ...] | None
    content: str
    at: datetime
    process: int


class Unsaved:
    """One text that is being typed. It has a file in the data directory's drafts as soon as something was typed."""

    def __init__(self, paths: DataPaths, record: str, record_id: str, base_version: int) -> None:
        self._paths = paths
        self.record = record
        self.record_id = record_id
        self.base_version = base_version
        self.path = paths.typed_text(new_id())

    def keep(self, title: str | None, tags: Sequence[str] | None, content: str) -> None:
        """Write down what the fields hold now, so that it survives the process. Raises `DataDirectoryError`."""
        kept = KeptText(
            record=self.record,
            record_id=self.record_id,
            base_version=self.base_version,
            title=title,
            tags=None if tags is None else tuple(tags),
            content=content,
            at=clock.now(),
            process=os.getpid(),
        )
        beside = self.path.with_suffix(".new")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Private, because the text may be confidential; renamed, so that no half of it is ever found.
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:  # noqa: PTH123 - a descriptor has no path
                file.write(msgspec.json.encode(kept))
            beside.replace(self.path)
        except OSError as error:
            raise DataDirectoryError(
                f"What you type cannot be kept in {self.path}: {error.strerror}.", "Save it soon; check the disk."
            ) from error

    def discard(self) -> None:
        """Remove the file: the text is stored, or the person does not want it."""
        self.path.unlink(missing_ok=True)


def left_behind(paths: DataPaths) -> list[tuple[Path, KeptText]]:
    """Return the texts that were being typed when their process ended, newest first, each with its file.

    A file that cannot be read is left where it is.
    """
    found = [(path, kept) for path, kept in _all_kept(paths) if not _is_alive(kept.process)]
    return sorted(found, key=lambda one: one[1].at, reverse=True)


def discard_typed(paths: DataPaths, record_id: str) -> None:
    """Remove what was typed over one record, because every trace of it is to go."""
    for path, kept in _all_kept(paths):
        if kept.record_id == record_id:
            path.unlink(missing_ok=True)


def discard_holding(paths: DataPaths, texts: Sequence[str]) -> None:
    """Remove every file of the drafts that holds a line of one of the texts, because every trace of them is to go.

    Lines of a few letters are everywhere and tell nothing.
    """
    lines = {line.strip() for text in texts for line in text.splitlines() if len(line.strip()) > _TELLING_NOTHING}
    for path in paths.drafts.glob("*") if lines else ():
        try:
            kept = path.read_text(encoding="utf-8", errors="replace")
            if path.suffix == ".json":
                kept = "\n".join(_strings(msgspec.json.decode(kept)))
        except (OSError, msgspec.DecodeError):
            continue
        if any(line in kept for line in lines):
            path.unlink(missing_ok=True)


def _strings(value: object) -> Iterator[str]:
    """Yield every text in a JSON value; a form's fields are kept as JSON within one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def _all_kept(paths: DataPaths) -> Iterator[tuple[Path, KeptText]]:
    for path in paths.typed_texts():
        try:
            yield path, msgspec.json.decode(path.read_bytes(), type=KeptText)
        except (OSError, msgspec.DecodeError):
            continue


def _is_alive(process: int) -> bool:
    if process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
