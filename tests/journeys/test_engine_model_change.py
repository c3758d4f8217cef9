"""Another model embeds everything anew in the background, while the vectors of the one before answer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.model import Memory
from memento_tui.search.engine_protocol import EngineStatus
from tests.journeys.engine_house import EngineHouse, HeldModel, until

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("light_model")]

TEXTS = [f"the harbour lamp number {number} is green" for number in range(30)]


def configure(house: EngineHouse, model: HeldModel | None) -> None:
    """Name a model in the settings, and end the engine, so that the next one takes it."""
    house.client.stop()
    house.paths.config.write_text("" if model is None else model.config)


def embedding_anew(house: EngineHouse) -> EngineStatus:
    """Wait until an engine embeds with another model; return its status."""

    def embedding() -> EngineStatus | None:
        status = house.listening()
        return status if status.serving and status.state == "ready" and status.pending else None

    return until(embedding, "another model embeds")


@pytest.fixture
def filled(tmp_path: Path, light_model: None) -> list[Memory]:  # noqa: ARG001 - its engine has that model
    """Return the memories of a store whose index was made by the model that comes with memento."""
    with EngineHouse(tmp_path / "data") as house:
        memories = house.add(*TEXTS)
        house.settle()
    return memories


def test_the_former_vectors_answer_until_all_are_made_anew(tmp_path: Path, filled: list[Memory]) -> None:
    longer = HeldModel(tmp_path / "longer", dimension=512, allowed=0)
    with EngineHouse(tmp_path / "data") as house:
        configure(house, longer)
        status = embedding_anew(house)
        assert (status.state, status.model, status.serving) == ("ready", "longer", "all-MiniLM-L6-v2")
        assert status.pending == len(TEXTS)
        assert house.search("number 7")[0] == filled[7].id
        assert house.paths.former_semantic_index.exists()

        longer.allow(None)
        house.settle()
        until(lambda: not house.status().serving, "the present vectors answer")
        assert (house.status().total, house.status().pending) == (len(TEXTS), 0)
        assert house.search("number 7")[0] == filled[7].id
        until(lambda: not house.paths.former_semantic_index.exists(), "the former vectors are deleted")


@pytest.mark.deep
def test_what_was_embedded_before_an_engine_ended_is_kept(tmp_path: Path, filled: list[Memory]) -> None:
    longer = HeldModel(tmp_path / "longer", dimension=512, allowed=0)
    with EngineHouse(tmp_path / "data") as house:
        configure(house, longer)
        embedding_anew(house)
    with EngineHouse(tmp_path / "data") as house:
        assert embedding_anew(house).serving == "all-MiniLM-L6-v2"
        assert house.search("number 7")[0] == filled[7].id
        added = house.add("the harbour lamp number 4711 is red")
        longer.allow(None)
        house.settle()
        until(lambda: not house.status().serving, "the present vectors answer")
        assert house.search("number 4711")[0] == added[0].id


@pytest.mark.deep
def test_going_back_to_the_model_before_needs_no_embedding(tmp_path: Path, filled: list[Memory]) -> None:
    longer = HeldModel(tmp_path / "longer", dimension=512, allowed=0)
    with EngineHouse(tmp_path / "data") as house:
        configure(house, longer)
        embedding_anew(house)
        configure(house, None)
        house.settle()
        until(lambda: not house.status().serving, "the vectors from before answer as the present ones")
        assert (house.status().model, house.status().embedded_total) == ("all-MiniLM-L6-v2", 0)
        assert house.search("number 7")[0] == filled[7].id
        until(lambda: not house.paths.former_semantic_index.exists(), "the vectors of the other model are deleted")


@pytest.mark.deep
def test_a_former_model_whose_folder_is_gone_is_done_without(tmp_path: Path) -> None:
    first, second = HeldModel(tmp_path / "first", dimension=256), HeldModel(tmp_path / "second", dimension=512)
    with EngineHouse(tmp_path / "data", first.config) as house:
        memories = house.add(*TEXTS)
        house.settle()
        configure(house, second)
        shutil.rmtree(first.folder)
        house.settle()
        until(lambda: not house.status().serving, "the present vectors answer")
        assert house.status().model == "second"
        assert house.search("number 7")[0] == memories[7].id
        until(lambda: not house.paths.former_semantic_index.exists(), "the former vectors are deleted")


def test_a_configured_model_is_found_again_by_its_folder(tmp_path: Path) -> None:
    first = HeldModel(tmp_path / "first", dimension=256)
    second = HeldModel(tmp_path / "second", dimension=512, allowed=0)
    with EngineHouse(tmp_path / "data", first.config) as house:
        memories = house.add(*TEXTS)
        house.settle()
        configure(house, second)
        assert embedding_anew(house).serving == "first"
        assert house.search("number 7")[0] == memories[7].id


@pytest.mark.deep
def test_a_purge_takes_the_vectors_out_of_both(tmp_path: Path, filled: list[Memory]) -> None:
    import lancedb  # noqa: PLC0415 - it takes a second to import

    longer = HeldModel(tmp_path / "longer", dimension=512, allowed=0)
    with EngineHouse(tmp_path / "data") as house:
        configure(house, longer)
        embedding_anew(house)
    with Workspace(tmp_path / "data") as workspace:
        assert len(workspace.paths.semantic_indexes()) == 2
        workspace.search_engine.purge_vectors([filled[7].id])
        ids = {
            name
            for directory in workspace.paths.semantic_indexes()
            for name in lancedb.connect(directory).open_table("memory").to_arrow().column("id").to_pylist()
        }
    assert filled[6].id in ids
    assert filled[7].id not in ids
