"""The worker that keeps a workspace and its hub together, where the workspace is encrypted and is locked."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.api.encryption import encrypt, lock
from memento_tui.errors import LockedWorkspace, MementoError
from memento_tui.hub import worker
from memento_tui.hub.sync import HubLink, keep_in_step
from memento_tui.paths import DataPaths
from tests.encrypted import PASSPHRASE, cheap_passphrases, use_own_memory
from tests.made import without_engine


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataPaths:
    cheap_passphrases(monkeypatch)
    use_own_memory(tmp_path, monkeypatch)
    paths = DataPaths(without_engine(tmp_path / "data"))
    with Workspace(paths.root) as workspace:
        workspace.remember("The perihelion is in January.")
    encrypt(paths, PASSPHRASE)
    return paths


class _Link(HubLink):
    """A link of a workspace that is in a hub, and is locked as the next round begins."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._locked = workspace

    @property
    def has_part(self) -> bool:
        return True

    def is_due(self, *, is_hinted: bool = True) -> bool:
        assert is_hinted
        lock(self._locked.paths)
        return super().is_due()


def test_the_rounds_end_when_the_workspace_is_locked(paths: DataPaths) -> None:
    told: list[MementoError] = []
    with Workspace(paths.root) as workspace, pytest.raises(LockedWorkspace):
        keep_in_step(_Link(workspace), threading.Event(), failed=told.append)
    assert told == []


def test_the_worker_of_a_locked_workspace_ends_with_one_line(
    paths: DataPaths, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lock(paths)
    monkeypatch.setattr(sys, "argv", ["worker", "--data-dir", str(paths.root)])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    worker.main()
    assert [record.getMessage() for record in caplog.records if record.name == "hub"] == [
        f"the worker ends: {LockedWorkspace(paths.database, paths.key_id)}"
    ]
