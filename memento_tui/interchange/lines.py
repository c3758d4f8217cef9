"""JSON lines: the objects of a file, packed by gzip or not, one by one, whatever else the file holds."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec

from memento_tui.interchange.incoming import Refused
from memento_tui.interchange.tree import SourceFile, open_source, walk

__all__ = ["Line", "count_lines", "objects"]

_LONGEST_LINE = 4 * 1024 * 1024
"""Bytes. The longest memory that memento takes stays below this even if JSON escapes its every character."""

_MOST_ATTEMPTS = 100
"""Places in a damaged line where another record may begin; a line with more is not worth the time."""

_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"

_decode = msgspec.json.Decoder().decode
_stdlib = json.JSONDecoder()


class Line(msgspec.Struct, frozen=True, gc=False):
    """One object: its line, its place among the objects of that line, its bytes and its values."""

    number: int
    nth: int
    source: bytes
    value: dict[str, Any]


def objects(source: SourceFile, marker: str) -> Iterator[Line | Refused]:
    """Yield the objects of a file in order; what is not an object is refused by line and never costs the rest.

    Where a writer was cut off and the next one went on in the same line, the line holds half a record and a whole one.
    The whole ones are found: they are the objects that have the field ``marker``.
    """
    try:
        with open_source(source) as stream:
            for number, raw in _numbered(_unpacked(stream)):
                if raw is None:
                    yield Refused(source.name, number, f"is longer than {_LONGEST_LINE:,} bytes")
                    continue
                try:
                    value = _decode(raw)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    yield from _recover(source.name, number, raw, marker)
                    continue
                if type(value) is dict:
                    yield Line(number, 0, raw.strip(), value)
                else:
                    yield Refused(source.name, number, "is not an object with fields")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        yield Refused(source.name, 0, f"is damaged, and was read up to there: {error}")
    except OSError as error:
        yield Refused(source.name, 0, f"cannot be read: {error.strerror}")


def _unpacked(stream: IO[bytes]) -> IO[bytes] | gzip.GzipFile:
    """Return what a file holds, which may have been sent through gzip, as the help of ``memento export`` shows it."""
    is_packed = stream.read(len(_GZIP)) == _GZIP
    stream.seek(0)
    return gzip.GzipFile(fileobj=stream) if is_packed else stream


def _numbered(stream: IO[bytes] | gzip.GzipFile) -> Iterator[tuple[int, bytes | None]]:
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


def _recover(file: str, number: int, raw: bytes, marker: str) -> Iterator[Line | Refused]:
    """Yield the whole objects of a line that is not one object, and what is wrong with it."""
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as error:
        yield Refused(file, number, f"is not UTF-8: byte 0x{raw[error.start]:02x} cannot stand there")
        return
    if not text:
        return
    found, problem = _whole_objects(text, marker)
    for nth, (start, end) in enumerate(found):
        part = text[start:end].encode()
        try:
            value = _decode(part)
        except (msgspec.DecodeError, RecursionError):
            problem = problem or "holds a character or a number that no text can carry"
            continue
        yield Line(number, nth, part, value)
    if problem:
        kept = f"; {len(found)} whole on the same line" if found else ""
        yield Refused(file, number, f"{problem}{kept}")


def _whole_objects(text: str, marker: str) -> tuple[list[tuple[int, int]], str]:
    """Return where the objects with the marker begin and end, and what is wrong with the rest, if anything is."""
    found: list[tuple[int, int]] = []
    problem = ""
    position = attempts = 0
    while 0 <= position < len(text) and attempts < _MOST_ATTEMPTS:
        try:
            value, end = _stdlib.raw_decode(text, position)
        except RecursionError:
            return found, "is nested too deep"
        except json.JSONDecodeError as error:
            problem = problem or f"is not whole JSON: {error.msg} at character {error.pos + 1}"
        except ValueError:  # Python reads no number of more than 4,300 digits
            problem = problem or "holds a number that is too long"
        else:
            if isinstance(value, dict) and marker in value:
                found.append((position, end))
                position = _skip_space(text, end)
                continue
            problem = problem or "is not an object with fields"
        attempts += 1
        position = text.find('{"', position + 1)
    return found, problem


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def count_lines(root: Path, suffix: str) -> int:
    """Return how many lines the files below ``root`` have, without reading what they say."""
    return sum(_lines_in(found) for found in walk(root, suffix, hidden=True) if isinstance(found, SourceFile))


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
