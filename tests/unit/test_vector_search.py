"""A condition that nearly every memory meets is tried on the nearest, and nothing is missed where few meet it."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from memento_tui.api.search import recallable_filter
from memento_tui.embedding.models import Vectors
from memento_tui.embedding.vector_index import IndexSnapshot, VectorIndex, indexed_facts
from memento_tui.model import Memory, make_memory
from memento_tui.model.filters import AllOf
from memento_tui.search.lance_filter import compile_lance_filter
from tests.depth import examples
from tests.made import NOW

WIDTH, ROWS = 8, 400
HIDDEN = (0.0, 0.05, 0.5, 0.97, 1.0)
"""Shares of the memories that no search returns."""
WAYS_TO_HIDE: tuple[dict[str, Any], ...] = (
    {"status": "archived"},
    {"status": "pending"},
    {"expires_at": NOW - timedelta(days=1)},
    {"valid_from": NOW + timedelta(days=1)},
    {"valid_to": NOW - timedelta(days=1)},
    {"sensitivity": "restricted"},
)
USUAL = compile_lance_filter(recallable_filter(AllOf(), NOW))


def unit_vectors(count: int, seed: int) -> Vectors:
    made = np.random.default_rng(seed).standard_normal((count, WIDTH)).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), dtype=np.float32)


def memory(number: int, hidden: dict[str, Any]) -> Memory:
    return make_memory({"id": f"m{number}", "content": "text", "created_at": NOW, "updated_at": NOW, **hidden})


class Stored:
    """An index of random memories, and what of it may be found."""

    def __init__(self, folder: Any, share: float, seed: int) -> None:  # noqa: ANN401 - a path
        rng = random.Random(seed)  # noqa: S311 - not for secrets
        ways = [rng.choice(WAYS_TO_HIDE) if rng.random() < share else {} for _ in range(ROWS)]
        self.vectors = unit_vectors(ROWS, seed)
        self.shown = [number for number, way in enumerate(ways) if not way]
        index = VectorIndex(folder, WIDTH, "store", "model")
        rows = [{**indexed_facts(memory(number, way)), "after": None} for number, way in enumerate(ways)]
        index.write(rows, list(self.vectors))
        self.snapshot = index.snapshot()

    def nearest(self, vector: Vectors, limit: int) -> list[str]:
        """Return what may be found, nearest first, by comparing with every vector."""
        near = self.vectors[self.shown] @ vector
        return [f"m{self.shown[place]}" for place in np.argsort(-near)[:limit]]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> list[Stored]:
    folder = tmp_path_factory.mktemp("vectors")
    return [Stored(folder / str(seed), share, seed) for seed, share in enumerate(HIDDEN)]


@given(place=st.integers(0, len(HIDDEN) - 1), seed=st.integers(1_000, 9_999), limit=st.integers(1, ROWS + 10))
@settings(max_examples=examples(80))
def test_the_nearest_are_found_however_many_memories_are_hidden(
    stores: list[Stored], place: int, seed: int, limit: int
) -> None:
    stored, vector = stores[place], unit_vectors(1, seed)[0]
    first, tried = (
        stored.snapshot.search(vector, USUAL, limit, for_query=True, most_meet=most_meet) for most_meet in (False, True)
    )
    assert [name for name, _ in tried] == [name for name, _ in first] == stored.nearest(vector, limit)
    assert [near for _, near in tried] == pytest.approx([near for _, near in first], abs=1e-5)


def test_nothing_is_missed_where_all_the_nearest_are_hidden(tmp_path_factory: pytest.TempPathFactory) -> None:
    index = VectorIndex(tmp_path_factory.mktemp("near") / "index", WIDTH, "store", "model")
    vector = unit_vectors(1, 3)[0]
    ordered = sorted(unit_vectors(ROWS, 4), key=lambda one: -float(one @ vector))
    hidden = [WAYS_TO_HIDE[number % len(WAYS_TO_HIDE)] if number < ROWS - 20 else {} for number in range(ROWS)]
    index.write([{**indexed_facts(memory(n, way)), "after": None} for n, way in enumerate(hidden)], ordered)
    found = index.snapshot().search(vector, USUAL, 10, for_query=True, most_meet=True)
    assert [name for name, _ in found] == [f"m{number}" for number in range(ROWS - 20, ROWS - 10)]


class Recorded:
    """A table that notes of each of its queries whether the condition is computed for every row."""

    def __init__(self, table: Any, noted: list[bool]) -> None:  # noqa: ANN401 - LanceDB has no types
        self._table, self._noted = table, noted

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the table or its query has
        found = getattr(self._table, name)
        if name in {"to_arrow", "count_rows"}:
            return found

        def call(*given: Any, **named: Any) -> Recorded:  # noqa: ANN401 - as above
            if name == "where":
                self._noted.append(named["prefilter"])
            return Recorded(found(*given, **named), self._noted)

        return call


def conditions_computed(snapshot: IndexSnapshot, limit: int, *, most_meet: bool) -> list[bool]:
    noted: list[bool] = []
    recorded = replace(snapshot, table=Recorded(snapshot.table, noted))
    recorded.search(unit_vectors(1, 5)[0], USUAL, limit, for_query=True, most_meet=most_meet)
    return noted


def test_a_condition_that_nearly_all_meet_is_not_computed_for_every_row(stores: list[Stored]) -> None:
    few_hidden, nearly_all_hidden = stores[1].snapshot, stores[3].snapshot
    assert conditions_computed(few_hidden, 40, most_meet=True) == [False]
    assert conditions_computed(few_hidden, 40, most_meet=False) == [True]
    assert conditions_computed(nearly_all_hidden, 40, most_meet=True) == [False, True]
    assert conditions_computed(few_hidden, ROWS, most_meet=True) == [True], "there are no more to try it on"


def test_facts_of_an_earlier_version_are_compared_again_and_vectors_are_kept(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path / "index", WIDTH, "store", "model")
    reflected = structs.replace(index.state, seq=7, entry="hash")
    row = {**indexed_facts(memory(1, {})), "after": None}
    index.write([row], list(unit_vectors(1, 5)), state=structs.replace(reflected, facts=0))
    again = VectorIndex(tmp_path / "index", WIDTH, "store", "model")
    assert (again.state.seq, again.state.entry) == (0, "")
    assert again.snapshot().rows(["m1"])["m1"]["vector"] == pytest.approx(unit_vectors(1, 5)[0])
    again.write([], [], state=structs.replace(reflected, facts=again.state.facts))
    assert VectorIndex(tmp_path / "index", WIDTH, "store", "model").state == again.state
