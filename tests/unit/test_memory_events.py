"""The changes to the memories of one namespace, and how often they were shown, without what others did."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memento_tui import clock
from memento_tui.api import Workspace

NEVER = timedelta(days=3650)


def _events(workspace: Workspace, namespace: str = "accounts/eve", **more: object) -> list[tuple[str, str]]:
    given = {"since": clock.now() - NEVER, "limit": 500, "is_small": True, **more}
    found = workspace.activity.memory_events(namespace, **given)  # type: ignore[arg-type] # a test's own options
    other = workspace.activity.memory_events(namespace, **{**given, "is_small": not given["is_small"]})  # type: ignore[arg-type] # as above
    assert found == other
    return [(event.memory_id, event.action) for event in found]


def test_the_changes_of_a_namespace_are_told_newest_first(workspace: Workspace) -> None:
    one = workspace.remember("Otters like fish.", namespace="accounts/eve/default")
    two = workspace.remember("Otters sleep afloat.", namespace="accounts/eve")
    workspace.remember("Not hers.", namespace="accounts/eve2")
    workspace.remember("Mine.")
    workspace.update(one.id, title="Food")
    workspace.forget(one.id)
    expected = [(one.id, "delete"), (one.id, "update"), (two.id, "create"), (one.id, "create")]
    assert _events(workspace) == expected
    assert _events(workspace, limit=2) == expected[:2]
    assert _events(workspace, actions={"create", "delete"}) == [expected[0], *expected[2:]]
    assert _events(workspace, since=clock.now() + timedelta(seconds=1)) == []


def test_the_changes_of_the_default_namespace_are_told(workspace: Workspace) -> None:
    mine = workspace.remember("Mine.")
    workspace.remember("Not of this namespace.", namespace="accounts/eve")
    workspace.update(mine.id, title="Food")
    assert _events(workspace, "global") == [(mine.id, "update"), (mine.id, "create")]


def test_a_memory_that_was_moved_here_brings_nothing_of_where_it_was(workspace: Workspace) -> None:
    moved = workspace.remember("Once private.")
    workspace.update(moved.id, namespace="accounts/eve/default")
    assert _events(workspace) == [(moved.id, "update")]


@pytest.mark.parametrize("others", [10, 400])
def test_the_cost_of_a_small_namespace_does_not_grow_with_the_rest(workspace: Workspace, others: int) -> None:
    workspace.remember("Otters like fish.", namespace="accounts/eve/default")
    workspace.remember_many({"content": f"Fact {n}.", "namespace": "global"} for n in range(others))
    steps = 0

    def count() -> bool:
        nonlocal steps
        steps += 1
        return False

    # The plan has to go from the memories of the namespace to their changes: the scan of the memories' index is all
    # that sees the others.
    connection = workspace._store.database.connection
    connection.set_progress_handler(count, 1)
    assert len(_small(workspace)) == 1
    connection.set_progress_handler(None, 0)
    assert steps < 200 + 10 * others


def _small(workspace: Workspace) -> list[object]:
    since = clock.now() - NEVER
    return list(workspace.activity.memory_events("accounts/eve", since=since, limit=500, is_small=True))
