"""Find the files of a source without leaving its folder, and read them and their JSON lines within limits."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, BinaryIO

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.formats.base import Refused
from memento_tui.regular_files import open_regular

__all__ = [
    "GZIP_MAGIC",
    "JsonLine",
    "LoadedFile",
    "SourceFile",
    "check_readable",
    "count_files",
    "count_lines",
    "decode_text",
    "has_file",
    "has_folder",
    "load_file",
    "open_source",
    "read_objects",
    "walk_files",
    "walk_folders",
]

_MAX_TIMESTAMP = 253_402_300_799
"""Seconds: the last that the calendar of datetime holds."""


class SourceFile(msgspec.Struct, frozen=True):
    """A file to read: where it lies, and its name within the source, with ``/`` between folders."""

    path: str
    name: str


class LoadedFile(msgspec.Struct, frozen=True):
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
    """Return whether there is a folder that we may see."""
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises where we may not look


def has_file(path: Path) -> bool:
    """Return whether there is a file that we may see."""
    return os.path.isfile(path)  # noqa: PTH113 - as above


def walk_files(root: Path, suffix: str, *, hidden: bool = False) -> Iterator[SourceFile | Refused]:
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
            elif (examined := _examine(entry, name, suffix, top)) is not None:
                yield examined
        waiting.extend(reversed(below))


def walk_folders(root: Path, passed_over: Collection[str]) -> Iterator[str]:
    """Yield the name of every folder below ``root``, without hidden ones, links and those of the given names."""
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(root / prefix) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue  # `walk_files` tells of it
        names = [
            prefix + entry.name
            for entry in entries
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".") and entry.name not in passed_over
        ]
        yield from names
        waiting.extend(f"{name}/" for name in reversed(names))


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
    return sum(isinstance(file, SourceFile) for file in walk_files(root, suffix, hidden=hidden))


def open_source(source: SourceFile) -> BinaryIO:
    """Open a file that `walk_files` yielded. Raises `OSError` where it is a link, a pipe or a folder by now."""
    return os.fdopen(open_regular(source.path, os.O_RDONLY | os.O_NOFOLLOW), "rb")


def load_file(source: SourceFile, limit: int) -> LoadedFile | Refused:
    """Read a file of at most ``limit`` bytes."""
    try:
        with open_source(source) as stream:
            status = os.fstat(stream.fileno())
            if status.st_size > limit:
                return Refused(source.name, 0, f"is {status.st_size:,} bytes long; the limit is {limit:,}")
            data = stream.read(limit + 1)
    except OSError as error:
        return Refused(source.name, 0, f"cannot be read: {error.strerror}")
    if len(data) > limit:
        return Refused(source.name, 0, f"grew past {limit:,} bytes while it was read")
    return LoadedFile(data, datetime.fromtimestamp(min(max(status.st_mtime, 0), _MAX_TIMESTAMP), UTC))


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


_LONGEST_LINE = 4 * 1024 * 1024
"""Bytes. The longest memory that memento takes stays below this even if JSON escapes its every character."""

_MAX_RECOVERY_ATTEMPTS = 100
"""Places in a damaged line where another record may begin; a line with more is not worth the time."""

_CHUNK = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"
"""The first bytes of a file that gzip packed."""

_decode = msgspec.json.Decoder().decode
_stdlib_decoder = json.JSONDecoder()


class JsonLine(msgspec.Struct, frozen=True, gc=False):
    """One object: its line, its place among the objects of that line, its bytes and its values."""

    number: int
    nth: int
    source: bytes
    value: dict[str, Any]


def read_objects(source: SourceFile, marker: str) -> Iterator[JsonLine | Refused]:
    """Yield the objects of a file in order; a line that is none is refused and never costs the rest.

    Where a writer was cut off and the next one went on in the same line, the line holds half a record and a whole one.
    The whole ones are found: they are the objects that have the field ``marker``.
    """
    try:
        with open_source(source) as stream:
            for number, raw in _numbered_lines(_unpacked(stream)):
                if raw is None:
                    yield Refused(source.name, number, f"is longer than {_LONGEST_LINE:,} bytes")
                    continue
                try:
                    value = _decode(raw)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    yield from _recover(source.name, number, raw, marker)
                    continue
                if type(value) is dict:
                    yield JsonLine(number, 0, raw.strip(), value)
                else:
                    yield Refused(source.name, number, "is not an object with fields")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        yield Refused(source.name, 0, f"is damaged, and was read up to there: {error}")
    except OSError as error:
        yield Refused(source.name, 0, f"cannot be read: {error.strerror}")


def _unpacked(stream: IO[bytes]) -> IO[bytes] | gzip.GzipFile:
    """Return a stream of a file's content, which may be compressed, as the help of ``memento export`` shows."""
    is_packed = stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    stream.seek(0)
    return gzip.GzipFile(fileobj=stream) if is_packed else stream


