"""What the engine knows of neighbours: exactly, in bounded time, and while it answers questions."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from memento_tui.embedding.similarity import IndexSimilarity, NearestNeighbours
from memento_tui.embedding.vector_index import VectorIndex, indexed_facts
from memento_tui.errors import EngineUnavailable
from memento_tui.maintenance.context import SimilaritySource
from memento_tui.model import make_memory
from memento_tui.model.filters import AllOf
from memento_tui.search.engine_client import SemanticClient
from memento_tui.search.engine_protocol import LONGEST_LINE, send_request
from tests.journeys.engine_house import EngineHouse, until
from tests.steps import grows_in_proportion

if TYPE_CHECKING:
    from memento_tui.embedding.models import Vectors

# One engine serves those that ask one, so one process runs them.
WIDTH = 24


def unit(rows: Any) -> Vectors:  # noqa: ANN401 - anything that makes an array
    array = np.asarray(rows, dtype=np.float32)
    return np.asarray(array / np.linalg.norm(array, axis=1, keepdims=True), dtype=np.float32)


def random_vectors(count: int, seed: int = 1, width: int = WIDTH) -> Vectors:
    return unit(np.random.default_rng(seed).standard_normal((count, width)))


def bundles(sizes: Sequence[int], spread: float = 0.25, width: int = 384) -> Vectors:
    """Return vectors in bundles, one after the other."""
    chance = np.random.default_rng(7)
    centres = unit(chance.standard_normal((len(sizes), width)))
    spreads = spread * chance.standard_normal((sum(sizes), width)) / np.sqrt(width)
    return unit(np.repeat(centres, sizes, axis=0) + spreads)


def filled(folder: Path, vectors: Vectors, statuses: Sequence[str] = ()) -> VectorIndex:
    index = VectorIndex(folder / "index", vectors.shape[1], "store", "model")
    template = indexed_facts(make_memory({"id": "x", "content": "text"}))
    rows = [{**template, "id": f"m{number:05}"} for number in range(len(vectors))]
    for row, status in zip(rows, statuses, strict=False):
        row["status"] = status
    index.write(rows, list(vectors))
    return index


def meaning_of_client(client: SemanticClient) -> SimilaritySource:
    """Return the client as what upkeep asks for; mypy holds the two together."""
    return client


def meaning_of_index(index: VectorIndex) -> SimilaritySource:
    """Return the index as what upkeep asks for; mypy holds the two together."""
    return IndexSimilarity(index.snapshot)


# The index alone


@pytest.mark.parametrize("minimum", [-1.0, 0.2])
def test_neighbours_are_those_that_comparing_every_pair_finds(tmp_path: Path, minimum: float) -> None:
    vectors = random_vectors(2_500)
    meaning = meaning_of_index(filled(tmp_path, vectors))
    asked = [f"m{number:05}" for number in range(0, 2_500, 100)]
    found = meaning.neighbours([*asked, "nobody", asked[0]], limit=7, minimum=minimum)
    assert list(found) == asked
    for name, hits in found.items():
        similarities = vectors @ vectors[int(name[1:])]
        similarities[int(name[1:])] = -2
        expected = [place for place in np.argsort(-similarities)[:7] if similarities[place] >= minimum]
        assert [other for other, _ in hits] == [f"m{place:05}" for place in expected]
        assert [near for _, near in hits] == pytest.approx(similarities[expected], abs=1e-5)


def test_only_what_is_recalled_is_a_neighbour_but_anything_in_the_index_may_be_asked_about(tmp_path: Path) -> None:
    statuses = ("active", "compacted", "superseded", "consolidated", "pending", "archived")
    meaning = meaning_of_index(filled(tmp_path, bundles([6]), statuses))
    found = meaning.neighbours([f"m{number:05}" for number in range(6)], limit=10, minimum=0.5)
    assert [sorted(other for other, _ in hits) for hits in found.values()] == [
        ["m00001"],
        ["m00000"],
        *[["m00000", "m00001"]] * 4,
    ]


def test_an_exact_double_is_a_neighbour_and_the_memory_itself_is_not(tmp_path: Path) -> None:
    meaning = meaning_of_index(filled(tmp_path, unit(np.repeat(random_vectors(1), 3, axis=0))))
    hits = meaning.neighbours(["m00001"], limit=5, minimum=0.99)["m00001"]
    assert [other for other, _ in hits] == ["m00000", "m00002"]
    assert [near for _, near in hits] == pytest.approx([1.0, 1.0])


def test_an_empty_index_and_no_ids_have_no_neighbours(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path / "index", WIDTH, "store", "model")
    meaning = meaning_of_index(index)
    assert meaning.neighbours([], limit=5, minimum=0) == {}
    assert meaning.neighbours(["a", ""], limit=5, minimum=0) == {}
    assert meaning.seq() == 0


def test_a_few_ids_in_a_large_index_are_looked_up_with_the_same_result(tmp_path: Path) -> None:
    vectors = random_vectors(26_000)
    index = filled(tmp_path, vectors)
    index.optimize()
    assert index.state.trained
    meaning = meaning_of_index(index)
    alone = meaning.neighbours(["m00005"], limit=10, minimum=0.3)["m00005"]
    together = meaning.neighbours(["m00005", "m00006"], limit=10, minimum=0.3)["m00005"]
    assert len({other for other, _ in alone} & {other for other, _ in together}) >= 9
    assert alone[0][0] == together[0][0]
    assert alone[0][1] == pytest.approx(together[0][1], abs=1e-5)


def test_many_ids_take_steps_in_proportion_to_their_number(tmp_path: Path) -> None:
    meaning = meaning_of_index(filled(tmp_path, random_vectors(4_000, width=384)))

    def look(count: int) -> None:
        found = meaning.neighbours([f"m{number:05}" for number in range(count)], limit=12, minimum=-1.0)
        assert len(found) == count
        assert all(len(hits) == 12 for hits in found.values())

    grows_in_proportion(look, 500)


def test_the_nearest_are_held_in_bounded_memory_whatever_comes() -> None:
    vectors, rows = random_vectors(3), random_vectors(1_000, seed=2)
    nearest = NearestNeighbours(vectors, 5, -1.0)
    nothing = np.arange(0)
    for start in range(0, 1_000, 300):
        nearest.add_rows(rows[start : start + 300], start, (nothing, nothing))
        assert nearest._positions.shape == (3, 5)
    places, similarities = nearest.result()
    exact = np.sort(vectors @ rows.T, axis=1)[:, ::-1][:, :5]
    assert np.allclose(similarities, exact, atol=1e-6)
    assert np.allclose(np.take_along_axis(vectors @ rows.T, places, axis=1), exact, atol=1e-6)


# Through the socket

SUBJECTS = {
    "coffee": (
        "Espresso needs nine bars of pressure.",
        "Grind coffee beans finely for espresso.",
        "The espresso machine's pressure must be nine bars.",
    ),
    "backups": (
        "Database backups run every night at three.",
        "The nightly database backup begins at three o'clock.",
        "Backups of the database are made at night.",
        "At night the database is backed up.",
    ),
}
ODD = ("Giraffes sleep for half an hour.", "The tax office moved to Linden Street.")


class Started(EngineHouse):
    """An engine that knows two subjects and a little besides."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.subjects = {name: [memory.id for memory in self.add(*texts)] for name, texts in SUBJECTS.items()}
        self.odd = [memory.id for memory in self.add(*ODD)]
        self.ids = [*chain.from_iterable(self.subjects.values()), *self.odd]
        self.settle()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    with Started(tmp_path_factory.mktemp("meaning")) as started:
        yield started


