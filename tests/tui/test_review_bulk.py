"""Deciding about many: what is under way is carried out to its end and told of, whatever is pressed meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.api.inbox import DecisionOutcome, Inbox
from tests.tui.app_driver import opened
from tests.tui.settling import hold_back


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
