"""What upkeep needs to know of meaning, whoever answers: the engine's index itself, or a client of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["Meaning"]


class Meaning(Protocol):
    """The meaning of memories, as far as the index reflects them. ``None`` stands for "there is no engine".

    Every method raises `EngineUnavailable` where it cannot be had now.
    """

    def neighbours(self, ids: Sequence[str], *, limit: int, minimum: float) -> dict[str, list[tuple[str, float]]]:
        """Return for each id in the index the nearest other memories, nearest first, with their cosine similarity.

        Neighbours are ``active`` or ``compacted``, at least ``minimum`` similar, and ``limit`` at most. An id that
        the index does not hold is left out; one without neighbours has an empty list.
        """
        ...

    def clusters(self, ids: Sequence[str]) -> list[list[str]]:
        """Return groups of these memories that are dense in meaning (HDBSCAN), by ids; noise is left out.

        The first `memento_tui.search.semantic_wire.MOST_CLUSTERED` ids are looked at, and no more: clusters of
        parts are not the clusters of the whole. Give those that matter most first.
        """
        ...

    def seq(self) -> int:
        """Return the journal entry that the index reflects."""
        ...
