"""The memories section, as a person uses it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

import memento_tui
from memento_tui.api import Workspace
from memento_tui.tui.screens.dialogs import Confirm
from memento_tui.tui.screens.write_problems import ConflictScreen
from memento_tui.tui.widgets.editor import Editor
from tests.made import note, put
from tests.tui.app_driver import opened

HOSTILE = "\x1b]52;c;aGk=\x07 [/nope] [@click=app.quit]x[/] \u202e \x1b[2J \u200b"

SEPARATED = "one\u2028two\x0cthree\x85four\x1cfive\nsix\r\nseven\reight\n"


@pytest.fixture
def filled(workspace: Workspace, data_dir: Path) -> Path:
    for number in range(30):
        workspace.remember(f"Rule number {number}: keep the cache cold.", tags=["cache"])
    workspace.remember("Use relLangURL for paths.", title="Language paths", tags=["hugo"])
    return data_dir


async def test_the_last_changed_memory_is_shown_first_with_its_text_beside_it(filled: Path) -> None:
    async with opened(filled) as app:
        assert app.current == "Language paths"
        assert "relLangURL" in app.text("#preview-body")


async def test_results_change_with_every_key_and_escape_clears_the_search(filled: Path) -> None:
    async with opened(filled) as app:
        await app.press("slash")
        await app.type("rellang")
        assert app.current == "Language paths"
        assert app.memories.rows.total == 1
        await app.press("escape")
        assert app.app.query_one("#memories-filter", Input).value == ""
        assert app.memories.rows.total == 31


async def test_a_quotation_mark_that_is_not_closed_is_told_and_loses_nothing(filled: Path) -> None:
    async with opened(filled) as app:
        await app.press("slash", "quotation_mark")
        await app.type("cold")
        await app.press("enter")
        assert "not closed" in app.told
        assert app.app.query_one("#memories-filter", Input).value == '"cold'


async def test_an_edit_in_place_is_saved_and_undone_and_redone(filled: Path, workspace: Workspace) -> None:
    async with opened(filled) as app:
        await app.press("e")
        app.app.query_one(TextArea).text = "Use absLangURL for paths."
        await app.press("ctrl+s")
        await app.until(lambda: "absLangURL" in app.text("#preview-body"), "the edit shows")
        await app.press("z")
        assert "relLangURL" in app.text("#preview-body")
        await app.press("Z")
    assert workspace.search("absLangURL", mode="keyword").results[0].memory.content == "Use absLangURL for paths."


async def test_typing_reads_and_keeps_the_text_at_intervals_and_not_at_each_key(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def looked_through(text: str) -> Counter[str]:
        read.append(text)
        return Counter()

    monkeypatch.setattr("memento_tui.tui.widgets.editor._KEEP_SECONDS", 3600.0)
    monkeypatch.setattr("memento_tui.tui.widgets.editor.hidden_characters", looked_through)
    async with opened(filled) as driver:
        await driver.press("e")
        editor = driver.memories.query_one(Editor)
        await driver.until(lambda: bool(read), "what was there is known")
        before = len(read)
        await driver.press(*"letters")
        assert len(read) == before
        editor.keep_typed()
        assert len(read) == before + 1
        assert "letters" in read[-1]


@pytest.fixture
def separated(workspace: Workspace, data_dir: Path) -> Path:
    """A memory with characters that some take for line ends, mixed line ends, and a title and tags that are odd."""
    workspace.remember(SEPARATED, id="separated", title=" Separators ", tags=["#a", "b,c"])
    return data_dir


async def test_saving_one_field_keeps_the_others_to_the_letter(separated: Path, workspace: Workspace) -> None:
    async with opened(separated) as app:
        await app.press("e", "shift+tab", "end", *", tagged", "ctrl+s")
        await app.until(lambda: not app.app.query("Editor"), "it is saved")
        saved = workspace.get("separated")
        assert "tagged" in saved.tags
        assert (saved.title, saved.content) == (" Separators ", SEPARATED)
        await app.press("e", "q", "ctrl+s")
        await app.until(lambda: not app.app.query("Editor"), "it is saved")
    assert workspace.get("separated").content == "q" + SEPARATED
    assert workspace.get("separated").title == " Separators "


async def test_an_editor_in_which_nothing_was_typed_keeps_no_draft_and_is_left_unasked(separated: Path) -> None:
    async with opened(separated) as app:
        await app.press("e")
        editor = app.memories.query_one(Editor)
        assert editor.draft == editor.before
        assert [*(separated / "drafts").rglob("*")] == []
        await app.press("escape")
        await app.until(lambda: not app.app.query("Editor"), "the editor closes")


async def test_leaving_the_editor_with_changes_asks_and_enter_does_not_answer(filled: Path) -> None:
    async with opened(filled) as app:
        await app.press("e")
        app.app.query_one(TextArea).text = "half a thought"
        await app.press("escape", "enter")
        assert isinstance(app.app.screen, Confirm)
        await app.press("n")
        assert app.app.query_one(TextArea).text == "half a thought"
        await app.press("escape", "y")
        await app.until(lambda: not app.app.query("Editor"), "the editor closes")


async def test_two_editors_of_one_memory_end_in_a_choice_that_loses_neither(filled: Path, workspace: Workspace) -> None:
    async with opened(filled) as app:
        row = app.memories.rows.current
        assert row is not None
        await app.press("e")
        app.app.query_one(TextArea).text = "mine"
        workspace.update(row.id, content="theirs")
        await app.press("ctrl+s")
        await app.until(lambda: isinstance(app.app.screen, ConflictScreen), "the choice is offered")
        await app.press("m")
        await app.until(lambda: workspace.get(row.id).content == "mine", "mine is saved over theirs")
    assert [r.record and r.record.content for r in workspace.history(row.id)][:2] == ["mine", "theirs"]


async def test_deleting_needs_no_question_for_one_and_can_be_undone_after_a_restart(filled: Path) -> None:
    async with opened(filled) as app:
        await app.press("d")
        await app.until(lambda: app.memories.rows.total == 30, "the row goes")
    async with opened(filled) as app:
        await app.press("z")
        await app.until(lambda: app.memories.rows.total == 31, "the row is back")
        assert app.memories.rows.has_focus


async def test_deleting_several_asks_with_their_number_and_only_y_says_yes(filled: Path) -> None:
    async with opened(filled) as app:
        await app.press("space", "space", "d")
        await app.until(lambda: isinstance(app.app.screen, Confirm), "the question comes")
        assert "2 marked" in app.text(".dialog-title")
        await app.press("enter")
        assert isinstance(app.app.screen, Confirm)
        await app.press("y")
        await app.until(lambda: app.memories.rows.total == 29, "two rows go")


async def test_deleting_the_last_row_keeps_the_focus_in_the_list(data_dir: Path, workspace: Workspace) -> None:
    workspace.remember("the only one")
    async with opened(data_dir) as app:
        await app.press("d")
        await app.until(lambda: app.memories.rows.total == 0, "the row goes")
        assert app.memories.rows.has_focus
        assert "Nothing is remembered" in app.text("#memories .nothing")


async def test_verify_pin_and_tags_are_written(filled: Path, workspace: Workspace) -> None:
    async with opened(filled) as app:
        row = app.memories.rows.current
        assert row is not None
        await app.press("a", "i", "t")
        await app.press("ctrl+u")
        await app.type("one,two")
        await app.press("enter")
        await app.until(lambda: workspace.get(row.id).tags == ("one", "two"), "the tags are written")
    memory = workspace.get(row.id)
    assert (memory.stability, memory.verified_by, memory.pinned) == ("verified", "person", True)


async def test_what_another_process_writes_appears_and_the_cursor_stays_on_its_memory(filled: Path) -> None:
    async with opened(filled) as app:
        await app.press("j", "j", "j")
        before = app.current
        with memento_tui.open(filled, actor="agent", channel="mcp", agent="claude") as agent:
            agent.remember("fresh from the agent")
        await app.until(lambda: app.memories.rows.total == 32, "the new row is counted")
        assert app.current == before
        assert "claude" in app.told


async def test_while_paused_nothing_changes_and_the_lag_is_told(filled: Path, workspace: Workspace) -> None:
    async with opened(filled) as app:
        await app.press("p")
        workspace.remember("written meanwhile")
        await app.until(lambda: "1 behind" in app.told, "the lag is told")
        assert app.memories.rows.total == 31
        await app.press("p")
        await app.until(lambda: app.memories.rows.total == 32, "it catches up")


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 32), (220, 50)])
async def test_hostile_text_is_shown_as_placeholders_at_every_size(
    data_dir: Path, workspace: Workspace, size: tuple[int, int]
) -> None:
    hostile = note(HOSTILE, tags=["[/x]"], namespace="a[b", validity_context=HOSTILE.replace("\n", " "))
    put(workspace._store, hostile)  # a text that acts on a terminal waits for a person where it is remembered
    async with opened(data_dir, size) as app:
        shown = app.text("#preview-body") + app.text("#preview-title") + app.text("#preview-facts")
        assert "<ESC>]52" in shown
        assert "[/nope]" in shown
        assert "hidden characters" in shown
        assert not any(character in shown for character in "\x1b\x07\u202e\u200b")


async def test_the_preview_is_beside_the_list_where_there_is_room_and_below_it_elsewhere(filled: Path) -> None:
    for size, beside in (((120, 32), True), ((100, 32), False)):
        async with opened(filled, size) as app:
            assert (app.memories.preview.region.x > app.memories.rows.region.x) is beside


async def test_help_lists_the_keys_of_the_place_and_filters_them(filled: Path) -> None:
    async with opened(filled) as app:
        await app.press("question_mark")
        assert "In the memories" in app.text("#keys")
        await app.type("restore")
        assert "Restore a deleted memory" in app.text("#keys")
        assert "Go to the memories" not in app.text("#keys")


async def test_an_empty_store_says_what_to_do_next(data_dir: Path) -> None:
    async with opened(data_dir) as app:
        assert "write the first memory" in app.text("#memories .nothing")
        await app.press("n")
        app.app.query_one(TextArea).text = "the first"
        await app.press("ctrl+s")
        await app.until(lambda: app.current == "the first", "the first memory shows")


async def test_a_memory_without_a_title_says_its_first_line_once(workspace: Workspace, data_dir: Path) -> None:
    workspace.remember("The port is 8080.")
    workspace.remember("Ferns have spores.", title="Ferns")
    async with opened(data_dir) as app:
        await app.until(lambda: app.current == "Ferns", "the list is there")
        assert app.app.screen.query_one("#preview-title").display
        await app.press("j")
        await app.until(lambda: app.text("#preview-body") == "The port is 8080.", "the other one is shown")
        assert not app.app.screen.query_one("#preview-title").display
