"""Read, replace and back up the files of hosts: whole or not at all, and never over a newer text."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memento_tui.errors import Conflict, InvalidInput

__all__ = [
    "FilePart",
    "HostText",
    "InstalledCommand",
    "check_unchanged",
    "delete_host_file",
    "read_host_file",
    "remove_made_folders",
    "replace_host_file",
    "write_host_file",
]


@dataclass(frozen=True)
class InstalledCommand:
    """One of memento's commands in a host's file."""

    kind: str
    """``server``, ``hook``, or ``queue`` for the command that prints the review queue."""
    words: tuple[str, ...]
    """The command, word by word."""
    event: str = ""
    """The event that a hook answers."""


class FilePart(Protocol):
    """An addition to a file. The texts are whole files; an empty one stands for a missing file."""

    def add(self, text: str) -> str:
        """Return the text with this part in its present form; the same text where it has that already.

        Raises:
            InvalidInput: the host cannot read the text, or an entry of others is in the way.

        """

    def remove(self, text: str, origin: str | None) -> str:
        """Return the text without this part.

        ``origin`` is the file before the installation, where that is known: containers that were empty there stay.

        Raises:
            InvalidInput: the host cannot read the text.

        """

    def find_commands(self, text: str) -> list[InstalledCommand]:
        """Return memento's commands in the text.

        Raises:
            InvalidInput: the host cannot read the text.

        """


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""The bytes that some editors write before UTF-8."""

_PRIVATE_MODE = 0o600
"""The mode of new files, as the hosts make theirs: settings hold keys."""


@dataclass(frozen=True)
class HostText:
    """A file as it was read."""

    path: Path
    """As the host names it; it may be a link."""
    target: Path
    """The file itself."""
    raw: bytes | None
    """``None`` where there is no file."""
    mode: int = _PRIVATE_MODE
    owner: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """The text, without a byte order mark; empty where there is no file."""
        return _decode_text(self.path, (self.raw or b"").removeprefix(_BYTE_ORDER_MARK))

    def encoded(self, text: str) -> bytes:
        """Return another text in the encoding of this file."""
        return (_BYTE_ORDER_MARK if (self.raw or b"").startswith(_BYTE_ORDER_MARK) else b"") + text.encode()


