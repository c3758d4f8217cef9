"""Measure how new each of many texts is beside those before it and some that are known, without an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from memento_tui.text.words import WORD

__all__ = ["CHARACTERS_COMPARED", "Novelty"]

CHARACTERS_COMPARED, _WORDS = 1_500, 120
"""Characters and words at the beginning of a text, where its subject is, that are compared."""

_TEXTS_A_PAIR = 4
"""Texts that are remembered for two neighbouring words; more common ones tell nothing apart."""

_PAIRS_REMEMBERED = 150_000
"""Pairs of words after which the older half is forgotten: some 15 MB."""


_Pair = tuple[str, str]


class Novelty:
    """The texts of one bulk write so far, and those that were stored before it."""

    def __init__(self, stored: Iterable[str] = ()) -> None:
        """Create it with some known texts, which are never forgotten."""
        self._texts = 0
        self._stored: dict[_Pair, list[int]] = {}
        self._newer: dict[_Pair, list[int]] = {}
        self._older: dict[_Pair, list[int]] = {}
        for text in stored:
            self._remember(_pairs(text), self._stored)

    def measure(self, text: str) -> float:
        """Return how new a text is, 0 for one that was seen to 1 for one like none, and remember it.

        That is the share of its pairs of neighbouring words that the most similar text before it does not hold.
        """
        pairs = _pairs(text)
        if len(self._newer) >= _PAIRS_REMEMBERED:
            self._older, self._newer = self._newer, {}
        known = (self._stored, self._older, self._newer)
        shared = Counter([holder for texts in known for pair in pairs if pair in texts for holder in texts[pair]])
        self._remember(pairs, self._newer)
        most = max(shared.values(), default=0)
        return round(1 - most / len(pairs), 3) if pairs else 1.0

    def _remember(self, pairs: Iterable[_Pair], among: dict[_Pair, list[int]]) -> None:
        text = self._texts
        for pair in pairs:
            if (holders := among.get(pair)) is None:
                among[pair] = [text]
            elif len(holders) < _TEXTS_A_PAIR:
                holders.append(text)
        self._texts += 1


def _pairs(text: str) -> dict[_Pair, None]:
    """Return the pairs of neighbouring words of a text's beginning; a single word is paired with nothing."""
    words = WORD.findall(text[:CHARACTERS_COMPARED].casefold())[:_WORDS]
    return dict.fromkeys(pairwise(words)) or dict.fromkeys((word, "") for word in words)
