"""Reading and replacing one file of a host: through links, whole or not at all, never over somebody's newer text."""

from __future__ import annotations

import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from memento_tui.errors import Conflict, InvalidInput

__all__ = ["HostText", "check_unchanged", "delete", "read", "replace", "write"]

_MARK = b"\xef\xbb\xbf"
"""What some editors write before UTF-8."""

_PRIVATE = 0o600
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
    mode: int = _PRIVATE
    owner: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """The text, without a byte order mark; empty where there is no file."""
        return _decoded(self.path, (self.raw or b"").removeprefix(_MARK))

    def encoded(self, text: str) -> bytes:
        """Return another text as this file holds it."""
        return (_MARK if (self.raw or b"").startswith(_MARK) else b"") + text.encode()


def _decoded(path: Path, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 (at byte {error.start}).", "Save it as UTF-8.") from None


def read(path: Path) -> HostText:
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
    now = read(known.path)
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


def replace(known: HostText, raw: bytes) -> None:
    """Write a file whole, with the mode and owner that it had; the change is on disk when this returns.

    Raises:
        Conflict: somebody wrote it since it was read.
        InvalidInput: it may not be written.

    """
    check_unchanged(known)
    write(known.target, raw, known.mode, known.owner)


def write(target: Path, raw: bytes, mode: int, owner: tuple[int, int] | None = None) -> None:
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


def delete(known: HostText) -> None:
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
