"""The lines of a transcript, one at a time: its length does not matter, nor does that of any one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TypeVar

import msgspec

__all__ = ["LONGEST_LINE", "Problem", "parse", "raw_lines"]

LONGEST_LINE = 8 * 1024 * 1024
"""Bytes. A longer line holds an image or a whole build log; it is named and skipped."""

_SURROGATE = re.compile("[\ud800-\udfff]")

Row = TypeVar("Row")


class Problem(Exception):
    """Why a line is skipped, in words that follow ``line 12``."""


def raw_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None, int, bool]]:
    """Yield the number of each line from 1 on, its bytes, its length in bytes, and whether it ends with a line break.

    The bytes are ``None`` where the line is longer than `LONGEST_LINE`.
    """
    number = 0
    while raw := stream.readline(LONGEST_LINE):
        number += 1
        size = len(raw)
        if size < LONGEST_LINE or raw.endswith(b"\n"):
            yield number, raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw, size, raw.endswith(b"\n")
            continue
        while raw and not raw.endswith(b"\n"):
            raw = stream.readline(LONGEST_LINE)
            size += len(raw)
        yield number, None, size, raw.endswith(b"\n")


def parse(raw: bytes, decode: Callable[[bytes], Row], convert: Callable[[Any], Row], *, is_whole: bool) -> Row:
    """Return what a line says.

    ``decode`` is the fast way. A host that cuts a text in the middle of an emoji leaves half of it behind as a lone
    surrogate, which only the standard library reads; ``convert`` makes the same row of what that returns.

    Raises:
        Problem: the line is not one JSON object.

    """
    try:
        return decode(raw)
    except UnicodeDecodeError as error:
        raise Problem(f"is not UTF-8: byte 0x{raw[error.start]:02x}" if error.start else "is not UTF-8") from None
    except RecursionError:
        raise Problem("is nested too deep") from None
    except (msgspec.DecodeError, msgspec.ValidationError):
        pass
    try:
        value = json.loads(raw)
        if isinstance(value, dict):
            return convert(_mended(value))
    except UnicodeDecodeError:
        raise Problem("is not UTF-8") from None
    except RecursionError:
        raise Problem("is nested too deep") from None
    except (ValueError, msgspec.ValidationError) as error:
        if not is_whole:
            raise Problem("ends in the middle; the file is still being written, or was cut off") from None
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a value that cannot be read"
        raise Problem(f"is not whole JSON: {reason}") from None
    raise Problem("is not an object with fields")


def _mended(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return JSON values with each lone surrogate replaced by the character that stands for a lost one."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_mended(key): _mended(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mended(inner) for inner in value]
    return value
