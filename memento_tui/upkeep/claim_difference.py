"""A difference between two claims, and what is measured of a pair of texts to judge it by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from memento_tui.upkeep.claim_align import Clause, Reading, clauses
from memento_tui.upkeep.claims import Sentence, Token

__all__ = ["Difference", "Pair", "Side", "Span", "chance", "words_span"]

Span = tuple[int, int]


class Difference(msgspec.Struct, frozen=True, gc=False):
    """One way in which a sentence of each text differ, with what was measured of it."""

    family: str
    """value, denial, or slot: which weights judge it."""
    features: tuple[float, ...]
    first: tuple[Span, ...]
    second: tuple[Span, ...]
    quoted: tuple[Span, Span]
    """The words of each text that show the difference to a person."""
    change: bool = False
    """Whether one side says that something changed."""
    counts: bool = False
    """Whether the difference is in a quantity, which may grow with time."""


class Side(msgspec.Struct, frozen=True, gc=False):
    """One sentence in its text."""

    reading: Reading
    sentence: Sentence
    context: Mapping[str, float]
    """The weights of its words, and of those of its surroundings."""

    def clauses(self) -> list[Clause]:
        """Return the clauses of the sentence."""
        return clauses(self.sentence)


class Pair(msgspec.Struct, frozen=True, gc=False):
    """Two sentences that speak of the same thing, and how alike and how far apart in time their texts are."""

    first: Side
    second: Side
    similarity: float
    days: float
    """Between the dates of writing."""

    @property
    def elapsed(self) -> float:
        """From 0 (written together) to 1 (a month apart or more): how likely a state is to have changed."""
        return min(math.log1p(self.days) / math.log1p(30.0), 1.0)


def chance(features: Sequence[float], weights: Sequence[float], bias: float) -> float:
    """Return the logistic function of the weighted features: from 0 to 1."""
    total = bias + sum(value * weight for value, weight in zip(features, weights, strict=True))
    return 1.0 / (1.0 + math.exp(-max(min(total, 30.0), -30.0)))


def words_span(tokens: Iterable[Token]) -> tuple[Span, ...]:
    """Return the spans of tokens, each token's own."""
    return tuple((token.start, token.end) for token in tokens)
