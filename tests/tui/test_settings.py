"""The settings screen: what each is and means, changed in place, checked while it is typed, undone by z."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from memento_tui.api import Workspace
from memento_tui.tui.app import MementoApp
from memento_tui.tui.screens import settings
from memento_tui.tui.screens.dialogs import AskLine, ChoiceScreen
from memento_tui.tui.screens.settings import SettingsScreen
from memento_tui.tui.widgets.record_list import ColumnHeader
from tests.files import contents
from tests.tui.app_driver import Driver, opened


def screen(driver: Driver) -> SettingsScreen:
    found = driver.app.screen
    assert isinstance(found, SettingsScreen)
    return found


async def open_settings(driver: Driver) -> None:
    await driver.press("f2")
    await driver.until(lambda: isinstance(driver.app.screen, SettingsScreen), "the settings are shown")


async def go_to(driver: Driver, name: str) -> None:
    rows = screen(driver).rows
    while rows.current is None or rows.current.id != name:
        await driver.press("j")


def said(driver: Driver) -> str:
    return driver.text(".setting-said")


@pytest.mark.parametrize("size", [(80, 24), (140, 42)])
@pytest.mark.usefixtures("workspace")
async def test_each_column_has_its_name_above_it(data_dir: Path, size: tuple[int, int]) -> None:
    async with opened(data_dir, size) as driver:
        await open_settings(driver)
        header, rows = screen(driver).query_one(ColumnHeader), screen(driver).rows
        await driver.until(lambda: rows.current is not None and header.region.height == 1, "the settings are shown")
        row = rows.render_line(0).text
        for name, value in (("setting", "review.preset"), ("value", "guarded"), ("comes from", "config.toml")):
            assert str(header.render()).index(name) == row.index(value), name


@pytest.mark.usefixtures("workspace")
async def test_a_switch_is_turned_and_z_turns_it_back(data_dir: Path) -> None:
    async with opened(data_dir) as driver:
        await open_settings(driver)
        await go_to(driver, "engine.enabled")
        assert "search by meaning" in driver.text(".setting-about")
        await driver.press("enter")
        await driver.until(lambda: "engine.enabled: true; it was false. z undoes." in said(driver), "it is turned")
        assert "enabled = true" in (data_dir / "config.toml").read_text()
        await driver.press("z")
        assert "enabled = false" in (data_dir / "config.toml").read_text()


@pytest.mark.usefixtures("workspace")
async def test_a_wrong_value_is_said_while_it_is_typed_and_not_taken(data_dir: Path) -> None:
    async with opened(data_dir) as driver:
        await open_settings(driver)
        await go_to(driver, "hooks.prompt_tokens")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, AskLine), "it is asked for")
        driver.app.screen.query_one(Input).value = ""
        await driver.type("1x")
        assert "must be a whole number" in driver.text(".dialog-problem")
        await driver.press("enter")
        assert isinstance(driver.app.screen, AskLine), "it stays"
        await driver.press("backspace", "5", "enter")
        await driver.until(lambda: "prompt_tokens: 15; it was 300" in said(driver), "it is written")


@pytest.mark.usefixtures("workspace")
async def test_a_choice_is_taken_by_its_letter_and_the_app_begins_again_with_it(data_dir: Path) -> None:
    async with opened(data_dir) as driver:
        await open_settings(driver)
        await go_to(driver, "app.keymap")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, ChoiceScreen), "it is asked for")
        await driver.press("b")
        await driver.until(lambda: "app.keymap: emacs; it was vim" in said(driver), "it is written")
        await driver.press("escape")
        await driver.until(lambda: driver.app.next_workspace == data_dir, "it begins again")
        assert driver.app.next_section == "memories"


async def test_read_only_a_change_is_refused_in_a_sentence(data_dir: Path, workspace: Workspace) -> None:
    workspace.close()
    before = contents(data_dir)
    async with opened(data_dir, read_only=True) as driver:
        await open_settings(driver)
        await go_to(driver, "engine.enabled")
        await driver.press("enter")
        await driver.until(lambda: "started read-only" in said(driver), "it says so")
    assert contents(data_dir) == before


@pytest.mark.usefixtures("workspace")
async def test_a_secret_is_neither_shown_nor_written_back_without_it(data_dir: Path) -> None:
    config = data_dir / "config.toml"
    config.write_text(
        '[engine]\nenabled = false\n[language_model]\nurl = "https://me:hunter2secret99@models.example/v1"\n'
    )
    before = contents(data_dir)["config.toml"]
    async with opened(data_dir) as driver:
        await open_settings(driver)
        await go_to(driver, "language_model.url")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, AskLine), "it is asked for")
        asked = driver.app.screen
        assert isinstance(asked, AskLine)
        assert asked.query_one(Input).value == ""
        assert "type all of it anew" in driver.text(".dialog-title")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, SettingsScreen), "it is left")
    assert contents(data_dir)["config.toml"] == before


OWN = (
    '[engine]\nenabled = false\n[keys]\n"review.approve" = "Y"\n[sections.todo]\nquery = "tag:todo"\nkey = "9"\n'
    '[commands.note]\nkey = "f9"\nrun = "echo"\n'
)


@pytest.mark.usefixtures("workspace")
async def test_keys_sections_and_commands_of_ones_own_stand_there_with_their_lines(data_dir: Path) -> None:
    (data_dir / "config.toml").write_text(OWN)
    async with opened(data_dir) as driver:
        await open_settings(driver)
        for name, value, line in (
            ("keys.review.approve", "Y", 4),
            ("sections.todo", "9   tag:todo", 5),
            ("commands.note", "f9   echo", 8),
        ):
            await go_to(driver, name)
            row = screen(driver).rows.current
            assert row is not None
            assert (row.value, row.source) == (value, f"config.toml, line {line}")
        for key in ("enter", "d"):
            await driver.press(key)
            assert "e opens it" in said(driver)
    assert (data_dir / "config.toml").read_text() == OWN


@pytest.mark.usefixtures("workspace")
async def test_e_opens_the_file_and_one_that_cannot_be_read_is_left_only_once_it_is_mended(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = iter(["[engine\n", "[engine]\nenabled = false\n[hooks]\nremind = false\n"])
    opened_files: list[str] = []

    def edit(_app: object, command: list[str]) -> int:
        opened_files.append(command[-1])
        (data_dir / "config.toml").write_text(next(written))
        return 0

    monkeypatch.setattr(settings, "run_in_terminal", edit)
    monkeypatch.setenv("VISUAL", "true")
    async with opened(data_dir) as driver:
        await open_settings(driver)
        await driver.press("e")
        assert "not TOML" in said(driver)
        await driver.press("escape")
        assert "e opens the file" in said(driver)
        await driver.press("e")
        await go_to(driver, "hooks.remind")
        row = screen(driver).rows.current
        assert row is not None
        assert row.value == "false"
        await driver.press("escape")
        await driver.until(lambda: driver.app.next_workspace == data_dir, "the app begins again")
    assert opened_files == [str(data_dir / "config.toml")] * 2


@pytest.mark.usefixtures("workspace")
async def test_z_takes_back_what_the_editor_wrote_and_then_what_was_changed_before(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = data_dir / "config.toml"

    def edit(_app: object, _command: list[str]) -> int:
        config.write_text('[review.rules]\nnew_memory = "propose"\nnew_external = "draft"\n')
        return 0

    monkeypatch.setattr(settings, "run_in_terminal", edit)
    monkeypatch.setenv("VISUAL", "true")
    first = config.read_bytes()
    async with opened(data_dir) as driver:
        await open_settings(driver)
        await go_to(driver, "engine.enabled")
        await driver.press("enter")
        await driver.until(lambda: "it was false" in said(driver), "it is turned")
        second = config.read_bytes()
        await driver.press("e")
        assert "z undoes all of it" in said(driver)
        await driver.press("escape")
        assert "contradicts" in said(driver)  # the app would not begin with it
        await driver.press("z")
        assert config.read_bytes() == second
        await driver.press("z")
        assert config.read_bytes() == first


@pytest.mark.usefixtures("workspace")
async def test_a_file_that_was_opened_and_not_changed_leaves_the_app_as_it_is(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "run_in_terminal", lambda _app, _command: 0)
    monkeypatch.setenv("VISUAL", "true")
    async with opened(data_dir) as driver:
        await open_settings(driver)
        await driver.press("e", "escape")
        await driver.until(lambda: not isinstance(driver.app.screen, SettingsScreen), "it is left")
        assert driver.app.next_workspace is None


@pytest.mark.usefixtures("workspace")
async def test_in_a_browser_the_app_stays_and_says_when_a_setting_holds(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MementoApp, "is_web", True)
    async with opened(data_dir) as driver:
        await open_settings(driver)
        await go_to(driver, "engine.enabled")
        await driver.press("enter")
        await driver.until(lambda: "it was false" in said(driver), "it is turned")
        await driver.press("escape")
        await driver.until(lambda: "once you load this page again" in driver.told, "it is said")
        assert driver.app.next_workspace is None
        assert driver.app.is_running
