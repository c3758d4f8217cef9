"""Hooks and the engine of an encrypted workspace: with its key they work, without it they are silent."""

from __future__ import annotations

from pathlib import Path

import pytest

import memento_tui
from memento_tui.api.encryption import encrypt, lock, unlock
from memento_tui.embedding.server import run_engine
from memento_tui.errors import LockedWorkspace
from memento_tui.hooks.engine_answers import HookAnswers
from memento_tui.paths import DataPaths
from tests.encrypted import PASSPHRASE, cheap_passphrases, files_with, use_own_memory
from tests.journeys.engine_house import EngineHouse, until
from tests.journeys.hook_host import DirectHost, HookHost
from tests.made import without_engine


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cheap_passphrases(monkeypatch)
    return use_own_memory(tmp_path, monkeypatch)


@pytest.mark.usefixtures("unhurried")
def test_a_hook_tells_what_is_unlocked_and_is_silent_where_it_is_locked(tmp_path: Path) -> None:
    paths = DataPaths(without_engine(tmp_path / "data"))
    with memento_tui.open(paths.root) as person:
        person.remember("The perihelion tables are made by `make tables`.")
    encrypt(paths, PASSPHRASE)
    question = "how are the perihelion tables made?"
    assert "`make tables`" in DirectHost(paths.root, tmp_path).prompt(question)
    lock(paths)
    host = HookHost(paths.root, tmp_path, "session-2")
    assert host.prompt(question) == ""  # with status 0, and nothing on standard error
    assert f"LockedDatabase: {paths.key_id}" in host.log()
    unlock(paths, PASSPHRASE)
    assert "`make tables`" in host.prompt(question)
    assert files_with("perihelion", paths.root) == []


@pytest.mark.engine
@pytest.mark.usefixtures("light_model")
def test_an_engine_keeps_its_vectors_in_memory_and_ends_where_the_workspace_is_locked(
    tmp_path: Path, memory: Path
) -> None:
    paths = DataPaths(tmp_path / "data")
    with memento_tui.open(paths.root) as person:
        person.remember("The perihelion is in January.")
    encrypt(paths, PASSPHRASE)
    with EngineHouse(paths.root) as house:
        (added,) = house.add("The aphelion is in July.")
        house.settle()
        assert house.search("the aphelion in july", limit=1) == [added.id]
        assert paths.semantic_index.is_relative_to(memory)
        assert paths.semantic_index.is_dir()
        for word in ("perihelion", "aphelion"):
            assert files_with(word, paths.root) == []
        house.client.close()  # it would start another
        lock(paths)
        until(house.has_left, "the engine has left")
        assert [path for path in memory.rglob("*") if path.is_file()] == []
        assert run_engine(paths, HookAnswers) == LockedWorkspace.exit_code  # nor does another stay
