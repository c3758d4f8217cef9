"""The search box completes what is typed, keeps what was searched for, and forgives typing errors."""

from __future__ import annotations

from pathlib import Path

import pytest

import memento_tui
from tests.tui.app_driver import Driver, opened


@pytest.fixture
def notes(data_dir: Path) -> Path:
    with memento_tui.open(data_dir) as workspace:
        workspace.remember("The cache is cold.", id="cache", tags=["database", "cache"])
        workspace.remember("The index is warm.", id="index", tags=["database"], kind="decision")
        workspace.remember("The gate is shut.", id="gate", tags=["tests"])
    return data_dir


def offered(driver: Driver) -> str:
    suggestions = driver.memories.filter_box.suggestions
    return str(suggestions.render()) if suggestions.display else ""


def in_focus(driver: Driver) -> str | None:
    return None if driver.app.focused is None else driver.app.focused.id


async def test_tab_takes_the_first_suggestion_for_a_field_and_then_for_its_value(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash", "k", "i")
        assert "kind:" in offered(driver)
        await driver.press("tab")
        assert driver.memories.filter == "kind:"
        assert "decision" in offered(driver)
        assert driver.memories.rows.total == 3, "nothing is filtered by a value that is not typed yet"
        await driver.press("d", "e", "right")
        assert driver.memories.filter == "kind:decision "
        assert offered(driver) == ""
        assert [driver.current, driver.memories.rows.total] == ["The index is warm.", 1]


async def test_the_arrows_go_to_a_suggestion_and_enter_takes_it_before_it_goes_to_the_list(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash")
        await driver.type("tag:")
        assert "database" in offered(driver).splitlines()[0]
        await driver.press("down", "up", "up", "down", "down", "enter")
        assert driver.memories.filter == "tag:cache "
        assert in_focus(driver) == "memories-filter"
        await driver.press("enter")
        assert in_focus(driver) == "memories-list"


async def test_enter_goes_to_the_list_while_no_suggestion_was_gone_to(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash")
        await driver.type("tag:data")
        assert driver.memories.rows.total == 3
        await driver.press("enter")
        assert in_focus(driver) == "memories-list"
        assert offered(driver) == ""
        assert "There is no tag:data; showing tag:database." in driver.told
        assert driver.memories.rows.total == 2


async def test_tab_and_the_arrow_keep_their_other_meaning_without_a_suggestion(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash", "g", "left", "right", "a")
        assert driver.memories.filter == "ga"
        await driver.press("tab")
        assert in_focus(driver) == "memories-list"


async def test_a_value_that_nothing_has_is_said_and_one_that_is_misspelled_forgiven(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash")
        await driver.type("tag:databse ")
        assert "There is no tag:databse; showing tag:database." in driver.told
        assert driver.memories.rows.total == 2
        await driver.press("escape")
        await driver.type("tag:zebra ")
        assert "No memory has tag:zebra." in driver.told
        await driver.press("escape")
        await driver.type("kind:zebra ")
        assert "kind:zebra cannot be used: it takes fact, decision" in driver.told


async def test_a_filter_that_cannot_be_used_finds_nothing_once_it_is_typed_and_says_why(notes: Path) -> None:
    async with opened(notes) as driver:
        everything = driver.memories.rows.total
        await driver.press("slash")
        await driver.type("certainty:ab")
        assert driver.memories.rows.total == everything  # it may go on
        await driver.press("enter")
        await driver.until(lambda: driver.memories.rows.total == 0, "nothing is found")
        assert "certainty:ab cannot be used: it takes a number from 1 to 5" in driver.told
        assert "certainty:ab cannot be used" in str(driver.memories.nothing.render())
        await driver.press("slash", "escape")
        await driver.type("kindd:decision")
        await driver.press("enter")
        await driver.until(lambda: driver.memories.rows.total == 1, "it is taken as it was meant")
        assert "There is no field kindd:; showing kind:." in driver.told


async def test_what_is_no_field_is_looked_for_as_text_and_the_person_is_told(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash")
        await driver.type("error:cold")
        assert "There is no field error" not in driver.told
        await driver.press("enter")
        assert "There is no field error; error:cold is read as text." in driver.told


async def test_earlier_searches_come_back_with_the_arrows_after_a_restart_too(notes: Path) -> None:
    async with opened(notes) as driver:
        for text in ("cold", "warm"):
            await driver.press("slash")
            await driver.type(text)
            await driver.press("enter", "escape")
    async with opened(notes) as driver:
        await driver.press("slash", "up")
        assert driver.memories.filter == "warm"
        await driver.press("up")
        assert driver.memories.filter == "cold"
        assert driver.current == "The cache is cold."
        await driver.press("down", "down")
        assert driver.memories.filter == ""
        await driver.press("down")
        assert in_focus(driver) == "memories-list"


async def test_suggestions_leave_with_the_search_and_show_hostile_tags_as_text(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as workspace:
        workspace.remember("Text.", tags=["[red]x[/]"])
    async with opened(data_dir) as driver:
        await driver.press("slash")
        await driver.type("tag:")
        assert "[red]x[/]" in offered(driver)
        await driver.press("escape", "escape")
        assert offered(driver) == ""
