"""Own sections and commands in the app: tabs with counts, keys, the : line, and programs that get a row as data."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import memento_tui
from memento_tui.tui.screens.help import HelpScreen
from memento_tui.tui.sections.review.groups import InboxGroup
from memento_tui.tui.selection import StaleGuard
from memento_tui.tui.widgets.bars import TopBar
from tests.files import contents as files_below
from tests.made import always
from tests.tui.app_driver import Driver, opened

HOSTILE = "$(touch owned); `touch owned` '; touch owned; ' \"--help\""

CONFIG = """\
[engine]
enabled = false

[sections.rules]
query = "kind:instruction"
title = "Rules"
key = "9"

[commands.note]
run = 'printf "%s|%s|%s|%s\\n" "$MEMENTO_TITLE" "$MEMENTO_TEXT" "$MEMENTO_KIND" "$*" > "$MEMENTO_HOME/out"; echo noted'
key = "f9"
help = "Note the row"

[commands.fails]
run = "echo why; exit 3"

[commands.broken]
key = "f8"
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    root = tmp_path / "data"
    root.mkdir(mode=0o700)
    (root / "config.toml").write_text(CONFIG)
    with memento_tui.open(root) as workspace:
        workspace.remember("Deploys run on Monday.", id="fact1")
        workspace.remember(f"{HOSTILE} \x1b[2J", id="rule1", kind="instruction", title=HOSTILE)
    return root


def bar(driver: Driver) -> str:
    return str(driver.app.query_one(TopBar).render())


async def test_a_count_before_the_key_of_the_next_section_leads_to_an_own_section_too(data: Path) -> None:
    with (data / "config.toml").open("a", encoding="utf-8") as config:
        config.write("[app]\ncounts = true\n")
    async with opened(data, start="memories") as driver:
        await driver.until(lambda: driver.memories.rows.total == 2, "the list is read")
        await driver.press("9", "right_square_bracket")
        await driver.until(lambda: driver.memories.filter == "kind:instruction", "the section is shown")


async def test_an_own_section_has_a_tab_with_its_count_and_a_key(data: Path) -> None:
    async with opened(data, size=(160, 32), start="home") as driver:
        await driver.until(lambda: "9 Rules 1" in bar(driver), "it is counted")
        await driver.press("9")
        await driver.until(lambda: driver.memories.rows.total == 1, "its memories are listed")
        assert "[9 Rules 1]" in bar(driver)
        with memento_tui.open(data) as other:
            other.remember("Say thanks.", kind="instruction")
        await driver.until(lambda: "[9 Rules 2]" in bar(driver), "it is counted again")


async def test_a_program_gets_the_row_as_data_and_never_as_code(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(data) as driver:
        await driver.press("9")
        await driver.until(lambda: driver.memories.rows.total == 1, "the hostile row is listed")
        await driver.press("f9")
        await driver.until(lambda: "note: done. noted" in driver.told, "it has run")
    title, text, kind, ids = (data / "out").read_text().rstrip("\n").split("|")
    assert (kind, ids) == ("instruction", "rule1")
    assert title == HOSTILE
    assert text.startswith(HOSTILE)
    assert "\x1b" not in text, "nothing acts on a terminal"
    assert not [path for path in files_below(tmp_path) if path.endswith("owned")]


async def test_a_program_that_fails_says_its_status_and_last_line(data: Path) -> None:
    async with opened(data) as driver:
        await driver.press("colon", *"fails", "enter")
        await driver.until(lambda: "fails: ended with status 3. why" in driver.told, "it is said")


async def test_an_entry_that_is_wrong_is_said_and_the_app_starts(data: Path) -> None:
    async with opened(data) as driver:
        assert "config.toml, line 17: [commands.broken]: run is missing." in driver.told


async def test_help_and_the_palette_name_them(data: Path) -> None:
    async with opened(data) as driver:
        titles = [command.title for command in driver.app.get_system_commands(driver.app.screen)]
        assert {"Own: rules", "Own: note", "Own: fails"} <= set(titles)
        await driver.press("question_mark")
        assert isinstance(driver.app.screen, HelpScreen)
        assert "Note the row" in driver.text("#keys")


async def test_a_section_may_have_any_name_that_is_free(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[engine]\nenabled = false\n[sections.self]\nquery = "kind:fact"\n')
    with memento_tui.open(tmp_path) as workspace:
        workspace.remember("Deploys run on Monday.", kind="fact")
    async with opened(tmp_path, size=(160, 32), start="home") as driver:
        await driver.until(lambda: "self 1" in bar(driver), "it is counted")


async def test_a_group_has_no_id_for_a_command_but_the_ids_of_its_items(data: Path) -> None:
    with memento_tui.open(data, actor="agent", agent="--rm", session="s", channel="mcp") as agent:
        for name in ("one", "two"):
            agent.remember(f"A page about {name}.", source_type="external", make_id=always(name))
    (data / "config.toml").write_text(
        '[engine]\nenabled = false\n[commands.note]\nkey = "f9"\n'
        """run = 'printf "%s|%s" "$MEMENTO_ID" "$*" > "$MEMENTO_HOME/out"'\n"""
    )
    async with opened(data, start="review") as driver:
        await driver.until(lambda: driver.review.rows.total == 2, "the queue is read")
        await driver.press("F")
        await driver.until(lambda: driver.review.rows.total == 3, "in groups")
        await driver.press("F")
        await driver.until(lambda: "by agent" in driver.told, "by agent")
        await driver.press("g")
        row = driver.review.rows.current
        assert isinstance(row, InboxGroup)
        await driver.press("f9")
        await driver.until(lambda: "note: done" in driver.told, "it has run")
        expected = " ".join(item.id for item in row.items)
    assert (data / "out").read_text() == f"|{expected}"


@pytest.mark.usefixtures("keys_are_refused_for_a_minute")
async def test_a_command_is_refused_for_a_row_that_has_just_come_up_by_itself(data: Path) -> None:
    async with opened(data) as driver:
        await driver.until(lambda: driver.memories.rows.total == 2, "the rows are read")
        driver.memories.guard = StaleGuard(driver.app.typed.key_was_pressed_since, now=lambda: 1.0)
        driver.memories.guard.content_changed()
        await driver.press("f9")
        await driver.until(lambda: "the key was ignored" in driver.told, "why is said")
    assert not (data / "out").exists()


async def test_what_a_program_starts_behind_itself_is_not_waited_for_and_lives_on(data: Path) -> None:
    (data / "config.toml").write_text(
        '[engine]\nenabled = false\n[commands.start]\nkey = "f9"\n'
        """run = 'sleep 600 & echo $! > "$MEMENTO_HOME/pid"; echo started'\n"""
    )
    async with opened(data) as driver:
        await driver.until(lambda: driver.memories.rows.total == 2, "the rows are read")
        await driver.press("f9")
        await driver.until(lambda: "start: done. started" in driver.told, "it has run")
    os.kill(int((data / "pid").read_text()), signal.SIGKILL)
