"""Groups of vectors that lie densely together: HDBSCAN on a graph of exact nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from memento_tui.engine.nearest import Nearest, Positions
from memento_tui.engine.semantic_index import Vectors

__all__ = ["COHESION", "clusters"]

_SMALLEST, _SAMPLES = 3, 2
"""Memento Vault's numbers for HDBSCAN: min_cluster_size and min_samples; clusters are the leaves of the tree."""

_NEIGHBOURS = 16
"""Edges from each vector. Leaves are small and local: on 4,000 real texts 8 edges already gave the clusters of all
pairs, each with the same members, where reducing the vectors to 50 dimensions kept 91 of 468."""

COHESION = 0.4
"""The least mean cosine similarity of a member to the others. HDBSCAN compares densities only and finds clusters in
noise too; of random pairs of real texts 99 in 100 are less alike than this."""

_BLOCK = 1_024
_NO_DISTANCE = 1e-6
"""Stands for a distance of 0, which a sparse matrix cannot tell from a pair that is not there."""

_FARTHEST = 2.0
"""The distance of opposite vectors of length 1."""


def clusters(vectors: Vectors) -> list[list[int]]:
    """Return the clusters of vectors of length 1 as lists of their places; what belongs nowhere is left out.

    Where the vectors have no parts that differ in density, all of them are one candidate. Members that are less
    alike than `COHESION` are dropped, and with them clusters that become smaller than three.
    """
    if len(vectors) < _SMALLEST:
        return []
    labels = _labels(vectors)
    members = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)] or [np.arange(len(vectors))]
    cohesive = [_cohesive(vectors, places) for places in members]
    return sorted(places.tolist() for places in cohesive if len(places) >= _SMALLEST)


def _labels(vectors: Vectors) -> Positions:
    from sklearn.cluster import HDBSCAN  # type: ignore[import-untyped]  # noqa: PLC0415 - half a second, rarely used

    # Leaves depend on the order of distances only, so Euclid's and the cosine's are the same.
    model = HDBSCAN(
        min_cluster_size=_SMALLEST,
        min_samples=_SAMPLES,
        cluster_selection_method="leaf",
        metric="precomputed",
        copy=False,
    )
    return np.asarray(model.fit_predict(_graph(vectors)), dtype=np.int64)


def _graph(vectors: Vectors) -> Any:  # noqa: ANN401 - a sparse matrix; scipy has no types
    """Return the distances between near neighbours, as a symmetric, connected graph."""
    from scipy import sparse  # type: ignore[import-untyped]  # noqa: PLC0415 - as above
    from scipy.sparse import csgraph  # type: ignore[import-untyped]  # noqa: PLC0415 - as above

    count = len(vectors)
    places, similarities = _nearest(vectors, min(_NEIGHBOURS, count - 1))
    squares = 2.0 - 2.0 * similarities.astype(np.float64)
    distances = np.sqrt(np.maximum(squares, _NO_DISTANCE**2)).ravel()
    everyone = np.arange(count)
    # Each is its own nearest, as it is for HDBSCAN on plain vectors.
    values = np.concatenate([distances, np.full(count, _NO_DISTANCE)])
    starts = np.concatenate([np.repeat(everyone, places.shape[1]), everyone])
    ends = np.concatenate([places.ravel(), everyone])
    graph = sparse.csr_matrix((values, (starts, ends)), shape=(count, count))
    graph = graph.maximum(graph.T)
    parts, part_of = csgraph.connected_components(graph, directed=False)
    if parts > 1:
        _, first = np.unique(part_of, return_index=True)
        bridges = (np.full(parts - 1, _FARTHEST), (first[:-1], first[1:]))
        bridge = sparse.csr_matrix(bridges, shape=(count, count))
        graph = graph + bridge + bridge.T
    return graph.tocsr()


def _nearest(vectors: Vectors, limit: int) -> tuple[Positions, Vectors]:
    """Return for each vector its nearest others and their similarities."""
    found = []
    for start in range(0, len(vectors), _BLOCK):
        nearest = Nearest(vectors[start : start + _BLOCK], limit, -1.5)
        for first in range(0, len(vectors), _BLOCK):
            rows = vectors[first : first + _BLOCK]
            own = np.arange(len(rows) if first == start else 0)
            nearest.offer(rows, first, (own, own))
        found.append(nearest.found())
    return np.concatenate([places for places, _ in found]), np.concatenate([values for _, values in found])


def _cohesive(vectors: Vectors, places: Positions) -> Positions:
    """Return the members without those that are unlike the others, the most unlike first."""
    while len(places) >= _SMALLEST:
        members = vectors[places]
        mean = (members @ members.sum(axis=0) - 1.0) / (len(places) - 1)
        unlike = int((mean < COHESION).sum())
        if not unlike:
            break
        # One at a time where there are few: each that goes makes the rest more alike.
        dropped = np.argsort(mean, kind="stable")[: max(1, unlike // 10)]
        places = np.delete(places, dropped)
    return places
