"""BM25's bounds: what makes its scores mean the same from query to query."""

from __future__ import annotations

import math

__all__ = ["STEEPNESS", "highest", "idf", "perfect", "saturated"]

_K1 = 1.2
"""Tantivy's."""

STEEPNESS = 2.5
"""How soon a score nears 1: a memory that reaches a third of the perfect BM25 score gets 0.56.

Chosen on the development sets of LoCoMo, LongMemEval and engram together.
"""


def idf(total: int, holding: int) -> float:
    """Return the inverse document frequency of a term that ``holding`` of ``total`` documents hold."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def highest(total: int, holding: int) -> float:
    """Return the most that one term can add to a score, idf * (k1 + 1): its density without limit."""
    return perfect(idf(total, holding))


def perfect(rarity: float) -> float:
    """Return the most that a term of this inverse document frequency can add to a score."""
    return rarity * (_K1 + 1)


def saturated(score: float, ceiling: float) -> float:
    """Return a BM25 score from 0 to 1: divided by ``ceiling``, that of a perfect match, then 1 - exp(-2.5 x)."""
    return 1 - math.exp(-STEEPNESS * score / ceiling) if ceiling > 0 else 0.0
