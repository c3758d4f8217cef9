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
    RELEVANCE_KEYWORD_WEIGHT,
    STEEPNESS,
    UNSEEN_SIMILARITY,
)

__all__ = [
    "Match",
    "calibrated_relevance",
    "density",
    "diversify",
    "fuse",
    "highest_score",
    "idf",
    "perfect_score",
    "saturated",
]


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


class Match(NamedTuple):
    """How well one memory fits a query: what it is ranked by, and its score and rank in each view, if it is in it."""

    score: float
    """The number that results are ordered by, before the life factor; it is made to order well, not to be shown."""
    keyword: float | None
    semantic: float | None
    keyword_rank: int | None
    semantic_rank: int | None
    relevance: float
    """The calibrated relevance, 0 to 1: see `calibrated_relevance`."""


def calibrated_relevance(keyword: float | None, semantic: float | None) -> float:
    """Return the relevance that is shown and compared with thresholds, 0 to 1, from the scores of the two views.

    It tells how well the words and the meaning of one memory, by itself, fit the query: .6 of the keyword score and
    .4 of the cosine similarity, or one of the two alone where the other view was not asked and is ``None``. It means
    the same from query to query, so that a low best one is a reason for silence. Results are not ordered by it: what
    helps to order them, such as the session that a memory is from, does not tell whether anything answers at all.
    """
    if semantic is None:
        return keyword or 0.0
    if keyword is None:
        return semantic
    return RELEVANCE_KEYWORD_WEIGHT * keyword + (1 - RELEVANCE_KEYWORD_WEIGHT) * semantic


def fuse(
    keyword: Sequence[tuple[str, float]] | None, ceiling: float, semantic: Sequence[tuple[str, float]] | None
) -> dict[str, Match]:
    """Return the match of every candidate.

    A BM25 score is divided by ``ceiling``, the score of a perfect match, and saturates: 1 - exp(-2.5 x). Cosine
    similarities are taken as they are, and the weighted sum is the score. ``keyword`` or ``semantic`` is
    ``None`` where that view was not asked: then the other stands alone.
    """
    words = {name: (rank, saturated(score, ceiling)) for rank, (name, score) in enumerate(keyword or (), 1)}
    if semantic is None:
        return {name: Match(score, score, None, rank, None, score) for name, (rank, score) in words.items()}
    meaning = {name: (rank, max(0.0, score)) for rank, (name, score) in enumerate(semantic, 1)}
    if keyword is None:
        return {name: Match(score, None, score, None, rank, score) for name, (rank, score) in meaning.items()}
    unseen = UNSEEN_SIMILARITY * min((score for _, score in meaning.values()), default=0.0)
    names = dict.fromkeys([*words, *meaning])
    return {name: _combine(words.get(name), meaning.get(name), unseen) for name in names}


def _combine(words: tuple[int, float] | None, meaning: tuple[int, float] | None, unseen: float) -> Match:
    word_rank, word_score = words or (None, None)
    meaning_rank, meaning_score = meaning or (None, None)
    near = unseen if meaning_score is None else meaning_score
    score = KEYWORD_WEIGHT * (word_score or 0.0) + (1 - KEYWORD_WEIGHT) * near
    relevance = calibrated_relevance(word_score or 0.0, near)
    return Match(score, word_score, meaning_score, word_rank, meaning_rank, relevance)


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