def _decode_text(path: Path, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 (at byte {error.start}).", "Save it as UTF-8.") from None


def read_host_file(path: Path) -> HostText:
    """Read a file that may be missing.

    Raises:
        InvalidInput: it cannot be read, or is no ordinary file.

    """
    try:
        # Not resolve(), which treats a loop of links as a missing file.
        target = Path(os.path.realpath(path, strict=False))
        try:
            found = target.stat()
        except FileNotFoundError:
            return HostText(path, target, None)
        if not stat.S_ISREG(found.st_mode):
            raise InvalidInput(f"{path} is not an ordinary file.", "Move it away, then try again.")
        return HostText(path, target, target.read_bytes(), stat.S_IMODE(found.st_mode), (found.st_uid, found.st_gid))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Check who may read it.") from error


def check_unchanged(known: HostText) -> None:
    """Check that a file has not changed since it was read, and may be written.

    Raises:
        Conflict: it was written since.
        InvalidInput: it may not be written.

    """
    now = read_host_file(known.path)
    if (now.raw, now.target) != (known.raw, known.target):
        raise Conflict(
            f"{known.path} changed while you were looking at the difference; nothing was written.",
            "Run the command again: it starts from what the file says now.",
        )
    # The mode is checked too, because root may write anything.
    if known.raw is not None and not (known.mode & 0o222 and os.access(known.target, os.W_OK)):
        raise InvalidInput(
            f"{known.path} may not be written.", "Make it writable, or put the lines of --dry-run into it by hand."
        )


def replace_host_file(known: HostText, raw: bytes) -> None:
    """Replace a file, keeping its mode and owner; the change is on disk when this returns.

    Raises:
        Conflict: it was written since it was read.
        InvalidInput: it may not be written.

    """
    check_unchanged(known)
    write_host_file(known.target, raw, known.mode, known.owner)


def write_host_file(target: Path, raw: bytes, mode: int, owner: tuple[int, int] | None = None) -> None:
    """Write a whole file, making its folder where that is missing.

    Raises:
        InvalidInput: it cannot be written.

    """
    temporary = ""
    try:
        _make_folder(target.parent)
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            os.fchmod(file.fileno(), mode)
            if owner is not None and owner != (os.geteuid(), os.getegid()):
                os.fchown(file.fileno(), *owner)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise InvalidInput(f"{target} cannot be written: {error.strerror}.", "Check who may write there.") from error


def delete_host_file(known: HostText) -> None:
    """Delete a file; a link to it stays, since it was there before the file.

    Raises:
        Conflict: it was written since it was read.
        InvalidInput: it may not be deleted.

    """
    check_unchanged(known)
    try:
        known.target.unlink()
    except OSError as error:
        raise InvalidInput(f"{known.path} cannot be deleted: {error.strerror}.") from error


_MARK = ".made-by-memento"
_MARK_TEXT = "memento made this folder. `memento uninstall` removes it, if nothing else is in it by then.\n"


def _make_folder(folder: Path) -> None:
    """Make a folder, with a mark in each that was missing. Raises `OSError`."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(exist_ok=True)
        (one / _MARK).write_text(_MARK_TEXT, encoding="utf-8")


def remove_made_folders(folders: Sequence[Path]) -> None:
    """Remove those of the folders, and of the folders above, that memento made and that hold nothing else by now.

    Where something of others is in one, only memento's mark is taken out of it.
    """
    chains = {above for folder in folders for above in (folder, *folder.parents)}
    for folder in sorted(chains, key=lambda one: -len(one.parts)):
        mark = folder / _MARK
        with suppress(OSError):  # a folder that stays does no harm
            if not mark.is_file():
                continue
            others = [one for one in folder.iterdir() if one != mark]
            if any((one / _MARK).is_file() for one in others):
                continue  # another host's, which goes with that
            mark.unlink()
            if not others:
                folder.rmdir()


_BACKUP_SUFFIX = ".before-memento-"


def back_up(known: HostText) -> Path | None:
    """Copy a file with its mode, unless the last copy is equal; return the copy, ``None`` where there is no file.

    Raises:
        InvalidInput: the copy cannot be written.

    """
    if known.raw is None:
        return None
    numbered = dict(_backups_by_number(known.path))
    newest = max(numbered, default=0)
    if newest and read_host_file(numbered[newest]).raw == known.raw:
        return numbered[newest]
    copy = known.path.with_name(f"{known.path.name}{_BACKUP_SUFFIX}{newest + 1}")
    write_host_file(copy, known.raw, known.mode, known.owner)
    return copy


def original_backup(known: HostText, parts: Sequence[FilePart]) -> HostText | None:
    """Return the last copy without commands of memento; ``None`` where there is none."""
    for _, path in sorted(_backups_by_number(known.path), reverse=True):
        try:
            copy = read_host_file(path)
            if not any(part.find_commands(copy.text) for part in parts):
                return copy
        except InvalidInput:
            continue  # a damaged copy is no original
    return None


def delete_equal_backups(known: HostText, raw: bytes) -> None:
    """Delete the copies that equal the file."""
    for _, path in _backups_by_number(known.path):
        if read_host_file(path).raw == raw:
            path.unlink(missing_ok=True)


def _backups_by_number(path: Path) -> Iterator[tuple[int, Path]]:
    if not path.parent.is_dir():
        return
    for entry in path.parent.iterdir():
        number = entry.name.removeprefix(path.name + _BACKUP_SUFFIX)
        is_numbered = number != entry.name and number.isascii() and number.isdecimal()
        if is_numbered and not entry.is_symlink() and entry.is_file():
            yield int(number), entry
