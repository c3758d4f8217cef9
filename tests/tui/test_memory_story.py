"""What a tall screen tells of a memory below its text: its changes, its links, and to whom it was told."""

from __future__ import annotations

from pathlib import Path

import pytest

import memento_tui
from memento_tui.operations.recall import recall
from memento_tui.tui.views.record_story import MemoryStory
from tests.tui.app_driver import Driver, opened

HOSTILE = "\x1b]52;c;aGk=\x07[/nope] [@click=app.quit]x\u202e"
TALL, LARGE, LOW = (220, 60), (140, 42), (140, 40)


@pytest.fixture
def data(data_dir: Path) -> Path:
    """A memory that was changed, is linked to one with a hostile title, and was told to an agent."""
    with memento_tui.open(data_dir) as person:
        person.remember("Walruses have tusks.", id="long", title=HOSTILE)
        person.remember("Ferns have spores.", id="fern")
        person.remember("The port is 8080.", id="port", title="Port")
        person.update("port", content="The port is 9090.")
        person.relate("port", "long", "related", "by hand")
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        recall(agent, "port", 1)
    return data_dir


def _story(driver: Driver) -> MemoryStory:
    return driver.app.screen.query_one(MemoryStory)


async def _at(driver: Driver, headline: str) -> None:
    for _ in range(3):
        await driver.until(lambda: bool(driver.current), "the list is there")
        if driver.current == headline:
            return
        await driver.press("j")
    raise AssertionError(driver.current)


@pytest.mark.parametrize("size", [TALL, LARGE])
async def test_a_tall_screen_tells_the_history_the_links_and_the_sessions_below_the_text(
    data: Path, size: tuple[int, int]
) -> None:
    async with opened(data, size, start="memories") as driver:
        await _at(driver, "Port")
        await driver.until(lambda: _story(driver).display, "there is room for it")
        told = str(_story(driver).render())
        history, links, sessions = told.split("\n\n")[:3]
        assert [line.split()[1:3] for line in history.split("\n")[1:]] == [["you", "edited"], ["you", "added"]]
        assert "by hand" in links
        assert "<ESC>" in links
        assert "\x1b" not in told
        assert "session s1" in sessions


async def test_a_line_stays_free_between_the_text_and_what_is_told_below_it(data: Path) -> None:
    async with opened(data, TALL, start="memories") as driver:
        await _at(driver, "Port")
        await driver.until(lambda: _story(driver).display, "there is room for it")
        text = driver.app.screen.query_one("#preview-body")
        assert _story(driver).content_region.y == text.content_region.bottom + 1


async def test_it_follows_the_cursor_and_what_is_changed(data: Path) -> None:
    async with opened(data, TALL, start="memories") as driver:
        await _at(driver, "Port")
        await driver.until(lambda: _story(driver).display and "edited" in str(_story(driver).render()), "it is told")
        await driver.press("a")
        await driver.until(lambda: "verified" in str(_story(driver).render()), "what was done since is told")
        await driver.press("slash", *"spores", "enter")
        await driver.until(lambda: "Ferns" in driver.current and _story(driver).display, "the other one is shown")
        assert "verified" not in str(_story(driver).render())


async def test_a_link_that_is_drawn_elsewhere_appears_while_the_memory_is_shown(data: Path) -> None:
    async with opened(data, TALL, start="memories") as driver:
        await _at(driver, "Port")
        await driver.until(lambda: _story(driver).display and "by hand" in str(_story(driver).render()), "it is told")
        with memento_tui.open(data) as person:
            person.relate("port", "fern", "related", "drawn since")
        await driver.until(lambda: "drawn since" in str(_story(driver).render()), "the link is told")
        assert driver.current == "Port"


async def test_a_session_that_was_told_since_is_there_when_the_ages_are_drawn_again(data: Path) -> None:
    async with opened(data, TALL, start="memories") as driver:
        await _at(driver, "Port")
        await driver.until(lambda: _story(driver).display and "by hand" in str(_story(driver).render()), "it is told")
        with memento_tui.open(data, actor="agent", channel="mcp", agent="claude", session="s2") as agent:
            recall(agent, "port", 1)
        driver.memories.draw_ages()
        await driver.until(lambda: "session s2" in str(_story(driver).render()), "the session is told")


async def test_nothing_is_read_or_told_where_the_screen_has_no_room(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(MemoryStory, "read", lambda _story, _workspace, memory: read.append(memory.id))
    async with opened(data, LOW, start="memories") as driver:
        await _at(driver, "Port")
        assert not _story(driver).display
    assert read == []
