"""Deciding about many: what is under way is carried out to its end and told of, whatever is pressed meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.api.inbox import DecisionOutcome, Inbox
from memento_tui.tui.screens.dialogs import Confirm
from memento_tui.tui.widgets.bars import KeyBar
from tests.made import always, edit
from tests.tui.app_driver import Driver, opened
from tests.tui.settling import hold_back


async def _in_groups_by_kind(app: Driver, rows: int) -> None:
    """Wait for the queue, and group it by kind."""
    await app.until(lambda: app.review.rows.total == rows, "the queue is read")
    await app.press("F")
    await app.until(lambda: app.review.rows.total > rows, "in groups")


async def _asked(app: Driver) -> str:
    """Wait for the question, and return it with its lines."""
    await app.until(lambda: isinstance(app.app.screen, Confirm), "it is asked")
    return f"{app.text('.dialog-title')} {app.text('.dialog-text')}"


async def test_a_key_while_many_are_decided_is_refused_and_the_outcome_is_told(
    data_dir: Path, agent: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        agent.remember(f"Fact {number} of a page.", source_type="external")
    go_on, decide = threading.Event(), Inbox.decide

    def decide_when_told(queue: Inbox, *args: Any, **options: Any) -> Sequence[DecisionOutcome]:  # noqa: ANN401 - as they are
        hold_back(go_on)
        return decide(queue, *args, **options)

    monkeypatch.setattr(Inbox, "decide", decide_when_told)
    async with opened(data_dir, start="review") as app:
        await app.until(lambda: app.review.rows.total == 4, "the queue is read")
        await app.press("space", "space", "a")
        await app.pilot.press("y")
        await app.until(lambda: app.review.decisions.is_running, "the marked are being decided")
        await app.press("l")
        assert "still being carried out" in app.told
        assert len(app.app.screen_stack) == 1
        go_on.set()
        await app.until(lambda: "Approved: 2" in app.told, "the outcome is told")
        assert not app.review.rows.marks
    assert agent.review.count() == 2


@pytest.mark.parametrize("place", [("g",), ("g", "j")])
async def test_a_group_is_decided_as_it_was_shown_and_what_came_since_waits_on(
    data_dir: Path, agent: Workspace, workspace: Workspace, place: tuple[str, ...]
) -> None:
    for name in ("one", "two"):
        agent.remember(f"A page about port {name}.", source_type="external", make_id=always(name))
    async with opened(data_dir, start="review") as app:
        await _in_groups_by_kind(app, 2)
        await app.press("p", *place)  # the live view stands still, as it does between two polls
        agent.remember("A page about the queue.", source_type="external", make_id=always("three"))
        await app.press("A")
        assert "Approve all 2 of new?" in await _asked(app)
        await app.press("y")
        await app.until(lambda: "came since" in app.told, "the outcome is told")
        assert "Approved: 2. 1 came since and waits on." in app.told
    assert [workspace.get(name).status for name in ("one", "two", "three")] == ["active", "active", "pending"]


@pytest.mark.parametrize("words", ["port", "new"])
async def test_what_a_filter_finds_is_decided_as_it_was_shown(
    data_dir: Path, agent: Workspace, workspace: Workspace, words: str
) -> None:
    for name in ("one", "two"):
        agent.remember(f"A page about port {name}.", source_type="external", make_id=always(name))
    async with opened(data_dir, start="review") as app:
        await app.until(lambda: app.review.rows.total == 2, "the queue is read")
        await app.press("p")
        app.review.filter_box.value = words
        await app.until(lambda: app.review.filter == words, "it is filtered")
        agent.remember("A page about port three.", source_type="external", make_id=always("three"))
        await app.press("A")
        assert "Approve all 2 of" in await _asked(app)
        await app.press("y")
        await app.until(lambda: "came since" in app.told, "the outcome is told")
    assert [workspace.get(name).status for name in ("one", "two", "three")] == ["active", "active", "pending"]


@pytest.mark.parametrize("words", ["port", "new"])
async def test_what_takes_the_place_of_a_row_that_left_a_filtered_list_is_not_decided_with_it(
    data_dir: Path, agent: Workspace, workspace: Workspace, words: str
) -> None:
    for name in ("one", "two"):
        agent.remember(f"A page about port {name}.", source_type="external", make_id=always(name))
    async with opened(data_dir, start="review") as app:
        await app.until(lambda: app.review.rows.total == 2, "the queue is read")
        await app.press("p")
        app.review.filter_box.value = words
        await app.until(lambda: app.review.filter == words, "it is filtered")
        await app.until(lambda: app.review.rows.total == 2, "it is read")
        workspace.review.reject("one")
        agent.remember("A page about port three.", source_type="external", make_id=always("three"))
        await app.press("A")
        assert "Approve all 2 of" in await _asked(app)
        await app.press("y")
        await app.until(lambda: "came since" in app.told, "the outcome is told")
    assert [workspace.get(name).status for name in ("one", "two", "three")] == ["rejected", "active", "pending"]


@pytest.mark.parametrize("key", ["A", "X", "c", "e"])
async def test_keys_for_one_item_or_a_group_do_nothing_while_others_are_marked(
    data_dir: Path, agent: Workspace, key: str
) -> None:
    for number in range(3):
        agent.remember(f"Fact {number} of a page.", source_type="external")
    async with opened(data_dir, start="review") as app:
        await _in_groups_by_kind(app, 3)
        await app.press("g", "j", "space", key)
        assert "1 is marked: a approves, x rejects" in app.told
        assert len(app.app.screen_stack) == 1
        assert not app.review.side_pane.is_editing
    assert agent.review.count() == 3


async def test_what_changes_a_verified_memory_is_read_by_itself_unless_its_kind_was_grouped(
    data_dir: Path, agent: Workspace, workspace: Workspace
) -> None:
    workspace.remember("Deploy by hand.", id="deploy", stability="verified")
    workspace.remember("Tell the channel.", id="tell", stability="verified")
    edit(agent, "deploy", content="Deploy with make.")
    agent.forget("tell", base_version=agent.get("tell").version)
    agent.remember("A page about a port.", source_type="external", make_id=always("one"))
    async with opened(data_dir, start="review") as app:
        await _in_groups_by_kind(app, 3)
        await app.press("F")
        await app.until(lambda: "by agent" in app.told, "by agent")
        await app.press("g", "A")
        asked = await _asked(app)
        assert "Approve the one of claude?" in asked
        assert "2 changes of what you verified left out: read each, or group by kind." in asked
        await app.press("n", "F", "F", "F", "F")
        await app.until(lambda: "by kind" in app.told, "by kind")
        await app.press("g", "A")
        assert "Approve the one of" in await _asked(app)


async def test_the_keys_of_a_group_stand_in_the_bar_on_its_row_and_those_of_an_item_do_not(
    data_dir: Path, agent: Workspace
) -> None:
    agent.remember("A page about a port.", source_type="external")
    async with opened(data_dir, size=(80, 24), start="review") as app:
        await app.until(lambda: app.review.rows.total == 1, "the queue is read")
        bar = app.app.query_one(KeyBar)
        assert "a Approve" in str(bar.render())
        assert "F Group" in str(bar.render())
        await _in_groups_by_kind(app, 1)
        await app.press("g")
        shown = str(bar.render())
        assert "A Approve all" in shown
        assert "X Reject all" in shown
        assert "a Approve " not in shown
        assert "e Edit" not in shown
        assert "z Undo" in shown
