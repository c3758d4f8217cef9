"""Small things that a person trips over while looking around: focus, numbers, and messages that no longer hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, Static, TextArea

import memento_tui
from memento_tui.tui.widgets.bars import KeyBar, TopBar
from memento_tui.tui.widgets.editor import Editor
from tests.tui.app_driver import Driver, opened


@pytest.fixture
def notes(data_dir: Path) -> Path:
    """Three memories, of which ``long`` has a long title and a link."""
    with memento_tui.open(data_dir) as workspace:
        workspace.remember("The first text.", id="first", tags=["api"])
        workspace.remember("A text.", id="long", title="A title that is longer than a third of the line is wide")
        workspace.remember("The last text.", id="last")
        workspace.relate("long", "first", "related")
    return data_dir


def keys(driver: Driver) -> str:
    return str(driver.app.screen_stack[0].query_one(KeyBar).render())


async def on(driver: Driver, memory_id: str) -> None:
    """Put the cursor on a memory."""
    rows = driver.memories.rows
    driver.memories.go_to(memory_id)
    await driver.until(lambda: rows.current is not None and rows.current.id == memory_id, f"not on {memory_id}")


async def test_tab_goes_round_in_the_editor_so_that_no_letter_becomes_a_command(notes: Path) -> None:
    async with opened(notes) as driver:
        await on(driver, "first")
        await driver.press("e")
        for field in ("editor-title", "editor-tags", "editor-content", "editor-title"):
            await driver.press("tab")
            assert driver.app.focused is not None
            assert driver.app.focused.id == field
        for field in ("editor-content", "editor-tags"):
            await driver.press("shift+tab")
            assert driver.app.focused.id == field
        await driver.type("d")
        assert driver.app.query_one(Editor).draft.tags == ("apid",)
    with memento_tui.open(notes) as workspace:
        assert workspace.get("first").status == "active"


async def test_tab_stays_in_an_editor_of_one_field(notes: Path) -> None:
    async with opened(notes, start="identity") as driver:
        await driver.press("e", "tab", "d")
        assert driver.app.query_one(TextArea).text == "d"


async def test_the_tab_of_the_memories_and_the_overview_tell_the_same_number(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("1")
        top = driver.app.query_one(TopBar)
        await driver.until(lambda: "Memories 3" in str(top.render()), "the tab tells of three")
        with memento_tui.open(notes, actor="agent", channel="mcp", agent="claude", session="s") as agent:
            agent.remember("A fourth text.")
        await driver.until(lambda: "Memories 4" in str(top.render()), "the tab tells of the fourth")


async def test_a_quotation_mark_that_is_being_typed_is_not_complained_about(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash")
        await driver.type('"first te')
        assert "quotation" not in driver.told
        await driver.press("enter")
        assert "A quotation mark is not closed" in driver.told


async def test_what_was_wrong_with_a_query_is_told_no_longer_once_it_is_mended(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash")
        await driver.type("certainty:9")
        wrong = driver.told
        assert "ertainty" in wrong
        await driver.press("backspace")
        await driver.type("3")
        assert "ertainty" not in driver.told


async def test_the_first_version_reads_as_its_text_and_not_as_a_change_of_nothing(notes: Path) -> None:
    async with opened(notes) as driver:
        await on(driver, "first")
        await driver.press("h")
        change = driver.app.query_one(".view-change Static", Static)
        await driver.until(lambda: "The first text." in str(change.render()), "the version is shown")
        assert not [line for line in str(change.render()).split("\n") if line.strip() in ("-", "+")]


async def test_the_way_along_the_links_has_the_room_that_there_is(notes: Path) -> None:
    async with opened(notes, size=(140, 32)) as driver:
        await on(driver, "long")
        await driver.press("l")
        head = driver.app.query_one(".view-head", Static)
        await driver.until(lambda: "A title" in str(head.render()), "the way is told")
        await driver.until(lambda: "is longer than a third of the line is wide" in str(head.render()), "all of it")


async def test_the_search_box_tells_how_to_leave_it(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash")
        assert isinstance(driver.app.focused, Input)
        assert "Enter" in keys(driver)
        assert "Esc" in keys(driver)
