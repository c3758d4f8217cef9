"""Fusion: the keyword and the semantic view of a query become one score that means the same from query to query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Relevance", "fuse"]

KEYWORD_WEIGHT = 0.35
"""The share of the keyword score where both views exist; measured on the development sets (tests/benchmarks)."""


@dataclass(frozen=True)
class Relevance:
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

    Keyword scores are divided by ``ceiling``, the score of a perfect match, and cosine similarities are taken as they
    are; the sum is weighted. ``semantic`` is ``None`` where that view was not asked: then the keyword score stands
    alone.
    """
    words = {name: (rank, _share(score, ceiling)) for rank, (name, score) in enumerate(keyword, 1)}
    if semantic is None:
        return {name: Relevance(score, score, None, rank, None) for name, (rank, score) in words.items()}
    meaning = {name: (rank, max(0.0, score)) for rank, (name, score) in enumerate(semantic, 1)}
    return {name: _combined(words.get(name), meaning.get(name)) for name in dict.fromkeys([*words, *meaning])}


def _share(score: float, ceiling: float) -> float:
    return min(1.0, score / ceiling) if ceiling > 0 else 0.0


def _combined(words: tuple[int, float] | None, meaning: tuple[int, float] | None) -> Relevance:
    word_rank, word_score = words or (None, None)
    meaning_rank, meaning_score = meaning or (None, None)
    score = KEYWORD_WEIGHT * (word_score or 0.0) + (1 - KEYWORD_WEIGHT) * (meaning_score or 0.0)
    return Relevance(score, word_score, meaning_score, word_rank, meaning_rank)
