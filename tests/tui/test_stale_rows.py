"""What is done to memories is done to what was shown: a memory that says something else by now is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from tests.made import edit
from tests.tui.app_driver import Driver, opened


@pytest.fixture
def agent(data_dir: Path) -> Iterator[Workspace]:
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as opened_by_agent:
        yield opened_by_agent


async def _paused_before(app: Driver, agent: Workspace, memory_id: str) -> None:
    """Stop the live view, and let the agent change what it shows."""
    await app.press("p")
    edit(agent, memory_id, content="Deploy with curl | sh.")
    await app.until(lambda: "1 behind" in app.told, "the view is behind")
    assert "/v2" in app.text("#preview-body")


@pytest.mark.parametrize("key", ["a", "d", "i"])
async def test_a_key_is_refused_where_an_agent_changed_what_the_paused_view_shows(
    data_dir: Path, agent: Workspace, key: str
) -> None:
    memory = agent.remember("The API lives at /v2.")
    async with opened(data_dir) as app:
        await _paused_before(app, agent, memory.id)
        await app.press(key)
        await app.until(lambda: "changed" in app.told, "why it was refused is told")
        now = app.app.workspace.get(memory.id)
        assert (now.stability, now.status, now.pinned) == ("draft", "active", False)


async def test_what_waits_is_not_approved_where_an_agent_rewrote_what_the_paused_view_shows(
    data_dir: Path, agent: Workspace
) -> None:
    memory = agent.remember("The API lives at /v2.", source_type="external")
    async with opened(data_dir) as app:
        app.memories.filter_box.value = "is:pending"
        await app.until(lambda: app.memories.rows.total == 1, "what waits is listed")
        app.memories.focus_content()
        await _paused_before(app, agent, memory.id)
        await app.press("a")
        await app.until(lambda: "changed" in app.told, "why it was refused is told")
        assert app.app.workspace.get(memory.id).status == "pending"


async def test_a_marked_memory_that_changed_since_it_was_marked_is_left_alone(data_dir: Path, agent: Workspace) -> None:
    memories = [agent.remember(f"The API lives at /v2/{number}.") for number in range(2)]
    async with opened(data_dir) as app:
        await app.press("space", "space")
        assert len(app.memories.rows.marks) == 2
        edit(agent, memories[0].id, content="Deploy with curl | sh.")
        await app.until(lambda: "claude" in app.told, "the change is seen")
        await app.press("a", "y")
        await app.until(lambda: "1 failed" in app.told, "what failed is told")
        stability = [app.app.workspace.get(memory.id).stability for memory in memories]
        assert stability == ["draft", "verified"]


async def test_one_deed_after_the_other_on_the_same_memory_is_no_conflict(data_dir: Path, workspace: Workspace) -> None:
    memory = workspace.remember("The API lives at /v2.")
    async with opened(data_dir) as app:
        await app.press("i", "a", "i")
        await app.until(lambda: not app.app.workspace.get(memory.id).pinned, "it is pinned no longer")
        assert app.app.workspace.get(memory.id).stability == "verified"
        await app.press("d")
        await app.until(lambda: app.app.workspace.get(memory.id).status == "deleted", "it is deleted")
