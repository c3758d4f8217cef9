"""The nearest of many vectors to many, exactly, in one pass and in bounded memory."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memento_tui.engine.semantic_index import Vectors

__all__ = ["Nearest", "Positions"]

Positions = npt.NDArray[np.int64]


class Nearest:
    """Holds the nearest ``limit`` rows to each of some vectors, while rows come in batches.

    All vectors have length 1, so that their product is the cosine similarity. A batch of ``b`` rows for ``q`` vectors
    takes about 16 * q * b bytes while it is looked at; what is held takes 12 * q * limit.
    """

    def __init__(self, vectors: Vectors, limit: int, minimum: float) -> None:
        self._vectors = vectors
        below = np.nextafter(np.float32(minimum), np.float32(-np.inf))
        self._similarities = np.full((len(vectors), limit), below, dtype=np.float32)
        self._positions: Positions = np.full((len(vectors), limit), -1, dtype=np.int64)

    def offer(self, rows: Vectors, first: int, itself: tuple[Positions, Positions]) -> None:
        """Take the next rows, of which the first has position ``first``.

        ``itself`` pairs each vector that is one of these rows with that row's place among them: nothing is its own
        neighbour.
        """
        similarities = self._vectors @ rows.T
        similarities[itself] = -2.0
        held = self._similarities.shape[1]
        better = np.flatnonzero((similarities > self._similarities.min(axis=1, keepdims=True)).any(axis=1))
        if not len(better):
            return
        joined = np.concatenate([self._similarities[better], similarities[better]], axis=1)
        kept = np.argpartition(joined, -held, axis=1)[:, -held:]
        positions = np.take_along_axis(self._positions[better], np.minimum(kept, held - 1), axis=1)
        self._positions[better] = np.where(kept < held, positions, first + kept - held)
        self._similarities[better] = np.take_along_axis(joined, kept, axis=1)

    def found(self) -> tuple[Positions, Vectors]:
        """Return for each vector the positions of its nearest rows, nearest first, and their similarities.

        The position is -1 where there were fewer than ``limit``.
        """
        order = np.argsort(-self._similarities, axis=1, kind="stable")
        return (
            np.take_along_axis(self._positions, order, axis=1),
            np.take_along_axis(self._similarities, order, axis=1),
        )
