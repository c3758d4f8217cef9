"""How an engine comes and goes: killed, idle, alone, misconfigured, and with its files taken away."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memento_tui.errors import EngineUnavailable
from memento_tui.model.filters import AllOf
from memento_tui.search.engine_client import SemanticClient
from memento_tui.search.engine_protocol import EngineStatus, send_request
from tests.journeys.engine_house import PATIENCE, EngineHouse, HeldModel, is_alive, until

# None of this depends on what the model knows.
pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("light_model")]

MANY = 700
ANIMALS = ("otter", "heron", "lynx", "beetle", "walrus", "gecko", "falcon")
VERBS = ("crossed", "guarded", "painted", "repaired", "measured")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[EngineHouse]:
    with EngineHouse(tmp_path / "data") as made:
        yield made


def kill(status: EngineStatus) -> None:
    os.kill(status.pid, signal.SIGKILL)
    until(lambda: not is_alive(status.pid), "the engine is dead")


def test_an_engine_killed_while_it_embeds_goes_on_exactly_where_it_was(tmp_path: Path) -> None:
    model = HeldModel(tmp_path / "model", allowed=MANY // 2)
    with EngineHouse(tmp_path / "data", model.config) as house:
        _kill_while_it_embeds(house, model)


def _kill_while_it_embeds(house: EngineHouse, model: HeldModel) -> None:
    texts = [f"The {ANIMALS[n % 7]} {VERBS[n % 5]} bridge number {n} in the valley." for n in range(MANY)]
    made = house.add(*texts)
    house.client.ensure()
    until(lambda: (status := house.client.status()) and status.total > 0, "some rows are in the index")
    # The whole backlog is one journal entry, and questions do not wait for its end.
    answer = model.answer_between_batches(lambda: house.client.search("otters and bridges", AllOf(), 3))
    assert answer.state == "ready"
    at_kill = house.status()
    assert 0 < at_kill.pending < MANY
    assert at_kill.seq == 0
    kill(at_kill)
    model.allow(None)
    assert house.paths.engine_socket.exists()
    house.change(made[1], content="Violins are made of spruce and maple.")
    house.change(made[2], status="deleted")

    assert house.client.search("anything", AllOf(), 3).state == "warming"
    after = house.settle()
    assert after.pid != at_kill.pid
    assert after.total == MANY - 1
    assert after.embedded_total <= MANY + 1 - at_kill.total
    found = house.search("bridges", limit=1000)
    assert sorted(found) == sorted(memory.id for memory in made if memory is not made[2])
    assert house.search("violins of spruce")[0] == made[1].id
    for number in (0, 255, 256, MANY - 1):
        assert house.search(texts[number], limit=1) == [made[number].id]


def test_an_engine_is_started_on_demand_and_answers_while_its_model_loads(tmp_path: Path) -> None:
    model = HeldModel(tmp_path / "model")
    loading = model.folder.with_suffix(".loading")
    loading.touch()
    with EngineHouse(tmp_path / "data", model.config) as house:
        house.add("Something to embed.")
        answer = house.client.search("anything", AllOf(), 5)
        assert (answer.state, answer.hits) == ("warming", [])
        assert house.listening().state == "loading"
        assert house.client.search("anything", AllOf(), 5).state == "warming"
        loading.unlink()
        until(lambda: house.status().state == "ready", "it is loaded")


def test_an_idle_engine_leaves_and_the_next_question_starts_another(tmp_path: Path) -> None:
    with EngineHouse(tmp_path / "data", "[engine]\nidle_seconds = 0.2\n") as house:
        house.add("Something to embed first.")
        house.client.ensure()  # it may have left again before it is asked for its status
        until(house.has_left, "the idle engine leaves")
        assert "ready after" in house.client.logs(10)
        assert house.client.logs(1).endswith("leaves: idle")
        assert not house.paths.engine_socket.exists()
        assert house.client.state() == "off"
        assert house.client.status() is None
        until(lambda: house.client.search("something", AllOf(), 1).state == "warming" or None, "another is started")
        until(lambda: house.client.logs(100).count("at work in") == 2, "it is at work")


def test_asking_for_a_status_starts_nothing(house: EngineHouse) -> None:
    assert house.client.status() is None
    assert house.client.state() == "off"
    assert not house.client.stop()
    assert not house.paths.engine_log.exists()


def test_a_disabled_client_neither_starts_nor_waits(house: EngineHouse) -> None:
    client = SemanticClient(house.paths, enabled=False)
    client.ensure()
    assert client.state() == "off"
    assert client.search("anything", AllOf(), 3).state == "off"
    with pytest.raises(EngineUnavailable, match="switched off"):
        client.wait(0, 1.0)
    assert not house.paths.engine_log.exists()


def test_a_directory_without_a_store_gets_no_engine(tmp_path: Path) -> None:
    client = SemanticClient(EngineHouse(tmp_path / "data").paths, enabled=True)
    shutil.rmtree(tmp_path / "data")
    client.ensure()
    assert client.search("anything", AllOf(), 3).state == "off"
    with pytest.raises(EngineUnavailable):
        client.wait(1, 1.0)
    assert not (tmp_path / "data").exists()


def test_what_a_killed_engine_left_is_replaced(house: EngineHouse) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(house.paths.engine_socket))
    house.paths.engine_lock.touch()
    assert house.client.search("anything", AllOf(), 3).state == "warming"
    assert house.listening().pid


def test_a_terminated_engine_leaves_at_once_even_while_it_loads(house: EngineHouse) -> None:
    pid = house.listening().pid
    os.kill(pid, signal.SIGTERM)
    until(lambda: not is_alive(pid), "the engine leaves")
    assert not house.paths.engine_socket.exists()
    assert "signal 15" in house.client.logs(3)


@pytest.mark.parametrize("taken", ["root", "database", "engine_lock", "engine_socket"])
def test_an_engine_leaves_when_its_files_are_taken_away(house: EngineHouse, taken: str) -> None:
    pid = house.listening().pid
    path: Path = getattr(house.paths, taken)
    path.rename(path.with_name("moved"))
    until(lambda: not is_alive(pid), "the engine leaves")
    assert house.client.status() is None


def test_an_engine_leaves_when_its_configuration_changes(house: EngineHouse) -> None:
    pid = house.listening().pid
    house.paths.config.write_text('[review]\npreset = "strict"\n', encoding="utf-8")
    house.paths.config.write_text("[engine]\nidle_seconds = 77\n", encoding="utf-8")
    until(lambda: not is_alive(pid), "the engine leaves")
    assert "the configuration changed" in house.client.logs(3)


def test_an_engine_of_another_version_is_replaced(house: EngineHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = house.listening().pid
    monkeypatch.setattr("memento_tui.search.engine_client.__version__", "0.0.0")
    house.client.ensure()
    until(lambda: not is_alive(pid), "the old engine leaves")


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with EngineHouse(tmp_path / "data", '[engine]\nmodel = "/nowhere/model"\n') as house:
        with pytest.raises(EngineUnavailable, match="The model folder /nowhere/model does not exist"):
            house.client.wait(1, PATIENCE)
        assert house.client.state() == "off"
        answer = house.client.search("anything", AllOf(), 3)
        assert (answer.state, answer.hits) == ("off", [])
        assert "/nowhere/model" in answer.problem


def test_an_engine_that_cannot_start_is_explained_and_not_started_in_a_loop(tmp_path: Path) -> None:
    with EngineHouse(tmp_path / "data", "[engine]\nspeed = 9\n") as house:
        with pytest.raises(EngineUnavailable, match=r"ended with status 2: .*speed"):
            house.client.wait(1, PATIENCE)
        size = house.paths.engine_log.stat().st_size
        for _ in range(20):
            assert house.client.search("anything", AllOf(), 3).state == "off"
        assert house.client.search("anything", AllOf(), 3).problem == "The engine ended with status 2"
        assert house.paths.engine_log.stat().st_size == size


def test_a_log_that_has_grown_long_is_cut_to_its_end(house: EngineHouse) -> None:
    house.paths.engine_log.write_text("an old line\n" * 100_000, encoding="utf-8")
    house.listening()
    assert house.paths.engine_log.stat().st_size < 150_000
    lines = house.client.logs(10_000).splitlines()
    assert lines[0] == "an old line"
    assert any("at work in" in line for line in lines[-3:])


def test_a_long_path_has_its_socket_in_a_folder_of_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="m-", dir="/tmp") as short:
        monkeypatch.setenv("TMPDIR", short)
        monkeypatch.setattr(tempfile, "tempdir", short)
        with EngineHouse(tmp_path / ("long " * 20) / "data") as house:
            assert house.listening().pid
            folder = house.paths.engine_socket.parent
            assert folder.parent == Path(short)
            assert folder.stat().st_mode & 0o777 == 0o700
            folder.chmod(0o755)
            with pytest.raises(PermissionError, match="only you"):
                send_request(house.paths, {"op": "status"}, seconds=1)
            assert house.client.status() is None
            folder.chmod(0o700)
            assert house.client.stop()


def test_a_client_that_is_closed_starts_no_engine(house: EngineHouse) -> None:
    client = house.new_client()
    client.close()
    client.ensure()
    assert client.search("anything", AllOf(), 3).state == "off"
    assert not house.paths.engine_log.exists()


def test_an_engine_that_hangs_does_not_hold_up_a_search(house: EngineHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = house.listening().pid
    for name in ("ANSWER", "PROBE"):
        monkeypatch.setattr(f"memento_tui.search.engine_client._{name}_SECONDS", 0.2)
    os.kill(pid, signal.SIGSTOP)
    try:
        assert house.client.state() == "warming"
        assert house.client.search("anything", AllOf(), 3).state == "warming"
    finally:
        os.kill(pid, signal.SIGCONT)


def test_without_an_engine_a_client_that_compares_memories_says_so_and_starts_one(house: EngineHouse) -> None:
    ids = [memory.id for memory in house.add(*(f"The backup of the {word} runs at night." for word in ANIMALS))]
    house.client.ensure()
    kill(house.settle())
    with pytest.raises(EngineUnavailable, match="just starting"):
        house.client.neighbours(ids, limit=3, minimum=0.0)
    house.settle()
    assert sorted(house.client.neighbours(ids, limit=3, minimum=0.0)) == sorted(ids)
