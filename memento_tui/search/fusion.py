"""Fusion: the keyword and the semantic view of a query become one score that means the same from query to query."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memento_tui.search.bm25 import saturated

__all__ = ["Relevance", "fuse"]

KEYWORD_WEIGHT = 0.6
"""The share of the keyword score where both views exist."""

UNSEEN = 0.9
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
    unseen = UNSEEN * min((score for _, score in meaning.values()), default=0.0)
    names = dict.fromkeys([*words, *meaning])
    return {name: _combined(words.get(name), meaning.get(name), unseen) for name in names}


def _combined(words: tuple[int, float] | None, meaning: tuple[int, float] | None, unseen: float) -> Relevance:
    word_rank, word_score = words or (None, None)
    meaning_rank, meaning_score = meaning or (None, None)
    near = unseen if meaning_score is None else meaning_score
    score = KEYWORD_WEIGHT * (word_score or 0.0) + (1 - KEYWORD_WEIGHT) * near
    return Relevance(score, word_score, meaning_score, word_rank, meaning_rank)
