"""Find the name that was probably meant by one that is misspelled."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["nearest_name"]

_LIKENESS = 0.6
"""The likeness of two names (0 to 1, that of difflib) from which on one may be the other misspelled."""


def nearest_name(typed: str, known: Iterable[str], likeness: float = _LIKENESS) -> str:
    """Return the known name that ``typed`` probably stands for; empty where it is like none of them.

    Two neighbouring letters that changed places count as one slip, which difflib alone counts as two.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - for what is wrong only

    names = list(known)
    swapped = {typed[:place] + typed[place + 1] + typed[place] + typed[place + 2 :] for place in range(len(typed) - 1)}
    return next((name for name in names if name in swapped), "") or next(
        iter(get_close_matches(typed, names, 1, likeness)), ""
    )
