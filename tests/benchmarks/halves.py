"""Part data into the half that constants are chosen on, and the half that is only measured."""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence

__all__ = ["development_half"]

_SEED = 11


def development_half(groups: Sequence[Hashable]) -> frozenset[int]:
    """Return the places of the development half, drawn by a seed: half of each group; ``groups`` has that of each."""
    rng = random.Random(_SEED)
    chosen: set[int] = set()
    for group in dict.fromkeys(groups):
        places = [place for place, other in enumerate(groups) if other == group]
        chosen.update(rng.sample(places, len(places) // 2))
    return frozenset(chosen)
