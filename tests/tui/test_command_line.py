"""The : line: commands with completion over the row, the marks or all that is found, and their errors."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from textual.command import CommandList
from textual.widgets import Input

import memento_tui
from memento_tui.api import Workspace
from memento_tui.model import Memory
from memento_tui.tui.screens.dialogs import AskLine, Confirm
from memento_tui.tui.screens.past import PastScreen
from memento_tui.tui.typed_commands import CommandLineScreen
from tests.tui.app_driver import Driver, opened


@pytest.fixture
def notes(data_dir: Path, workspace: Workspace) -> Path:
    for number in range(5):
        workspace.remember(f"Rule {number}.", id=f"rule{number}", tags=["rules", "old"])
    workspace.remember("The gate is shut.", id="gate", kind="decision")
    return data_dir


def line(driver: Driver) -> CommandLineScreen:
    screen = driver.app.screen
    assert isinstance(screen, CommandLineScreen)
    return screen


async def run(driver: Driver, command: str) -> None:
    """Type a command and press Enter."""
    await driver.press("colon")
    await driver.type(command)
    await driver.press("enter")


def memory(data_dir: Path, memory_id: str) -> Memory:
    with memento_tui.open(data_dir) as workspace:
        return workspace.get(memory_id)


async def test_a_field_of_the_memory_here_is_changed_by_its_name_and_undone(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("colon")
        assert "this memory :" in driver.text(".command-prompt")
        await driver.type("certainty 5")
        await driver.press("enter")
        assert memory(notes, "gate").certainty == 5
        assert "Changed. z undoes." in driver.told
        for command in ("ns projects/site", "sensitivity restricted", "expires 30d", "tag +api", "kind pattern"):
            await run(driver, command)
        found = memory(notes, "gate")
        assert (found.namespace, found.sensitivity, found.kind) == ("projects/site", "restricted", "pattern")
        assert found.tags == ("api",)
        assert found.expires_at is not None
        await driver.press("z")
        await driver.until(lambda: memory(notes, "gate").kind == "decision", "one command is one step")
        assert memory(notes, "gate").tags == ("api",)


async def test_marked_memories_are_changed_together_after_a_question_and_undone_at_once(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("j", "space", "j", "space", "j", "space", "colon")
        marked = len(driver.memories.rows.marks)
        assert f"{marked} marked :" in driver.text(".command-prompt")
        await driver.type("tag +api -old")
        await driver.press("enter")
        assert isinstance(driver.app.screen, Confirm)
        await driver.press("y")
        await driver.until(lambda: f"Changed {marked}." in driver.told, "they are changed")
        changed = [number for number in range(5) if memory(notes, f"rule{number}").tags == ("rules", "api")]
        assert len(changed) == marked
        await driver.press("z")
        await driver.until(
            lambda: all(memory(notes, f"rule{number}").tags == ("rules", "old") for number in range(5)), "undone"
        )


async def test_what_is_so_already_is_not_called_changed_for_z_would_take_back_something_else(notes: Path) -> None:
    async with opened(notes, start="memories") as driver:
        await driver.until(lambda: driver.memories.rows.total == 6, "the list is read")
        await run(driver, "kind decision")
        await driver.until(lambda: "Nothing changed: it is so already." in driver.told, "it is said")
        assert "z undoes" not in driver.told
        await run(driver, "%kind decision")
        await driver.press("y")
        await driver.until(lambda: "Changed 5. 1 was so already. z undoes." in driver.told, "both are said")
        await run(driver, "%tag +rules")
        await driver.press("y")
        await driver.until(lambda: "Changed 1. 5 were so already." in driver.told, "it is said of tags, too")
        await driver.press("t", "enter")
        await driver.until(lambda: "Its tags are so already." in driver.told, "it is said of one, too")


async def test_no_suggestion_covers_what_is_wrong_with_a_line(notes: Path) -> None:
    async with opened(notes, start="memories") as driver:
        await driver.press("colon")
        await driver.type("confidence 9")
        await driver.until(lambda: line(driver).line.suggestions.display, "something is suggested")
        await driver.press("enter")
        assert "confidence: must be a number" in driver.text(".command-problem")
        assert not line(driver).line.suggestions.display
        await driver.press("ctrl+u")
        await driver.type("expires 5")
        await driver.press("enter")
        assert "expires: must be a date" in driver.text(".command-problem"), "by the name that was typed"


async def test_the_line_after_an_undo_of_many_says_how_to_go_there_on_80_columns(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as workspace:
        workspace.remember_many(
            [{"content": f"{number} is a number with a long title that goes on."} for number in range(12)]
        )
    async with opened(data_dir, (80, 24), start="memories") as driver:
        await driver.until(lambda: driver.memories.rows.total == 12, "the list is read")
        await run(driver, "%certainty 5")
        await driver.press("y")
        await driver.until(lambda: "Changed 12." in driver.told, "it is done")
        await driver.press("z")
        await driver.until(lambda: "U goes there." in driver.text("#status"), "it is said in full")


async def test_a_percent_sign_means_all_that_the_search_finds(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash")
        await driver.type("tag:rules")
        await driver.press("enter", "colon", "percent_sign")
        assert "all 5 found :" in driver.text(".command-prompt")
        await driver.type("certainty 2")
        await driver.press("enter")
        assert isinstance(driver.app.screen, Confirm)
        await driver.press("y")
        await driver.until(lambda: "Changed 5." in driver.told, "they are changed")
    assert [memory(notes, f"rule{number}").certainty for number in range(5)] == [2] * 5
    assert memory(notes, "gate").certainty != 2


async def test_what_is_wrong_is_said_above_the_line_which_stays_to_be_mended(notes: Path) -> None:
    async with opened(notes) as driver:
        for wrong, said in (
            ("certanty 5", "Did you mean :certainty?"),
            ("certainty 9", "certainty"),
            ("kind fct", "Kinds are fact, decision"),
            ("open nowhere", "There are home, memories"),
            ("theme nrd", "Did you mean nord?"),
            ("history now", ":history takes nothing behind its name."),
            ("% open review", "% is for changes"),
        ):
            await driver.press("colon")
            await driver.type(wrong)
            await driver.press("enter")
            assert said in driver.text(".command-problem"), wrong
            assert line(driver).line.value == wrong
            await driver.press("escape")
        assert memory(notes, "gate").version == 1


async def test_tab_completes_names_and_values_and_earlier_commands_come_back(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("colon", "c", "e", "tab")
        assert line(driver).line.value == "certainty "
        await driver.press("tab", "enter")
        assert memory(notes, "gate").certainty == 5
        await driver.press("colon", "up")
        assert line(driver).line.value.strip() == "certainty 5"
        await driver.press("escape")
    async with opened(notes) as driver:
        await driver.press("colon", "up")
        assert line(driver).line.value.strip() == "certainty 5", "after a restart too"


async def test_sections_themes_searches_and_keyed_commands_are_reached_by_name(notes: Path) -> None:
    async with opened(notes) as driver:
        await run(driver, "open memories tag:rules")
        assert driver.memories.rows.total == 5
        await run(driver, "save my rules")
        await run(driver, "search gate")
        assert driver.current == "The gate is shut."
        await run(driver, "saved my rules")
        assert driver.memories.filter == "tag:rules"
        await run(driver, "theme nord")
        assert driver.app.theme == "nord"
        await run(driver, "history")
        assert driver.memories.side.view is not None
        await run(driver, "skips")
        assert driver.app.section.SCOPE == "skips"
        await driver.press("colon")
        assert "skips :" in driver.text(".command-prompt")
        await driver.type("certainty 5")
        await driver.press("enter")
        assert "Go there first: :memories" in driver.text(".command-problem")
        await driver.press("escape")
        await run(driver, "open review")
        assert driver.app.section.SCOPE == "review"


async def test_an_export_is_written_to_the_path_and_asks_before_it_writes_over_one(notes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    async with opened(notes) as driver:
        await run(driver, f"export {out}")
        await driver.until(lambda: "records written to" in driver.told, "it is written")
        lines = [msgspec.json.decode(text) for text in out.read_bytes().splitlines()]
        assert any(found.get("content") == "The gate is shut." for found in lines)
        out.write_text("mine")
        await run(driver, f"export {out}")
        assert isinstance(driver.app.screen, Confirm)
        await driver.press("n")
        assert out.read_text() == "mine"


async def test_a_folder_is_imported_by_its_path_which_tab_completes(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "my notes" / ".obsidian").mkdir(parents=True)
    (tmp_path / "my notes" / "one.md").write_text("Turbines turn.\n")
    async with opened(notes) as driver:
        await driver.press("colon")
        await driver.type(f"import {tmp_path}/my")
        await driver.until(lambda: line(driver).line.suggestions.display, "the folder is suggested")
        await driver.press("tab")
        assert line(driver).line.value == f"import {tmp_path}/my notes/"
        await driver.press("enter")
        await driver.until(lambda: "1 record" in driver.text("_Choices"), "it is shown with what it holds")
        assert "Reading" not in driver.told
        await driver.press("i")
        await driver.until(lambda: "1 imported" in driver.text("#first-run-told"), "it is imported")
        await driver.press("escape")
        await run(driver, f"import {tmp_path}/none")
        await driver.until(lambda: "nothing" in driver.told, "it is said")


async def test_a_moment_is_gone_to_by_its_words(notes: Path) -> None:
    async with opened(notes) as driver:
        await run(driver, "at 3 days ago")
        await driver.until(lambda: isinstance(driver.app.screen, PastScreen), "the past is shown")


async def test_the_home_of_a_user_who_does_not_exist_is_said_and_the_app_goes_on(notes: Path) -> None:
    async with opened(notes) as driver:
        await run(driver, "export ~no-such-user/out.jsonl")
        await driver.until(lambda: "There is no home folder '~no-such-user'" in driver.told, "it is said")


async def test_marked_memories_are_related_to_another_and_one_undo_takes_it_back(
    notes: Path, workspace: Workspace
) -> None:
    async with opened(notes) as driver:
        await run(driver, "relate nothere")
        assert "nothere" in driver.text(".command-problem")
        await driver.press("escape")
        await run(driver, "relate rule1 nearly")
        assert "There is no relation 'nearly'" in driver.text(".command-problem")
        await driver.press("escape")
        await run(driver, "relate gate")
        assert "not related to itself" in driver.text(".command-problem")
        await driver.press("escape")
        await run(driver, "relate rule1 supersedes")
        await driver.until(lambda: "Related." in driver.told, "it is related")
        assert workspace.related("gate") == [("supersedes", "out", "rule1")]
        await driver.press("j", "space", "space")
        await run(driver, "relate gate")
        await driver.press("y")
        await driver.until(lambda: "Related 2." in driver.told, "both are related")
        assert len(workspace.related("gate")) == 3
        await driver.press("z")
        await driver.until(lambda: len(workspace.related("gate")) == 1, "one undo takes both back")


async def test_a_purge_wants_a_reason_and_the_id_typed(notes: Path) -> None:
    async with opened(notes) as driver:
        await run(driver, "purge")
        assert ":purge takes the reason" in driver.text(".command-problem")
        await driver.type(" it held a key")
        await driver.press("enter")
        assert isinstance(driver.app.screen, AskLine)
        await driver.press("enter")
        assert "Nothing was purged." in driver.told
        await run(driver, "purge it held a key")
        await driver.type("gate")
        await driver.press("enter")
        await driver.until(lambda: "Purged." in driver.told, "it is purged")
    with memento_tui.open(notes) as workspace:
        assert workspace.find("gate") is None


async def test_a_colon_is_a_letter_where_one_types_and_backspace_leaves_an_empty_line(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash", "colon")
        assert driver.app.query_one("#memories-filter", Input).value == ":"
        await driver.press("escape", "escape", "colon", "a", "backspace")
        assert line(driver).line.value == ""
        await driver.press("backspace")
        assert not isinstance(driver.app.screen, CommandLineScreen)
        assert driver.app.focused is driver.memories.rows


async def test_keys_typed_ahead_of_the_line_are_typed_into_it_and_those_behind_its_end_are_for_nobody(
    notes: Path,
) -> None:
    async with opened(notes) as driver:
        await driver.pilot.press(*":certainty", "space", "4", "enter", "d", "d")
        assert memory(notes, "gate").certainty == 4
        assert memory(notes, "gate").status in ("active", "deleted")


async def test_a_memory_that_changed_while_the_line_was_typed_is_left_as_it_is(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("p", "colon")
        await driver.type("certainty 5")
        with memento_tui.open(notes, actor="agent", channel="mcp", agent="claude", session="s") as agent:
            agent.update("gate", base_version=1, tags=["hers"])
        await driver.press("enter")
        assert memory(notes, "gate").certainty != 5
        assert "changed" in driver.told


async def test_the_keys_of_emacs_move_search_and_leave_where_the_person_wants_them(notes: Path) -> None:
    (notes / "config.toml").write_text('[engine]\nenabled = false\n[app]\nkeymap = "emacs"\n')
    async with opened(notes) as driver:
        assert driver.memories.rows.cursor == 0
        await driver.press("ctrl+n", "ctrl+n", "ctrl+p")
        assert driver.memories.rows.cursor == 1
        await driver.press("ctrl+s")
        await driver.type("gate")
        assert driver.current == "The gate is shut."
        await driver.press("ctrl+g")
        assert driver.memories.filter == ""


async def test_the_palette_finds_every_section_by_its_name(notes: Path) -> None:
    async with opened(notes) as driver:
        titles = [command.title for command in driver.app.get_system_commands(driver.app.screen)]
        assert {"Home", "Memories", "Review", "Working", "Skips", "Identity", "Activity", "Health"} <= set(titles)
        assert not any(title.startswith("App: Go to the memories") for title in titles), "each is named once"


async def test_the_palette_begins_with_the_commands_of_the_place_then_the_sections_in_their_order(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("ctrl+p")
        await driver.until(lambda: bool(driver.app.screen.query(CommandList)), "the palette is there")
        options = driver.app.screen.query_one(CommandList)
        await driver.until(lambda: options.option_count > 20, "it is filled")
        shown = [options.get_option_at_index(index).hit.text for index in range(options.option_count)]  # type: ignore[attr-defined]
        assert shown[0] == "Memories: Write a new memory"
        assert shown.index("Home") < shown.index("Memories") < shown.index("Review") < shown.index("Health")
        assert shown.index("Health") < shown.index("App: Quit")


async def test_a_line_is_for_the_row_that_it_was_opened_on_and_not_for_the_one_that_took_its_place(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("colon")
        await driver.type("tag +qq")
        with memento_tui.open(notes) as other:
            other.forget("gate", base_version=other.get("gate").version)
        await driver.until(lambda: "gate" not in str(driver.memories.rows.current), "another row is under the cursor")
        await driver.press("enter")
        await driver.until(lambda: "changed while you typed; nothing was done" in driver.told, "that is said")
    with memento_tui.open(notes) as workspace:
        assert not workspace.list("tag:qq").items
