"""What every journey stands on: a client of the engine that a busy machine does not put off, and a light model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_LIGHT_MODEL = Path(__file__).parent / "light_model"


@pytest.fixture(autouse=True)
def _patient_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the engine a minute for an answer, and for its end; a person would be told that it is still starting."""
    for name in ("ANSWER", "PROBE", "STOP"):
        monkeypatch.setattr(f"memento_tui.search.engine_client._{name}_SECONDS", 60.0)


@pytest.fixture
def light_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the engines that a test starts a model that loads at once, and compares words instead of meanings."""
    folders = [str(_LIGHT_MODEL), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(folders))
