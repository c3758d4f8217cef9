"""What every journey stands on: a client of the engine that a busy machine does not put off."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _patient_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the engine a minute for an answer, and for its end; a person would be told that it is still starting."""
    for name in ("ANSWER", "PROBE", "STOP"):
        monkeypatch.setattr(f"memento_tui.search.engine_client._{name}_SECONDS", 60.0)
