"""Read, replace and back up the files of hosts: whole or not at all, never over somebody's newer text."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
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
    "replace_host_file",
    "write_host_file",
]


@dataclass(frozen=True)
class InstalledCommand:
    """A command of memento's that stands in a host's file."""

    kind: str
    """``server`` or ``hook``."""
    words: tuple[str, ...]
    """The command, word by word."""
    event: str = ""
    """The event that a hook answers."""


class FilePart(Protocol):
    """One thing that is added to a file. The texts are whole files; an empty one stands for a file that is missing."""

    def add(self, text: str) -> str:
        """Return the text with this part in it as it is wanted now; the same text where it is so already.

        Raises:
            InvalidInput: the text is not what the host reads, or something of others is in the way.

        """

    def remove(self, text: str, origin: str | None) -> str:
        """Return the text without this part.

        ``origin`` is the file as it was before memento came, where that is known: what was empty there stays.

        Raises:
            InvalidInput: the text is not what the host reads.

        """

    def found(self, text: str) -> list[InstalledCommand]:
        """Return memento's commands in the text.

        Raises:
            InvalidInput: the text is not what the host reads.

        """


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What some editors write before UTF-8."""

_PRIVATE_MODE = 0o600
"""The mode of new files, as the hosts make theirs: settings hold keys."""


@dataclass(frozen=True)
class HostText:
    """A file as it was read."""

    path: Path
    """As the host names it, perhaps a link."""
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
        """Return another text as this file holds it."""
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
        # Not resolve(): that takes a loop of links for a file that is missing.
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
    """See to it that a file is still what it was when it was read, and may be written.

    Raises:
        Conflict: somebody wrote it since.
        InvalidInput: it may not be written.

    """
    now = read_host_file(known.path)
    if (now.raw, now.target) != (known.raw, known.target):
        raise Conflict(
            f"{known.path} changed while you were looking at the difference; nothing was written.",
            "Run the command again: it starts from what the file says now.",
        )
    # The modes are asked too, because nothing is forbidden to root.
    if known.raw is not None and not (known.mode & 0o222 and os.access(known.target, os.W_OK)):
        raise InvalidInput(
            f"{known.path} may not be written.", "Make it writable, or put the lines of --dry-run into it by hand."
        )


def replace_host_file(known: HostText, raw: bytes) -> None:
    """Write a file whole, with the mode and owner that it had; the change is on disk when this returns.

    Raises:
        Conflict: somebody wrote it since it was read.
        InvalidInput: it may not be written.

    """
    check_unchanged(known)
    write_host_file(known.target, raw, known.mode, known.owner)


def write_host_file(target: Path, raw: bytes, mode: int, owner: tuple[int, int] | None = None) -> None:
    """Write a file whole, making its folder where that is missing.

    Raises:
        InvalidInput: it cannot be written.

    """
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
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
    """Delete a file; a link to it stays, as it was there before the file.

    Raises:
        Conflict: somebody wrote it since it was read.
        InvalidInput: it may not be deleted.

    """
    check_unchanged(known)
    try:
        known.target.unlink()
    except OSError as error:
        raise InvalidInput(f"{known.path} cannot be deleted: {error.strerror}.") from error


_BACKUP_SUFFIX = ".before-memento-"


def back_up(known: HostText) -> Path | None:
    """Copy a file with its mode, unless the last copy says the same; return the copy, ``None`` where there is no file.

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
    """Return the last copy in which there is nothing of memento's; ``None`` where there is none."""
    for _, path in sorted(_backups_by_number(known.path), reverse=True):
        try:
            copy = read_host_file(path)
            if not any(part.found(copy.text) for part in parts):
                return copy
        except InvalidInput:
            continue  # a copy that somebody damaged tells nothing
    return None


def delete_equal_backups(known: HostText, raw: bytes) -> None:
    """Delete the copies that say what the file says now."""
    for _, path in _backups_by_number(known.path):
        if read_host_file(path).raw == raw:
            path.unlink(missing_ok=True)


def _backups_by_number(path: Path) -> Iterator[tuple[int, Path]]:
    if not path.parent.is_dir():
        return
    for one in path.parent.iterdir():
        number = one.name.removeprefix(path.name + _BACKUP_SUFFIX)
        if number != one.name and number.isascii() and number.isdecimal() and not one.is_symlink() and one.is_file():
            yield int(number), one
