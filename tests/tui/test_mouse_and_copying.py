"""What a hand finds in every list: buttons that can be clicked, what is copied, and the way to what was undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.content import Content
from textual.widgets import Input

from memento_tui.api import Workspace
from memento_tui.tui.screens.dialogs import AskLine, ChoiceScreen, Confirm, DialogButton
from memento_tui.tui.screens.form import FormScreen
from memento_tui.tui.screens.write_problems import OutcomesScreen
from tests.tui.app_driver import Driver, opened


@pytest.fixture
def notes(workspace: Workspace, data_dir: Path) -> Path:
    """Two memories with titles."""
    workspace.remember("The first text.", id="first", title="First title")
    workspace.remember("The second text\x1b[2J.", id="second", title="Second title")
    return data_dir


async def _click(app: Driver, number: int) -> None:
    buttons = list(app.app.screen.query(DialogButton))
    await app.pilot.click(buttons[number])
    await app.pilot.pause()


async def _list_is_back(app: Driver) -> None:
    """Wait until the dialog has closed and what it led to is shown: keys that come sooner are for nobody."""
    await app.until(lambda: len(app.app.screen_stack) == 1 and app.memories.rows.has_focus, "the list is back")
    await app.until(lambda: not app.memories.workers, "nothing is under way")


async def test_the_answers_of_a_question_can_be_clicked(notes: Path) -> None:
    async with opened(notes) as app:
        for number, left in ((1, 2), (0, 0)):
            await app.press("u", "g", "v", "G", "v", "d")
            await app.until(lambda: isinstance(app.app.screen, Confirm), "it is asked")
            await _click(app, number)
            await _list_is_back(app)
            await app.until(lambda left=left: app.memories.rows.total == left, "as it was answered")  # type: ignore[misc]


async def test_the_keys_of_a_list_of_searches_can_be_clicked(notes: Path, workspace: Workspace) -> None:
    workspace.saved_searches.save("ports", "port")
    async with opened(notes) as app:
        await app.press("s")
        await app.until(lambda: bool(app.app.screen.query(DialogButton)), "the searches are shown")
        names = [str(button.render()) for button in app.app.screen.query(DialogButton)]
        assert names == ["Enter Go there", "r Rename", "d Remove", "Esc Leave"]
        await _click(app, 0)
        await app.until(lambda: app.memories.filter == "port", "it goes there")


async def test_what_became_of_several_is_closed_by_a_click(notes: Path) -> None:
    async with opened(notes) as app:
        app.app.push_screen(OutcomesScreen(Content("1 failed"), [("One", "It is gone.")], "z undoes."))
        await app.until(lambda: isinstance(app.app.screen, OutcomesScreen), "it is shown")
        await _click(app, 0)
        await app.until(lambda: len(app.app.screen_stack) == 1, "it is closed")


async def test_a_line_and_a_form_can_be_saved_and_left_by_a_click(notes: Path, workspace: Workspace) -> None:
    async with opened(notes) as app:
        await app.press("t")
        await app.until(lambda: isinstance(app.app.screen, AskLine), "it is asked")
        app.app.screen.query_one(Input).value = "clicked"
        await _click(app, 0)
        await app.until(lambda: workspace.get("second").tags == ("clicked",), "the tags are written")
        await _list_is_back(app)
        await app.press("c")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form opens")
        app.app.screen.query_one("#field-namespace", Input).value = "projects/x"
        await _click(app, 1)
        await app.until(lambda: workspace.get("second").namespace == "projects/x", "the form is saved")
        await _list_is_back(app)
        await app.press("c")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form opens again")
        await _click(app, 2)
        await app.until(lambda: not isinstance(app.app.screen, FormScreen), "it is left")


@pytest.mark.parametrize(
    ("key", "copied"),
    [("y", "The second text<ESC>[2J."), ("t", "Second title"), ("l", "[[Second title]]"), ("i", "second")],
)
async def test_the_text_the_title_the_link_or_the_id_is_copied_as_safe_as_it_is_shown(
    notes: Path, key: str, copied: str
) -> None:
    async with opened(notes) as app:
        await app.press("y")
        await app.until(lambda: isinstance(app.app.screen, ChoiceScreen), "it is asked what")
        await app.press(key)
        await app.until(lambda: "Copied its" in app.told, "it is told")
        assert app.app.clipboard == copied


async def test_where_there_is_only_an_id_it_is_copied_at_once(notes: Path, workspace: Workspace) -> None:
    skip = workspace.skips.add("vendor", "generated", "7d")
    async with opened(notes, start="skips") as app:
        await app.until(lambda: bool(app.app.query("#skips-list")), "the list is there")
        await app.press("y")
        await app.until(lambda: "Copied its id" in app.told, "it is told")
        assert app.app.clipboard == skip.id


async def test_an_undo_of_what_has_a_long_title_ends_it_with_one_sign_of_what_is_left_out(
    notes: Path, workspace: Workspace
) -> None:
    workspace.update("first", title="The keyword index keeps at most sixty four memories unindexed")
    async with opened(notes) as app:
        await app.press("i")
        await app.until(lambda: workspace.get("first").pinned, "it is pinned")
        await app.press("z")
        await app.until(lambda: "U goes there" in app.told, "it is undone")
        assert "\N{HORIZONTAL ELLIPSIS} U goes there" in app.told


async def test_an_undo_names_what_it_took_back_and_one_key_leads_there(notes: Path, workspace: Workspace) -> None:
    async with opened(notes) as app:
        await app.press("U")
        assert "Nothing was undone here yet" in app.told
        await app.press("j", "i")
        await app.until(lambda: workspace.get("first").pinned, "it is pinned")
        await app.press("1", "z")
        await app.until(lambda: not workspace.get("first").pinned, "it is undone")
        assert "First title" in app.told
        assert "U goes there" in app.told
        await app.press("U")
        await app.until(lambda: app.app.section.SCOPE == "memories", "its section is shown")
        await app.until(lambda: app.current == "First title", "with the cursor on it")


async def test_one_key_sorts_the_list_and_the_order_is_kept(notes: Path, workspace: Workspace) -> None:
    workspace.update("first", certainty=5)
    workspace.update("second", title="Second title!")
    async with opened(notes) as app:
        assert app.current == "Second title!"
        await app.press("comma", "comma")
        assert app.current == "First title"
        assert "Most certain first." in app.told
        assert "most certain first" in app.text("#memories-head")
    async with opened(notes) as app:
        assert app.current == "First title"
        await app.press("slash", *"title", "enter", "comma")
        assert "order of their scores" in app.told


@pytest.mark.parametrize("size", [(140, 30), (80, 24)])
async def test_the_line_between_the_panes_is_dragged(notes: Path, size: tuple[int, int]) -> None:
    async with opened(notes, size) as app:
        section = app.memories
        wide = size[0] > 110
        before = section.rows_pane.size
        await app.pilot.mouse_down(section.room.divider)
        await app.pilot.hover(section.side_pane, offset=(20, 4))
        await app.pilot.mouse_up(section.side_pane, offset=(20, 4))
        await app.pilot.pause()
        after = section.rows_pane.size
        assert (after.width > before.width) == wide
        assert (after.height > before.height) == (not wide)
        await app.pilot.hover(section.list)
        await app.pilot.pause()
        assert section.rows_pane.size == after, "the mouse was let go"


async def test_one_pane_has_all_the_room_while_the_keys_of_the_list_go_on(notes: Path) -> None:
    async with opened(notes) as app:
        section = app.memories
        await app.press("backslash")
        assert (section.rows_pane.outer_size.width, section.side_pane.display) == (120, False)
        await app.press("backslash")
        assert section.side_pane.outer_size.width == 120
        assert section.rows.has_focus
        await app.press("j")
        assert "The first text." in app.text("#preview-body")
        await app.press("backslash")
        assert section.rows_pane.outer_size.width < 80
        await app.press("backslash", "e")
        await app.until(lambda: section.side_pane.is_editing, "the editor opens")
        assert section.side_pane.outer_size.width > 20, "what is edited is in view"


async def test_digits_are_counts_where_the_person_set_it_so(data_dir: Path, workspace: Workspace) -> None:
    for number in range(40):
        workspace.remember(f"note {number}")
    async with opened(data_dir) as app:
        await app.press("1")
        assert app.app.section.SCOPE == "home"
    with (data_dir / "config.toml").open("a", encoding="utf-8") as config:
        config.write("[app]\ncounts = true\n")
    async with opened(data_dir) as app:
        await app.until(lambda: app.memories.rows.total == 40, "the list is read")
        rows = app.memories.rows
        for keys, row in (("5j", 5), ("j", 6), ("12G", 11), ("2k", 9), ("10j", 19), ("3g", 2), ("G", 39), ("99k", 0)):
            await app.press(*keys)
            assert rows.cursor == row, keys
        await app.press("4")
        assert "4 x ..." in app.text("#memories-head")
        assert "4] goes to section 4" in app.text("#memories-head")
        await app.press("space")
        assert (rows.cursor, len(rows.marks)) == (4, 4), "as many are marked, and the cursor is behind them"
        await app.press("j")
        assert rows.cursor == 5, "a count is for one key"
        await app.press("left_square_bracket")
        assert app.app.section.SCOPE == "home"
        await app.press("2", "6", "right_square_bracket")
        assert app.app.section.SCOPE == "identity", "Home has no list, so the first digit led to the memories"
        await app.press("9", "right_square_bracket")
        assert app.app.section.SCOPE == "activity", "there is no ninth section"


@pytest.mark.parametrize("keys", [("5", "j"), ("5", "v")])
async def test_a_count_is_not_for_what_is_chosen_after_its_key_was_carried_out(
    data_dir: Path, workspace: Workspace, keys: tuple[str, ...]
) -> None:
    for number in range(9):
        workspace.remember(f"note {number}")
    with (data_dir / "config.toml").open("a", encoding="utf-8") as config:
        config.write("[app]\ncounts = true\n")
    async with opened(data_dir, start="memories") as app:
        await app.until(lambda: app.memories.rows.total == 9, "the list is read")
        await app.press(*keys)
        await app.app.run_action("neighbour(1)")
        assert app.app.section.SCOPE == "review"
