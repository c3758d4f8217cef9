"""What a reader finds in a source: records that may be taken in, and things that could not be read."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import msgspec

__all__ = ["SAID", "Incoming", "RecordName", "Refused", "numbered_digest", "source_digest"]

RecordName = Literal["memory", "skip", "item", "crystal", "relation"]


class Incoming(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One record of a source, as plain values that `records.make_memory` and its siblings take."""

    key: str
    """What names the record within its source, the same at every reading and for no other record of its sort."""
    record: RecordName
    fields: dict[str, Any]
    """It holds an ``id`` only where the source itself names one."""
    digest: bytes
    """16 bytes over the record as the source writes it: another digest under the same key means that it changed."""
    file: str
    """The file's path within the source, for a person to find it."""
    line: int
    """Where the record begins in the file, counted from 1."""
    deleted: bool = False
    """The source says that the record is gone; ``fields`` may then hold no more than its identity."""
    among: str = ""
    """What the key numbers the record within, if nothing but a number names it: the key is this, a dot and the number.
    The reader yields the records of one list one after the other, with a `numbered_digest`."""
    links: tuple[tuple[str, str, str], ...] = ()
    """Relation type, target as the source writes it, and label; the target may not exist."""


class Refused(msgspec.Struct, frozen=True):
    """One thing that could not be read or written, and why. The rest of its source is not affected."""

    file: str
    line: int
    """Counted from 1; 0 where the whole file is meant."""
    reason: str
    """The end of a sentence that begins with the file: ``is not UTF-8``."""


def source_digest(source: bytes) -> bytes:
    """Return the digest of one record's bytes in its source."""
    return hashlib.blake2b(source, digest_size=16).digest()


SAID = slice(8)
"""The part of a `numbered_digest` that is the same wherever the record stands."""


def numbered_digest(said: bytes, beside: bytes) -> bytes:
    """Return the digest of a record that only a number names: over what it says, and over what is kept beside it."""
    return source_digest(said)[SAID] + source_digest(beside)[SAID]
