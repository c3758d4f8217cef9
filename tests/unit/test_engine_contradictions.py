"""The engine looks for contradictions of what it has just embedded only where a model weighs them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, cast

import pytest

from memento_tui.api import Workspace
from memento_tui.config import Config
from memento_tui.embedding.engine_state import EngineState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_tui.embedding.maintenance_scheduler import MaintenanceScheduler

pytestmark = pytest.mark.engine


class _AllNear:
    """An index in which every other memory is near."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = ids

    def neighbours(self, ids: Sequence[str], *, limit: int, minimum: float) -> dict[str, list[tuple[str, float]]]:
        """Return all others, whatever is asked for."""
        assert (limit > 0, minimum < 1) == (True, True)
        return {one: [(other, 0.9) for other in self._ids if other != one] for one in ids}


def _scheduler(workspace: Workspace, ids: Sequence[str]) -> MaintenanceScheduler:
    from memento_tui.embedding.maintenance_scheduler import MaintenanceScheduler  # noqa: PLC0415 - takes a second

    return MaintenanceScheduler(
        workspace.paths,
        Config(),
        workspace._store,
        cast("Any", _AllNear(ids)),
        EngineState(),
        stopping=threading.Event(),
    )


def _two_ports(workspace: Workspace) -> list[str]:
    texts = [f"The staging API listens on port {port} behind the proxy." for port in (8080, 9090)]
    return [workspace.remember(text).id for text in texts]


def test_without_a_model_that_weighs_them_nothing_is_raised(workspace: Workspace) -> None:
    ids = _two_ports(workspace)
    _scheduler(workspace, ids).find_contradictions(ids)
    assert workspace.contradictions.count() == 0


def test_with_such_a_model_the_surest_are_raised(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = _two_ports(workspace)
    scheduler = _scheduler(workspace, ids)
    monkeypatch.setattr(scheduler._entailment, "scorer", lambda: lambda pairs: [0.9 for _ in pairs])
    scheduler.find_contradictions(ids)
    (found,), _ = workspace.contradictions.list()
    assert [found.contradiction.older, found.contradiction.newer] == ids
