"""Every dialog: what its keys are is said in it, `?` does nothing behind it, and Escape leaves it without a change."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.content import Content

import memento_tui
from memento_tui.api import Workspace
from memento_tui.model import make_contradiction
from memento_tui.tui.screens.dialogs import ChoiceScreen, Confirm, DialogButton, DialogButtons, DialogChoice
from tests.made import unguarded
from tests.tui.app_driver import Driver, assert_all_buttons_fit, opened
from tests.tui.settling import settle

OPENED_BY = {
    "home": ("f2", "f4", "ctrl+p", "@", "question_mark", "colon"),
    "memories": ("t", "c", "y", "|", "s", "space space d", "space space t", "space space a", "/ o enter S"),
    "review": ("G x", "G k space space a", "space space x", "space space l", "/ p enter A", "/ p enter X"),
    "working": ("n", "e", "w", "c", "space space d", "space space c"),
    "skips": ("n", "e", "plus", "space space x", "space space plus", "space space s"),
    "identity": ("g x", "G r"),
    "activity": ("Q",),
    "health": ("G enter",),
}
"""The keys that open each dialog of a section, a space between."""

SMALL = ((40, 20), (30, 14), (80, 24))


@pytest.fixture
def everywhere(data_dir: Path, workspace: Workspace, agent: Workspace) -> Path:
    """Something in every section."""
    older = workspace.remember("The API listens on port 8080.", tags=["api"]).id
    newer = workspace.remember("The API listens on port 9090.", tags=["api"]).id
    with unguarded(workspace._store, workspace.author, "test") as tx:
        tx.put(make_contradiction({"older": older, "newer": newer, "score": 0.9, "why": "They differ."}), base=0)
    for number in range(2):
        workspace.items.create(f"Mend the gate {number}", next_action="begin")
        workspace.skips.add(f"vendor/{number}", "generated", "30d")
        workspace.crystals.write(f"I look after the gate, {number}.")
    workspace.saved_searches.save("api", "tag:api")
    workspace.backups.make()
    for subject in ("fish", "birds"):
        agent.remember(f"A page says that {subject} matter.", source_type="external")
    agent.crystals.write("I look after nothing.")
    return data_dir


async def _leave(driver: Driver) -> None:
    """Press Escape until no dialog is open; one that asks whether to leave takes a second one."""
    for _ in range(2):
        if len(driver.app.screen_stack) > 1:
            await driver.press("escape")
    await driver.until(lambda: len(driver.app.screen_stack) == 1, "Escape leaves it")


@pytest.mark.parametrize("section", OPENED_BY)
async def test_a_dialog_says_how_it_is_left_and_escape_leaves_it_without_a_change(
    everywhere: Path, section: str
) -> None:
    async with opened(everywhere, start=section) as driver:
        await driver.until(lambda: driver.app.section.is_attached, "the section is there")
        with memento_tui.open(everywhere) as before:
            head = before.activity.head()
        for keys in OPENED_BY[section]:
            *first, last = keys.split()
            await driver.press(*first)
            await driver.press(last)
            await driver.until(lambda: len(driver.app.screen_stack) > 1, f"{keys} opens a dialog in {section}")
            await driver.press("question_mark")
            assert len(driver.app.screen_stack) == 2, keys
            await _leave(driver)
            await driver.press("escape", "escape", "u", "g")
        with memento_tui.open(everywhere) as after:
            assert after.activity.head() == head


@pytest.mark.deep
@pytest.mark.parametrize("section", OPENED_BY)
async def test_every_button_of_a_dialog_is_whole_and_in_view_on_a_small_screen(everywhere: Path, section: str) -> None:
    async with opened(everywhere, SMALL[0], start=section) as driver:
        await driver.until(lambda: driver.app.section.is_attached, "the section is there")
        for keys in OPENED_BY[section]:
            *first, last = keys.split()
            await driver.press(*first)
            await driver.press(last)
            await driver.until(lambda: len(driver.app.screen_stack) > 1, f"{keys} opens a dialog in {section}")
            if driver.app.screen.query(DialogButtons):
                for width, height in (*SMALL[1:], SMALL[0]):
                    await driver.pilot.resize_terminal(width, height)
                    await settle(driver.app)
                    assert driver.app.screen.size == (width, height)
                    assert_all_buttons_fit(driver.app.screen)
            await _leave(driver)
            await driver.press("escape", "escape", "u", "g")


@pytest.mark.parametrize(("width", "indent"), [(60, 18), (80, 24), (140, 24)])
async def test_the_words_of_a_key_stay_beside_it_and_below_each_other(data_dir: Path, width: int, indent: int) -> None:
    async with opened(data_dir, (width, 40)) as driver:
        await driver.press("question_mark")
        await driver.until(lambda: "Fields of the search" in driver.text("#keys"), "the keys are shown")
        lines = driver.text("#keys").split("\n")
        assert max(map(cell_len, lines)) <= driver.app.screen.query_one("#keys").content_size.width
        wrapped = [line for line in lines if line.startswith("   ")]
        assert wrapped, "some words take more than a line"
        assert {len(line) - len(line.lstrip()) for line in wrapped} == {indent}


async def test_the_keys_are_filtered_by_what_is_typed(data_dir: Path) -> None:
    async with opened(data_dir) as driver:
        await driver.press("question_mark")
        await driver.type("undo")
        assert "Undo" in driver.text("#keys")
        assert "Fields of the search" not in driver.text("#keys")
        await driver.type("nosuchkey")
        assert driver.text("#keys") == "No key or field matches."


async def test_a_question_with_more_text_than_fits_shows_its_answers_and_scrolls_the_text(data_dir: Path) -> None:
    async with opened(data_dir, (50, 20)) as driver:
        text = Content("\n").join(Content(f"line {number}") for number in range(30))
        driver.app.push_screen(Confirm(Content("Do it?"), text))
        await driver.until(lambda: isinstance(driver.app.screen, Confirm), "the question is there")
        dialog = driver.app.screen.query_one(".dialog")
        await driver.until(lambda: dialog.region.height > 0, "it is laid out")
        for button in driver.app.screen.query(DialogButton):
            assert dialog.content_region.contains_region(button.region)
        await driver.press(*["j"] * 20)
        told = driver.app.screen.query_one(".dialog-text")
        await driver.until(lambda: told.region.bottom <= dialog.content_region.bottom, "the last line is shown")


@pytest.mark.parametrize(
    ("keys", "chosen"), [(("down", "down", "enter"), "three"), (("k", "k", "enter"), "one"), (("enter", "b"), "two")]
)
async def test_arrows_go_to_a_choice_and_enter_takes_it_but_none_before_an_arrow(
    data_dir: Path, keys: tuple[str, ...], chosen: str
) -> None:
    choices = [DialogChoice(name, letter, name) for name, letter in (("one", "a"), ("two", "b"), ("three", "c"))]
    async with opened(data_dir) as driver:
        answers: list[str | None] = []
        driver.app.push_screen(ChoiceScreen(Content("Which?"), choices, "two"), answers.append)
        await driver.until(lambda: isinstance(driver.app.screen, ChoiceScreen), "it is asked for")
        await driver.press(*keys)
        await driver.until(lambda: answers == [chosen], "it is taken")
