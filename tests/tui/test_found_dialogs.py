"""Dialogs under hasty hands: keys that were typed faster than a dialog closes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from textual import events
from textual.widget import Widget
from textual.widgets import Input

import memento_tui
from tests.tui.app_driver import Driver, opened


@pytest.fixture
def data(data_dir: Path) -> Path:
    """Return a directory with two items and a skip."""
    with memento_tui.open(data_dir) as workspace:
        workspace.skips.add("vendor", "not ours", "30d")
        workspace.items.create("first", next_action="begin", priority=2)
        workspace.items.create("second", next_action="begin", priority=1)
    return data_dir


async def at_once(driver: Driver, *keys: str) -> None:
    """Send keys without waiting for what each leads to, as a fast typist or a paste does."""
    for key in keys:
        driver.app.post_message(events.Key(key, key if len(key) == 1 else None))
    await driver.pilot.pause()
    await driver.until(lambda: len(driver.app.screen_stack) == 1, "the dialog did not close")
    await driver.pilot.pause()


async def test_a_question_that_is_answered_twice_takes_the_first_answer(data: Path) -> None:
    async with opened(data, start="working") as driver:
        await driver.press("w")
        await driver.type("!")
        await at_once(driver, "enter", "enter", "enter")
        assert "The next action is changed" in driver.told
        assert [item.next_action for item in driver.app.workspace.items.list()] == ["begin!", "begin"]


async def test_letters_behind_the_one_that_chose_do_nothing(data: Path) -> None:
    async with opened(data, start="working") as driver:
        await driver.press("c")
        await at_once(driver, "s", "a", "w", "s")
        assert "Moved to standing decision" in driver.told
        assert driver.app.workspace.items.list()[0].category == "standing_decision"


async def test_a_form_that_is_saved_twice_at_once_writes_once(data: Path) -> None:
    async with opened(data, start="working") as driver:
        await driver.press("n")
        await driver.type("third")
        await at_once(driver, "ctrl+s", "ctrl+s", "ctrl+s")
        assert [item.title for item in driver.app.workspace.items.list()] == ["first", "second", "third"]


async def test_a_question_about_many_is_answered_once(data: Path) -> None:
    async with opened(data, start="working") as driver:
        await driver.press("space", "space", "d")
        await at_once(driver, "y", "y", "y")
        await driver.until(lambda: not driver.app.workspace.items.list(), "they were not deleted")


@pytest.mark.parametrize("size", [(80, 24), (60, 15)])
async def test_a_form_on_a_low_screen_shows_all_of_what_is_wrong_and_its_keys(
    data: Path, size: tuple[int, int]
) -> None:
    async with opened(data, size, start="working") as driver:
        await driver.press("n")
        await driver.type("third")
        driver.app.screen.query_one("#field-priority", Input).value = "high"
        await driver.press("ctrl+s")
        await driver.until(lambda: "whole number" in driver.text("#form-problem"), "the problem is told")
        dialog = driver.app.screen.query_one(".dialog")
        for told in ("#form-problem", "DialogButtons"):
            assert dialog.content_region.contains_region(driver.app.screen.query_one(told).region)


def is_in_view(label: Widget) -> bool:
    fields = label.parent
    return isinstance(fields, Widget) and fields.content_region.contains_region(label.region)


async def test_the_label_of_the_field_that_is_reached_is_in_view(data: Path) -> None:
    async with opened(data, (80, 24), start="working") as driver:
        await driver.press("e")
        fields = driver.app.screen.query_one(".form-fields")
        labels = list(fields.query(".form-label"))
        for key, reached in (("tab", labels[1:]), ("shift+tab", labels[-2::-1])):
            for label in reached:
                await driver.press(key)
                await driver.until(partial(is_in_view, label), f"{label} is hidden")
        await driver.press("escape", "n")
        first = driver.app.screen.query(".form-label").first()
        await driver.until(partial(is_in_view, first), "Title is hidden")
