"""Fold texts for comparison."""

from __future__ import annotations

import unicodedata

__all__ = ["folded"]


def folded(text: str) -> str:
    """Return a text as it is compared: in small letters, and with accents as one with their letters.

    What macOS writes often has accents that stand for themselves: two names that look alike would be two.
    """
    if text.isascii():
        return text.casefold()
    # Small letters are made of what is taken apart: else one order of the same accents gives others than another.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
