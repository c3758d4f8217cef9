"""Lock, read, write and watch the mirrored folder; no change loses a file's text."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec
from filelock import FileLock, Timeout

from memento_tui import clock
from memento_tui.errors import InvalidInput, NotAllowed
from memento_tui.formats.base import Refused, source_digest, write_error
from memento_tui.formats.source_files import LoadedFile, SourceFile, load_file
from memento_tui.formats.vault import MAX_NOTE_BYTES, NOTE_SUFFIX
from memento_tui.model.validation import new_id
from memento_tui.regular_files import open_regular

__all__ = ["SETTLING_SECONDS", "FolderSnapshot", "FolderWatch", "MirrorFolder", "NoteFileStatus"]

_OWN_FOLDER = ".memento-mirror"
_TRASH_FOLDER = ".trash"
_DATABASE_FILE = "memento.db"
_MAX_MARK_LENGTH = 64
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_MAX_STEM_BYTES = 240
"""Bytes; a number and an ending bring it up to the 255 that file systems take."""
_ICLOUD_SUFFIX = ".icloud"
"""The ending of the hidden file ``.NAME.icloud`` that iCloud leaves in the place of one that it took off the disk."""


class NoteFileStatus(NamedTuple):
    """The properties by which a changed file is recognised without reading it."""

    size: int
    modified: int
    """Nanoseconds."""
    inode: int


class _FolderListing(NamedTuple):
    """The notes in the folder at one moment, by path, and the files that cannot be notes."""

    notes: dict[str, NoteFileStatus]
    refused: tuple[Refused, ...]


class MirrorFolder:
    """A folder that this process alone mirrors, until `close`.

    Raises:
        InvalidInput: it is no place for a mirror, or cannot be made or written.
        NotAllowed: another process mirrors it.

    """

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().resolve()
        _check_place(self.root)
        self._own = self.root / _OWN_FOLDER
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self._own.mkdir(mode=0o700, exist_ok=True)
            if self._own.is_symlink():
                raise InvalidInput(f"{self._own} is a link.", "Remove it; the mirror makes a folder of its own there.")
            with suppress(FileExistsError):
                self._write_own(".gitignore", "*\n", os.O_EXCL)
        except OSError as error:
            raise write_error(self.root, error) from error
        self._lock = FileLock(self._own / "lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise NotAllowed(
                f"{self.root} is mirrored by another memento already.", "End that one first, or leave it at that."
            ) from None
        except OSError as error:
            raise write_error(self.root, error) from error
        self._keep_leftovers()

    def close(self) -> None:
        """Release the folder, so that others may mirror it."""
        self._lock.release()

    # The mark

    def mark(self) -> str:
        """Return the mark by which the folder is known, or nothing where it has none."""
        try:
            with open(open_regular(self._own / "mark", os.O_NOFOLLOW), "rb") as file:  # noqa: PTH123 - a descriptor has no path
                return file.read(_MAX_MARK_LENGTH).decode("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def set_mark(self, mark: str) -> None:
        """Give the folder a mark."""
        try:
            self._write_own("mark", mark, os.O_TRUNC)
        except OSError as error:
            raise write_error(self.root, error) from error

    def _write_own(self, name: str, text: str, flag: int) -> None:
        """Write a file of the mirror's own; not through a link, for the folder may have come from somebody else."""
        with open(open_regular(self._own / name, os.O_WRONLY | os.O_CREAT | flag), "w", encoding="ascii") as file:  # noqa: PTH123 - as above
            file.write(text)

    # Reading

    def scan(self) -> _FolderListing:
        """Return the notes that are there now. Raises `OSError` where the folder cannot be opened."""
        notes: dict[str, NoteFileStatus] = {}
        refused: list[Refused] = []
        waiting = [(str(self.root), "")]
        while waiting:
            place, prefix = waiting.pop()
            try:
                self._scan_folder(place, prefix, waiting, notes, refused)
            except OSError as error:
                if not prefix:
                    raise
                refused.append(Refused(prefix.rstrip("/"), 0, f"cannot be opened: {error.strerror}"))
        return _FolderListing(notes, tuple(refused))

    def _scan_folder(
        self,
        place: str,
        prefix: str,
        waiting: list[tuple[str, str]],
        notes: dict[str, NoteFileStatus],
        refused: list[Refused],
    ) -> None:
        with os.scandir(place) as listing:
            entries = list(listing)
        if prefix and any(entry.name == _OWN_FOLDER for entry in entries):
            why = f"has a mirror of its own, and is left to it; to join them, remove {prefix}{_OWN_FOLDER}"
            refused.append(Refused(prefix.rstrip("/"), 0, why))
            return
        for entry in entries:
            name = prefix + entry.name
            if entry.name.startswith("."):
                refused.extend(_only_in_icloud(prefix, entry.name))
            elif entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, name + "/"))
            elif entry.is_symlink() and entry.is_dir():
                refused.append(Refused(name, 0, "is a link to a folder, and is not followed"))
            elif _is_note(entry.name):
                status = _file_status(entry, name)
                if isinstance(status, Refused):
                    refused.append(status)
                elif status is not None:
                    notes[name] = status

    def load(self, name: str) -> LoadedFile | Refused:
        """Return the bytes of a note."""
        return load_file(SourceFile(str(self.root / name), name), MAX_NOTE_BYTES)

    # Changing

    def write(self, name: str, data: bytes, *, expected: bytes | None) -> NoteFileStatus | None:
        """Write a note whole or not at all; return its status, or ``None`` where that was not done.

        It is not done where the file is no longer the one that the caller read: ``expected`` is the digest of its
        bytes then, or ``None`` where no file was there. A text that an editor saves at the very moment in which it is
        replaced goes to the trash.

        Raises:
            InvalidInput: the place lies behind a link, the note is read-only, or the system refuses.

        """
        path = self._place(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self._written(data)
            stat_result = fresh.lstat()  # it keeps this on its way to its place
            status = NoteFileStatus(stat_result.st_size, stat_result.st_mtime_ns, stat_result.st_ino)
            try:
                done = _put_new(fresh, path) if expected is None else self._replace(fresh, path, name, expected)
                return status if done else None
            finally:
                fresh.unlink(missing_ok=True)
        except OSError as error:
            raise _temporary_write_error(path, error) from error

    def trash(self, name: str) -> str:
        """Move a note into the folder's trash; return its path there. Raises `InvalidInput`."""
        path, place = self._place(name), self._free_in_trash(name)
        try:
            path.rename(place)
        except OSError as error:
            raise _temporary_write_error(path, error) from error
        return place.relative_to(self.root).as_posix()

    def copy_to_trash(self, name: str, data: bytes) -> str:
        """Put a copy of a note's bytes into the trash, unless it lies there; return its path there.

        Raises:
            InvalidInput: it cannot be written.

        """
        place = self._free_in_trash(name, unless=data)
        try:
            if not place.exists():
                _put_new(self._written(data), place)
        except OSError as error:
            raise _temporary_write_error(place, error) from error
        return place.relative_to(self.root).as_posix()

    def remove(self, name: str, *, expected: bytes) -> None:
        """Remove a note for good, for a purged text; a text that an editor saves at that very moment goes to the trash.

        Raises:
            InvalidInput: it cannot be removed.

        """
        path, aside = self._place(name), self._own / f"old-{new_id()}.part"
        try:
            with suppress(FileNotFoundError):
                path.rename(aside)
                if source_digest(aside.read_bytes()) == expected:
                    aside.unlink()
                else:
                    aside.rename(self._free_in_trash(name))
        except OSError as error:
            raise _temporary_write_error(path, error) from error

    def in_trash(self, name: str) -> tuple[str, ...]:
        """Return the paths in the trash where texts of a note were put."""
        note = PurePosixPath(name)
        place = self.root / _TRASH_FOLDER / note.parent
        numbered = re.compile(re.escape(_shorten_stem(note.stem)) + rf" \d+{re.escape(note.suffix)}")
        copies = [copy for copy in place.glob("*") if copy.name == note.name or numbered.fullmatch(copy.name)]
        return tuple(sorted(copy.relative_to(self.root).as_posix() for copy in copies))

    def _place(self, name: str) -> Path:
        path = self.root / name
        if path.is_symlink() or not path.parent.resolve().is_relative_to(self.root):
            raise InvalidInput(f"{name} lies behind a link, and is left alone.", "Put a folder in the link's place.")
        return path

    def _written(self, data: bytes) -> Path:
        descriptor, name = tempfile.mkstemp(dir=self._own, prefix="new-", suffix=".part")
        fresh = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(descriptor)
        except BaseException:
            fresh.unlink()  # on a full disk it is in the way of the next attempt
            raise
        return fresh

    def _replace(self, fresh: Path, path: Path, name: str, expected: bytes) -> bool:
        before = self._own / f"old-{fresh.name}"
        if not path.stat().st_mode & _WRITABLE:
            raise PermissionError(errno.EACCES, "it is read-only")
        shutil.copymode(path, fresh)
        with suppress(OSError):  # some file systems have no second names for a file
            os.link(path, before, follow_symlinks=False)
        try:
            if source_digest(path.read_bytes()) != expected:
                return False
            if before.exists() and not before.samefile(path):
                return False  # an editor put another file in its place
            fresh.replace(path)
            if before.exists() and source_digest(before.read_bytes()) != expected:
                before.rename(self._free_in_trash(name))
        finally:
            before.unlink(missing_ok=True)
        return True

    def _free_in_trash(self, name: str, *, unless: bytes | None = None) -> Path:
        """Return a place in the trash where nothing lies, or a file with the very bytes ``unless``."""
        place = self._place(f"{_TRASH_FOLDER}/{name}")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            number, free = 1, place
            while os.path.lexists(free) and not (unless is not None and _has_bytes(free, unless)):
                number += 1
                free = place.with_name(f"{_shorten_stem(place.stem)} {number}{place.suffix}")
        except OSError as error:
            raise _temporary_write_error(place, error) from error
        return free

    def _keep_leftovers(self) -> None:
        """Clean up after a process that was killed: unfinished files are removed, replaced ones go to the trash."""
        try:
            for left in self._own.glob("new-*.part"):
                left.unlink(missing_ok=True)
            for left in self._own.glob("old-*.part"):
                left.rename(self._free_in_trash(f"{left.stem}{NOTE_SUFFIX}"))
        except OSError as error:
            raise write_error(self.root, error) from error


def _check_place(root: Path) -> None:
    if root in (Path(root.anchor), Path.home()):
        raise InvalidInput(
            f"{root} is too much to mirror: every Markdown file below it would become a memory.",
            "Name a folder for the notes, such as ~/notes.",
        )
    if root.exists() and not root.is_dir():
        raise InvalidInput(f"{root} is not a folder.", "Name the folder that holds the notes.")
    if any((place / _DATABASE_FILE).exists() for place in (root, *root.parents)):
        raise InvalidInput(f"{root} is within a data directory of memento.", "Name a folder outside of it.")
    above = next((place for place in root.parents if (place / _OWN_FOLDER).is_dir()), None)
    if above is not None:
        raise InvalidInput(
            f"{root} lies within {above}, which is mirrored as a whole.",
            f"Mirror one of the two. If {above} is mirrored no longer, remove {above / _OWN_FOLDER}.",
        )


def _temporary_write_error(path: Path, error: OSError) -> InvalidInput:
    """Return the error for a note that the system does not let us write now; it is tried again."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return InvalidInput(f"{path} cannot be written: {error.strerror}.", "Make room; it is tried again.")
    return InvalidInput(f"{path} cannot be written: {error.strerror or error}.", "It is tried again.")


def _is_note(name: str) -> bool:
    return name[-len(NOTE_SUFFIX) :].lower() == NOTE_SUFFIX


def _only_in_icloud(prefix: str, name: str) -> Iterator[Refused]:
    """Yield the note that a hidden file stands for, if it is one of iCloud's."""
    meant = name[1:].removesuffix(_ICLOUD_SUFFIX)
    if name.endswith(_ICLOUD_SUFFIX) and _is_note(meant):
        yield Refused(prefix + meant, 0, "lies in iCloud only; it is read once it is on this disk again")


def _has_bytes(path: Path, data: bytes) -> bool:
    """Return whether a regular file holds these very bytes."""
    stat_result = path.lstat()
    return stat.S_ISREG(stat_result.st_mode) and stat_result.st_size == len(data) and path.read_bytes() == data


def _shorten_stem(stem: str) -> str:
    """Return a file name's stem with room for a number behind it."""
    return stem.encode()[:_MAX_STEM_BYTES].decode(errors="ignore")


def _file_status(entry: os.DirEntry[str], name: str) -> NoteFileStatus | Refused | None:
    """Return the status of an entry that may be a note, or ``None`` where it went away meanwhile."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return Refused(name.encode("utf-8", "backslashreplace").decode(), 0, "has a name that is not UTF-8")
    if entry.is_symlink():
        return Refused(name, 0, "is a link, and is not followed")
    if not entry.is_file(follow_symlinks=False):
        return Refused(name, 0, "is not a regular file")
    try:
        stat_result = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return NoteFileStatus(stat_result.st_size, stat_result.st_mtime_ns, stat_result.st_ino)


def _put_new(fresh: Path, path: Path) -> bool:
    """Move a file to a place where nothing is; return whether that was so."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        return False
    except OSError:
        if os.path.lexists(path):
            return False
        fresh.replace(path)
        return True
    fresh.unlink()
    return True


SETTLING_SECONDS = 1.0
"""Seconds for which a file must stay as it is before it is read, and must be gone before it counts as deleted: an
editor that saves may empty a file first, or remove it and put another in its place."""


_MAX_WAIT_SECONDS = 10.0
"""Seconds for which a file that goes on changing is waited for."""


def _seconds() -> float:
    """Return the present moment as files have theirs: seconds since 1970."""
    return clock.now().timestamp()


class FolderSnapshot(msgspec.Struct, frozen=True):
    """The state of the folder at one moment."""

    notes: dict[str, NoteFileStatus]
    settled: frozenset[str]
    """The notes that may be read."""
    gone: frozenset[str]
    """The known notes that are missing, and have been for a while."""
    young: frozenset[str]
    """The notes that may not be read yet, but soon; one that is written without a pause is not waited for."""
    refused: tuple[Refused, ...]
    awaited: frozenset[str]
    """The known notes that are missing for too short a time to count as gone."""


class FolderWatch:
    """Repeated scans of a folder, with the time since when each file is unchanged."""

    def __init__(
        self,
        folder: MirrorFolder,
        *,
        quiet_seconds: float = SETTLING_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
        calendar: Callable[[], float] = _seconds,
    ) -> None:
        self._folder = folder
        self._quiet_seconds = quiet_seconds
        self._monotonic = monotonic
        self._calendar = calendar
        self._since: dict[str, tuple[NoteFileStatus, float]] = {}
        self._first: dict[str, float] = {}
        self._missing: dict[str, float] = {}

    def scan(self, known: set[str]) -> FolderSnapshot:
        """Scan the folder; ``known`` are the notes that were there. Raises `OSError` where it cannot be opened."""
        listing = self._folder.scan()
        now, today = self._monotonic(), self._calendar()
        self._since = {name: self._seen(name, status, now) for name, status in listing.notes.items()}
        self._first = {name: self._first.get(name, now) for name in listing.notes}
        barred = tuple(refused.file for refused in listing.refused)
        missing = (name for name in known if name not in listing.notes and not _may_be_hidden(name, barred))
        self._missing = {name: self._missing.get(name, now) for name in missing}
        # One that was last written long ago has settled, though it is seen for the first time.
        settled = frozenset(
            name
            for name, (status, since) in self._since.items()
            if now - since >= self._quiet_seconds or today - status.modified / 1e9 > self._quiet_seconds
        )
        gone = frozenset(name for name, since in self._missing.items() if now - since >= self._quiet_seconds)
        young = frozenset(
            name for name, first in self._first.items() if name not in settled and now - first < _MAX_WAIT_SECONDS
        )
        return FolderSnapshot(listing.notes, settled, gone, young, listing.refused, frozenset(self._missing) - gone)

    def _seen(self, name: str, status: NoteFileStatus, now: float) -> tuple[NoteFileStatus, float]:
        before = self._since.get(name)
        return before if before is not None and before[0] == status else (status, now)


def _may_be_hidden(name: str, barred: tuple[str, ...]) -> bool:
    """Return whether a note may be there still, because it or a folder above it cannot be read."""
    return any(name == path or name.startswith(f"{path}/") for path in barred)
