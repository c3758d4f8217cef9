"""Compare names: fold them, and find the one that was probably meant by one that is misspelled."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

__all__ = ["folded", "nearest_name"]


def folded(text: str) -> str:
    """Return a text as it is compared: in small letters, and with accents as one with their letters.

    What macOS writes often has accents that stand for themselves: two names that look alike would be two.
    """
    if text.isascii():
        return text.casefold()
    # Small letters are made of what is taken apart: else one order of the same accents gives others than another.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


_LIKENESS = 0.6
"""The likeness of two names (0 to 1, that of difflib) from which on one may be the other misspelled."""


def nearest_name(typed: str, known: Iterable[str], likeness: float = _LIKENESS) -> str:
    """Return the known name that ``typed`` probably stands for; empty where it is like none of them.

    Two neighbouring letters that changed places count as one slip, which difflib alone counts as two. A text too long
    to be like any of the names is not looked at, so that one of any length costs nothing.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - for what is wrong only

    names = list(known)
    longest = max(map(len, names), default=0)
    # difflib's likeness is twice the letters in common by the letters of both: this is the most that there can be.
    if len(typed) > longest and 2 * longest / (longest + len(typed)) < likeness:
        return ""
    return next((name for name in names if _is_swapped(typed, name)), "") or next(
        iter(get_close_matches(typed, names, 1, likeness)), ""
    )


def _is_swapped(typed: str, name: str) -> bool:
    """Tell whether two neighbouring letters changed places, and nothing else differs."""
    if len(typed) != len(name):
        return False
    places = [place for place, (one, other) in enumerate(zip(typed, name, strict=True)) if one != other]
    if len(places) != 2 or places[1] != places[0] + 1:  # noqa: PLR2004 - the two that changed places
        return False
    return typed[places[0]] == name[places[1]] and typed[places[1]] == name[places[0]]
