"""What a tall screen tells of a skip, a working item or an identity below its text."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.tui.sections.entry_story import ItemStory, SkipStory
from memento_tui.tui.sections.identity import IdentitySection
from memento_tui.tui.sections.identity_story import IdentityStory, change_in_words
from memento_tui.tui.views.record_story import RecordStory
from tests.tui.app_driver import Driver, opened

HOSTILE = "\x1b]52;c;aGk=\x07[/nope] [@click=app.quit]x\u202e"
TALL, LARGE = (220, 60), (140, 42)


@pytest.fixture
def data(data_dir: Path) -> Path:
    """A skip and a working item, memories about both, and two identities with one that an agent proposes."""
    with memento_tui.open(data_dir) as person:
        person.remember("Walrus counts come from the north camera.", id="camera", title="Walrus counts")
        person.remember(f"The migration of walruses is blocked. {HOSTILE}", id="blocked", title=HOSTILE, tags=["sea"])
        for waiting in person.review.list()[0]:
            person.review.approve(waiting.proposal.id)
        person.remember("Ferns have spores.", id="fern", tags=["sea"])
        person.skips.add("walrus counts", "the camera is broken", "30d")
        person.items.create("Write the migration", id="migrate", next_action="ask Ana", tags=["sea"])
        person.relate("camera", "migrate", "item")
        person.crystals.write("I am careful. I ask first.")
        person.crystals.write("I am careful. I act first.")
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        agent.crystals.write("I am careful and kind. I act first.")
    return data_dir


async def _told(driver: Driver, kind: type[RecordStory]) -> str:  # type: ignore[type-arg]
    story = driver.app.screen.query_one(kind)
    await driver.until(lambda: story.display, "it is told")
    return str(story.render())


def _identity(driver: Driver) -> IdentitySection:
    return driver.app.screen.query_one(IdentitySection)


async def test_a_skip_tells_what_agents_are_told_of_it_and_the_memories_about_it(data: Path) -> None:
    async with opened(data, TALL, start="skips") as driver:
        told = await _told(driver, SkipStory)
        line = " ".join(told.split("\n\n")[0].split("\n")[1:])
        assert line.startswith("skip until ")
        assert line.endswith(": walrus counts, because the camera is broken")
        assert "Memories about it" in told
        assert "Walrus counts come from the north camera." in told
        assert "Ferns" not in told


async def test_a_skip_that_is_over_tells_agents_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = clock.now() + timedelta(days=31)
    monkeypatch.setattr(clock, "now", lambda: later)
    async with opened(data, TALL, start="skips") as driver:
        await driver.press("f")
        assert "Nothing any more: it is over." in await _told(driver, SkipStory)


async def test_a_working_item_tells_the_memories_that_belong_to_it_and_those_with_its_tags(data: Path) -> None:
    async with opened(data, TALL, start="working") as driver:
        told = await _told(driver, ItemStory)
        parts = {part.split("\n")[0]: part for part in told.split("\n\n")}
        assert "next: ask Ana" in parts["Agents are told when a session begins"]
        assert "Walrus counts" in parts["Memories that belong to it"]
        assert "Ferns have spores." in parts["Memories with its tags"]
        assert "<ESC>" in parts["Memories with its tags"]
        assert "\x1b" not in told
        assert "\u202e" not in told


async def test_what_an_agent_proposes_to_do_with_an_item_is_told_beside_it(data: Path) -> None:
    (data / "config.toml").write_text('[engine]\nenabled = false\n[review]\npreset = "strict"\n')
    with memento_tui.open(data, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        agent.items.update("migrate", next_action="drop the table")
    async with opened(data, TALL, start="working") as driver:
        waiting = (await _told(driver, ItemStory)).split("\n\n")[0].split("\n")
        assert waiting[0] == "Waits for you in Review (3)"
        assert waiting[1].split()[-3:] == ["claude", "edit", "next_action"]


async def test_an_identity_tells_every_version_with_the_words_that_changed(data: Path) -> None:
    async with opened(data, TALL, start="identity") as driver:
        told = await _told(driver, IdentityStory)
        assert "This text, when a session begins: about " in told
        versions = told[told.index("How it came to be") :].rstrip().split("\n")[1:]
        assert [line.split()[1:3] for line in versions[::2]] == [
            ["claude", "proposed"],
            ["you", "current"],
            ["you", "past"],
        ]
        assert "+3 -1 words" in versions[0]
        assert versions[1].strip() == "- careful. + careful and kind."
        assert versions[3].strip() == "- ask + act"
        await driver.press("k")
        await driver.until(
            lambda: "until you approve it" in str(driver.app.screen.query_one(IdentityStory).render()),
            "the proposed one is told of",
        )


async def test_nothing_is_read_where_the_screen_has_no_room(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    for kind in (SkipStory, ItemStory, IdentityStory):
        monkeypatch.setattr(kind, "read", lambda _story, _workspace, record: read.append(record.id))
    async with opened(data, LARGE, start="skips") as driver:
        await driver.press("4")
        await driver.press("6")
        await driver.until(lambda: _identity(driver).list.total > 0, "the identities are there")
        assert not any(story.display for story in driver.app.screen.query(RecordStory))
    assert read == []


def test_a_change_is_told_as_the_words_that_went_and_those_that_came() -> None:
    assert change_in_words("a b c", "a c d") == ("+1 -1 words", "- b   + d")
    assert change_in_words("a", "a") == ("says the same", "")
