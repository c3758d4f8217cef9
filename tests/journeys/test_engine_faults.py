"""A fault of search by meaning that another system has, tried on a workspace with its engine."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from tests.journeys.engine_house import EngineHouse

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("faults")
    # The house ends the engine that the workspace starts.
    with EngineHouse(folder), memento_tui.open(folder) as opened:
        yield opened


def found(workspace: Workspace, query: str, hours: float = 0) -> list[str]:
    answer = workspace.search(query, mode="semantic", wait=True, now=clock.now() + timedelta(hours=hours))
    assert answer.semantic == "ready"
    return [hit.id for hit in answer.results]


def test_a_memory_that_is_found_by_its_meaning_alone_is_not_found_after_its_expiry(workspace: Workspace) -> None:
    soon = (clock.now() + timedelta(hours=2)).isoformat()
    ending = workspace.remember("Visitors enter the building with the code 4711.", expires_at=soon)
    lasting = workspace.remember("Guests are met at the entrance by whoever invited them.")
    query = "how do outsiders get inside the office"
    assert workspace.search(query, mode="keyword").results == []
    assert {ending.id, lasting.id} <= set(found(workspace, query, hours=1))
    later = found(workspace, query, hours=3)
    assert lasting.id in later
    assert ending.id not in later
