"""The weights by which a difference becomes a chance from 0 to 1 that two texts contradict each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from memento_tui.upkeep.claim_difference import Difference, chance

__all__ = ["WEIGHTS", "Weights", "judged"]


_FEW_SENTENCES = 12
"""Sentences of two short texts together, about as many as the weights were fitted on."""


class Weights(NamedTuple):
    """A weight for each feature of a family, in the order in which its module names them, and what is added."""

    features: tuple[float, ...]
    bias: float


# "value" and "denial" are what `python -m tests.benchmarks.conflicts_fit` finds on the development pairs; its text says
# how. "slot" and "update" are set by hand, so that a slot needs one subject and one attribute and an update alone
# is seldom enough; the same program's pairs and real memories were only looked at for false alarms.
WEIGHTS: Mapping[str, Weights] = {
    "value": Weights((2.7, 1.53, 1.97, -0.88, 1.12, -1.65, -1.18, 0.86, 0.99, 1.0), -5.07),
    "denial": Weights((2.43, 0.75, -1.86, -0.86, 2.4, 1.67, -1.31, 3.5, -2.04, -0.29, 4.34), -6.81),
    "slot": Weights((1.5, 1.0, 1.5, 1.5, 0.7, 1.0, 1.5, 1.5), -4.7),
    "update": Weights((2.0, 1.0, 1.0, -1.0, 1.0, 1.0), -5.0),
}


def judged(difference: Difference, sentences: int = 0) -> float:
    """Return the chance, from 0 to 1, that a difference is a contradiction.

    ``sentences`` is the number of sentences of both texts. The more there are, the more likely are two of them alike by
    accident, so above a dozen the odds fall with the square root of their number.
    """
    weights = WEIGHTS[difference.family]
    crowd = math.log(max(sentences / _FEW_SENTENCES, 1.0)) / 2
    return chance(difference.features, weights.features, weights.bias - crowd)
