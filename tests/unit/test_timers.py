"""The nightly timer: its files for systemd and launchd, and what installs and removes them."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from memento_tui.cli import timers as timer_command
from memento_tui.cli.timers import nightly_timer, run_system_commands
from memento_tui.errors import InvalidInput
from tests.unit.cli_program import Program, without_engine

ODD = Path('/srv/100% mine/$HOME "quoted"')


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path / "home"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that the system was given."""
    lines: list[str] = []

    def run(commands: list[list[str]]) -> str:
        lines.extend(" ".join(words) for words in commands)
        return ""

    monkeypatch.setattr(timer_command, "run_system_commands", run)
    return lines


@pytest.mark.usefixtures("home")
def test_systemd_runs_maintenance_of_this_directory_every_night(home: Path) -> None:
    timer = nightly_timer("/opt/memento/bin/memento", Path("/home/me/memory"), platform="linux")
    service, clock = timer.files
    assert service.path.parent == clock.path.parent == home / ".config/systemd/user"
    assert service.path.stem == clock.path.stem
    program = '"/opt/memento/bin/memento" "--data-dir" "/home/me/memory" "maintain" "--by" "timer"'
    assert f"ExecStart={program}\n" in service.text
    assert "OnCalendar=*-*-* 03:30:00\n" in clock.text
    assert "Persistent=true\n" in clock.text
    assert timer.start[-1] == ["systemctl", "--user", "enable", "--now", clock.path.name]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("data_dir", [Path("/home/me/memory"), ODD])
def test_systemd_finds_no_fault_in_the_files(tmp_path: Path, data_dir: Path) -> None:
    timer = nightly_timer(shutil.which("true") or "", data_dir, platform="linux", home=tmp_path)
    timer.write()
    paths = [str(file.path) for file in timer.files]
    ended = subprocess.run(  # noqa: S603 - fixed
        [shutil.which("systemd-analyze") or "", "--user", "verify", *paths],
        capture_output=True,
        text=True,
        check=False,
        env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": os.defpath},
    )
    assert (ended.returncode, "memento" in ended.stderr) == (0, False), ended.stderr


def test_a_path_with_signs_that_systemd_reads_is_passed_as_it_is(tmp_path: Path) -> None:
    text = nightly_timer("/bin/memento", ODD, platform="linux", home=tmp_path).files[0].text
    assert r'"/srv/100%% mine/$$HOME \"quoted\""' in text
    with pytest.raises(InvalidInput, match="cannot stand in a timer's file"):
        nightly_timer("/bin/memento", Path("/srv/a\nb"), platform="linux", home=tmp_path)


def test_launchd_gets_an_agent_of_its_own_for_each_directory(tmp_path: Path) -> None:
    timer = nightly_timer("/opt/memento", ODD, platform="darwin", home=tmp_path)
    (file,) = timer.files
    assert file.path.parent == tmp_path / "Library/LaunchAgents"
    agent = plistlib.loads(file.text.encode())
    assert agent["Label"] == file.path.stem
    assert agent["ProgramArguments"] == ["/opt/memento", "--data-dir", str(ODD), "maintain", "--by", "timer"]
    assert agent["StartCalendarInterval"] == {"Hour": 3, "Minute": 30}
    other = nightly_timer("/opt/memento", Path("/srv/other"), platform="darwin", home=tmp_path)
    assert other.files[0].path != file.path


@pytest.mark.skipif(shutil.which("plutil") is None, reason="launchd's own check is of macOS")
@pytest.mark.parametrize("data_dir", [Path("/Users/me/memory"), ODD])
def test_launchd_finds_no_fault_in_the_file(tmp_path: Path, data_dir: Path) -> None:
    timer = nightly_timer("/usr/bin/true", data_dir, platform="darwin", home=tmp_path)
    timer.write()
    plutil = shutil.which("plutil") or ""
    ended = subprocess.run([plutil, "-lint", str(timer.files[0].path)], capture_output=True, text=True, check=False)  # noqa: S603 - fixed
    assert ended.returncode == 0, ended.stdout


def test_installing_shows_the_files_asks_and_can_be_taken_back(tmp_path: Path, home: Path, asked: list[str]) -> None:
    program = Program(without_engine(tmp_path / "data"))
    program.add("The staging database is called heron.")
    shown = program.run("maintain", "--install", "--dry-run")
    assert "+OnCalendar=*-*-* 03:30:00" in shown.out
    assert "systemctl --user enable --now memento-maintain-" in shown.out
    assert not home.exists()
    refused = program.run("maintain", "--install")
    assert (refused.code != 0, "asks first" in refused.err, home.exists()) == (True, True, False)

    made = program.json("maintain", "--install", "--yes")
    paths = [Path(file["path"]) for file in made["files"]]
    assert (made["written"], made["problem"]) == (True, "")
    assert [path.read_text() for path in paths] == [file["text"] for file in made["files"]]
    assert str(tmp_path / "data") in paths[0].read_text()
    assert asked == made["commands"]
    assert program.run("maintain", "--install", "--yes").out == "The timer is installed already.\n"
    status = program.json("status")["memory"]["maintenance"]
    assert status["timer"] == [str(path) for path in paths]
    assert status["summary"] == "has not run yet, next at 03:30"

    gone = program.json("maintain", "--uninstall", "--yes")
    assert gone["written"]
    assert not any(path.exists() for path in paths)
    assert asked[-2].startswith("systemctl --user disable --now memento-maintain-")
    assert program.run("maintain", "--uninstall").out == "There is no timer.\n"


def test_a_system_that_does_not_answer_is_told_with_what_to_run(tmp_path: Path) -> None:
    assert run_system_commands([[str(tmp_path / "systemctl"), "--user"]]).startswith(
        f"`{tmp_path}/systemctl --user` could"
    )
    assert run_system_commands([["false"]]) == "`false` failed: exit code 1"
    assert run_system_commands([["true"]]) == ""


def test_an_agent_installs_no_timer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    program = Program(without_engine(tmp_path / "data"))
    program.add("The staging database is called heron.")
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setattr("tests.unit.cli_program.token_environment", lambda _: {})
    ended = program.run("maintain", "--install", "--yes")
    assert (ended.code != 0, "is for a person to decide" in ended.err, home.exists()) == (True, True, False)
