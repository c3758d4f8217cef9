"""Tell whether a text is a known one but for how its letters look, or a word more, less or spelled otherwise."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from memento_tui.text.lookalikes import LATIN_LOOKALIKES
from memento_tui.text.words import WORD

__all__ = ["is_reworded", "plain_letters"]

_DIGITS_AS_LETTERS = str.maketrans("013457", "oieast")
"""Digits that are written for letters, where they stand in a word."""

_SHINGLE = 5
"""Neighbouring letters that are compared at once: a changed word changes few of them."""

_SHARE_THAT_IS_KEPT = 0.75
"""The share of the shingles of a known text that a rewording of it still has."""

_SHORTEST, _SHORT = 12, 40
"""Letters: a shorter text is compared as it is alone; one that is short is looked for in none much longer than it."""

_CHARACTERS_COMPARED = 20_000


def plain_letters(text: str) -> str:
    """Return the letters and digits of a text, small; in a Latin text those that look like Latin ones as such.

    A text without any is returned whole.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    letters = "".join(filter(str.isalnum, plain)) or plain
    if not letters.isascii() and 2 * sum(map(str.isascii, letters)) > len(letters):
        return "".join(LATIN_LOOKALIKES.get(letter, letter) for letter in letters)
    return letters


def is_reworded(text: str, known: str) -> bool:
    """Tell whether a text says the same as a known one, in nearly its words and with all its numbers.

    Other numbers make it another claim, and so do so many other words that a quarter of the known text is gone.
    """
    (letters, numbers), (known_letters, known_numbers) = _features(text), _features(known)
    if len(known_letters) < _SHORTEST or not known_numbers <= numbers:
        return False
    if len(known_letters) < _SHORT and len(letters) > 1.5 * len(known_letters) + _SHINGLE:
        return False
    sought = _shingles(known_letters)
    return len(sought & _shingles(letters)) >= _SHARE_THAT_IS_KEPT * len(sought)


@lru_cache(maxsize=512)
def _features(text: str) -> tuple[str, frozenset[str]]:
    """Return the letters of a text, digits in words as the letters that they stand for, and its numbers."""
    words = WORD.findall(unicodedata.normalize("NFKC", text[:_CHARACTERS_COMPARED]).casefold())
    spelled = (word if word.isdigit() else word.translate(_DIGITS_AS_LETTERS) for word in words)
    return plain_letters("".join(spelled)), frozenset(filter(str.isdigit, words))


@lru_cache(maxsize=512)
def _shingles(letters: str) -> frozenset[str]:
    return frozenset(letters[start : start + _SHINGLE] for start in range(len(letters) - _SHINGLE + 1))
