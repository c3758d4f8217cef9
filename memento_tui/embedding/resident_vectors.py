"""The vectors that prompts are compared with, in memory: LanceDB takes several times as long for one query.

Most of what a query of LanceDB takes goes into its plan and its filter: 5 ms at 2,000 memories, 24 at 100,000. Here the
memories of a namespace lie together, and those of other projects are not even read: 0.1 ms and 3.

A number is kept in two bytes, which is half of the memory and as quick to compare: the nearest of 100,000 are the same.
One byte would not do: it finds .98 of the ten nearest.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

__all__ = ["MOST_RESIDENT", "ResidentVectors"]

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memento_tui.embedding.models import Vectors


NumberT = TypeVar("NumberT", np.int16, np.float32)

MOST_RESIDENT = 75_000
"""Vectors that are kept in memory at most, 58 MB of them; of a larger store none is, since an engine is to be small."""

_FIRST_ROWS = 64
"""Rows for which a namespace has room at first; each time that it is full it gets half as many again."""

_STEPS = 32_767
"""Steps from 0 to the largest number of a vector; it is kept in as many, below and above 0."""

_ROWS_COMPARED = 512
"""Rows that are made numbers of four bytes at a time, 0.8 MB of them, which stay in the processor's cache."""


class _Block:
    """The vectors of one namespace, a row each, with the ids of their memories."""

    def __init__(self, dimension: int) -> None:
        self.ids: list[str] = []
        self._places: dict[str, int] = {}
        """The row of each memory."""
        self._rows: NDArray[np.int16] = np.empty((_FIRST_ROWS, dimension), dtype=np.int16)
        self._steps: NDArray[np.float32] = np.empty(_FIRST_ROWS, dtype=np.float32)
        """The length of a step of each row."""

    def extend(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Add memories that are not among these yet."""
        used = len(self.ids) + len(ids)
        if used > len(self._rows):
            room = max(used, len(self._rows) * 3 // 2)
            self._rows, self._steps = _with_room(self._rows, room), _with_room(self._steps, room)
        steps = np.maximum(np.abs(vectors).max(axis=1), 1e-12) / _STEPS
        self._rows[len(self.ids) : used] = np.rint(vectors / steps[:, None])
        self._steps[len(self.ids) : used] = steps
        self._places.update(zip(ids, range(len(self.ids), used), strict=True))
        self.ids.extend(ids)

    def remove(self, name: str) -> None:
        """Take a memory out; the last one takes its place."""
        place = self._places.pop(name)
        last = self.ids.pop()
        if last != name:
            self.ids[place] = last
            self._places[last] = place
            self._rows[place], self._steps[place] = self._rows[len(self.ids)], self._steps[len(self.ids)]
        self._rows[len(self.ids)], self._steps[len(self.ids)] = 0, 0  # a purged memory leaves nothing of itself here

    def nearest(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """Return the ids of the nearest, in no order, with their cosine similarities."""
        count = len(self.ids)
        similarities = np.empty(count, dtype=np.float32)
        for first in range(0, count, _ROWS_COMPARED):
            last = min(first + _ROWS_COMPARED, count)
            np.dot(self._rows[first:last].astype(np.float32), vector, out=similarities[first:last])
        similarities *= self._steps[:count]
        best = np.argpartition(similarities, count - limit)[count - limit :] if count > limit else np.arange(count)
        return [(self.ids[place], float(similarities[place])) for place in best.tolist()]


def _with_room(rows: NDArray[NumberT], room: int) -> NDArray[NumberT]:
    """Return a copy of some rows with room for more."""
    grown = np.empty((room, *rows.shape[1:]), dtype=rows.dtype)
    grown[: len(rows)] = rows
    return grown


class ResidentVectors:
    """The vectors of some memories by namespace. Safe for several threads."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._blocks: dict[str, _Block] = {}
        self._block_of: dict[str, _Block] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return how many memories there are."""
        return len(self._block_of)

    def put(self, ids: Sequence[str], namespaces: Sequence[str], vectors: Vectors) -> None:
        """Add memories with their vectors of length 1, a row each; those that are there already are replaced."""
        places: dict[str, list[int]] = {}
        for place, namespace in enumerate(namespaces):
            places.setdefault(namespace, []).append(place)
        with self._lock:
            self._remove(ids)
            for namespace, rows in places.items():
                block = self._blocks.setdefault(namespace, _Block(self._dimension))
                names = [ids[row] for row in rows]
                block.extend(names, vectors[rows])
                self._block_of.update(dict.fromkeys(names, block))

    def remove(self, ids: Sequence[str]) -> None:
        """Take memories out; ids that are not there are ignored."""
        with self._lock:
            self._remove(ids)

    def _remove(self, ids: Sequence[str]) -> None:
        for name in ids:
            if block := self._block_of.pop(name, None):
                block.remove(name)

    def nearest(self, vector: Vectors, concerns: Callable[[str], bool], limit: int) -> list[tuple[str, float]]:
        """Return the memories nearest to a vector of length 1, nearest first, with similarity 0 to 1.

        ``concerns`` tells of a namespace whether its memories count.
        """
        with self._lock:
            found = [
                hit
                for namespace, block in self._blocks.items()
                if block.ids and concerns(namespace)
                for hit in block.nearest(vector, limit)
            ]
        found.sort(key=lambda hit: (-hit[1], hit[0]))
        return [(name, min(1.0, max(0.0, similarity))) for name, similarity in found[:limit]]
