"""Keys that are typed faster than the app can show what they lead to, as a burst over a slow line brings them."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from textual import events
from textual._compositor import Compositor
from textual.command import CommandList, CommandPalette
from textual.geometry import Offset
from textual.widgets import Static

import memento_tui
from memento_tui.api import Workspace
from memento_tui.model import Memory
from memento_tui.tui import section
from memento_tui.tui.screens.dialogs import AskLine
from memento_tui.tui.views.history import HistoryView
from memento_tui.tui.views.links import LinksView
from memento_tui.tui.views.report import ReportView
from memento_tui.tui.views.timeline import TimelineView
from memento_tui.tui.views.tree import TreeView
from memento_tui.tui.views.view import View
from memento_tui.tui.views.why import WhyView
from memento_tui.tui.widgets.editor import Editor
from tests.fuzz.bursts import OPENING_HABITS
from tests.tui.app_driver import Driver, opened

_TUI = Path(section.__file__).parent
_NAMES = {" ": "space", "\x1b": "escape", "/": "slash", "\r": "enter"}


@pytest.fixture
def data(data_dir: Path) -> Path:
    """Return a directory with some memories, and two more that wait."""
    with memento_tui.open(data_dir) as person:
        for number in range(8):
            person.remember(f"Rule {number}: keep it short.", tags=["old"])
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        agent.remember("A page says that the port is 8080.", source_type="external")
        agent.remember("A page says that the host is called walrus.", source_type="external")
    return data_dir


async def burst(driver: Driver, keys: str) -> None:
    """Send keys without waiting for what each leads to."""
    for key in keys:
        driver.app.post_message(events.Key(_NAMES.get(key, key), key))
    await driver.pilot.pause()
    await driver.pilot.pause()


@pytest.mark.deep
@pytest.mark.parametrize("keys", [*OPENING_HABITS, "lol\x1b", "s\x1bs\x1b", "7w27\x1b"])
async def test_a_burst_of_keys_that_opens_and_leaves_views_and_editors_ends_nothing(data: Path, keys: str) -> None:
    async with opened(data) as driver:
        for _ in range(3):
            await burst(driver, keys)
        assert driver.app.is_running


async def test_keys_typed_ahead_belong_to_the_dialog_that_they_open(data: Path, workspace: Workspace) -> None:
    async with opened(data, start="review") as driver:
        await burst(driver, "xaaaa")
        assert isinstance(driver.app.screen, AskLine)
        assert driver.app.screen.query_one("Input").value == "aaaa"  # type: ignore[attr-defined]
        assert workspace.review.count() == 2


async def test_keys_typed_ahead_belong_to_the_editor_that_they_open(data: Path) -> None:
    async with opened(data) as driver:
        await burst(driver, "nddd")
        assert driver.memories.query_one(Editor).draft.content == "ddd"
        assert driver.memories.rows.total == 8


async def test_keys_typed_into_a_dialog_after_its_answer_are_for_nobody(data: Path, workspace: Workspace) -> None:
    async with opened(data, start="review") as driver:
        await burst(driver, "x\r\raa")
        assert workspace.review.count() == 1
        assert len(driver.app.screen_stack) == 1


async def test_a_key_that_is_on_its_way_when_the_app_is_left_is_for_nobody(data: Path) -> None:
    async with opened(data) as driver:
        key = events.Key("5", "5")
        key._set_forwarded()
        driver.app.post_message(key)
        driver.app.exit()
        await driver.app.run_action("section('skips')")
        assert driver.app.section.SCOPE == "memories"


@pytest.mark.parametrize("opens", ["command_palette", "change_theme"])
async def test_a_palette_is_left_once_however_many_keys_reach_it_before_it_is_gone(data: Path, opens: str) -> None:
    async with opened(data) as driver:
        await driver.app.run_action(opens)
        await driver.until(lambda: isinstance(driver.app.screen, CommandPalette), "the palette is there")
        palette = driver.app.screen
        assert isinstance(palette, CommandPalette)
        for _ in range(2):
            palette.dismiss()
        await driver.until(lambda: len(driver.app.screen_stack) == 1, "it is left")
        await driver.press("j")
        assert driver.app.is_running


@pytest.mark.parametrize("opens", ["", "colon", "ctrl+p", "question_mark"])
async def test_a_click_on_what_has_just_gone_is_for_nobody(
    data: Path, opens: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = Static("an editor that was left, and is drawn until the next frame")
    async with opened(data) as driver:
        await driver.press(*filter(None, [opens]))
        monkeypatch.setattr(Compositor, "get_widget_and_offset_at", lambda *_: (gone, Offset(0, 0)))
        await driver.pilot.click(offset=(40, 10))
        await driver.pilot.pause()
        assert driver.app.is_running
        assert driver.app.screen.get_selected_text() is None


async def test_keys_behind_the_one_that_leaves_are_for_nobody(data: Path) -> None:
    async with opened(data) as driver:
        await burst(driver, "qdddd\x1b")
    with memento_tui.open(data) as workspace:
        assert workspace.count_all() == 10


_ABOUT: dict[type[View], Callable[[View, Memory], None]] = {
    HistoryView: lambda view, memory: view.show(memory),
    LinksView: lambda view, memory: view.show(memory),
    TimelineView: lambda view, memory: view.show(memory),
    WhyView: lambda view, memory: view.show(memory),
    TreeView: lambda view, _: view.show("kind:fact"),
    ReportView: lambda view, _: view.show(None),
}


@pytest.mark.parametrize("kind", _ABOUT)
async def test_a_view_may_be_asked_and_read_again_before_it_is_there_and_when_it_is_gone(
    data: Path, kind: type[View]
) -> None:
    async with opened(data) as driver:
        memory = driver.memories.preview.memory
        assert memory is not None
        view = kind()
        mounting = driver.memories.side.mount(view)
        for _ in range(2):
            _ABOUT[kind](view, memory)
            view.reload()
            view.focus_content()
            assert view.is_available(f"{view.SCOPE}.leave")
            await mounting
            await driver.pilot.pause()
            view.remove()
        await driver.pilot.pause()
        assert driver.app.is_running


def test_no_part_of_the_app_is_looked_up_where_it_may_not_be_yet_or_no_longer() -> None:
    looked_up = re.compile(r"\.(query_one|query|get_child_by_\w+|get_widget_by_id)\(")
    assert [path.name for path in _TUI.rglob("*.py") if looked_up.search(path.read_text(encoding="utf-8"))] == []


async def test_a_burst_decides_no_card_that_was_not_on_the_screen(data: Path, workspace: Workspace) -> None:
    async with opened(data, start="memories") as driver:
        await burst(driver, "3a")
        assert workspace.review.count() == 2
        assert "not on the screen yet" in driver.told
        await burst(driver, "aaaa")
        assert workspace.review.count() == 1
        await driver.press("a")
        assert workspace.review.count() == 0


async def test_an_open_range_is_what_a_command_is_for(data: Path, workspace: Workspace) -> None:
    async with opened(data) as driver:
        await driver.press("v", "j", "j")
        assert "3 marked" in driver.text("#memories-head")
        await driver.press("d", "y")
        await driver.until(lambda: "Deleted 3" in driver.told, "three are deleted")
        await driver.press("z")
        await driver.until(lambda: workspace.count_all() == 10, "all are back")
        await driver.press("g", "v", "G", "t", *"+new,api", "enter", "y")
        await driver.until(lambda: "Changed the tags of 8" in driver.told, "eight have another tag")
        assert {row.tags for row in workspace.list().items} == {("old", "api", "new")}


async def test_a_page_key_in_a_palette_that_has_no_room_for_its_list_does_nothing(data: Path) -> None:
    async with opened(data) as driver:
        await driver.press("ctrl+p")
        await driver.until(lambda: bool(driver.app.screen.query(CommandList)), "the palette is there")
        commands = driver.app.screen.query_one(CommandList)
        await driver.until(lambda: commands.highlighted is not None, "it lists commands")
        await driver.pilot.resize_terminal(40, 3)
        await driver.until(lambda: not commands.scrollable_content_region, "there is no room for them")
        await driver.press("pageup", "pagedown")
        await driver.press("escape")
        await driver.until(lambda: not isinstance(driver.app.screen, CommandPalette), "the palette is left")


async def test_a_search_that_is_begun_as_the_app_is_left_warns_of_nothing(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(data) as driver:
        section = driver.memories
        monkeypatch.setattr(section, "run_worker", lambda *_, **__: None)  # as of an app that begins no worker any more
        section.show_query("rule")
        await driver.until(lambda: section.rows.total > 0, "it is found by words")
        gc.collect()  # a coroutine that nobody awaited would warn now
