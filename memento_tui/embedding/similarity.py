"""Neighbours of memories by meaning, exact, found in one pass over the vector index and in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from memento_tui.search.engine_protocol import MOST_NEIGHBOURS
from memento_tui.search.lance_filter import one_of

__all__ = ["IndexSimilarity", "NearestNeighbours"]

if TYPE_CHECKING:
    from memento_tui.embedding.models import Vectors
    from memento_tui.embedding.vector_index import IndexSnapshot

Positions = npt.NDArray[np.int64]
"""Numbers of rows, or of vectors."""


class NearestNeighbours:
    """Holds the nearest ``limit`` rows to each of some vectors, while rows come in batches.

    All vectors have length 1, so that their product is the cosine similarity. A batch of ``b`` rows for ``q`` vectors
    takes about 16 * q * b bytes while it is compared; what is held takes 12 * q * limit.
    """

    def __init__(self, vectors: Vectors, limit: int, minimum: float) -> None:
        self._vectors = vectors
        below = np.nextafter(np.float32(minimum), np.float32(-np.inf))
        self._similarities = np.full((len(vectors), limit), below, dtype=np.float32)
        self._positions: Positions = np.full((len(vectors), limit), -1, dtype=np.int64)

    def add_rows(self, rows: Vectors, first: int, own: tuple[Positions, Positions]) -> None:
        """Compare with the next rows, of which the first has position ``first``.

        ``own`` pairs each vector that is one of these rows with that row's position among them: nothing is its own
        neighbour.
        """
        similarities = self._vectors @ rows.T
        similarities[own] = -2.0
        held = self._similarities.shape[1]
        better = np.flatnonzero((similarities > self._similarities.min(axis=1, keepdims=True)).any(axis=1))
        if not len(better):
            return
        joined = np.concatenate([self._similarities[better], similarities[better]], axis=1)
        kept = np.argpartition(joined, -held, axis=1)[:, -held:]
        positions = np.take_along_axis(self._positions[better], np.minimum(kept, held - 1), axis=1)
        self._positions[better] = np.where(kept < held, positions, first + kept - held)
        self._similarities[better] = np.take_along_axis(joined, kept, axis=1)

    def result(self) -> tuple[Positions, Vectors]:
        """Return for each vector the positions of its nearest rows, nearest first, and their similarities.

        The position is -1 where there were fewer than ``limit``.
        """
        order = np.argsort(-self._similarities, axis=1, kind="stable")
        return (
            np.take_along_axis(self._positions, order, axis=1),
            np.take_along_axis(self._similarities, order, axis=1),
        )


_RECALLED_CONDITION = one_of("status", ("active", "compacted"))
"""Selects the possible neighbours: not pending, superseded, consolidated or archived memories."""

_ROWS_SCANNED_PER_LOOKUP = 25_000
"""Rows that are compared in about the time that one look-up in the partitioned index takes."""

_MOST_COMPARISONS = 200_000_000
"""Comparisons in one request: some five seconds."""


class IndexSimilarity:
    """A `memento_tui.maintenance.context.SimilaritySource` on the index in this process.

    ``snapshot`` returns what is read; each method calls it once. Methods may be called from several threads.

    Raises:
        OSError, RuntimeError: the index's files are gone or damaged.

    """

    def __init__(self, snapshot: Callable[[], IndexSnapshot]) -> None:
        self._snapshot = snapshot

    def seq(self) -> int:
        """Return the journal entry that the index reflects."""
        return self._snapshot().state.seq

    def neighbours(self, ids: Sequence[str], *, limit: int, minimum: float) -> dict[str, list[tuple[str, float]]]:
        """Return for each id in the index the nearest other recalled memories, nearest first, with similarities."""
        index, unique = self._snapshot(), list(dict.fromkeys(ids))
        found: dict[str, list[tuple[str, float]]] = {}
        most = _most_ids_at_once(index)
        for start in range(0, len(unique), most):
            found.update(_neighbours(index, unique[start : start + most], limit, minimum))
        return found

    def most_ids_at_once(self) -> int:
        """Return for how many ids neighbours can be found in one request of a few seconds."""
        return _most_ids_at_once(self._snapshot())


def _most_ids_at_once(index: IndexSnapshot) -> int:
    return max(1, min(MOST_NEIGHBOURS, _MOST_COMPARISONS // max(1, index.count())))


def _neighbours(
    index: IndexSnapshot, ids: Sequence[str], limit: int, minimum: float
) -> dict[str, list[tuple[str, float]]]:
    names, vectors = index.vectors_of(ids)
    if not names or limit < 1:
        return {name: [] for name in names}
    if len(names) > index.count() // _ROWS_SCANNED_PER_LOOKUP:
        return _neighbours_by_scan(index, names, vectors, limit, minimum)
    found = {}
    for name, vector in zip(names, vectors, strict=True):
        hits = index.search(vector, _RECALLED_CONDITION, limit + 1, most_meet=True)
        found[name] = [(other, near) for other, near in hits if other != name and near >= minimum][:limit]
    return found


def _neighbours_by_scan(
    index: IndexSnapshot, names: Sequence[str], vectors: Vectors, limit: int, minimum: float
) -> dict[str, list[tuple[str, float]]]:
    """Compare with every row, in one pass over the table."""
    nearest = NearestNeighbours(vectors, limit, minimum)
    names_array = pa.array(names, pa.string())
    columns, first = [], 0
    for column, rows in index.batches(_RECALLED_CONDITION):
        nearest.add_rows(rows, first, _own_positions(column, names_array))
        columns.append(column)
        first += len(rows)
    positions, similarities = nearest.result()
    others = _ids_at(columns, positions)
    found = {}
    for name, near, values in zip(names, positions.tolist(), similarities.tolist(), strict=True):
        hits = [(others[at], min(1.0, value)) for at, value in zip(near, values, strict=True) if at >= 0]
        found[name] = sorted(hits, key=lambda hit: (-hit[1], hit[0]))
    return found


def _own_positions(column: pa.Array, names: pa.Array) -> tuple[Positions, Positions]:
    """Return which of the names are in a column of ids, and where."""
    of_row = pc.index_in(column, value_set=names).fill_null(-1).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(of_row >= 0)
    return of_row[rows].astype(np.int64), rows


def _ids_at(columns: Sequence[pa.Array], positions: Positions) -> dict[int, str]:
    """Return the ids at the positions in columns that follow each other."""
    needed = np.unique(positions[positions >= 0])
    if not len(needed):
        return {}
    ids = pa.chunked_array(columns).take(pa.array(needed)).to_pylist()
    return dict(zip(needed.tolist(), ids, strict=True))
