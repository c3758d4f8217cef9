"""What holds in the whole app: going about, keys, themes, the live view, text that is kept."""

from __future__ import annotations

import os
import threading
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from textual.widgets import Input, TextArea

from memento_tui.api import Workspace, drafts
from memento_tui.api.drafts import UnsavedTextFile, find_unsaved_texts
from memento_tui.app_sections import SECTIONS
from memento_tui.model import WorkingItem
from memento_tui.paths import DataPaths
from memento_tui.tui.screens.form import FormScreen
from memento_tui.tui.screens.unsaved import UnsavedScreen
from memento_tui.tui.screens.write_problems import ConflictScreen
from memento_tui.tui.widgets.bars import KeyBar, TopBar
from memento_tui.tui.widgets.editor import Editor
from memento_tui.tui.widgets.record_list import RecordList
from tests.made import edit
from tests.tui.app_driver import Driver, opened


@pytest.fixture
def filled(data_dir: Path, workspace: Workspace) -> Path:
    for number in range(5):
        workspace.remember(f"rule {number}", id=f"m{number}", tags=["rule"])
    return data_dir


def _add_to_config(data_dir: Path, text: str) -> None:
    with (data_dir / "config.toml").open("a", encoding="utf-8") as config:
        config.write(text)


async def test_number_keys_and_brackets_lead_through_the_sections(filled: Path) -> None:
    async with opened(filled) as app:
        for tab in SECTIONS:
            await app.press(tab.key)
            await app.until(lambda name=tab.name: name == app.app.section.SCOPE, f"{tab.name} is shown")  # type: ignore[misc]
        await app.press("right_square_bracket")
        await app.until(lambda: app.app.section.SCOPE == "home", "after the last comes the first")
        await app.press("left_square_bracket")
        await app.until(lambda: app.app.section.SCOPE == "health", "and back")


async def test_a_letter_behind_the_key_that_jumps_leads_to_a_section_and_g_to_the_first_row(filled: Path) -> None:
    _add_to_config(filled, '[keys]\n"app.jump" = "g"\n"rows.first" = "home"\n')
    async with opened(filled) as app:
        await app.press("g", "m")
        await app.until(lambda: app.app.section.SCOPE == "memories", "the memories are shown")
        rows = app.app.section.query_one(RecordList)
        await app.press("j", "j")
        await app.until(lambda: rows.cursor == 2, "the third row")
        await app.press("g", "g")
        await app.until(lambda: rows.cursor == 0, "the first row")
        await app.press("g", "escape", "g", "e")
        await app.until(lambda: app.app.section.SCOPE == "health", "Health has the first letter that is left")


async def test_a_click_on_a_tab_shows_its_section(filled: Path) -> None:
    async with opened(filled) as app:
        bar = app.app.query_one(TopBar)
        await app.pilot.click(bar, offset=(str(bar.render()).index("Skips"), 0))
        await app.until(lambda: app.app.section.SCOPE == "skips", "the skips are shown")


@pytest.mark.deep
@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 140])
@pytest.mark.parametrize("section", ["review", "health"])
async def test_the_data_directory_never_runs_into_the_tabs(filled: Path, width: int, section: str) -> None:
    async with opened(filled, size=(width, 24), start=section) as app:
        bar = app.app.query_one(TopBar)
        app.app.show_counts(memories=68, review=8, working=5, skips=4, health=1)
        line, end = str(bar.render()), max(end for _, end, _ in bar._spans)
        assert line[end : end + 1].strip() == ""
        assert len(line) <= width


async def test_a_key_that_a_person_set_works_and_is_shown(filled: Path) -> None:
    _add_to_config(filled, '[keys]\n"memories.pin" = "ctrl+y"\n')
    async with opened(filled) as app:
        assert "^y Pin" in str(app.app.query_one(KeyBar).render())
        await app.press("i")
        assert not app.app.workspace.get("m4").pinned
        await app.press("ctrl+y")
        await app.until(lambda: app.app.workspace.get("m4").pinned, "it is pinned")


async def test_a_key_setting_that_cannot_be_used_is_told(filled: Path) -> None:
    _add_to_config(filled, '[keys]\n"memories.pinn" = "P"\n')
    async with opened(filled) as app:
        assert "no command memories.pinn" in app.told


