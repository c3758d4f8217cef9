"""The files of a source: found without leaving the folder that was named, and read within a limit."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.interchange.incoming import Refused

__all__ = [
    "Loaded",
    "SourceFile",
    "check_readable",
    "count_files",
    "decode_text",
    "has_file",
    "has_folder",
    "load",
    "open_source",
    "walk",
]

_LATEST = 253_402_300_799
"""Seconds: the last that the calendar of datetime holds."""


class SourceFile(msgspec.Struct, frozen=True):
    """A file to read: where it lies, and its name within the source, with ``/`` between folders."""

    path: str
    name: str


class Loaded(msgspec.Struct, frozen=True):
    """The bytes of a file and when they were last changed."""

    data: bytes
    modified: datetime


def check_readable(root: Path) -> None:
    """Refuse a source that is not there, or that the system does not let us open.

    Raises:
        InvalidInput: with the reason.

    """
    if not os.access(root, os.F_OK):
        raise InvalidInput(f"There is nothing at {root}.", "Check the path.")
    if not os.access(root, os.R_OK | (os.X_OK if has_folder(root) else 0)):
        raise InvalidInput(f"{root} cannot be opened.", "Check who may read it.")


def has_folder(path: Path) -> bool:
    """Tell whether there is a folder; what we may not look at is none."""
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises where we may not look


def has_file(path: Path) -> bool:
    """Tell whether there is a file; what we may not look at is none."""
    return os.path.isfile(path)  # noqa: PTH113 - as above


def walk(root: Path, suffix: str, *, hidden: bool = False) -> Iterator[SourceFile | Refused]:
    """Yield every regular file below ``root`` whose name ends with ``suffix`` (in any case), folder by folder in order.

    Names that begin with a dot are passed over unless ``hidden``; ``root`` itself may have one. A symbolic link is
    never followed: one that stays within ``root`` is passed over, because its target is found where it lies, and one
    that leads out or nowhere is refused. A file as ``root`` is yielded whatever its name.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    if not root.exists():
        raise InvalidInput(f"There is nothing at {root}.", "Check the path.")
    top = os.path.realpath(root)
    if not os.path.isdir(top):  # noqa: PTH112 - paths stay text here: a tree may hold a million of them
        yield SourceFile(top, root.name)
        return
    waiting = [(top, "")]
    while waiting:
        folder, prefix = waiting.pop()
        below: list[tuple[str, str]] = []
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield Refused(prefix.rstrip("/") or root.name, 0, f"cannot be opened: {error.strerror}")
            continue
        for entry in entries:
            if entry.name.startswith(".") and not hidden:
                continue
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                below.append((entry.path, name + "/"))
            elif (found := _examine(entry, name, suffix, top)) is not None:
                yield found
        waiting.extend(reversed(below))


def _examine(entry: os.DirEntry[str], name: str, suffix: str, top: str) -> SourceFile | Refused | None:
    wanted = entry.name.lower().endswith(suffix)
    if entry.is_symlink():
        return _examine_link(entry.path, name, top) if wanted or os.path.isdir(entry.path) else None  # noqa: PTH112 - as above
    if not wanted:
        return None
    if not entry.is_file(follow_symlinks=False):
        return Refused(name, 0, "is not a regular file")
    try:
        name.encode()
    except UnicodeEncodeError:
        return Refused(name.encode("utf-8", "backslashreplace").decode(), 0, "has a name that is not UTF-8")
    return SourceFile(entry.path, name)


def _examine_link(path: str, name: str, top: str) -> Refused | None:
    target = os.path.realpath(path)
    shown = name.encode("utf-8", "backslashreplace").decode()
    if target != top and not target.startswith(top.rstrip("/") + "/"):
        return Refused(shown, 0, "is a link that leads out of the folder, and is not followed")
    if not os.path.exists(target):  # noqa: PTH110 - as above
        return Refused(shown, 0, "is a link that leads nowhere")
    return None


def count_files(root: Path, suffix: str, *, hidden: bool = False) -> int:
    """Return how many files `walk` yields, without opening one."""
    return sum(isinstance(found, SourceFile) for found in walk(root, suffix, hidden=hidden))


def open_source(source: SourceFile) -> BinaryIO:
    """Open a file that `walk` found, unless it became a link since then; a pipe is not waited for. Raises `OSError`."""
    return os.fdopen(os.open(source.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")


def load(source: SourceFile, limit: int) -> Loaded | Refused:
    """Read a file of at most ``limit`` bytes."""
    try:
        with open_source(source) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                return Refused(source.name, 0, "is not a regular file")
            if status.st_size > limit:
                return Refused(source.name, 0, f"is {status.st_size:,} bytes long; the limit is {limit:,}")
            data = stream.read(limit + 1)
    except OSError as error:
        return Refused(source.name, 0, f"cannot be read: {error.strerror}")
    if len(data) > limit:
        return Refused(source.name, 0, f"grew past {limit:,} bytes while it was read")
    return Loaded(data, datetime.fromtimestamp(min(max(status.st_mtime, 0), _LATEST), UTC))


def decode_text(data: bytes, name: str) -> str | Refused:
    """Return the text of a file; bytes that are not UTF-8, or a NUL, are refused with their line."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Refused(name, line, f"is not UTF-8: byte 0x{data[error.start]:02x} cannot stand there")
    if (nul := text.find("\x00")) >= 0:
        return Refused(name, text.count("\n", 0, nul) + 1, "holds a NUL character, which text cannot contain")
    return text
