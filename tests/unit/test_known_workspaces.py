"""The list of workspaces: what the app opened, what a person adds, and which one opens where none is named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from filelock import FileLock

import memento_tui
from memento_tui import machine_lists
from memento_tui.cli import command
from memento_tui.cli.command import CliSession
from memento_tui.errors import AmbiguousId, DataDirectoryError, InvalidInput, NotFound, ReadOnlyMode
from memento_tui.known_workspaces import KnownWorkspaces, chosen_directory, note_opened
from memento_tui.locations import data_location
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


def test_no_link_beside_the_list_leads_a_change_to_another_file(tmp_path: Path, state: Path) -> None:
    note_opened(made(tmp_path / "one"))
    kept = tmp_path / "kept"
    kept.write_text("Mine.")
    for name in (f"workspaces.{os.getpid()}", "workspaces.tmp", f"workspaces.json.{os.getpid()}"):
        (state.parent / name).symlink_to(kept)
    note_opened(made(tmp_path / "two"))
    assert kept.read_text() == "Mine."
    assert not state.is_symlink()
    assert [one.name for one in KnownWorkspaces().list()] == ["two", "one", "default"]


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


@pytest.mark.parametrize("name", ["日本\u3000語", "nb\u00a0sp", "a\u200db", "bad\udcff", "\x1b[2J", "\u3000", "x" * 90])
def test_a_directory_of_any_name_is_noted_under_one_that_can_be_printed(tmp_path: Path, name: str) -> None:
    for place in ("one", "two", "three/three"):
        note_opened(tmp_path / place / name)
    note_opened(tmp_path / "three" / name)
    names = [one.name for one in KnownWorkspaces().list()]
    assert len(set(names)) == 5
    assert all(found and found.isprintable() and len(found) <= 40 for found in names)
    assert all(KnownWorkspaces().find(found).name == found for found in names)


@pytest.mark.parametrize("text", ["{ no list", "[]", '{"chosen": ""}', '{"workspaces": 7, "chosen": ""}', "\0"])
def test_a_file_that_is_no_list_is_said_and_never_overwritten(tmp_path: Path, state: Path, text: str) -> None:
    state.parent.mkdir(parents=True)
    state.write_text(text)
    known = KnownWorkspaces()
    asks: list[Callable[[], object]] = [known.list, chosen_directory]
    asks += [lambda: known.add(tmp_path / "one"), lambda: known.use("default")]
    for ask in asks:
        with pytest.raises(DataDirectoryError, match=r"cannot be read: it is no such list\. Mend it"):
            ask()
    note_opened(tmp_path / "one")
    assert state.read_text() == text


def test_what_is_no_entry_in_the_list_is_left_out_and_the_others_stay(tmp_path: Path, state: Path) -> None:
    KnownWorkspaces().add(tmp_path / "one")
    KnownWorkspaces().use("one")
    held = json.loads(state.read_text())
    held["workspaces"] += [7, {"name": "half"}, {"name": "x", "path": "/x", "opened_at": "yesterday"}]
    state.write_text(json.dumps(held))
    assert [one.name for one in KnownWorkspaces().list()] == ["one", "default"]
    assert chosen_directory() == tmp_path / "one"


def test_a_list_that_cannot_be_reached_does_not_keep_the_app_from_opening(tmp_path: Path, state: Path) -> None:
    state.parent.parent.mkdir()
    state.parent.write_text("a file in its place")
    note_opened(made(tmp_path / "one"))
    with pytest.raises(DataDirectoryError, match="cannot be read: Not a directory"):
        KnownWorkspaces().list()
    with pytest.raises(DataDirectoryError, match="cannot be written"):
        KnownWorkspaces().add(tmp_path / "one")


def test_a_change_waits_for_that_of_another_program(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_lists, "_LOCK_SECONDS", 0.0)
    state.parent.mkdir(parents=True)
    with FileLock(state.with_suffix(".lock")):
        note_opened(tmp_path / "one")
        with pytest.raises(DataDirectoryError, match="Another program has been changing the list"):
            KnownWorkspaces().add(tmp_path / "one")
    assert not state.exists()
    KnownWorkspaces().add(tmp_path / "one")
    assert KnownWorkspaces().find("one").path == str(tmp_path / "one")


def test_a_beginning_that_two_names_share_is_answered_with_both(tmp_path: Path) -> None:
    known = KnownWorkspaces()
    for name in ("work", "world"):
        known.add(tmp_path / name)
    with pytest.raises(AmbiguousId, match=r"Several workspaces begin with 'wor': world, work|work, world"):
        known.find("wor")
    assert known.find("work").name == "work"


def test_default_is_always_the_platforms_place(tmp_path: Path) -> None:
    known, place = KnownWorkspaces(), tmp_path / "share" / "memento"
    known.add(place, "home")
    with pytest.raises(InvalidInput, match="default is the workspace in"):
        known.add(tmp_path / "one", "default")
    known.add(tmp_path / "one")
    known.use("one")
    assert chosen_directory() == tmp_path / "one"
    assert known.use("default").path == data_location(ignore_environment=True) == str(place)
    assert chosen_directory() is None


def test_read_only_leaves_the_list_as_it_is(tmp_path: Path, state: Path) -> None:
    known = KnownWorkspaces(read_only=True)
    changes: list[Callable[[], object]] = [lambda: known.add(tmp_path), lambda: known.use("default")]
    changes.append(lambda: known.remove("default"))
    for change in changes:
        with pytest.raises(ReadOnlyMode):
            change()
    program = Program(made(tmp_path / "one"))
    for words in (("add", str(tmp_path)), ("remove", "one"), ("use", "default")):
        assert program.run("workspace", *words, "--read-only").code == ReadOnlyMode.exit_code
    assert not state.parent.exists()


def test_commands_open_the_one_that_is_used_unless_another_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = made(tmp_path / "one"), made(tmp_path / "two")
    known = KnownWorkspaces()
    known.add(one)
    monkeypatch.setattr(command, "has_terminal", lambda: True)
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


def test_an_agents_shell_and_a_script_keep_the_default_whatever_the_person_chose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    KnownWorkspaces().add(made(tmp_path / "one"))
    KnownWorkspaces().use("one")
    default = tmp_path / "share" / "memento"
    monkeypatch.setattr(command, "has_terminal", lambda: False)
    assert CliSession().directory == default
    monkeypatch.setattr(command, "has_terminal", lambda: True)
    assert CliSession().directory == tmp_path / "one"
    monkeypatch.setenv("CLAUDECODE", "1")
    assert CliSession().directory == default


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


def test_the_command_lists_an_opened_workspace_as_json_with_the_moment_of_its_opening(tmp_path: Path) -> None:
    program = Program(made(tmp_path / "one"))
    note_opened(tmp_path / "one")
    (opened,) = [one for one in program.json("workspace", "list")["items"] if one["name"] == "one"]
    assert datetime.fromisoformat(opened["opened_at"]) == KnownWorkspaces().find("one").opened_at