async def test_a_theme_that_was_chosen_is_there_again_next_time(filled: Path) -> None:
    async with opened(filled) as app:
        app.app.theme = "textual-light"
        await app.until(lambda: app.app.workspace._store.settings.get("app.theme") == "textual-light", "it is kept")
    async with opened(filled) as app:
        assert app.app.theme == "textual-light"


async def test_a_theme_that_does_not_exist_is_told_and_the_app_opens(filled: Path) -> None:
    _add_to_config(filled, '[app]\ntheme = "no-such-theme"\n')
    async with opened(filled) as app:
        assert "there is no theme no-such-theme" in app.told
        assert app.current == "rule 4"


async def test_what_others_write_meanwhile_is_shown_when_the_person_comes_back(filled: Path, agent: Workspace) -> None:
    async with opened(filled) as app:
        await app.press("3")
        await app.until(lambda: app.app.section.SCOPE == "review", "the review is shown")
        agent.remember("written while the review was shown")
        await app.until(lambda: "claude: added" in app.told, "the app saw it")
        await app.press("2")
        await app.until(lambda: app.memories.rows.total == 6, "the memories were read again")


async def test_news_of_others_do_not_replace_what_the_person_was_just_told(filled: Path, agent: Workspace) -> None:
    async with opened(filled) as app:
        await app.press("i")
        await app.until(lambda: "Pinned. z undoes." in app.told, "it is pinned")
        agent.remember("written a moment later")
        await app.until(lambda: app.memories.rows.total == 6, "the app saw it")
        assert "Pinned. z undoes." in app.told


@pytest.mark.usefixtures("keys_are_refused_for_a_minute")
async def test_a_deed_is_refused_just_after_another_row_came_up_by_itself(filled: Path, workspace: Workspace) -> None:
    async with opened(filled) as app:
        assert app.current == "rule 4"
        workspace.forget("m4")
        await app.until(lambda: app.current == "rule 3", "another row comes up")
        await app.press("d")
        assert "has just come up" in app.told
        assert workspace.get("m3").status == "active"


async def _type_over(app: Driver, text: str) -> None:
    await app.press("e")
    await app.until(lambda: bool(app.app.query(Editor)), "the editor opens")
    app.app.query_one(TextArea).text = text
    paths = app.app.workspace.paths
    await app.until(lambda: any(paths.typed_texts()), "what was typed is kept")


