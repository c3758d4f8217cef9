"""The past in the app: asked for, searched, stepped through by entries and days, read-only, and left again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.model import Memory
from memento_tui.tui.app import MementoApp
from memento_tui.tui.screens.dialogs import AskLine
from memento_tui.tui.screens.past import PastScreen
from memento_tui.tui.views.record_story import MemoryStory, StoryPart
from tests.clocks import START
from tests.made import edit, without_engine
from tests.tui.app_driver import Driver, opened

Compare = Callable[..., bool]


@pytest.fixture
def lived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of three days: a memory is written, changed, and joined by another."""

    def day(number: int) -> None:
        monkeypatch.setattr(clock, "now", lambda: START + timedelta(days=number))

    day(0)
    with memento_tui.open(without_engine(tmp_path / "data")) as workspace:
        workspace.remember("The port is 8080.", id="port", title="Ports")
        day(1)
        edit(workspace, "port", content="The port is 9090.")
        day(3)
        workspace.remember("Deploys run at night.", id="deploy")
        day(4)
    return tmp_path / "data"


def _screen(driver: Driver) -> PastScreen:
    assert isinstance(driver.app.screen, PastScreen)
    return driver.app.screen


async def _go_back(driver: Driver, moment: str) -> PastScreen:
    """Ask for a moment, and wait until it is shown."""
    await driver.press("@")
    await driver.until(lambda: isinstance(driver.app.screen, AskLine), "it asks for a moment")
    await driver.press("ctrl+u")
    await driver.type(moment)
    await driver.press("enter")
    await driver.until(lambda: isinstance(driver.app.screen, PastScreen), "the past is shown")
    screen = _screen(driver)
    await driver.until(lambda: screen.past is not None and screen.preview.memory is not None, "it is read")
    return screen


async def _reached(driver: Driver, seq: int) -> None:
    screen = _screen(driver)
    await driver.until(lambda: screen.past is not None and screen.past.entry.seq == seq, f"entry {seq} is shown")


async def test_a_moment_is_asked_for_and_shown_read_only(lived: Path) -> None:
    async with opened(lived) as driver:
        screen = await _go_back(driver, "entry 1")
        assert driver.text("#past-head").startswith(
            "The past, read-only: 2026-11-21 12:00Z, after entry 1 of 3, 1 memory"
        )
        assert screen.preview.memory is not None
        assert screen.preview.memory.content == "The port is 8080."
        await driver.press("e", "d", "n", "a")  # keys of the present do nothing here
        assert driver.app.workspace.activity.head() == 3
        await driver.press("escape")
        await driver.until(lambda: not isinstance(driver.app.screen, PastScreen), "the present is back")
        assert driver.app.workspace.get("port").content == "The port is 9090."


async def test_nothing_of_the_present_stands_below_a_memory_of_the_past(
    lived: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(lived, (220, 60)) as driver:
        await driver.until(lambda: driver.app.screen.query_one(MemoryStory).display, "the present tells what happened")
        told: list[str] = []

        def read(_story: MemoryStory, _workspace: Workspace, memory: Memory) -> list[StoryPart]:
            told.append(memory.id)
            return []

        monkeypatch.setattr(MemoryStory, "read", read)
        screen = await _go_back(driver, "entry 1")
        await driver.press("]")
        await _reached(driver, 2)
        assert not screen.query(MemoryStory)
        assert "9090" in driver.text("#preview-body")
    assert told == []


async def test_brackets_step_by_entries_and_braces_by_days(lived: Path) -> None:
    async with opened(lived) as driver:
        await _go_back(driver, "entry 1")
        await driver.press("]")
        await _reached(driver, 2)
        await driver.press("}")  # nothing was written that day
        await driver.until(lambda: "2026-11-22 12:00Z" in driver.text("#past-head"), "the same entry")
        await driver.press("}")
        await _reached(driver, 3)
        await driver.press("[")
        await _reached(driver, 2)
        await driver.press("{")
        await _reached(driver, 1)
        await driver.press("{")
        await driver.until(lambda: "Nothing had been written" in driver.text("#past-note"), "it says why not")
        assert _screen(driver).past is not None


async def test_words_are_searched_in_the_past(lived: Path) -> None:
    async with opened(lived) as driver:
        screen = await _go_back(driver, "entry 3")
        assert screen.rows.total == 2
        await driver.press("/")
        await driver.type("port")
        await driver.until(lambda: screen.rows.total == 1, "one is found")
        assert "1 found" in driver.text("#past-note")
        await driver.press("escape", "escape")
        await driver.until(lambda: screen.rows.total == 2, "the search is cleared")


async def test_what_is_no_moment_is_said_and_asked_again(lived: Path) -> None:
    async with opened(lived) as driver:
        await driver.press("@")
        await driver.until(lambda: isinstance(driver.app.screen, AskLine), "it asks for a moment")
        await driver.press("ctrl+u")
        await driver.type("soon")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, PastScreen), "the screen is there")
        await driver.until(lambda: "must be a date such as" in driver.text("#past-note"), "it says what a moment is")
        await driver.press("escape")
        await driver.until(lambda: not isinstance(driver.app.screen, PastScreen), "the present is back")


async def test_activity_proposes_the_entry_under_the_cursor(lived: Path) -> None:
    async with opened(lived, start="activity") as driver:
        await driver.until(lambda: driver.app.section.moment_here == "entry 3", "the newest entry is under the cursor")
        await driver.press("@")
        await driver.until(lambda: isinstance(driver.app.screen, AskLine), "it asks for a moment")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, PastScreen), "the past is shown")
        await _reached(driver, 3)


def test_the_past_beside_its_preview(snap_compare: Compare, lived: Path) -> None:
    """The head says when it was and that nothing changes, the keys how to step and to go back."""

    async def go_back(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, MementoApp)
        screen = PastScreen("entry 2")
        await app.push_screen(screen)
        await Driver(app, pilot).until(lambda: screen.preview.memory is not None, "it is read")

    with memento_tui.open(lived) as workspace:
        assert snap_compare(MementoApp(workspace, "memories"), run_before=go_back, terminal_size=(80, 24))


async def test_on_a_wide_screen_frames_name_the_list_and_the_text(lived: Path) -> None:
    async with opened(lived, (140, 42)) as driver:
        await driver.press("at", "enter")
        await driver.until(lambda: isinstance(driver.app.screen, PastScreen), "the past is shown")
        await driver.until(lambda: driver.app.screen.query_one("#preview").styles.border_left[0] == "round", "framed")
        titles = [str(driver.app.screen.query_one(name).border_title) for name in ("#past-rows", "#preview")]
        assert titles == ["Memories of then", "Text"]