def _numbered_lines(stream: IO[bytes] | gzip.GzipFile) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines from 1 on, ``None`` for one that is too long to hold."""
    number = 0
    while raw := stream.readline(_LONGEST_LINE):
        number += 1
        if len(raw) < _LONGEST_LINE or raw.endswith(b"\n"):
            yield number, raw
            continue
        while raw and not raw.endswith(b"\n"):
            raw = stream.readline(_LONGEST_LINE)
        yield number, None


def _recover(file: str, number: int, raw: bytes, marker: str) -> Iterator[JsonLine | Refused]:
    """Yield the whole objects of a line that is not one object, and the reason."""
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as error:
        yield Refused(file, number, f"is not UTF-8: byte 0x{raw[error.start]:02x} cannot stand there")
        return
    if not text:
        return
    spans, problem = _whole_objects(text, marker)
    for nth, (start, end) in enumerate(spans):
        part = text[start:end].encode()
        try:
            value = _decode(part)
        except (msgspec.DecodeError, RecursionError):
            problem = problem or "holds a character or a number that no text can carry"
            continue
        yield JsonLine(number, nth, part, value)
    if problem:
        kept = f"; {len(spans)} whole on the same line" if spans else ""
        yield Refused(file, number, f"{problem}{kept}")


def _whole_objects(text: str, marker: str) -> tuple[list[tuple[int, int]], str]:
    """Return the begin and end of each object with the marker, and the fault of the rest, if there is one."""
    spans: list[tuple[int, int]] = []
    problem = ""
    position = attempts = 0
    while 0 <= position < len(text) and attempts < _MAX_RECOVERY_ATTEMPTS:
        try:
            value, end = _stdlib_decoder.raw_decode(text, position)
        except RecursionError:
            return spans, "is nested too deep"
        except json.JSONDecodeError as error:
            problem = problem or f"is not whole JSON: {error.msg} at character {error.pos + 1}"
        except ValueError:  # Python reads no number of more than 4,300 digits
            problem = problem or "holds a number that is too long"
        else:
            if isinstance(value, dict) and marker in value:
                spans.append((position, end))
                position = _skip_space(text, end)
                continue
            problem = problem or "is not an object with fields"
        attempts += 1
        position = text.find('{"', position + 1)
    return spans, problem


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def count_lines(root: Path, suffix: str) -> int:
    """Return how many lines the files below ``root`` have, without decoding them."""
    return sum(_lines_in(file) for file in walk_files(root, suffix, hidden=True) if isinstance(file, SourceFile))


def _lines_in(source: SourceFile) -> int:
    lines, last = 0, b"\n"
    try:
        with open_source(source) as stream:
            whole = _unpacked(stream)
            while chunk := whole.read(_CHUNK):
                lines += chunk.count(b"\n")
                last = chunk[-1:]
    except (OSError, EOFError, zlib.error):
        return 0  # reading it reports the reason; a total for a progress bar does not need it
    return lines + (last != b"\n")
