"""The vectors in memory give what a comparison with all of them gives, whatever was put, moved and removed before."""

from __future__ import annotations

import random

import numpy as np

from memento_tui.embedding.resident_vectors import ResidentVectors

WIDTH = 8


def unit(rng: np.random.Generator, count: int) -> np.ndarray:
    vectors = rng.normal(size=(count, WIDTH)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def test_the_nearest_are_those_of_a_full_comparison_after_any_changes() -> None:
    rng, chance = np.random.default_rng(3), random.Random(3)  # noqa: S311 - a fixed seed is the point
    kept: dict[str, tuple[str, np.ndarray]] = {}
    resident = ResidentVectors(WIDTH)
    for _ in range(40):
        names = [f"m{number}" for number in chance.sample(range(300), 12)]
        vectors = unit(rng, len(names))
        places = [chance.choice(["global", "projects/a", "projects/b"]) for _ in names]
        resident.put(names, places, vectors)
        kept |= dict(zip(names, zip(places, vectors, strict=True), strict=True))
        gone = chance.sample(sorted(kept), 3)
        resident.remove([*gone, "never there"])
        for name in gone:
            del kept[name]
        (query,) = unit(rng, 1)
        scored = sorted(
            ((float(vector @ query), name) for name, (place, vector) in kept.items() if place != "projects/b"),
            key=lambda hit: -hit[0],
        )
        found = resident.nearest(query, lambda namespace: namespace != "projects/b", 10)
        assert [name for name, _ in found] == [name for _, name in scored[:10]]
        assert np.allclose(
            [similarity for _, similarity in found], [max(0.0, score) for score, _ in scored[:10]], atol=1e-4
        )
        assert len(resident) == len(kept)


def test_nothing_is_near_where_no_namespace_counts() -> None:
    resident = ResidentVectors(WIDTH)
    vectors = unit(np.random.default_rng(1), 2)
    resident.put(["a", "b"], ["projects/x", "projects/x"], vectors)
    assert resident.nearest(vectors[0], lambda _: False, 5) == []
    assert [name for name, _ in resident.nearest(vectors[0], lambda _: True, 1)] == ["a"]


def test_the_nearest_of_many_are_those_of_a_full_comparison_in_its_order() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(2_000, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    names = [f"m{number}" for number in range(len(vectors))]
    resident = ResidentVectors(384)
    for first in range(0, len(names), 300):
        chosen = slice(first, first + 300)
        resident.put(names[chosen], ["global"] * len(names[chosen]), vectors[chosen])
    for query in vectors[:20]:
        similarities = vectors @ query
        found = resident.nearest(query, lambda _: True, 10)
        assert [name for name, _ in found] == [names[place] for place in np.argsort(-similarities)[:10]]
        assert np.allclose([similarity for _, similarity in found], np.sort(-similarities)[:10] * -1, atol=1e-4)
