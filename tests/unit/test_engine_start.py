"""An engine's process that finds another one: it leaves, waits, tells the other to leave, or comes too late."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from filelock import Timeout

import memento_tui
from memento_tui import clock
from memento_tui.embedding import server
from memento_tui.paths import DataPaths
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


@pytest.mark.parametrize(("seconds", "comes"), [(10, False), (-10, True)])
def test_an_engine_that_comes_after_another_has_come_or_left_since_it_was_asked_for_leaves(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, seconds: int, *, comes: bool
) -> None:
    with memento_tui.open(data_dir):
        pass
    paths = DataPaths(data_dir)
    paths.engine_lock.touch()
    left = clock.now().timestamp() - 60
    os.utime(paths.engine_lock, (left, left))
    asked_at = time.monotonic() - 60 - seconds
    served: list[DataPaths] = []
    monkeypatch.setattr(server, "_open_log", lambda _: None)
    monkeypatch.setattr(server, "_serve_until_stopped", lambda paths, _: served.append(paths))

    assert server.run_engine(paths, lambda *_: pytest.fail("it served"), asked_at=asked_at) == 0
    assert bool(served) is comes


def test_an_engine_that_leaves_notes_when(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with memento_tui.open(data_dir):
        pass
    paths = DataPaths(data_dir)

    def serve(paths: DataPaths, _: object) -> None:
        os.utime(paths.engine_lock, (0, 0))

    monkeypatch.setattr(server, "_open_log", lambda _: None)
    monkeypatch.setattr(server, "_serve_until_stopped", serve)
    assert server.run_engine(paths, lambda *_: pytest.fail("it served")) == 0
    assert paths.engine_lock.stat().st_mtime > 0
