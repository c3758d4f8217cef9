"""The list of workspaces: what the app opened, what a person adds, and which one opens where none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import memento_tui
from memento_tui.cli.command import CliSession
from memento_tui.errors import InvalidInput, NotFound
from memento_tui.known_workspaces import KnownWorkspaces, chosen_directory, note_opened
from tests.made import without_engine
from tests.unit.cli_program import Program


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return tmp_path / "state" / "memento" / "workspaces.json"


def made(path: Path) -> Path:
    without_engine(path)
    with memento_tui.open(path) as workspace:
        workspace.remember(f"This is {path.name}.")
    return path


def test_what_was_opened_last_stands_first_and_the_default_is_always_there(tmp_path: Path, state: Path) -> None:
    known = KnownWorkspaces()
    assert [(one.name, one.is_missing) for one in known.list()] == [("default", True)]
    note_opened(made(tmp_path / "one"))
    note_opened(made(tmp_path / "two"))
    note_opened(tmp_path / "one")
    assert [one.name for one in known.list()] == ["one", "two", "default"]
    assert state.stat().st_mode & 0o777 == 0o600


def test_two_directories_of_one_name_get_two_names(tmp_path: Path) -> None:
    for place in ("site", "shop"):
        note_opened(made(tmp_path / place / "memory"))
    assert {one.name for one in KnownWorkspaces().list()} == {"memory", "shop-memory", "default"}


def test_a_name_that_is_taken_or_none_is_refused(tmp_path: Path) -> None:
    known = KnownWorkspaces()
    known.add(tmp_path / "one", "work")
    with pytest.raises(InvalidInput, match="work is the workspace in"):
        known.add(tmp_path / "two", "work")
    with pytest.raises(InvalidInput, match="cannot be a workspace's name"):
        known.add(tmp_path / "two", "a\x1b[2Jb")
    assert known.add(tmp_path / "one", "home").name == "home"
    assert known.find("ho").path == str(tmp_path / "one")
    with pytest.raises(NotFound, match="There is no workspace 'work'"):
        known.find("work")


def test_a_file_that_is_no_list_is_as_none(state: Path) -> None:
    state.parent.mkdir(parents=True)
    state.write_text("{ no list")
    assert [one.name for one in KnownWorkspaces().list()] == ["default"]


def test_a_list_that_cannot_be_written_does_not_keep_the_app_from_opening(tmp_path: Path, state: Path) -> None:
    state.parent.parent.mkdir()
    state.parent.write_text("a file in its place")
    note_opened(made(tmp_path / "one"))
    assert [one.name for one in KnownWorkspaces().list()] == ["default"]


def test_commands_open_the_one_that_is_used_unless_another_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = made(tmp_path / "one"), made(tmp_path / "two")
    known = KnownWorkspaces()
    known.add(one)
    assert "one opens from now on" in Program(two).run("workspace", "use", "one").out
    assert CliSession().directory == one
    monkeypatch.setenv("MEMENTO_HOME", str(two))
    assert CliSession().directory == two
    monkeypatch.delenv("MEMENTO_HOME")
    known.use("default")
    assert CliSession().directory == tmp_path / "share" / "memento"
    known.use("one")
    known.remove("one")
    assert chosen_directory() is None


def test_the_command_lists_adds_removes_and_says_what_is_missing(tmp_path: Path) -> None:
    program = Program(made(tmp_path / "one"))
    added = program.run("workspace", "add", str(tmp_path / "gone"), "--name", "gone")
    assert (added.code, "There is no memento data in it yet" in added.out) == (0, True)
    program.run("workspace", "add", str(tmp_path / "one"))
    listed = {one["name"]: one for one in program.json("workspace")["items"]}
    assert (listed["gone"]["missing"], listed["one"]["missing"], listed["one"]["used"]) == (True, False, True)
    assert "missing" in program.run("workspace", "list").out
    assert program.run("workspace", "remove", "gone").code == 0
    assert program.run("workspace", "remove", "gone").code == 3
    assert "stays on the list" in program.run("workspace", "remove", "default").err
    assert (tmp_path / "one" / "memento.db").is_file()
