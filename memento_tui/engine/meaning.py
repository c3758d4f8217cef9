"""Neighbours and clusters straight from the index, for the engine's own work and for those who ask it."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memento_tui.engine.clusters import clusters
from memento_tui.engine.nearest import Nearest, Positions
from memento_tui.engine.semantic_index import SemanticIndex, Vectors
from memento_tui.search.lance_filter import one_of
from memento_tui.search.semantic_wire import MOST_CLUSTERED, MOST_NEIGHBOURS

__all__ = ["IndexMeaning"]

_log = logging.getLogger(__name__)

_RECALLED = one_of("status", ("active", "compacted"))
"""Who can be a neighbour: what is pending, superseded, consolidated or archived is compared with nobody."""

_SCANNED = 25_000
"""Rows that are compared in about the time that one look-up in the partitioned index takes."""

_PAIRS = 200_000_000
"""Comparisons in one request: some five seconds."""


class IndexMeaning:
    """A `memento_tui.upkeep.meaning.Meaning` on the index in this process. May be asked from several threads.

    Raises:
        OSError, RuntimeError: the index's files are gone or damaged.

    """

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def seq(self) -> int:
        """Return the journal entry that the index reflects."""
        return self._index.state.seq

    def neighbours(self, ids: Sequence[str], *, limit: int, minimum: float) -> dict[str, list[tuple[str, float]]]:
        """Return for each id in the index the nearest other recalled memories, nearest first, with similarities."""
        asked = list(dict.fromkeys(ids))
        found: dict[str, list[tuple[str, float]]] = {}
        most = self.at_once()
        for start in range(0, len(asked), most):
            found.update(self._near(asked[start : start + most], limit, minimum))
        return found

    def at_once(self) -> int:
        """Return for how many ids neighbours can be found in one request of a few seconds."""
        return max(1, min(MOST_NEIGHBOURS, _PAIRS // max(1, self._index.count())))

    def clusters(self, ids: Sequence[str]) -> list[list[str]]:
        """Return the groups of these memories that are dense in meaning, by ids, each in the order asked."""
        asked = list(dict.fromkeys(ids))
        if len(asked) > MOST_CLUSTERED:
            _log.warning("of %d memories the first %d are clustered", len(asked), MOST_CLUSTERED)
        names, vectors = self._index.vectors_of(asked[:MOST_CLUSTERED])
        return [[names[place] for place in places] for places in clusters(vectors)]

    def _near(self, ids: Sequence[str], limit: int, minimum: float) -> dict[str, list[tuple[str, float]]]:
        names, vectors = self._index.vectors_of(ids)
        if not names or limit < 1:
            return {name: [] for name in names}
        if len(names) <= self._index.count() // _SCANNED:
            return {name: self._one(name, vector, limit, minimum) for name, vector in zip(names, vectors, strict=True)}
        return self._all(names, vectors, limit, minimum)

    def _one(self, name: str, vector: Vectors, limit: int, minimum: float) -> list[tuple[str, float]]:
        hits = self._index.search(vector, _RECALLED, limit + 1)
        return [(other, near) for other, near in hits if other != name and near >= minimum][:limit]

    def _all(
        self, names: Sequence[str], vectors: Vectors, limit: int, minimum: float
    ) -> dict[str, list[tuple[str, float]]]:
        """Compare with every row, in one pass over the table."""
        nearest = Nearest(vectors, limit, minimum)
        wanted = pa.array(names, pa.string())
        columns, first = [], 0
        for column, rows in self._index.batches(_RECALLED):
            nearest.offer(rows, first, _itself(column, wanted))
            columns.append(column)
            first += len(rows)
        positions, similarities = nearest.found()
        others = _ids_at(columns, positions)
        found = {}
        for name, places, values in zip(names, positions.tolist(), similarities.tolist(), strict=True):
            hits = [(others[place], min(1.0, value)) for place, value in zip(places, values, strict=True) if place >= 0]
            found[name] = sorted(hits, key=lambda hit: (-hit[1], hit[0]))
        return found


def _itself(column: pa.Array, wanted: pa.Array) -> tuple[Positions, Positions]:
    """Return which of the wanted ids are in a column of ids, and where."""
    of_row = pc.index_in(column, value_set=wanted).fill_null(-1).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(of_row >= 0)
    return of_row[rows].astype(np.int64), rows


def _ids_at(columns: Sequence[pa.Array], positions: Positions) -> dict[int, str]:
    """Return the ids at the positions in columns that follow each other."""
    places = np.unique(positions[positions >= 0])
    if not len(places):
        return {}
    ids = pa.chunked_array(columns).take(pa.array(places)).to_pylist()
    return dict(zip(places.tolist(), ids, strict=True))
