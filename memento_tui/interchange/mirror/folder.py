"""The mirrored folder: who may use it, what lies in it, and changes of its files that lose nothing.

A hidden folder ``.memento-mirror`` in it holds the lock, the mark by which the folder is known again, and files on
their way to their place; git passes it over. Notes that go are moved to ``.trash``, where Obsidian puts them too. No
path leads out of the folder, no symbolic link is followed, and a folder in it that has a mirror of its own is left to
that one: two that hand each other their notes would never come to an end.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from filelock import FileLock, Timeout

from memento_tui.errors import InvalidInput, NotAllowed
from memento_tui.interchange.incoming import Refused, source_digest
from memento_tui.interchange.outgoing import cannot_write
from memento_tui.interchange.tree import Loaded, SourceFile, load
from memento_tui.interchange.vault import LONGEST_FILE, SUFFIX
from memento_tui.records.ids import new_id

__all__ = ["Folder", "Look", "Status"]

_OWN = ".memento-mirror"
_TRASH = ".trash"
_DATABASE = "memento.db"
_LONGEST_MARK = 64
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_LONGEST_STEM = 240
"""Bytes; a number and an ending bring it up to the 255 that file systems take."""
_IN_ICLOUD = ".icloud"
"""The ending of the hidden file ``.NAME.icloud`` that iCloud leaves in the place of one that it took off the disk."""


class Status(NamedTuple):
    """What tells without reading it whether a file is still the same."""

    size: int
    modified: int
    """Nanoseconds."""
    inode: int


class Look(NamedTuple):
    """The notes that were seen at one moment, by path, and what cannot be one."""

    notes: dict[str, Status]
    refused: tuple[Refused, ...]


class Folder:
    """A folder that this process alone mirrors, until `close`.

    Raises:
        InvalidInput: it is no place for a mirror, or cannot be made or written.
        NotAllowed: another process mirrors it.

    """

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().resolve()
        _check_place(self.root)
        self._own = self.root / _OWN
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self._own.mkdir(mode=0o700, exist_ok=True)
            if self._own.is_symlink():
                raise InvalidInput(f"{self._own} is a link.", "Remove it; the mirror makes a folder of its own there.")
            if not (self._own / ".gitignore").exists():
                (self._own / ".gitignore").write_text("*\n", encoding="ascii")
        except OSError as error:
            raise cannot_write(self.root, error) from error
        self._lock = FileLock(self._own / "lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise NotAllowed(
                f"{self.root} is mirrored by another memento already.", "End that one first, or leave it at that."
            ) from None
        except OSError as error:
            raise cannot_write(self.root, error) from error
        self._keep_leftovers()

    def close(self) -> None:
        """Let others mirror the folder."""
        self._lock.release()

    # The mark

    def mark(self) -> str:
        """Return the mark by which the folder is known, or nothing where it has none."""
        try:
            return (self._own / "mark").read_text(encoding="ascii").strip()[:_LONGEST_MARK]
        except (OSError, UnicodeDecodeError):
            return ""

    def set_mark(self, mark: str) -> None:
        """Give the folder a mark."""
        try:
            (self._own / "mark").write_text(mark, encoding="ascii")
        except OSError as error:
            raise cannot_write(self.root, error) from error

    # Reading

    def look(self) -> Look:
        """Return the notes that are there now. Raises `OSError` where the folder cannot be opened."""
        notes: dict[str, Status] = {}
        refused: list[Refused] = []
        waiting = [(str(self.root), "")]
        while waiting:
            place, prefix = waiting.pop()
            try:
                self._look_into(place, prefix, waiting, notes, refused)
            except OSError as error:
                if not prefix:
                    raise
                refused.append(Refused(prefix.rstrip("/"), 0, f"cannot be opened: {error.strerror}"))
        return Look(notes, tuple(refused))

    def _look_into(
        self,
        place: str,
        prefix: str,
        waiting: list[tuple[str, str]],
        notes: dict[str, Status],
        refused: list[Refused],
    ) -> None:
        with os.scandir(place) as listing:
            entries = list(listing)
        if prefix and any(entry.name == _OWN for entry in entries):
            why = f"has a mirror of its own, and is left to it; to join them, remove {prefix}{_OWN}"
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
                found = _status(entry, name)
                if isinstance(found, Refused):
                    refused.append(found)
                elif found is not None:
                    notes[name] = found

    def load(self, name: str) -> Loaded | Refused:
        """Return the bytes of a note."""
        return load(SourceFile(str(self.root / name), name), LONGEST_FILE)

    # Changing

    def write(self, name: str, data: bytes, *, expected: bytes | None) -> Status | None:
        """Put a note in place, whole or not at all; return its status, or ``None`` where that was not done.

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
            found = fresh.lstat()  # it keeps this on its way to its place
            status = Status(found.st_size, found.st_mtime_ns, found.st_ino)
            try:
                done = _put_new(fresh, path) if expected is None else self._replace(fresh, path, name, expected)
                return status if done else None
            finally:
                fresh.unlink(missing_ok=True)
        except OSError as error:
            raise _cannot(path, error) from error

    def trash(self, name: str) -> str:
        """Move a note into the folder's trash; return its path there. Raises `InvalidInput`."""
        path, place = self._place(name), self._free_in_trash(name)
        try:
            path.rename(place)
        except OSError as error:
            raise _cannot(path, error) from error
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
            raise _cannot(place, error) from error
        return place.relative_to(self.root).as_posix()

    def remove(self, name: str, *, expected: bytes) -> None:
        """Remove a note for good, for a purged text; what an editor saves at that very moment goes to the trash.

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
            raise _cannot(path, error) from error

    def in_trash(self, name: str) -> tuple[str, ...]:
        """Return the paths in the trash where texts of a note were put."""
        note = PurePosixPath(name)
        place = self.root / _TRASH / note.parent
        numbered = re.compile(re.escape(_shortened(note.stem)) + rf" \d+{re.escape(note.suffix)}")
        found = [one for one in place.glob("*") if one.name == note.name or numbered.fullmatch(one.name)]
        return tuple(sorted(one.relative_to(self.root).as_posix() for one in found))

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
        place = self._place(f"{_TRASH}/{name}")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            number, free = 1, place
            while os.path.lexists(free) and not (unless is not None and _holds(free, unless)):
                number += 1
                free = place.with_name(f"{_shortened(place.stem)} {number}{place.suffix}")
        except OSError as error:
            raise _cannot(place, error) from error
        return free

    def _keep_leftovers(self) -> None:
        """Clear up after a process that was killed: what it was writing goes, what it replaced goes to the trash."""
        try:
            for left in self._own.glob("new-*.part"):
                left.unlink(missing_ok=True)
            for left in self._own.glob("old-*.part"):
                left.rename(self._free_in_trash(f"{left.stem}{SUFFIX}"))
        except OSError as error:
            raise cannot_write(self.root, error) from error


def _check_place(root: Path) -> None:
    if root in (Path(root.anchor), Path.home()):
        raise InvalidInput(
            f"{root} is too much to mirror: every Markdown file below it would become a memory.",
            "Name a folder for the notes, such as ~/notes.",
        )
    if root.exists() and not root.is_dir():
        raise InvalidInput(f"{root} is not a folder.", "Name the folder that holds the notes.")
    if any((place / _DATABASE).exists() for place in (root, *root.parents)):
        raise InvalidInput(f"{root} is within a data directory of memento.", "Name a folder outside of it.")
    above = next((place for place in root.parents if (place / _OWN).is_dir()), None)
    if above is not None:
        raise InvalidInput(
            f"{root} lies within {above}, which is mirrored as a whole.",
            f"Mirror one of the two. If {above} is mirrored no longer, remove {above / _OWN}.",
        )


def _cannot(path: Path, error: OSError) -> InvalidInput:
    """Return the error for a note that the system does not let us write now; it is tried again."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return InvalidInput(f"{path} cannot be written: {error.strerror}.", "Make room; it is tried again.")
    return InvalidInput(f"{path} cannot be written: {error.strerror or error}.", "It is tried again.")


def _is_note(name: str) -> bool:
    return name[-len(SUFFIX) :].lower() == SUFFIX


def _only_in_icloud(prefix: str, name: str) -> Iterator[Refused]:
    """Yield the note that a hidden file stands for, if it is one of iCloud's."""
    meant = name[1:].removesuffix(_IN_ICLOUD)
    if name.endswith(_IN_ICLOUD) and _is_note(meant):
        yield Refused(prefix + meant, 0, "lies in iCloud only; it is read once it is on this disk again")


def _holds(path: Path, data: bytes) -> bool:
    """Tell whether a regular file holds these very bytes."""
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and found.st_size == len(data) and path.read_bytes() == data


def _shortened(stem: str) -> str:
    """Return a file name's stem with room for a number behind it."""
    return stem.encode()[:_LONGEST_STEM].decode(errors="ignore")


def _status(entry: os.DirEntry[str], name: str) -> Status | Refused | None:
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
        found = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return Status(found.st_size, found.st_mtime_ns, found.st_ino)


def _put_new(fresh: Path, path: Path) -> bool:
    """Move a file to a place where nothing lies; tell whether that was so."""
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
