"""Going to another workspace from the app: the list, what is missing, and what was being typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Static

import memento_tui
from memento_tui.api import Workspace
from memento_tui.known_workspaces import KnownWorkspaces
from memento_tui.tui import app as app_module
from memento_tui.tui.app import MementoApp
from memento_tui.tui.screens.unsaved import UnsavedScreen
from memento_tui.tui.screens.workspaces import WorkspacesScreen
from memento_tui.tui.widgets.bars import TopBar
from memento_tui.tui.widgets.editor import Editor
from tests.made import without_engine
from tests.tui.app_driver import Driver, assert_all_buttons_fit, opened


@pytest.fixture(autouse=True)
def _own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


def made(path: Path) -> Path:
    without_engine(path)
    with memento_tui.open(path) as workspace:
        workspace.remember(f"This is {path.name}.")
    return path


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return made(tmp_path / "one")


@pytest.fixture
def two(tmp_path: Path) -> Path:
    made(tmp_path / "two")
    KnownWorkspaces().add(tmp_path / "two")
    return tmp_path / "two"


async def open_list(driver: Driver) -> None:
    await driver.press("f4")
    await driver.until(lambda: isinstance(driver.app.screen, WorkspacesScreen), "the list is shown")


def screen(driver: Driver) -> WorkspacesScreen:
    found = driver.app.screen
    assert isinstance(found, WorkspacesScreen)
    return found


async def test_the_list_leads_to_another_workspace(one: Path, two: Path) -> None:
    KnownWorkspaces().add(one)
    async with opened(one) as driver:
        await open_list(driver)
        rows = screen(driver).rows
        await driver.until(lambda: rows.total == 3, "both and the default are listed")
        while rows.current is None or rows.current.known.path != str(two):
            await driver.press("j")
        await driver.press("enter")
        await driver.until(lambda: driver.app.next_workspace == two, "it leaves for it")


async def test_the_app_says_where_it_is_when_the_person_comes_from_elsewhere(one: Path) -> None:
    with Workspace(one, channel="tui", session="greeted") as workspace:
        app = MementoApp(workspace)
        app.greeting = "This is the workspace in one."
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            assert "This is the workspace in one." in str(app.query_one("#status", Static).render())


async def test_every_button_of_the_list_can_be_read_on_a_small_screen(one: Path) -> None:
    async with opened(one, (80, 24)) as driver:
        await open_list(driver)
        assert_all_buttons_fit(screen(driver))


async def test_a_name_in_the_colon_line_leads_there_too(one: Path, two: Path) -> None:
    async with opened(one) as driver:
        await driver.press("colon", *"workspace", "space", *"two", "enter")
        await driver.until(lambda: driver.app.next_workspace == two, "it leaves for it")


@pytest.mark.usefixtures("two")
async def test_in_a_browser_the_app_stays_in_its_workspace(one: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MementoApp, "is_web", True)
    async with opened(one) as driver:
        await driver.press("colon", *"workspace", "space", *"two", "enter")
        await driver.until(lambda: "A browser shows one workspace" in driver.told, "it is said")
        assert driver.app.next_workspace is None


async def test_the_title_is_clicked_and_a_missing_directory_is_said(one: Path, two: Path) -> None:
    (two / "memento.db").unlink()
    async with opened(one) as driver:
        bar = driver.app.query_one(TopBar)
        await driver.pilot.click(TopBar, offset=(bar.size.width - 3, 0))
        await driver.until(lambda: isinstance(driver.app.screen, WorkspacesScreen), "the list is shown")
        rows = screen(driver).rows
        while rows.current is None or rows.current.known.path != str(two):
            await driver.press("j")
        await driver.press("enter")
        assert f"There is no memento data in {two} now." in driver.text(".dialog-text")
        await driver.press("d")
        await driver.until(lambda: all(known.path != str(two) for known in KnownWorkspaces().list()), "it is off")
        await driver.press("escape", "colon", *"workspace", "space", *"nowhere", "enter")
        await driver.until(lambda: "There is no workspace 'nowhere'." in driver.told, "it is said")
        assert driver.app.next_workspace is None


async def test_a_database_that_cannot_be_opened_is_said_and_the_app_stays(one: Path, two: Path) -> None:
    (two / "memento.db").write_bytes(b"no database at all" * 100)
    async with opened(one) as driver:
        await driver.press("colon", *"workspace", "space", *"two", "enter")
        await driver.until(lambda: "damaged" in driver.told or "is not" in driver.told, "it says why")
        assert driver.app.next_workspace is None


async def test_what_was_being_typed_is_offered_on_coming_back(one: Path, two: Path) -> None:
    async with opened(one) as driver:
        await driver.press("n")
        await driver.until(lambda: bool(driver.app.query(Editor)), "the editor is open")
        await driver.type("half a thought")
        await open_list(driver)
        rows = screen(driver).rows
        while rows.current is None or rows.current.known.path != str(two):
            await driver.press("j")
        await driver.press("enter")
        await driver.until(lambda: driver.app.next_workspace == two, "it leaves for it")
    async with opened(two) as driver:
        await driver.until(lambda: driver.current == "This is two.", "the other is shown")
        assert not isinstance(driver.app.screen, UnsavedScreen)
    async with opened(one) as driver:
        await driver.until(lambda: isinstance(driver.app.screen, UnsavedScreen), "the text is offered")
        assert "half a thought" in driver.text(".dialog-text")


def test_the_program_goes_on_in_the_workspace_that_was_chosen(
    one: Path, two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, greetings = [], []

    def run(app: MementoApp) -> None:
        seen.append(app.workspace.paths.root)
        greetings.append(app.greeting)
        app._return_code = 0
        app.next_workspace = two if len(seen) == 1 else None

    monkeypatch.setattr(MementoApp, "run", run)
    assert app_module.run(one, "memories") == 0
    assert seen == [one, two]
    assert greetings == ["", f"This is the workspace in {two}."], "on a small terminal nothing else says it"
    assert [known.path for known in KnownWorkspaces().list()][:2] == [str(two), str(one)]


async def test_a_list_that_cannot_be_read_is_said_in_its_dialog(one: Path, tmp_path: Path) -> None:
    (tmp_path / "state" / "memento").mkdir(parents=True)
    (tmp_path / "state" / "memento" / "workspaces.json").write_text("{ no list")
    async with opened(one) as driver:
        await open_list(driver)
        await driver.until(lambda: "cannot be read" in str(screen(driver)._note.content), "the fault is said")
        assert screen(driver).rows.total == 0
        await driver.press("escape")