@pytest.mark.engine
def test_a_client_learns_the_neighbours_of_memories(house: Started) -> None:
    found = meaning_of_client(house.client).neighbours([*house.ids, "nobody", "\ud800"], limit=3, minimum=0.5)
    assert list(found) == house.ids
    for ids in house.subjects.values():
        for name in ids:
            others = [other for other, _ in found[name]]
            assert set(others) <= set(ids) - {name}
            assert others
            assert [near for _, near in found[name]] == sorted((near for _, near in found[name]), reverse=True)
            assert all(0.5 <= near <= 1 for _, near in found[name])
    assert [found[name] for name in house.odd] == [[], []]


@pytest.mark.engine
def test_what_was_deleted_is_nobodys_neighbour(house: Started) -> None:
    (extra,) = house.add("Espresso is made with a pressure of nine bars.")
    house.settle()
    name = house.subjects["coffee"][0]
    assert extra.id in dict(house.client.neighbours([name], limit=5, minimum=0.5)[name])
    house.change(extra, status="deleted")
    house.settle()
    found = house.client.neighbours([name, extra.id], limit=5, minimum=0.5)
    assert extra.id not in found
    assert extra.id not in dict(found[name])


@pytest.mark.engine
def test_more_ids_than_one_request_or_one_answer_holds_are_asked_in_parts(house: Started) -> None:
    long = [f"{'x' * 290}{number:05}" for number in range(20_000)]
    found = house.client.neighbours([*long, *house.ids], limit=2, minimum=0.5)
    assert list(found) == house.ids
    assert sum(map(len, long)) > LONGEST_LINE


