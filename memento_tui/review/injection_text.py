"""A text as the rules for injections read it: without disguises, each character knowing where it came from."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import msgspec

__all__ = ["Folded", "folded"]

_LOOKALIKES = dict(
    zip(
        "аеорсухкмнтвіјѕԁɡһӏαοеνρτικχАВЕКМНОРСТУХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
        "aeopcyxkmhtbijsdghlaoevptikxabekmhopctyxijsabezhikmnoptyx",
        strict=True,
    )
)
"""Cyrillic and Greek letters that look like Latin ones; read as those in a word that has Latin letters too."""
_WORD = re.compile(r"[^\W\d_]++")
_LATIN = re.compile(r"[a-z]")
_QUOTES = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'}
_LIGATURE_LIMIT = 20
"""Characters that one character may unfold to; U+FDFA has 18."""


class Folded(msgspec.Struct, frozen=True):
    """The text to match, and for each of its characters the place in the original; ``None`` where they are the same."""

    text: str
    places: tuple[int, ...] | None
    length: int

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where in the original the characters from ``start`` to ``end`` stand."""
        if self.places is None:
            return start, end
        last = self.places[end - 1] + 1 if end > start else self.places[start]
        return self.places[start], min(last, self.length)


def folded(text: str) -> Folded:
    """Return the text in lower case and NFKC, without accents and what cannot be seen, lookalikes as Latin letters."""
    if text.isascii():
        return Folded(text.lower(), None, len(text))
    pieces: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        piece = char.lower() if char.isascii() else _unfolded(char)
        if piece:
            pieces.append(piece)
            places.extend([place] * len(piece))
    plain = _WORD.sub(_as_latin, "".join(pieces))
    return Folded(plain, tuple(places), len(text))


@lru_cache(maxsize=4096)
def _unfolded(char: str) -> str:
    """Return what a character outside ASCII stands for: itself, plain letters, or nothing where it is invisible."""
    kept = []
    for part in unicodedata.normalize("NFKD", char):
        category = unicodedata.category(part)
        if category not in ("Cf", "Cc", "Mn", "Me", "Cn", "Co", "Cs") and part not in "\u3164\u115f\u1160\uffa0\u2800":
            kept.append(part)
    piece = unicodedata.normalize("NFC", "".join(kept)).lower()[:_LIGATURE_LIMIT]
    return _QUOTES.get(piece, piece)


def _as_latin(word: re.Match[str]) -> str:
    found = word[0]
    return (
        found
        if found.isascii() or _LATIN.search(found) is None
        else "".join(_LOOKALIKES.get(char, char) for char in found)
    )
