"""Variety: a kind that is written often does not crowd the others out of the first results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

__all__ = ["varied"]

_LARGEST_SHARE = 0.6
"""Of the results that one kind may take while others answer nearly as well."""

_NEARLY = 0.7
"""How much of a result's score one of another kind must have to take its place."""

_FEWEST = 5
"""With fewer results than this there is nothing to share out."""


def varied(ordered: Sequence[tuple[str, float]], kinds: Mapping[str, str], limit: int) -> list[tuple[str, float]]:
    """Return the ``limit`` best of ids with scores, best first, none of the kinds with more than 60 % of them.

    The last results of a kind that has more give way to the best of the others that have 70 % of their score at least;
    where there are none, they stay. The order among those that are returned does not change.
    """
    chosen = list(ordered[:limit])
    if limit < _FEWEST or len(ordered) <= limit:
        return chosen
    quota = int(_LARGEST_SHARE * limit)
    counts = Counter(kinds[name] for name, _ in chosen)
    waiting = [entry for entry in ordered[limit:] if counts[kinds[entry[0]]] < quota]
    for place in range(limit - 1, -1, -1):
        name, score = chosen[place]
        if counts[kinds[name]] <= quota:
            continue
        other = next((entry for entry in waiting if counts[kinds[entry[0]]] < quota), None)
        if other is None or other[1] < _NEARLY * score:
            break
        waiting.remove(other)
        counts[kinds[name]] -= 1
        counts[kinds[other[0]]] += 1
        chosen[place] = other
    rank = {name: place for place, (name, _) in enumerate(ordered)}
    return sorted(chosen, key=lambda entry: rank[entry[0]])
