"""Fuse keyword and semantic scores into one relevance, and diversify the kinds among the first results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from memento_tui.search.bm25 import saturated

__all__ = ["Relevance", "diversify", "fuse"]

KEYWORD_WEIGHT = 0.6
"""The share of the keyword score where both views exist."""

UNSEEN_SIMILARITY = 0.9
"""What is nearer than nothing but was not among the nearest: this share of the last one's similarity.

These two were chosen on the development sets of LoCoMo, LongMemEval and engram together.
"""


class Relevance(msgspec.Struct, frozen=True):
    """How well one memory answers a query, from 0 to 1, and what each view said (``None``: it did not find it)."""

    score: float
    keyword: float | None
    semantic: float | None
    keyword_rank: int | None
    semantic_rank: int | None


def fuse(
    keyword: Sequence[tuple[str, float]], ceiling: float, semantic: Sequence[tuple[str, float]] | None
) -> dict[str, Relevance]:
    """Return the relevance of every candidate.

    A BM25 score is divided by ``ceiling``, the score of a perfect match, and saturates: 1 - exp(-2.5 x). Cosine
    similarities are taken as they are, and the weighted sum is the relevance. ``semantic`` is ``None`` where that view
    could not be asked: then the keyword score stands alone.
    """
    words = {name: (rank, saturated(score, ceiling)) for rank, (name, score) in enumerate(keyword, 1)}
    if semantic is None:
        return {name: Relevance(score, score, None, rank, None) for name, (rank, score) in words.items()}
    meaning = {name: (rank, max(0.0, score)) for rank, (name, score) in enumerate(semantic, 1)}
    unseen = UNSEEN_SIMILARITY * min((score for _, score in meaning.values()), default=0.0)
    names = dict.fromkeys([*words, *meaning])
    return {name: _combine(words.get(name), meaning.get(name), unseen) for name in names}


def _combine(words: tuple[int, float] | None, meaning: tuple[int, float] | None, unseen: float) -> Relevance:
    word_rank, word_score = words or (None, None)
    meaning_rank, meaning_score = meaning or (None, None)
    near = unseen if meaning_score is None else meaning_score
    score = KEYWORD_WEIGHT * (word_score or 0.0) + (1 - KEYWORD_WEIGHT) * near
    return Relevance(score, word_score, meaning_score, word_rank, meaning_rank)


_LARGEST_SHARE_OF_A_KIND = 0.6
"""Of the results that one kind may take while others answer nearly as well."""

_LEAST_RELATIVE_SCORE = 0.7
"""How much of a result's score one of another kind must have to take its place."""

_FEWEST_RESULTS = 5
"""With fewer results than this there is nothing to share out."""


def diversify(ordered: Sequence[tuple[str, float]], kinds: Mapping[str, str], limit: int) -> list[tuple[str, float]]:
    """Return the ``limit`` best of ids with scores, best first, none of the kinds with more than 60 % of them.

    The last results of a kind that has more give way to the best of the others that have 70 % of their score at least;
    where there are none, they stay. The order among those that are returned does not change.
    """
    chosen = list(ordered[:limit])
    if limit < _FEWEST_RESULTS or len(ordered) <= limit:
        return chosen
    quota = int(_LARGEST_SHARE_OF_A_KIND * limit)
    counts = Counter(kinds[name] for name, _ in chosen)
    waiting = [entry for entry in ordered[limit:] if counts[kinds[entry[0]]] < quota]
    for place in range(limit - 1, -1, -1):
        name, score = chosen[place]
        if counts[kinds[name]] <= quota:
            continue
        other = next((entry for entry in waiting if counts[kinds[entry[0]]] < quota), None)
        if other is None or other[1] < _LEAST_RELATIVE_SCORE * score:
            break
        waiting.remove(other)
        counts[kinds[name]] -= 1
        counts[kinds[other[0]]] += 1
        chosen[place] = other
    rank = {name: place for place, (name, _) in enumerate(ordered)}
    return sorted(chosen, key=lambda entry: rank[entry[0]])
