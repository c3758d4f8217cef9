"""Identities: short, random, and safe to shorten to a prefix that is still unique."""

from __future__ import annotations

import os

from memento_tui.errors import InvalidField

__all__ = ["MAX_ID_LENGTH", "check_id", "new_id"]

MAX_ID_LENGTH = 300
"""Characters. Foreign ids are kept as they are, and the longest seen are paths."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_LENGTH = 12


def new_id() -> str:
    """Return a random id of 12 characters (60 bits) without letters that are easily confused."""
    bits = int.from_bytes(os.urandom(8), "big")
    return "".join([_PAIRS[(bits >> shift) & 1023] for shift in range(0, 5 * _LENGTH, 10)])


def check_id(value: str, field: str = "id") -> str:
    """Return ``value`` if it can be an id: any printable text without line breaks.

    Raises:
        InvalidField: it is empty, too long, or holds a character that is invisible or breaks a line.

    """
    if not value.strip():
        raise InvalidField(field, "is empty", "Leave it out to get a new one.")
    if len(value) > MAX_ID_LENGTH:
        raise InvalidField(field, f"has {len(value)} characters; the limit is {MAX_ID_LENGTH}")
    if not value.isprintable():
        raise InvalidField(field, "holds a character that cannot be printed", "Use letters, digits and - _ . / :")
    return value
