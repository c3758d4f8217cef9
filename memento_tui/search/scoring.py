"""Score results: bounded BM25, its fusion with the semantic score, and the kinds among the first results.

Standard library only: memento-hook scores with it. The constants are those of `memento_tui.search.ranking`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memento_tui.search.ranking import (
    BM25_B,
    BM25_K1,
    FEWEST_RESULTS_TO_DIVERSIFY,
    KEYWORD_WEIGHT,
    LARGEST_SHARE_OF_A_KIND,
    LEAST_SHARE_TO_REPLACE,
    ORDINARY_WORDS,
    STEEPNESS,
    UNSEEN_SIMILARITY,
)

__all__ = ["Relevance", "density", "diversify", "fuse", "highest_score", "idf", "perfect_score", "saturated"]


def idf(total: int, holding: int) -> float:
    """Return the inverse document frequency of a term that ``holding`` of ``total`` documents hold."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def highest_score(total: int, holding: int) -> float:
    """Return the most that one term can add to a score, idf * (k1 + 1): its density without limit."""
    return perfect_score(idf(total, holding))


def perfect_score(rarity: float) -> float:
    """Return the most that a term of this inverse document frequency can add to a score."""
    return rarity * (BM25_K1 + 1)


def density(count: int, length: int) -> float:
    """Return how densely a text of ``length`` words holds a term, 0 to k1 + 1: the factor of the idf in BM25.

    BM25 compares the length with the average of all texts. So in a store of short memories, or of one, a short memory
    gains nothing; here it is compared with a memory of ordinary length instead.
    """
    return count * (BM25_K1 + 1) / (count + BM25_K1 * (1 - BM25_B + BM25_B * length / ORDINARY_WORDS))


def saturated(score: float, ceiling: float) -> float:
    """Return a BM25 score from 0 to 1: divided by ``ceiling``, that of a perfect match, then 1 - exp(-2.5 x)."""
    return 1 - math.exp(-STEEPNESS * score / ceiling) if ceiling > 0 else 0.0


class Relevance(NamedTuple):
    """How well one memory answers a query, 0 to 1, and its score and rank in each view; ``None`` where it is absent."""

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
    similarities are taken as they are, and the weighted sum is the relevance. ``semantic`` is ``None`` where there
    is no semantic search: then the keyword score stands alone.
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


def diversify(ordered: Sequence[tuple[str, float]], kinds: Mapping[str, str], limit: int) -> list[tuple[str, float]]:
    """Return the ``limit`` best of ids with scores, best first, none of the kinds with more than 60 % of them.

    The last results of a kind that has more give way to the best of the others that have 70 % of their score at least;
    where there are none, they stay. The order among those that are returned does not change.
    """
    chosen = list(ordered[:limit])
    if limit < FEWEST_RESULTS_TO_DIVERSIFY or len(ordered) <= limit:
        return chosen
    quota = int(LARGEST_SHARE_OF_A_KIND * limit)
    counts = Counter(kinds[name] for name, _ in chosen)
    waiting = [entry for entry in ordered[limit:] if counts[kinds[entry[0]]] < quota]
    for place in range(limit - 1, -1, -1):
        name, score = chosen[place]
        if counts[kinds[name]] <= quota:
            continue
        other = next((entry for entry in waiting if counts[kinds[entry[0]]] < quota), None)
        if other is None or other[1] < LEAST_SHARE_TO_REPLACE * score:
            break
        waiting.remove(other)
        counts[kinds[name]] -= 1
        counts[kinds[other[0]]] += 1
        chosen[place] = other
    rank = {name: place for place, (name, _) in enumerate(ordered)}
    return sorted(chosen, key=lambda entry: rank[entry[0]])
