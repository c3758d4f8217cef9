"""Maintenance runs by itself: when it is due, who starts it, and what is said of the last run and the next."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from filelock import FileLock

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace, maintenance_schedule
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.api.maintenance_schedule import (
    describe_maintenance,
    is_maintenance_due,
    maintenance_state,
    start_maintenance_if_due,
)
from memento_tui.api.overview import health_signs
from memento_tui.hooks.transcript_worker import learn_from_transcript
from memento_tui.maintenance.schedule import LAST_RUN_SETTING, RUNNERS, LastRun, Runner, last_run
from memento_tui.moments import format_moment
from tests.made import WITHOUT_PACKED_IMAGES
from tests.unit.cli_program import Program

Later = Callable[[float], datetime]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were started in a process of their own."""
    commands: list[list[str]] = []
    monkeypatch.setattr(maintenance_schedule, "start_detached", lambda command, **_: commands.append(command))
    return commands


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """Sets the clock so many hours on from the beginning of the test."""
    began = clock.now()

    def move(hours: float) -> datetime:
        moment = began + timedelta(hours=hours)
        monkeypatch.setattr(clock, "now", lambda: moment)
        return moment

    return move


def test_a_run_records_when_it_was_by_whom_and_what_it_did(workspace: Workspace, later: Later) -> None:
    workspace.remember("The staging database is called heron.", expires_at="1d")
    now = later(25)
    report = maintain_workspace(workspace, by="timer")
    assert [action.action for action in report.actions] == ["expire"]
    assert last_run(workspace._store) == LastRun(now, "timer", {"expire": 1}, 0, len(report.problems))
    later(28)
    state = maintenance_state(workspace)
    assert describe_maintenance(state, clock.now()) == "3 h ago, next in 17 h; by the timer: 1 expire"
    assert describe_maintenance(state, clock.now(), timer=True).startswith("3 h ago, next at 03:30;")


def test_a_dry_run_is_no_run(workspace: Workspace) -> None:
    workspace.remember("The staging database is called heron.")
    maintain_workspace(workspace, dry_run=True)
    assert last_run(workspace._store) is None
    assert describe_maintenance(maintenance_state(workspace), clock.now()) == "has not run yet, next in 20 h"


def test_the_last_run_of_a_database_of_an_older_format_is_known_under_its_new_name(
    workspace: Workspace, data_dir: Path
) -> None:
    workspace.settings.set("last sleep", format_moment(clock.now()))
    with workspace._store.database.writing() as connection:
        for statement in (*WITHOUT_PACKED_IMAGES, "PRAGMA user_version = 10"):
            connection.execute(statement)
    workspace.close()
    with memento_tui.open(data_dir) as present:
        assert last_run(present._store) is not None
        assert present.settings.get("last sleep") is None


def test_the_moment_that_an_earlier_version_kept_is_read(workspace: Workspace) -> None:
    workspace.settings.set(LAST_RUN_SETTING, format_moment(clock.now()))
    found = last_run(workspace._store)
    assert found is not None
    assert (found.by, found.did) == ("", {})
    assert describe_maintenance(maintenance_state(workspace), clock.now()) == "just now, next in 20 h; nothing was due"


def test_it_is_due_by_who_asks_and_how_long_ago_the_last_run_was(workspace: Workspace, later: Later) -> None:
    assert not is_maintenance_due(workspace, "command")
    workspace.remember("The staging database is called heron.")
    assert is_maintenance_due(workspace, "engine")
    due: dict[Runner, list[bool]] = {by: [] for by in RUNNERS if by not in ("person", "engine")}
    for hours in (0, 5, 21):
        later(hours)
        for by, found in due.items():
            found.append(is_maintenance_due(workspace, by))
    assert due["command"] == due["app"] == [False, False, True]
    assert due["session"] == due["timer"] == [False, True, True]
    maintain_workspace(workspace, by="session")
    assert not any(is_maintenance_due(workspace, by) for by in RUNNERS)


def test_a_clock_that_was_set_back_does_not_put_it_off(workspace: Workspace, later: Later) -> None:
    workspace.remember("The staging database is called heron.")
    later(30)
    maintain_workspace(workspace)
    later(1)
    assert is_maintenance_due(workspace, "command")


