"""How well a ranking answers its question, and between which bounds the mean of such a measure lies."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Measures", "interval", "measures"]

_RESAMPLES = 2_000
"""Samples that an interval is drawn from."""


class Measures(NamedTuple):
    """How well one ranking answers its question, each 0 to 1."""

    recall: float
    """The share of the answers among the first five."""
    any: float
    """1 where one of them is among the first five."""
    all: float
    """1 where all of them are."""
    ndcg: float
    """NDCG of the first ten."""


def measures(ranking: Sequence[str], answers: frozenset[str]) -> Measures:
    """Return the measures of a ranking, in which a name counts at its first place."""
    ranked = list(dict.fromkeys(ranking))
    found = sum(name in answers for name in ranked[:5])
    gain = sum(1 / math.log2(place + 2) for place, name in enumerate(ranked[:10]) if name in answers)
    best = sum(1 / math.log2(place + 2) for place in range(min(len(answers), 10)))
    return Measures(found / len(answers), float(found > 0), float(found == len(answers)), gain / best)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the bounds within which 95 % of the means of samples of these values lie."""
    rng = random.Random(0)
    means = sorted(sum(rng.choices(values, k=len(values))) / len(values) for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES)]
