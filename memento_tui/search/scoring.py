"""Score results: bounded BM25, its fusion with the semantic score, and the kinds among the first results.

Standard library only: memento-hook scores with it. The constants are those of `memento_tui.search.ranking`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from memento_tui.named_tuple import NamedTuple
from memento_tui.search.ranking import (
    BM25_B,
    BM25_K1,
    FEWEST_RESULTS_TO_DIVERSIFY,
    HEADING_WEIGHT,
    KEYWORD_WEIGHT,
    LARGEST_SHARE_OF_A_KIND,
    LEAST_SHARE_TO_REPLACE,
    MEANING_WEIGHT,
    NEARBY_WEIGHT,
    ORDINARY_WORDS,
    RELEVANCE_KEYWORD_WEIGHT,
    STEEPNESS,
    UNSEEN_SIMILARITY,
    WORDS_FOUND_WEIGHT,
)

__all__ = [
    "Match",
    "calibrated_relevance",
    "density",
    "diversify",
    "fuse",
    "highest_score",
    "idf",
    "largest_share_of_kind",
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


class WordEvidence(NamedTuple):
    """How a memory holds the words of a query: its BM25 score, and shares of the words, 0 to 1, weighed by rarity."""

    score: float
    coverage: float = 0.0
    """The share of the words that are in the memory, or in its session's text just before."""
    heading: float = 0.0
    """The share of the words that are in the title, the heading or the tags."""
    nearby: float = 0.0
    """The share of the words that the next word of the query follows closely."""


class Match(NamedTuple):
    """How well one memory fits a query: the score that it is ordered by, and its score and rank in each view."""

    score: float
    """The number that results are ordered by, 0 to 1, before the life factor; made to order well, not to be shown."""
    keyword: float | None
    semantic: float | None
    keyword_rank: int | None
    semantic_rank: int | None
    relevance: float
    """The calibrated relevance, 0 to 1: see `calibrated_relevance`."""
    words: WordEvidence | None = None
    """The evidence of the words; ``None`` where they were not looked for."""


def calibrated_relevance(keyword: float | None, semantic: float | None) -> float:
    """Return the relevance that is shown and compared with thresholds, 0 to 1, from the scores of the two views.

    It tells how well the words and the meaning of one memory, by itself, fit the query: .6 of the keyword score and
    .4 of the cosine similarity, or one of the two alone where the other view was not asked and is ``None``. It means
    the same from query to query, so that a low best one is a reason for silence. Results are not ordered by it: what
    helps to order them, such as the session that a memory is from, does not tell whether anything answers at all.

    It is no probability. Measured on LoCoMo, LongMemEval's user turns and sessions, and engram's titles, in this order:
    a threshold of .3 keeps 97, 93, 100 and 100 % of the first results that are right, and silences 17, 80, 26 and 0 %
    of the questions whose answer was taken out of the store; .4 keeps 83, 71, 93, 100 and silences 56, 90, 66, 1; .5
    keeps 45, 36, 82, 99 and silences 82, 96, 94, 6. So long queries that share words with much, such as titles, need
    a higher one than questions about a conversation: at 90 % kept it is .36, .32, .43 and .63.
    """
    if semantic is None:
        return keyword or 0.0
    if keyword is None:
        return semantic
    return RELEVANCE_KEYWORD_WEIGHT * keyword + (1 - RELEVANCE_KEYWORD_WEIGHT) * semantic


def fuse(
    words: Mapping[str, WordEvidence] | None, ceiling: float, semantic: Sequence[tuple[str, float]] | None
) -> dict[str, Match]:
    """Return the match of every candidate.

    A BM25 score is divided by ``ceiling``, the score of a perfect match, and saturates: 1 - exp(-2.5 x). Cosine
    similarities and the shares of the words are taken as they are; the score is the weighted mean. ``words`` or
    ``semantic`` is ``None`` where that view was not asked: then the other stands alone.
    """
    meaning = {name: (rank, max(0.0, score)) for rank, (name, score) in enumerate(semantic or (), 1)}
    if words is None:
        return {name: Match(score, None, score, None, rank, score) for name, (rank, score) in meaning.items()}
    # A memory that is not among the nearest has a vector nevertheless.
    least = min((score for _, score in meaning.values()), default=0.0)
    unseen = None if semantic is None else UNSEEN_SIMILARITY * least
    by_words = sorted((name for name, found in words.items() if found.score > 0), key=lambda name: -words[name].score)
    rank_by_words = {name: rank for rank, name in enumerate(by_words, 1)}
    return {
        name: _match(words.get(name, _NO_WORDS), ceiling, rank_by_words.get(name), meaning.get(name), unseen)
        for name in dict.fromkeys([*words, *meaning])
    }


_NO_WORDS = WordEvidence(0.0)
_WEIGHT_OF_WORDS = KEYWORD_WEIGHT + WORDS_FOUND_WEIGHT + HEADING_WEIGHT + NEARBY_WEIGHT


def _match(
    words: WordEvidence, ceiling: float, rank: int | None, meaning: tuple[int, float] | None, unseen: float | None
) -> Match:
    keyword = saturated(words.score, ceiling)
    meaning_rank, semantic = meaning or (None, None)
    near = unseen if semantic is None else semantic
    score = KEYWORD_WEIGHT * keyword + WORDS_FOUND_WEIGHT * words.coverage
    score += HEADING_WEIGHT * words.heading + NEARBY_WEIGHT * words.nearby
    if near is None:
        score /= _WEIGHT_OF_WORDS
    else:
        score = (score + MEANING_WEIGHT * near) / (_WEIGHT_OF_WORDS + MEANING_WEIGHT)
    shown = calibrated_relevance(keyword, near)
    return Match(score, keyword if rank else None, semantic, rank, meaning_rank, shown, words)


def largest_share_of_kind(limit: int) -> int:
    """Return how many of ``limit`` results one kind may fill while others answer nearly as well."""
    return limit if limit < FEWEST_RESULTS_TO_DIVERSIFY else int(LARGEST_SHARE_OF_A_KIND * limit)


def diversify(ordered: Sequence[tuple[str, float]], kinds: Mapping[str, str], limit: int) -> list[tuple[str, float]]:
    """Return the ``limit`` best of ids with scores, best first, none of the kinds with more than 60 % of them.

    The last results of a kind that has more give way to the best of the others that have 70 % of their score at least;
    where there are none, they stay. The order among those that are returned does not change.
    """
    chosen = list(ordered[:limit])
    quota = largest_share_of_kind(limit)
    if quota == limit or len(ordered) <= limit:
        return chosen
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
