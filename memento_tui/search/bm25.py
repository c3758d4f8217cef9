"""Bound BM25 scores, so that they mean the same from query to query."""

from __future__ import annotations

import math

__all__ = ["STEEPNESS", "density", "highest_score", "idf", "perfect_score", "saturated"]

_K1, _B = 1.2, 0.75
"""Tantivy's."""

_ORDINARY = 200
"""Words of a memory of ordinary length, for `density`. Chosen on the engram set and LoCoMo's turns together."""

STEEPNESS = 2.5
"""How soon a score nears 1: a memory that reaches a third of the perfect BM25 score gets 0.56.

Chosen on the development sets of LoCoMo, LongMemEval and engram together.
"""


def idf(total: int, holding: int) -> float:
    """Return the inverse document frequency of a term that ``holding`` of ``total`` documents hold."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def highest_score(total: int, holding: int) -> float:
    """Return the most that one term can add to a score, idf * (k1 + 1): its density without limit."""
    return perfect_score(idf(total, holding))


def perfect_score(rarity: float) -> float:
    """Return the most that a term of this inverse document frequency can add to a score."""
    return rarity * (_K1 + 1)


def density(count: int, length: int) -> float:
    """Return how densely a text of ``length`` words holds a term, from 0 to k1 + 1: what BM25 multiplies the idf with.

    BM25 compares the length with the average of all texts. So in a store of short memories, or of one, a short memory
    has no merit; here it is compared with a memory of ordinary length instead.
    """
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / _ORDINARY))


def saturated(score: float, ceiling: float) -> float:
    """Return a BM25 score from 0 to 1: divided by ``ceiling``, that of a perfect match, then 1 - exp(-2.5 x)."""
    return 1 - math.exp(-STEEPNESS * score / ceiling) if ceiling > 0 else 0.0