async def test_text_that_was_typed_before_a_crash_is_offered_and_can_be_saved(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(filled) as app:
        await _type_over(app, "rule 4, half writ")
    # The process that typed it is this one; it is taken for dead as after a crash.
    monkeypatch.setattr(drafts, "is_process_alive", lambda _: False)
    async with opened(filled) as app:
        await app.until(lambda: isinstance(app.app.screen, UnsavedScreen), "the text is offered")
        await app.press("r")
        await app.until(lambda: bool(app.app.query(Editor)), "the editor opens on it")
        assert app.app.query_one(TextArea).text == "rule 4, half writ"
        await app.press("ctrl+s")
        await app.until(lambda: app.app.workspace.get("m4").content == "rule 4, half writ", "it is saved")
        await app.until(lambda: find_unsaved_texts(app.app.workspace.paths) == [], "nothing is kept any more")


async def test_text_for_a_memory_that_changed_meanwhile_leads_to_the_choice_of_three(
    filled: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    UnsavedTextFile(DataPaths(filled), "memory", "m1", 1).keep("", ["rule"], "rule 1 as I typed it")
    monkeypatch.setattr(drafts, "is_process_alive", lambda process: process != os.getpid())
    workspace.update("m1", content="rule 1 as it stands")
    async with opened(filled) as app:
        await app.until(lambda: isinstance(app.app.screen, UnsavedScreen), "the text is offered")
        await app.press("r")
        await app.until(lambda: bool(app.app.query(Editor)), "the editor opens on it")
        await app.press("ctrl+s")
        await app.until(lambda: isinstance(app.app.screen, ConflictScreen), "the choice is offered")
        assert "as I typed it" in app.text(".dialog-body Static")
        await app.press("m")
        await app.until(lambda: workspace.get("m1").content == "rule 1 as I typed it", "mine was saved")


async def test_text_that_is_not_wanted_is_dropped_only_after_a_second_key(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    UnsavedTextFile(DataPaths(filled), "memory", "", 0).keep("", [], "a thought")
    monkeypatch.setattr(drafts, "is_process_alive", lambda _: False)
    async with opened(filled) as app:
        await app.until(lambda: isinstance(app.app.screen, UnsavedScreen), "the text is offered")
        await app.press("d")
        assert len(find_unsaved_texts(app.app.workspace.paths)) == 1
        await app.press("y")
        await app.until(lambda: find_unsaved_texts(app.app.workspace.paths) == [], "it is gone")


async def test_one_undo_takes_back_what_was_done_to_many(filled: Path, workspace: Workspace) -> None:
    async with opened(filled) as app:
        await app.press("space", "space", "space", "d", "y")
        await app.until(lambda: "Deleted 3. z undoes." in app.told, "they are deleted")
        assert {workspace.get(f"m{number}").status for number in (2, 3, 4)} == {"deleted"}
        await app.press("z")
        await app.until(lambda: "(3 parts)" in app.told, "all are back")
        assert {workspace.get(f"m{number}").status for number in range(5)} == {"active"}


async def test_a_form_that_was_open_at_a_crash_is_offered_and_can_be_saved(
    filled: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = workspace.items.create("Write the hooks", next_action="Read the docs")
    assert isinstance(item, WorkingItem)
    async with opened(filled, start="working") as app:
        await app.until(lambda: app.app.section.query_one(RecordList).current is not None, "the work is read")
        await app.press("e")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form opens")
        app.app.screen.query_one("#field-next_action", Input).value = "Read the code"
        await app.until(lambda: any(app.app.workspace.paths.typed_texts()), "what was typed is kept")
    monkeypatch.setattr(drafts, "is_process_alive", lambda _: False)
    async with opened(filled) as app:
        await app.until(lambda: isinstance(app.app.screen, UnsavedScreen), "the form is offered")
        await app.press("r")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form is open again")
        assert app.app.screen.query_one("#field-next_action", Input).value == "Read the code"
        await app.press("ctrl+s")
        await app.until(lambda: workspace.items.get(item.id).next_action == "Read the code", "it is saved")
        await app.until(lambda: find_unsaved_texts(app.app.workspace.paths) == [], "nothing is kept any more")


async def test_an_undo_that_a_later_entry_stands_in_the_way_of_says_where_that_is_taken_back(
    filled: Path, workspace: Workspace, agent: Workspace
) -> None:
    mine = workspace.remember("The API lives at /v2.")
    workspace.update(mine.id, content="The API lives at /v3.")
    edit(agent, mine.id, content="The API lives at /v4.")
    async with opened(filled) as app:
        await app.press("z")
        await app.until(lambda: "In Activity, r takes it back." in app.told, "the way out is said")
        assert "Undo entry" in app.told


@pytest.mark.deep
async def test_sections_views_and_dialogs_that_were_left_leave_nothing_behind(filled: Path) -> None:
    async with opened(filled) as app:

        async def go_round() -> int:
            for section in "12345678":
                await app.press(section, "question_mark", "escape", "colon", "escape")
            await app.press("2", "h", "escape", "l", "escape", "w", "escape", "f", "escape", "e", "escape")
            await app.until(lambda: app.memories.side.view is None, "the views are closed")
            return len(app.app._registry)

        await go_round()
        assert await go_round() == await go_round()


async def test_the_modules_of_all_sections_are_imported_behind_the_first_frame(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported: list[tuple[str, bool]] = []

    def remember(name: str) -> ModuleType:
        imported.append((name.rpartition(".")[2], threading.current_thread() is threading.main_thread()))
        return import_module(name)

    monkeypatch.setattr("memento_tui.tui.sections.catalogue.import_module", remember)
    behind = {(tab.name, False) for tab in SECTIONS}
    async with opened(filled) as app:
        await app.until(lambda: behind <= set(imported), "all are imported by another thread")
