"""The extra `meaning`: whether its packages are here, how far their installation is, and what a person reads of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from memento_tui import meaning, package_installer, processes
from memento_tui.errors import EngineUnavailable
from memento_tui.meaning import (
    Installation,
    check_installed,
    describe_installation,
    install_meaning,
    installation,
    is_installed,
    start_installation,
)
from tests.unit.cli_program import Program

Tell = Callable[[str], None]


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment that lacks the packages, apart from the one that the tests run in."""
    monkeypatch.setattr(meaning, "_MODULES", ("a_package_of_meaning",))
    monkeypatch.setattr(meaning, "_found", False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(package_installer, "check_environment", lambda: tmp_path)
    monkeypatch.setattr(meaning, "_requirements", lambda: ["a-package-of-meaning"])
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path


def _place(environment: Path) -> None:
    (environment / "site").mkdir(exist_ok=True)
    (environment / "site" / "a_package_of_meaning.py").write_text("")


def _install_by(monkeypatch: pytest.MonkeyPatch, install: Callable[[Sequence[str], Tell, Path], None]) -> None:
    monkeypatch.setattr(package_installer, "install", install)


@contextmanager
def _installing(step: str) -> Iterator[None]:
    """Be in the middle of an installation."""
    with FileLock(meaning._lock_file()):
        meaning._write_state(os.getpid(), step)
        yield


def _ended_process() -> int:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def test_packages_are_found_as_soon_as_they_are_there(environment: Path) -> None:
    assert not is_installed()
    with pytest.raises(EngineUnavailable, match=r"not installed.*memento engine install"):
        check_installed()
    _place(environment)
    assert is_installed()
    check_installed()


def test_packages_that_are_just_being_put_there_do_not_count(environment: Path) -> None:
    _place(environment)
    with _installing("installing 20 of 33: torch"):
        assert not is_installed()
        with pytest.raises(EngineUnavailable, match=r"being installed.*20 of 33: torch"):
            check_installed()
    meaning._write_state(os.getpid(), "", "No space left on device.")
    assert is_installed()


def test_no_link_beside_the_state_of_an_installation_leads_it_to_another_file(environment: Path) -> None:
    kept = environment / "kept"
    kept.write_text("Mine.")
    Path(f"{meaning.state_file()}.{os.getpid()}").symlink_to(kept)
    with _installing("looking for torch"):
        assert installation() == Installation("looking for torch", "")
    assert kept.read_text() == "Mine."


def test_an_installation_that_died_is_no_longer_under_way() -> None:
    assert (installation(), describe_installation()) == (None, "")
    with _installing("looking for torch"):
        assert installation() == Installation("looking for torch", "")
        assert describe_installation() == "Searching by meaning is being installed: looking for torch."
    assert installation() == Installation("", "It ended before it was done."), "its number is another process's by now"
    assert "tries again" in describe_installation()
    meaning._write_state(_ended_process(), "starting")
    assert installation() == Installation("", "It ended before it was done.")


@pytest.mark.parametrize("text", ["", "[]", '{"process": "x"}', '{"process": 1, "step": ""}', "\0"])
def test_a_state_that_cannot_be_read_is_a_problem_and_no_crash(text: str) -> None:
    Path(meaning.state_file()).write_text(text)
    found = installation()
    assert found is not None
    assert "cannot be read" in found.problem


def test_an_installation_leaves_its_steps_for_others_and_then_nothing(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Installation | None] = []

    def install(requirements: Sequence[str], tell: Tell, _log: Path) -> None:
        assert requirements == ["a-package-of-meaning"]
        tell("fetching it")
        seen.append(installation())
        _place(environment)

    _install_by(monkeypatch, install)
    told: list[str] = []
    assert install_meaning(told.append)
    assert told == ["starting", "fetching it"]
    assert seen == [Installation("fetching it", "")]
    assert installation() is None
    assert is_installed()
    assert not install_meaning(told.append)


@pytest.mark.parametrize(
    ("error", "reason"),
    [(EngineUnavailable("No space left."), "No space left."), (KeyboardInterrupt(), "It was interrupted.")],
)
def test_a_failed_installation_leaves_its_reason(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, reason: str
) -> None:
    def fail(_requirements: Sequence[str], _tell: Tell, _log: Path) -> None:
        raise error

    _install_by(monkeypatch, fail)
    with pytest.raises(type(error)):
        install_meaning(lambda _step: None)
    assert installation() == Installation("", reason)


def test_two_installations_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "_LOCK_SECONDS", 0.0)
    with FileLock(meaning._lock_file()), pytest.raises(EngineUnavailable, match="already"):
        install_meaning(lambda _step: None)


def test_an_installation_in_the_background_is_begun_once(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []

    def start(command: list[str]) -> int:
        started.append(command)
        return os.getpid()

    monkeypatch.setattr(processes, "start_detached", start)
    assert start_installation()
    assert start_installation()
    assert [command[-1] for command in started] == ["memento_tui.meaning"]


def test_what_memento_says_of_itself_names_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    declared = [
        "click>=8",
        'torch==2.13.0; extra == "meaning"',
        "lancedb>=0.40 ; extra == 'meaning'",
        "x; extra == 'dev'",
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda _name: declared)
    assert meaning._requirements() == ["torch==2.13.0", "lancedb>=0.40"]
    monkeypatch.setattr("importlib.metadata.requires", lambda _name: None)
    with pytest.raises(EngineUnavailable, match=r"not installed in this environment"):
        meaning._requirements()


# What a person reads


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    made = Program(tmp_path / "data")
    made.json("add", "The login service listens on port 8443.")
    return made


def test_a_search_says_once_that_it_was_by_words(memento: Program) -> None:
    found = memento.run("search", "login")
    assert "8443" in found.out
    assert found.err.count("Searching by meaning is not installed. These are the results by words.") == 1


def test_the_status_of_the_engine_says_how_far_the_installation_is(memento: Program) -> None:
    assert memento.json("engine") == {"state": "stopped"}
    assert "memento engine install" in memento.run("engine").out
    with _installing("installing 20 of 33: torch"):
        assert memento.run("engine").out == (
            "No engine is running. Searching by meaning is being installed: installing 20 of 33: torch.\n"
        )
        findings = {one["name"]: one for one in memento.run("doctor", "--json").data["findings"]}
    assert findings["semantic index"]["detail"] == "being installed: installing 20 of 33: torch"


def test_the_command_installs_and_says_so(memento: Program, environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install_by(monkeypatch, lambda _requirements, _tell, _log: _place(environment))
    assert memento.json("engine", "install") == {"installed": True, "started": True}
    assert memento.json("engine", "install") == {"installed": True, "started": False}
    assert memento.run("engine", "install", "--background").out == "Searching by meaning is installed.\n"


def test_a_broken_installation_is_a_finding_that_is_not_in_order(memento: Program) -> None:
    Path(meaning.state_file()).write_text(json.dumps({"process": 1, "step": "", "problem": "No space left."}))
    findings = {one["name"]: one for one in memento.run("doctor", "--json").data["findings"]}
    assert (findings["semantic index"]["ok"], findings["semantic index"]["detail"]) == (
        False,
        "not installed. No space left.",
    )
