"""Texts on a screen as narrow as a phone's, and beside a scrollbar."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.widgets import Static

from memento_tui.api import Workspace
from memento_tui.tui.screens.past import PastScreen
from memento_tui.tui.screens.settings import SettingsScreen
from memento_tui.tui.sections.identity import IdentitySection
from memento_tui.tui.views.view import ViewList
from memento_tui.tui.widgets.panel_board import Board, Panel, TextPiece
from tests.tui.app_driver import opened

PHONE, SMALL, LARGE = (40, 42), (80, 24), (120, 40)


@pytest.mark.parametrize("size", [PHONE, (26, 20), SMALL])
async def test_the_keys_and_what_they_do_stay_in_their_columns(
    data_dir: Path, workspace: Workspace, size: tuple[int, int]
) -> None:
    workspace.remember("A memory.")
    async with opened(data_dir, size) as driver:
        await driver.press("question_mark")
        await driver.until(lambda: bool(driver.app.screen.query("#keys")), "the keys are shown")
        keys = driver.app.screen.query_one("#keys", Static)
        await driver.until(lambda: "Write a" in str(keys.render()), "they are drawn")
        room = keys.content_size.width
        lines = str(keys.render()).split("\n")
        assert max(cell_len(line) for line in lines if line.startswith(" ")) <= room
        first = next(number for number, line in enumerate(lines) if line.startswith("  n "))
        words, rest = lines[first : first + 2]
        if words.rstrip().endswith("Write a new memory"):
            assert rest.startswith("  e Enter")
        else:
            assert rest.startswith("   "), "what goes on stands below the words, not below the key"


async def test_a_text_that_scrolls_keeps_off_its_scrollbar(data_dir: Path, workspace: Workspace) -> None:
    workspace.crystals.write("I am careful and ask first. " * 80)
    async with opened(data_dir, SMALL, start="identity") as driver:
        section = driver.app.screen_stack[0].query_one(IdentitySection)
        await driver.until(lambda: section.told.max_scroll_y > 0, "it scrolls")
        assert section.side_text.content_region.right < section.told.vertical_scrollbar.region.x


@pytest.mark.parametrize(("text", "shown"), [("No agent has written since.", "No agent …"), ("as it is  ", "as it is")])
async def test_a_row_of_a_panel_that_is_cut_says_so(data_dir: Path, text: str, shown: str) -> None:
    panel = Panel(lambda: [TextPiece("Agents")], lambda _width, _height: [[TextPiece(text)]], 1, 1)
    async with opened(data_dir, SMALL, start="home") as driver:
        board = Board(lambda _width: [], [panel])
        await driver.app.screen.mount(board)
        board.styles.width = 16
        await driver.until(lambda: "Agents" in str(board.render()), "it is drawn")
        (row,) = [line for line in str(board.render()).split("\n") if shown[:8] in line]
        assert row.split("\N{BOX DRAWINGS LIGHT VERTICAL}")[1].strip() == shown


async def test_a_narrow_screen_shows_the_values_of_the_settings(data_dir: Path, workspace: Workspace) -> None:
    workspace.remember("A memory.")
    async with opened(data_dir, PHONE) as driver:
        await driver.press("f2")
        await driver.until(lambda: isinstance(driver.app.screen, SettingsScreen), "the settings are there")
        rows = driver.app.screen.query_one(ViewList)
        await driver.until(lambda: rows.total > 0, "they are listed")
        assert "guarded" in "".join(segment.text for segment in rows.render_line(0))


async def test_the_way_back_from_the_past_stands_first_among_its_keys(data_dir: Path, workspace: Workspace) -> None:
    workspace.remember("A memory.")
    async with opened(data_dir, PHONE) as driver:
        await driver.press("at", "enter")
        await driver.until(lambda: isinstance(driver.app.screen, PastScreen), "the past is shown")
        assert driver.text("#past-keys").startswith("Esc The present")
