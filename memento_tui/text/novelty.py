"""Measure how new each of many texts is beside those before it, in one pass and without an index."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

__all__ = ["Novelty"]

_WORD = re.compile(r"\w+")

_CHARACTERS, _WORDS = 1_500, 120
"""Characters and words of a text that are compared: what it is about stands at its beginning."""

_TEXTS_A_PAIR = 4
"""Texts that are remembered for two neighbouring words; more common ones tell nothing apart."""

_PAIRS_REMEMBERED = 150_000
"""Pairs of words after which the older half is forgotten: some 15 MB."""


class Novelty:
    """The texts of one bulk write so far."""

    def __init__(self) -> None:
        self._texts = 0
        self._newer: dict[tuple[str, str], list[int]] = {}
        self._older: dict[tuple[str, str], list[int]] = {}

    def measure(self, text: str) -> float:
        """Return how new a text is, 0 for one that was seen to 1 for one like none, and remember it.

        That is the share of its pairs of neighbouring words that the most similar text before it does not hold.
        """
        words = _WORD.findall(text[:_CHARACTERS].casefold())[:_WORDS]
        pairs = dict.fromkeys(pairwise(words)) or dict.fromkeys((word, "") for word in words)
        if len(self._newer) >= _PAIRS_REMEMBERED:
            self._older, self._newer = self._newer, {}
        shared: Counter[int] = Counter()
        for pair in pairs:
            shared.update(self._older.get(pair, ()))
            holders = self._newer.setdefault(pair, [])
            shared.update(holders)
            if len(holders) < _TEXTS_A_PAIR:
                holders.append(self._texts)
        self._texts += 1
        most = max(shared.values(), default=0)
        return round(1 - most / len(pairs), 3) if pairs else 1.0
