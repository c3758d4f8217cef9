"""What a tall screen tells of an entry of the journal, or of an exposure, below its text."""

from __future__ import annotations

from pathlib import Path

import pytest

import memento_tui
from memento_tui.model.journal_actions import done_words
from memento_tui.model.review import make_contradiction
from memento_tui.operations.recall import recall
from memento_tui.storage.activity import ActivityRow
from memento_tui.tui.sections.activity import ActivitySection
from memento_tui.tui.sections.activity_story import ActivityStory
from tests.made import unguarded
from tests.tui.app_driver import Driver, opened

HOSTILE = "\x1b]52;c;aGk=\x07[/nope] [@click=app.quit]x\u202e"
TALL, LOW = (220, 60), (140, 40)


@pytest.fixture
def data(data_dir: Path) -> Path:
    """Two memories that contradict each other, a proposal, two entries of one session, and two exposures."""
    with memento_tui.open(data_dir) as person:
        person.remember("The port is 8080.", id="older")
        person.remember("The port is 9090.", id="newer")
        person.remember("Ferns have spores.", id="fern", title=HOSTILE)
        for waiting in person.review.list()[0]:  # its title reads like orders
            person.review.approve(waiting.proposal.id, despite="orders")
        with unguarded(person._store, person.author, "contradiction") as tx:
            tx.put(make_contradiction({"id": "clash", "older": "older", "newer": "newer", "score": 0.9}), base=0)
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        agent.remember("Walruses have tusks.")
        agent.update("fern", base_version=agent.get("fern").version, content="Ferns have seeds.")
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s10") as other:
        other.remember("Gulls have wings.")
        recall(other, "port", 2)
    return data_dir


def _section(driver: Driver) -> ActivitySection:
    return driver.app.screen_stack[0].query_one(ActivitySection)


async def _told(driver: Driver, done: str) -> str:
    """Go to the newest entry of which the list says that, and return what is told of it."""
    rows = _section(driver).rows
    await driver.until(lambda: rows.total > 0, "the journal is there")
    for _ in range(rows.total):
        if isinstance(row := rows.current, ActivityRow) and done_words(row.entry.action, proposes=row.proposes) == done:
            break
        await driver.press("j")
    story = driver.app.screen.query_one(ActivityStory)
    row = rows.current
    await driver.until(lambda: story.display and story._shown is not None and story._shown[0] == row, "it is told")
    return str(story.render())


async def test_a_contradiction_tells_both_memories_as_they_are_now(data: Path) -> None:
    async with opened(data, TALL, start="activity") as driver:
        await driver.until(lambda: _section(driver).rows.total > 0, "the journal is there")
        told = await _told(driver, "contradiction")
        now = told.split("\n\n")[0].split("\n")
        assert now[0] == "The memories now"
        assert [line.split("fact")[1].strip() for line in now if "fact" in line] == [
            "The port is 8080.",
            "The port is 9090.",
        ]


async def test_a_proposal_tells_what_it_proposes_the_memory_now_and_what_else_the_session_wrote(data: Path) -> None:
    async with opened(data, TALL, start="activity") as driver:
        told = await _told(driver, "proposed")
        assert "+ Ferns have seeds." in driver.text("#activity .side-text")
        parts = {part.split("\n")[0]: part for part in told.split("\n\n")}
        assert "Ferns have spores." in parts["The memory now"]
        assert "approved" in parts["History"]
        assert "Walruses have tusks." in parts["The same session"]
        assert "Gulls" not in told, "a session whose name begins alike is another one"
        assert "<ESC>" in told
        assert "\x1b" not in told


async def test_an_exposure_tells_what_else_the_session_was_shown(data: Path) -> None:
    async with opened(data, TALL, start="activity") as driver:
        await driver.press("i")
        story = driver.app.screen.query_one(ActivityStory)
        await driver.until(lambda: story.display and "The same session was shown" in str(story.render()), "it is told")
        parts = {part.split("\n")[0]: part for part in str(story.render()).split("\n\n")}
        assert "The port is" in parts["The same session was shown"]
        assert "added" in parts["History"]


async def test_nothing_is_read_of_an_entry_where_the_screen_has_no_room(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(ActivityStory, "read", lambda _self, _workspace, record: asked.append(record))
    async with opened(data, LOW, start="activity") as driver:
        await driver.press("j", "j")
        await driver.until(lambda: not driver.app.workers, "all is read")
        assert asked == []
        assert not driver.app.screen.query_one(ActivityStory).display
