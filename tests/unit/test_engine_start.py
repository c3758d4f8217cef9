"""An engine's process that finds another one: it leaves, waits, or tells the other to leave."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from filelock import Timeout

import memento_tui
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
    data_dir: Path, status: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], list[float]]:
    """Start an engine beside one that gives a status; return what it sent, and how long it waited for the lock."""
    with memento_tui.open(data_dir):
        pass
    sent: list[str] = []

    def send(_: DataPaths, request: Mapping[str, Any], *, seconds: float) -> dict[str, Any]:
        assert seconds > 0
        sent.append(request["op"])
        return dict(status)

    monkeypatch.setattr(HeldLock, "waits", [], raising=False)
    monkeypatch.setattr(server, "FileLock", HeldLock)
    monkeypatch.setattr(server, "send_request", send)
    assert server.run_engine(DataPaths(data_dir), lambda *_: pytest.fail("it served")) == 0
    return sent, HeldLock.waits


def test_an_engine_that_stays_is_not_waited_for(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert start_beside(data_dir, {"version": __version__}, monkeypatch) == (["status"], [])


def test_an_engine_that_leaves_is_waited_for(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, waits = start_beside(data_dir, {"version": __version__, "leaving": True}, monkeypatch)
    assert sent == ["status"]
    assert len(waits) == 1


def test_an_engine_of_another_version_is_told_to_leave_and_waited_for(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, waits = start_beside(data_dir, {"version": "0.0.1"}, monkeypatch)
    assert sent == ["status", "stop"]
    assert len(waits) == 1
