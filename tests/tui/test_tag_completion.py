"""The dialog behind ``t`` completes the tags that are typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

import memento_tui
from memento_tui.tui.screens.dialogs import AskLine
from tests.tui.app_driver import Driver, opened


@pytest.fixture
def tagged(data_dir: Path) -> Path:
    with memento_tui.open(data_dir) as workspace:
        workspace.remember("The cache is cold.", id="cache", tags=["database", "cache"])
        workspace.remember("The index is warm.", id="index", tags=["database", "data model"])
        workspace.remember("The gate is shut.", id="gate", tags=["tests"])
    return data_dir


def line(driver: Driver) -> Input:
    return driver.app.screen.query_one(Input)


def offered(driver: Driver) -> list[str]:
    dialog = driver.app.screen
    assert isinstance(dialog, AskLine)
    suggestions = dialog.line.suggestions
    return [option.text for option in suggestions.found.options] if suggestions.display else []


async def test_a_tag_that_is_begun_is_completed_from_those_in_use_and_another_may_follow(tagged: Path) -> None:
    async with opened(tagged) as driver:
        await driver.press("t")
        assert offered(driver) == [], "nothing covers the dialog before something is typed"
        await driver.type(", da")
        assert offered(driver) == ["database", "data model"], "the most used first"
        await driver.press("tab")
        assert line(driver).value == "tests, database, "
        assert offered(driver) == []
        await driver.type("da")
        assert offered(driver) == ["data model"], "what stands in the line is not offered again"
        await driver.press("down", "enter")
        assert line(driver).value == "tests, database, data model, "
        await driver.press("enter")
    with memento_tui.open(tagged) as workspace:
        assert workspace.get("gate").tags == ("tests", "database", "data model")


async def test_a_tag_behind_a_sign_is_completed_and_one_to_be_removed_from_those_that_the_memories_have(
    tagged: Path,
) -> None:
    async with opened(tagged) as driver:
        await driver.press("space", "space", "t")
        await driver.type("-")
        assert offered(driver) == ["tests", "database"], "of the two that are marked; a space ends a tag here"
        await driver.type("te")
        await driver.press("tab")
        await driver.type("+cac")
        assert offered(driver) == ["cache"]
        await driver.press("right", "enter", "y")
    with memento_tui.open(tagged) as workspace:
        assert workspace.get("gate").tags == ("cache",)
        assert workspace.get("index").tags == ("database", "data model", "cache")


async def test_escape_leaves_the_tags_as_they_are_while_some_are_offered(tagged: Path) -> None:
    async with opened(tagged) as driver:
        await driver.press("t")
        await driver.type(", da")
        await driver.press("escape")
        assert not isinstance(driver.app.screen, AskLine)
    with memento_tui.open(tagged) as workspace:
        assert workspace.get("gate").tags == ("tests",)