def test_a_command_starts_a_run_that_is_due_once_an_hour_at_most(
    workspace: Workspace, data_dir: Path, later: Later, started: list[list[str]]
) -> None:
    workspace.remember("The staging database is called heron.")
    program = Program(data_dir)
    assert program.run("list").code == 0
    assert started == []
    later(21)
    assert program.run("list").code == 0
    assert program.run("skip").code == 0
    (command,) = started
    assert command[-5:] == ["maintain", "--by", "command", "--data-dir", str(data_dir)]
    later(22.5)
    assert program.run("list").code == 0
    assert len(started) == 2


def test_a_command_does_what_it_was_asked_for_where_no_process_can_be_started(
    workspace: Workspace, data_dir: Path, later: Later, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(maintenance_schedule, "start_detached", refuse)
    workspace.remember("The staging database is called heron.")
    later(21)
    ended = Program(data_dir).run("list")
    assert (ended.code, "heron" in ended.out) == (0, True)


def test_nothing_starts_where_it_is_switched_off(data_dir: Path, later: Later, started: list[list[str]]) -> None:
    with (data_dir / "config.toml").open("a") as config:
        config.write("[maintenance]\nrun_when_idle = false\n")
    with Workspace(data_dir) as workspace:
        workspace.remember("The staging database is called heron.")
        later(100)
        assert not start_maintenance_if_due(workspace, "app")
        state = maintenance_state(workspace)
    assert started == []
    assert describe_maintenance(state, clock.now()) == "has not run yet, switched off in config.toml"


@pytest.mark.parametrize(("event", "starts"), [("SessionEnd", 1), ("Stop", 0), ("PreCompact", 0)])
def test_the_end_of_a_session_starts_a_run_and_a_part_of_it_does_not(
    event: str,
    starts: int,
    workspace: Workspace,
    data_dir: Path,
    later: Later,
    started: list[list[str]],
    tmp_path: Path,
) -> None:
    workspace.remember("The staging database is called heron.")
    later(5)
    transcript = tmp_path / "session.jsonl"
    transcript.write_text('{"role": "user", "content": "hello there"}\n' * 500)
    learn_from_transcript(workspace.paths, transcript, "s1", event=event)
    assert [command[-4:-2] for command in started] == [["--by", "session"]] * starts
    assert data_dir == workspace.paths.root


def test_a_run_by_itself_does_what_is_due_and_says_nothing(workspace: Workspace, data_dir: Path, later: Later) -> None:
    workspace.remember("The staging database is called heron.", expires_at="1d")
    program = Program(data_dir)
    assert program.run("maintain", "--by", "command") == program.run("maintain", "--by", "timer")
    assert last_run(workspace._store) is None
    later(30)
    with FileLock(workspace.paths.sleep_lock):
        ended = program.run("maintain", "--by", "command")
    assert (ended.code, ended.out, ended.err, last_run(workspace._store)) == (0, "", "", None)
    ended = program.run("maintain", "--by", "command")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    found = last_run(workspace._store)
    assert found is not None
    assert (found.by, found.did) == ("command", {"expire": 1})


def test_status_and_home_say_when_it_ran_and_runs_next(workspace: Workspace, data_dir: Path, later: Later) -> None:
    workspace.remember("The staging database is called heron.")
    maintain_workspace(workspace, by="engine")
    later(2)
    found = Program(data_dir).json("status")["memory"]["maintenance"]
    assert (found["last"]["by"], found["timer"]) == ("engine", [])
    assert found["summary"] == "2 h ago, next in 18 h; by the engine: nothing was due"
    assert found["summary"] in Program(data_dir).run("status").out
    (sign,) = [sign for sign in health_signs(workspace, clock.now()) if sign.name == "maintenance"]
    assert (sign.ok, sign.detail) == (True, found["summary"])
    (late,) = [sign for sign in health_signs(workspace, later(24 * 30)) if sign.name == "maintenance"]
    assert (late.ok, late.hint) == (False, "`memento maintain` runs it now; --install lets a timer do it.")
