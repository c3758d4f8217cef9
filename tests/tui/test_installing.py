"""The installation of searching by meaning, as the app shows it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from memento_tui import meaning
from memento_tui.search.engine_client import SemanticClient
from tests.tui.app_driver import opened


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Where the packages are missing; the list is of the engines that the app starts."""
    engines: list[str] = []
    monkeypatch.setattr("memento_tui.tui.background._INSTALLATION_SECONDS", 0.01)
    monkeypatch.setattr(meaning, "_MODULES", ("a_package_of_meaning",))
    monkeypatch.setattr(meaning, "_found", False)
    monkeypatch.setattr(meaning, "state_file", lambda: str(tmp_path / "state.json"))
    monkeypatch.setattr(SemanticClient, "ensure", lambda _client: engines.append("engine"))
    with FileLock(meaning._lock_file()):  # an installation goes on
        yield engines


async def test_the_app_shows_each_step_and_starts_the_engine_when_all_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[str]
) -> None:
    meaning._write_state(os.getpid(), "installing 20 of 33: torch")
    async with opened(tmp_path / "data", start="home") as app:
        await app.until(lambda: "meaning: installing 20 of 33: torch  live" in app.told, "the step is shown")
        meaning._write_state(os.getpid(), "installing 33 of 33: lancedb")
        await app.until(lambda: "33 of 33: lancedb" in app.told, "the next step is shown")
        assert started == []
        monkeypatch.setattr(meaning, "_MODULES", ())
        (tmp_path / "state.json").unlink()
        await app.until(lambda: started == ["engine"], "the engine is started")
        assert "Searching by meaning is installed; the engine is starting." in app.told
        assert "33 of 33" not in app.told


async def test_the_app_says_why_an_installation_failed(tmp_path: Path, started: list[str]) -> None:
    meaning._write_state(os.getpid(), "looking for torch")
    async with opened(tmp_path / "data", start="home", size=(160, 32)) as app:
        await app.until(lambda: "looking for torch" in app.told, "the step is shown")
        meaning._write_state(os.getpid(), "", "No space left on device.")
        await app.until(lambda: "No space left on device." in app.told, "the reason is shown")
        assert started == []
