"""An engine's process that finds another one: it leaves, waits, tells the other to leave, or is ended as needless."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from filelock import Timeout

import memento_tui
from memento_tui.embedding import server
from memento_tui.paths import DataPaths
from memento_tui.search import engine_client
from memento_tui.search.engine_client import EngineLauncher
from memento_tui.version import __version__


class HeldLock:
    """The lock of an engine that is there; it keeps how long it was waited for."""

    waits: list[float]

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def acquire(self, timeout: float) -> None:
        self.waits.append(timeout)
        raise Timeout("engine.lock")


def start_beside(
    data_dir: Path, statuses: Sequence[Mapping[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], list[float]]:
    """Start an engine beside one that gives these statuses, the last again and again.

    Return what it sent, and how long it waited for the lock.
    """
    with memento_tui.open(data_dir):
        pass
    sent: list[str] = []

    def send(_: DataPaths, request: Mapping[str, Any], *, seconds: float) -> dict[str, Any]:
        assert seconds > 0
        sent.append(request["op"])
        return dict(statuses[min(sent.count("status"), len(statuses)) - 1])

    monkeypatch.setattr(HeldLock, "waits", [], raising=False)
    monkeypatch.setattr(server, "FileLock", HeldLock)
    monkeypatch.setattr(server, "send_request", send)
    assert server.run_engine(DataPaths(data_dir), lambda *_: pytest.fail("it served")) == 0
    return sent, HeldLock.waits


def test_an_engine_that_stays_is_not_waited_for(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert start_beside(data_dir, [{"version": __version__}], monkeypatch) == (["status"], [])


def test_an_engine_that_leaves_is_waited_for(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, waits = start_beside(data_dir, [{"version": __version__, "leaving": True}], monkeypatch)
    assert set(sent) == {"status"}
    assert sum(waits) == pytest.approx(5)


def test_an_engine_that_is_there_to_stay_while_it_is_waited_for_is_waited_for_no_longer(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaving = {"version": __version__, "leaving": True}
    sent, waits = start_beside(data_dir, [leaving, leaving, {"version": __version__}], monkeypatch)
    assert len(sent) == 3
    assert len(waits) == 2


def test_an_engine_of_another_version_is_told_to_leave_and_waited_for(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, waits = start_beside(data_dir, [{"version": "0.0.1"}], monkeypatch)
    assert sent[:2] == ["status", "stop"]
    assert sum(waits) == pytest.approx(5)


Started = tuple[EngineLauncher, subprocess.Popen[bytes]]


@pytest.fixture
def started(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    """An engine that was started and takes for ever to find out that another one is at work, and who started it."""
    with memento_tui.open(data_dir):
        pass
    monkeypatch.setattr(
        engine_client, "engine_command", lambda _: [sys.executable, "-c", "import signal; signal.pause()"]
    )
    launcher = EngineLauncher(DataPaths(data_dir))
    assert launcher.start()
    process = launcher._process
    assert process is not None
    yield launcher, process
    process.kill()
    process.wait()


def test_an_engine_that_was_started_beside_the_one_at_work_is_ended_so_that_it_never_takes_its_place(
    started: Started,
) -> None:
    launcher, process = started
    launcher.end_needless(process.pid + 1)
    assert process.wait(60) == -signal.SIGTERM


def test_the_engine_that_is_at_work_is_not_ended_by_whoever_started_it(started: Started) -> None:
    launcher, process = started
    launcher.end_needless(process.pid)
    assert launcher.is_starting
    assert process.poll() is None
