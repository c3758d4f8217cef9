"""Pack the image of a record as its difference from an earlier image, and unpack it."""

from __future__ import annotations

__all__ = ["pack", "unpack"]

_BLOCK = 8 * 1024
"""Bytes that are packed at a time."""

_BEFORE, _WINDOW = 12 * 1024, 32 * 1024
"""Bytes of the earlier image that a block is compared with: from so many before its place, as many as deflate knows."""

_RAW = -15

_SHORT = 1024
_MEMORY_LEVELS = (4, 8)
"""deflate's own for short blocks and for long ones: with the more it begins ten times as slowly, and finds more."""

_NUMBER_BYTES = 4


def pack(image: str, base: str) -> bytes:
    """Return an image as its difference from another: the lengths of the beginning and end they share, and the middle.

    The middle is deflated in blocks of 8 kB, each with the part of the other image around its place as the dictionary:
    so a change of a few words in a long text takes little, wherever they are.
    """
    import zlib  # noqa: PLC0415 - hooks read no image

    text, known = image.encode(), base.encode()
    first = _shared_beginning(text, known)
    last = _shared_beginning(text[: first - 1 if first else None : -1], known[: first - 1 if first else None : -1])
    middle = text[first : len(text) - last]
    parts = [_number(first), _number(last)]
    for start in range(0, len(middle), _BLOCK):
        block = middle[start : start + _BLOCK]
        level = _MEMORY_LEVELS[len(block) > _SHORT]
        deflater = zlib.compressobj(wbits=_RAW, memLevel=level, zdict=_around(known, first + start))
        part = deflater.compress(block) + deflater.flush()
        parts += [_number(len(part)), part]
    return b"".join(parts)


def unpack(packed: bytes, base: str | None) -> str | None:
    """Return the image that was packed; ``None`` where the base image is missing or does not fit.

    Whoever compares the digest finds out.
    """
    import zlib  # noqa: PLC0415 - as above

    if base is None:
        return None
    known = base.encode()
    first, last = _number_at(packed, 0), _number_at(packed, _NUMBER_BYTES)
    parts, place, start = [known[:first]], 2 * _NUMBER_BYTES, first
    try:
        while place < len(packed):
            length, place = _number_at(packed, place), place + _NUMBER_BYTES
            inflater = zlib.decompressobj(wbits=_RAW, zdict=_around(known, start))
            parts.append(inflater.decompress(packed[place : place + length]) + inflater.flush())
            place, start = place + length, start + _BLOCK
        return b"".join([*parts, known[len(known) - last :]]).decode()
    except (zlib.error, UnicodeDecodeError):
        return None


def _shared_beginning(one: bytes, other: bytes) -> int:
    """Return how many bytes two texts have in common at their beginnings."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _around(known: bytes, start: int) -> bytes:
    first = max(0, start - _BEFORE)
    return known[first : first + _WINDOW]


def _number(value: int) -> bytes:
    return value.to_bytes(_NUMBER_BYTES)


def _number_at(packed: bytes, place: int) -> int:
    return int.from_bytes(packed[place : place + _NUMBER_BYTES])