@pytest.mark.engine
def test_a_request_beyond_the_bounds_is_refused_and_the_engine_goes_on(house: Started) -> None:
    for bad in ({"ids": 7}, {"ids": [None]}, {"ids": "text"}, {"minimum": "high"}):
        assert send_request(house.paths, {"op": "neighbours", **bad}, seconds=60)["error"]
    huge = {"op": "neighbours", "ids": house.ids, "limit": 10**12, "minimum": -5.0}
    assert len(send_request(house.paths, huge, seconds=60)["near"]) == len(house.ids)
    assert house.status().state == "ready"


@pytest.mark.engine
def test_a_client_that_leaves_before_its_answer_comes_disturbs_nobody(house: Started) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(house.paths.engine_socket))
        connection.sendall(json.dumps({"op": "neighbours", "ids": house.ids}).encode() + b"\n")
    assert len(house.client.neighbours(house.ids, limit=2, minimum=0.5)) == len(house.ids)
    assert "Traceback" not in house.client.logs(50)


@pytest.mark.engine
def test_questions_are_answered_while_memories_are_compared(house: Started) -> None:
    # Many ids that the index does not hold: looking for them takes a while.
    ids = [*(f"absent{number:05}" for number in range(19_000)), *house.ids]
    house.search("espresso")

    def answers_meanwhile() -> int:
        answers = 0
        with ThreadPoolExecutor(4) as pool:
            comparing = [pool.submit(house.new_client().neighbours, ids, limit=2, minimum=0.5) for _ in range(4)]
            while not all(one.done() for one in comparing):
                assert house.client.search("espresso", AllOf(), 2).state == "ready"
                answers += 1
            assert [len(one.result()) for one in comparing] == [len(house.ids)] * 4
        return answers

    # On a busy machine this process may not get a turn while they are compared.
    until(lambda: answers_meanwhile() > 2, "a question is answered before the comparing is over")


@pytest.mark.engine
def test_a_deleted_index_is_mended_and_asked_again(house: Started) -> None:
    before = house.status()
    damaged = list(house.paths.semantic_index.rglob("*.lance/data/*"))
    for path in damaged:
        os.truncate(path, 40)
    with pytest.raises(EngineUnavailable, match="loading"):
        house.client.neighbours(house.ids, limit=3, minimum=0.5)
    until(lambda: house.status().embedded_total > before.embedded_total, "the index is built anew")
    house.settle()
    assert len(house.client.neighbours(house.ids, limit=3, minimum=0.5)) == len(house.ids)


def test_a_client_that_is_switched_off_says_so(tmp_path: Path) -> None:
    with EngineHouse(tmp_path / "data") as made:
        client = SemanticClient(made.paths, enabled=False)
        for look in (lambda: client.neighbours(["a"], limit=1, minimum=0), client.seq):
            with pytest.raises(EngineUnavailable, match="switched off"):
                look()
        assert not made.paths.engine_log.exists()


def test_a_directory_that_is_gone_has_no_meaning(tmp_path: Path) -> None:
    with EngineHouse(tmp_path / "data") as made:
        shutil.rmtree(made.paths.root)
        with pytest.raises(EngineUnavailable, match="There is no engine"):
            made.client.seq()
        assert not made.paths.root.exists()
