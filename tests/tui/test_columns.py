"""The columns of the lists: chosen and ordered in a dialog, kept, named above the list, and sorted by a click."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.model.memory import make_exposure
from memento_tui.tui.screens.columns import ColumnsScreen
from memento_tui.tui.screens.help import HelpScreen
from memento_tui.tui.sections.activity import ActivitySection
from memento_tui.tui.sections.identity import IdentitySection
from memento_tui.tui.sections.list_section import ListSection
from memento_tui.tui.side_pane import Divider
from memento_tui.tui.widgets.bars import KeyBar
from memento_tui.tui.widgets.record_list import ColumnHeader
from tests.tui.app_driver import Driver, assert_all_buttons_fit, opened

WIDE = (140, 32)


@pytest.fixture
def memories(workspace: Workspace, data_dir: Path) -> Path:
    workspace.remember("The oldest of all.", certainty=2)
    workspace.remember("The surest of all.", certainty=5)
    workspace.remember("The newest of all.", certainty=3)
    return data_dir


def _header(app: Driver) -> ColumnHeader:
    return app.memories.query_one(ColumnHeader)


def _names(app: Driver) -> list[str]:
    return _header(app).render().plain.split()


async def _listed(app: Driver) -> None:
    await app.until(lambda: app.memories.rows.total == 3, "the memories are read")


async def _choose(app: Driver) -> None:
    await app.press("vertical_line")
    await app.until(lambda: isinstance(app.app.screen, ColumnsScreen), "the columns are asked for")


async def test_columns_are_shown_and_moved_and_are_there_again_after_a_restart(memories: Path) -> None:
    async with opened(memories, WIDE) as app:
        await _listed(app)
        assert _names(app) == ["kind", "title", "age"]
        await _choose(app)
        await app.press("space")  # the kind goes
        screen = app.app.screen
        assert isinstance(screen, ColumnsScreen)
        while screen.rows.current is None or screen.rows.current.id != "certainty":
            await app.press("j")
        await app.press("space", *["K"] * 9, "enter")
        await app.until(lambda: "No room for: tags (" in app.told, "they are taken")
        assert _names(app) == ["sure", "title", "age"]
    async with opened(memories, WIDE) as app:
        await _listed(app)
        assert _names(app) == ["sure", "title", "age"]
        await _choose(app)
        await app.press("d", "enter")
        await app.until(lambda: _names(app) == ["kind", "title", "age"], "they are as at first")


async def test_the_title_stays_and_escape_changes_nothing(memories: Path) -> None:
    async with opened(memories, WIDE) as app:
        await _listed(app)
        await _choose(app)
        await app.press("space", "j", "space")
        await app.until(lambda: "always shown" in app.text(".dialog-text"), "it is said")
        await app.press("escape")
        assert _names(app) == ["kind", "title", "age"]


async def test_a_click_on_a_header_sorts_by_it_and_says_where_it_cannot(memories: Path, workspace: Workspace) -> None:
    workspace.settings.set("app.columns.memories", "kind title certainty changed")
    async with opened(memories, WIDE) as app:
        await _listed(app)
        assert app.current == "The newest of all."
        await app.pilot.click(ColumnHeader, offset=(_header(app).render().plain.index("sure") + 1, 0))
        await app.until(lambda: app.current == "The surest of all.", "the surest is first")
        assert "Most certain first." in app.told
        await app.pilot.click(ColumnHeader, offset=(_header(app).render().plain.index("kind"), 0))
        await app.until(lambda: "no order by kind" in app.told, "it is said")
        await app.pilot.click(ColumnHeader, offset=(_header(app).render().plain.index("age"), 0))
        await app.until(lambda: app.current == "The newest of all.", "the last changed is first again")


async def test_a_narrow_screen_gives_every_line_to_the_list(memories: Path) -> None:
    async with opened(memories, (80, 24)) as app:
        await _listed(app)
        assert not _header(app).display
        await _choose(app)
        assert_all_buttons_fit(app.app.screen)


async def test_read_only_columns_are_chosen_and_not_kept(memories: Path, workspace: Workspace) -> None:
    async with opened(memories, WIDE, read_only=True) as app:
        await _listed(app)
        await _choose(app)
        await app.press("space", "enter")
        await app.until(lambda: _names(app) == ["title", "age"], "the kind is hidden")
    assert workspace.settings.get("app.columns.memories") is None


@pytest.mark.parametrize(
    ("section", "hidden", "names"),
    [
        ("review", "kind", ["what", "waits", "age"]),
        ("working", "next", ["prio", "category", "title", "age"]),
        ("skips", "why", ["ends", "what", "to", "skip", "hits"]),
        ("identity", "author", ["day", "size", "text"]),
        ("activity", "who", ["action", "what", "age"]),
    ],
)
async def test_every_list_has_columns_that_are_chosen_and_kept(
    memories: Path, workspace: Workspace, section: str, hidden: str, names: list[str]
) -> None:
    workspace.items.create(title="An item", next_action="test it")
    workspace.skips.add("dist/", "not ours", clock.now() + timedelta(days=9))
    workspace.crystals.write("I help.")
    workspace.remember("The API moved to /v2.", source_type="external")
    async with opened(memories, WIDE, start=section) as app:
        here = app.app.section
        assert isinstance(here, ListSection)
        await app.until(lambda: here.rows.total > 0, "the list is read")
        before = here.columns.header.render().plain.split()
        await _choose(app)
        screen = app.app.screen
        assert isinstance(screen, ColumnsScreen)
        while screen.rows.current is None or screen.rows.current.id != hidden:
            await app.press("j")
        await app.press("space", "enter")
        await app.until(lambda: here.columns.header.render().plain.split() == names, "the column is hidden")
        assert before != names
    async with opened(memories, WIDE, start=section) as app:
        again = app.app.section
        assert isinstance(again, ListSection)
        assert again.columns.header.render().plain.split() == names


async def test_a_second_click_takes_the_next_order_of_a_column(data_dir: Path, workspace: Workspace) -> None:
    for number in range(3):
        workspace.crystals.write(f"I am number {number}.")
    async with opened(data_dir, WIDE, start="identity") as app:
        here = app.app.section
        assert isinstance(here, IdentitySection)
        await app.until(lambda: here.rows.total == 3, "the timeline is read")
        place = here.columns.header.render().plain.index("day")
        for told, first in (("Oldest first.", "number 0"), ("Newest first.", "number 2")):
            await app.pilot.click(ColumnHeader, offset=(place, 0))
            await app.until(lambda told=told: told in app.told, "it is sorted")  # type: ignore[misc]
            assert here.rows.current is not None
            assert first in here.rows.current.content


async def test_the_two_lists_of_the_activity_have_columns_of_their_own(memories: Path, workspace: Workspace) -> None:
    told = {"memory_id": "m", "memory_version": 1, "session": "s1", "rank": 1, "score": 0.9, "tokens": 40}
    workspace.exposures.record([make_exposure(told)])
    async with opened(memories, WIDE, start="activity") as app:
        here = app.app.section
        assert isinstance(here, ListSection)
        await app.until(lambda: here.rows.total > 0, "the journal is read")
        assert here.columns.header.render().plain.split()[0] == "action"
        await app.press("i")
        await app.until(lambda: here.columns.header.render().plain.split()[0] == "rank", "the exposures are shown")
        await app.press("comma")
        assert "one order" in app.told


async def test_a_wide_screen_has_frames_that_name_what_they_hold_and_a_narrow_one_none(memories: Path) -> None:
    async with opened(memories, WIDE) as app:
        await _listed(app)
        section = app.memories
        assert (section.rows_pane.border_title, section.side_pane.border_title) == ("Memories", "Text")
        assert {section.rows_pane.styles.border_top[0], section.side_pane.styles.border_top[0]} == {"round"}
        await app.press("h")
        await app.until(lambda: section.side_pane.border_title == "History", "the frame names the view")
        await app.press("escape")
        await app.until(lambda: section.side_pane.border_title == "Text", "and the text again")
    async with opened(memories, (80, 24)) as app:
        await _listed(app)
        assert app.memories.rows_pane.styles.border_top[0] == ""


async def test_rows_of_the_list_before_are_drawn_in_its_own_columns_until_the_other_is_read(
    memories: Path, workspace: Workspace
) -> None:
    workspace.settings.set("app.columns.journal", "what entry")
    async with opened(memories, WIDE, start="activity") as app:
        here = app.app.section
        assert isinstance(here, ActivitySection)
        await app.until(lambda: here.rows.total > 0, "the journal is read")
        row = here.rows.current
        here._switch()
        assert row is not None
        assert "".join(text for text, _ in here.row_lines(row, 60)[0]).endswith(row.id)


async def test_the_frames_of_the_activity_name_which_of_its_lists_is_shown(memories: Path) -> None:
    async with opened(memories, WIDE, start="activity") as app:
        here = app.app.section
        assert isinstance(here, ListSection)
        assert (here.rows_pane.border_title, here.side_pane.border_title) == ("Journal", "Entry")
        await app.press("i")
        assert (here.rows_pane.border_title, here.side_pane.border_title) == ("Exposures", "Exposure")


async def test_a_column_that_there_is_no_room_for_is_named_with_the_key_that_makes_room(
    data_dir: Path, workspace: Workspace
) -> None:
    workspace.items.create(title="An item", next_action="test it")
    workspace.settings.set("app.columns.work", "priority category title next changed created status tags")
    async with opened(data_dir, WIDE, start="working") as app:
        await _choose(app)
        screen = app.app.screen
        assert isinstance(screen, ColumnsScreen)
        assert "Columns of Working" in app.text(".dialog-title")
        while screen.rows.current is None or screen.rows.current.id != "namespace":
            await app.press("j")
        await app.press("space", "enter")
        await app.until(lambda: "No room for: tags, namespace (\\ shows the list alone)." in app.told, "it is said")
        await app.press("backslash", "vertical_line")
        await app.until(lambda: isinstance(app.app.screen, ColumnsScreen), "the columns are asked for")
        await app.press("d", "enter")
        await app.until(lambda: "No room" not in app.told, "all have room")


async def test_the_board_says_that_it_has_no_columns_and_help_does_not_offer_them(
    data_dir: Path, workspace: Workspace
) -> None:
    workspace.items.create(title="An item")
    async with opened(data_dir, WIDE, start="working") as app:
        assert "Choose the columns" in await _help(app)
        await app.press("b", "vertical_line")
        await app.until(lambda: "The board has no columns to choose; b shows the list." in app.told, "it is said")
        assert "Choose the columns" not in await _help(app)
        await app.press("b")
        await _choose(app)


async def test_health_has_no_columns_and_help_does_not_offer_them(data_dir: Path) -> None:
    async with opened(data_dir, WIDE, start="health") as app:
        assert "Choose the columns" not in await _help(app)


async def _help(app: Driver) -> str:
    await app.press("question_mark")
    await app.until(lambda: isinstance(app.app.screen, HelpScreen), "the keys are shown")
    keys = app.text("#keys")
    await app.press("escape")
    await app.until(lambda: not isinstance(app.app.screen, HelpScreen), "they are left")
    return keys


async def test_a_list_of_one_order_says_so_where_a_header_is_clicked(memories: Path) -> None:
    async with opened(memories, WIDE, start="activity") as app:
        here = app.app.section
        assert isinstance(here, ListSection)
        await app.until(lambda: here.rows.total > 0, "the journal is read")
        await app.pilot.click(ColumnHeader, offset=(here.columns.header.render().plain.index("action"), 0))
        await app.until(lambda: "This list has one order." in app.told, "it is said")


async def test_the_key_bar_of_the_exposures_has_no_key_of_the_journal(memories: Path) -> None:
    def bar() -> str:
        return str(app.app.query_one(KeyBar).render())

    async with opened(memories, WIDE, start="activity") as app:
        await app.until(lambda: "r Take back" in bar(), "the journal's keys are shown")
        assert "i Exposures" in bar()
        await app.press("i")
        await app.until(lambda: "i Journal" in bar(), "the key goes back to the journal")
        assert "Take back" not in bar()
        await app.press("i")
        await app.until(lambda: "i Exposures" in bar() and "r Take back" in bar(), "they are back")


async def test_between_two_frames_there_is_a_gap_that_is_a_line_under_the_mouse(memories: Path) -> None:
    async with opened(memories, WIDE) as app:
        await _listed(app)
        divider = app.memories.query_one(Divider)
        assert divider.render().plain.split() == []
        await app.pilot.hover(Divider)
        assert divider.render().plain.split() == ["\N{BOX DRAWINGS LIGHT VERTICAL}"] * divider.size.height
        await app.pilot.hover(ColumnHeader)
        assert divider.render().plain.split() == []


async def test_a_line_of_the_dialog_that_is_cut_ends_with_an_ellipsis(memories: Path) -> None:
    async with opened(memories, (60, 24), start="activity") as app:
        await _choose(app)
        screen = app.app.screen
        assert isinstance(screen, ColumnsScreen)
        row = next(row for row in screen.rows.at_hand({"what"}))
        (line,) = screen.row_lines(row, 50)
        assert "".join(text for text, _ in line).endswith("\N{HORIZONTAL ELLIPSIS}")
