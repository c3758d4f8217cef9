"""A backup or a restore that is killed in the middle: whole programs, killed at a point that they tell."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from tests.made import note, put, without_engine

_HOLDING = """
import sys, time
import memento_tui

data_dir, action, stage = sys.argv[1:]

def hold(what, done, total):
    if what == stage and done:
        print("holding", flush=True)
        time.sleep(600)

with memento_tui.open(data_dir) as workspace:
    if action == "make":
        workspace.backups.make(progress=hold)
    else:
        workspace.backups.restore("latest", progress=hold)
"""


def _kill_while(data_dir: Path, action: str, stage: str) -> None:
    program = subprocess.Popen(  # noqa: S603 - this test's own program
        [sys.executable, "-c", _HOLDING, data_dir, action, stage], stdout=subprocess.PIPE
    )
    assert program.stdout is not None
    assert program.stdout.readline() == b"holding\n"
    program.send_signal(signal.SIGKILL)
    assert program.wait() == -signal.SIGKILL
    program.stdout.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of more pages than are copied at once; tests take copies."""
    data_dir = without_engine(tmp_path_factory.mktemp("large") / "data")
    with memento_tui.open(data_dir) as workspace:
        put(workspace._store, *(note(f"Note {number}. " + f"filler{number} " * 12_000) for number in range(100)))
    return data_dir


@pytest.fixture
def large(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(filled, tmp_path / "data"))


def _found(workspace: Workspace, query: str) -> list[str]:
    return [hit.memory.content for hit in workspace.search(query, mode="keyword").results]


@pytest.mark.parametrize("stage", ["Copying", "Checking the journal"])
def test_a_backup_that_is_killed_leaves_no_half_file_as_a_backup(large: Path, stage: str) -> None:
    _kill_while(large, "make", stage)
    with memento_tui.open(large) as workspace:
        assert [path.suffix for path in workspace.paths.backups.iterdir()].count(".part") == 1
        assert workspace.backups.list() == []
        made = workspace.backups.make()
        assert [path.name for path in workspace.paths.backups.iterdir()] == [made.name]
        assert workspace.backups.verify(made.name) is None
        assert workspace._store.journal.verify() is None


def test_a_restore_that_is_killed_leaves_the_state_before_it(large: Path) -> None:
    with memento_tui.open(large) as workspace:
        workspace.backups.make()
        workspace.remember("The port is 9090.")
        assert len(_found(workspace, "port")) == 1
        head = workspace._store.journal.head()
    _kill_while(large, "restore", "Restoring")
    with memento_tui.open(large) as workspace:
        assert workspace._store.journal.head() == head
        assert workspace._store.journal.verify() is None
        assert len(_found(workspace, "port")) == 1
        restored = workspace.backups.restore("latest")
        assert _found(workspace, "port") == []
        assert len(_found(workspace, "filler7")) == 1
        assert workspace.backups.verify(restored.before) is None
        assert not [path for path in workspace.paths.backups.iterdir() if path.suffix != ".db"]
