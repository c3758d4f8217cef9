"""The REST with the real engine: what is found by its meaning obeys expiry, edits and settings."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memento_tui import clock
from tests.journeys.engine_house import EngineHouse, until
from tests.journeys.http_server import Client, serving

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("unhurried")]

_QUESTION = "How do visitors get into the office?"


def _matches(client: Client, question: str = _QUESTION) -> dict[str, dict[str, Any]] | None:
    """Return what a context finds by id, once meaning counts and everything is embedded."""
    memories = client.post("/v1/context", message=question, include=["memories"], track_access=False).data["memories"]
    found = {match["id"]: match for match in memories["matches"]}
    return found if memories["ranking"] == "hybrid" and found else None


def _with(client: Client, memory_id: str, *, above: float) -> dict[str, dict[str, Any]] | None:
    """Return what is found once a memory is, by its meaning, nearer than so much."""
    found = _matches(client) or {}
    return found if memory_id in found and found[memory_id]["vector_score"] > above else None


def test_what_is_found_by_meaning_obeys_expiry_edits_and_settings(tmp_path: Path) -> None:
    with EngineHouse(tmp_path / "data") as house, serving(tmp_path / "data") as server:
        client = server.client
        client.put("/v1/settings/recall_threshold", value=0)
        (ended,) = house.add(
            "Guests enter the building with the code 4711.", expires_at=clock.now() - timedelta(hours=1)
        )
        holds = client.store("Guests enter the building by the north door.")
        changed = client.store("Bananas are yellow.")
        house.settle()
        found = until(lambda: _with(client, holds, above=0.0), "meaning counts")
        assert ended.id not in found
        until(lambda: holds in {row["id"] for row in client.recall(_QUESTION)}, "a recall counts meaning too")
        assert ended.id not in {row["id"] for row in client.recall(_QUESTION, limit=100)}
        client.put(f"/v1/memories/{changed}", content="Guests of the building ring the bell.")
        nearer = until(lambda: _with(client, changed, above=0.3), "the edit is embedded")
        assert "ring the bell" in nearer[changed]["content"]
        client.put("/v1/settings/recall_alpha", value=0)
        by_meaning = until(lambda: _matches(client), "meaning counts alone")
        client.put("/v1/settings/recall_alpha", value=1)
        by_words = until(lambda: _matches(client), "meaning was asked")
        assert by_meaning[holds]["score"] > by_words[holds]["score"]
