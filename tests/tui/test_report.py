"""The report on use in the activity: going to a memory, deleting one, and coming back."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.model import Memory
from memento_tui.tui.sections.activity import ActivitySection
from memento_tui.tui.views.report import ReportView
from tests.tui.app_driver import Driver, opened
from tests.unit.told_sessions import tell


@pytest.fixture
def unused(data_dir: Path) -> Memory:
    """A memory that six sessions were told and none used, beside one that they used."""
    with memento_tui.open(data_dir) as person:
        with pytest.MonkeyPatch.context() as patch:
            moment = clock.now() - timedelta(days=3)
            patch.setattr(clock, "now", lambda: moment)
            texts = ("Anna decides about colours.", "The port is 8080.")
            unused, used = (person.remember(text, namespace="projects/site") for text in texts)
        for n in range(6):
            tell(person, f"s{n}", [unused, used], clock.now(), used=[used], project="projects/site")
    return unused


def section(driver: Driver) -> ActivitySection:
    return cast("ActivitySection", driver.app.screen_stack[0].query_one("#activity"))


async def report(driver: Driver) -> ReportView:
    """Open the report and wait for its rows."""
    await driver.press("w")
    view = section(driver).query_one(ReportView)
    await driver.until(lambda: view.rows.total > 0, "the report has rows")
    return view


def status(driver: Driver, memory: Memory) -> str:
    return driver.app.workspace.get(memory.id).status


async def test_a_memory_is_deleted_and_comes_back_with_undo(data_dir: Path, unused: Memory) -> None:
    async with opened(data_dir, start="activity") as driver:
        view = await report(driver)
        await driver.press("j", "d")
        await driver.until(lambda: status(driver, unused) == "deleted", "it is deleted")
        await driver.until(lambda: view.rows.total == 2, "it left the list")
        await driver.press("z")
        await driver.until(lambda: status(driver, unused) == "active", "it is back")
        await driver.until(lambda: view.rows.total == 3, "it is listed again")


async def test_why_it_may_be_dropped_stands_beside_it(data_dir: Path, unused: Memory) -> None:
    async with opened(data_dir, start="activity") as driver:
        await report(driver)
        assert "100% of what was told was used" not in driver.text(".view-head")
        assert "50% of what was told was used" in driver.text(".view-head")
        await driver.press("j")
        await driver.until(lambda: unused.content in driver.text(".report-text"), "the memory is shown")
        assert "6 sessions were told it since it was last changed, and none used it." in driver.text(".report-text")


async def test_the_share_names_the_sessions_that_it_is_of_where_others_were_not_read(
    data_dir: Path, unused: Memory
) -> None:
    with memento_tui.open(data_dir) as person:
        tell(person, "unread", [unused], clock.now(), project="projects/site", is_read=False)
    async with opened(data_dir, start="activity") as driver:
        await report(driver)
        heading = driver.text(".view-head")
        assert "50% was used of the 12 told in sessions that were read; 13 told in 7 sessions" in heading


async def test_use_is_unknown_where_no_transcript_was_read(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as person:
        told = person.remember("The port is 8080.", namespace="projects/site")
        tell(person, "unread", [told], clock.now(), project="projects/site", is_read=False)
    async with opened(data_dir, start="activity") as driver:
        await report(driver)
        weeks = driver.text(".report-text").splitlines()
        assert [line.split()[3] for line in weeks if line.startswith("20") and "tokens" not in line] == ["unknown"]


async def test_a_project_is_not_deleted(data_dir: Path, unused: Memory) -> None:
    async with opened(data_dir, start="activity") as driver:
        view = await report(driver)
        assert not view.is_available("report.delete")
        await driver.press("d")
        assert "Only a memory can be deleted." in driver.told
        assert status(driver, unused) == "active"


@pytest.mark.usefixtures("keys_are_refused_for_a_minute")
async def test_a_memory_that_came_under_the_cursor_by_itself_is_not_deleted(data_dir: Path, unused: Memory) -> None:
    async with opened(data_dir, start="activity") as driver:
        view = await report(driver)
        await driver.press("j")
        await driver.until(lambda: not driver.app.typed.key_was_pressed_since(0), "the person rests")
        with memento_tui.open(data_dir) as other:
            other.forget(unused.id, base_version=other.get(unused.id).version)
        await driver.until(lambda: view.rows.total == 2, "it left the list")
        head = driver.app.workspace.activity.head()
        await driver.press("d")
        assert "has just come up" in driver.told
        assert driver.app.workspace.activity.head() == head


async def test_enter_goes_to_the_memories_of_a_project_and_to_one_memory(data_dir: Path, unused: Memory) -> None:
    async with opened(data_dir, start="activity") as driver:
        await report(driver)
        await driver.press("enter")
        await driver.until(lambda: driver.app.section.SCOPE == "memories", "the memories are shown")
        assert driver.memories.filter == "ns:projects/site"
        await driver.press("7", "j", "enter")
        await driver.until(lambda: driver.app.section.SCOPE == "memories", "the memories are shown")
        assert driver.memories.filter == f"id:{unused.id}"


@pytest.mark.usefixtures("unused")
async def test_the_keys_of_the_list_behind_it_rest(data_dir: Path) -> None:
    async with opened(data_dir, start="activity") as driver:
        view = await report(driver)
        head = driver.app.workspace.activity.head()
        await driver.press("r", "i", "x", "s", "slash", "u", "Q", "y")
        assert view.has_focus_within
        assert driver.app.workspace.activity.head() == head
        assert not section(driver).shows_exposures


@pytest.mark.usefixtures("unused")
async def test_escape_and_a_query_of_another_section_lead_back_to_the_list(data_dir: Path) -> None:
    async with opened(data_dir, start="activity") as driver:
        await report(driver)
        await driver.press("escape")
        await driver.until(lambda: section(driver).rows.has_focus, "the list has the focus")
        assert not section(driver).query(ReportView)
        await report(driver)
        await driver.app.open_section("activity", "exposures")
        await driver.until(lambda: not section(driver).query(ReportView), "the report is closed")
        assert section(driver).shows_exposures


async def test_without_anything_told_it_says_what_will_be_here(data_dir: Path) -> None:
    async with opened(data_dir, start="activity") as driver:
        await driver.press("w")
        await driver.until(lambda: "Agents were told nothing" in driver.text(".view-note"), "the note is shown")
        await driver.press("d", "enter", "escape")
        await driver.until(lambda: section(driver).rows.has_focus, "the list has the focus")
