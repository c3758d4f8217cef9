"""What every journey stands on: a client of the engine that a busy machine does not put off, and a light model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.journeys.hook_host import UNHURRIED_PATH

_LIGHT_MODEL = Path(__file__).parent / "light_model"


@pytest.fixture(autouse=True)
def _patient_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the engine a minute for an answer, and for its end; a person would be told that it is still starting."""
    for name in ("ANSWER", "PROBE", "STOP"):
        monkeypatch.setattr(f"memento_tui.search.engine_client._{name}_SECONDS", 60.0)


@pytest.fixture
def light_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the engines that a test starts a model that loads at once, and compares words instead of meanings."""
    _put_first(monkeypatch, str(_LIGHT_MODEL))


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the programs that a test starts the patience of this process with the engine, and the hooks a minute."""
    _put_first(monkeypatch, UNHURRIED_PATH)


def _put_first(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    folders = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(folders))
