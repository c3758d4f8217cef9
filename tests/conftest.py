"""What every test stands on: one time zone, and nothing of the shell that it is started from."""

from __future__ import annotations

import os
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import memento_tui
from memento_tui.workspace import Workspace
from tests.made import without_engine

ARCHIVE = Path(__file__).parents[2] / "shared" / "data" / "agent_memory.tar.gz"

os.environ["TZ"] = "UTC"
time.tzset()
for name in ("NO_COLOR", "FORCE_COLOR", "MEMENTO_HOME"):
    os.environ.pop(name, None)

# A shared machine may stall at any moment, which is no fault of what is tested.
settings.register_profile("memento", deadline=None, print_blob=True)
settings.load_profile("memento")


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data directory whose engine is switched off, so that a search starts nothing."""
    return without_engine(tmp_path / "data")


@pytest.fixture
def workspace(data_dir: Path) -> Iterator[Workspace]:
    """A person's workspace."""
    with memento_tui.open(data_dir) as opened:
        yield opened


@pytest.fixture
def agent(data_dir: Path) -> Iterator[Workspace]:
    """An agent's workspace on the same directory as the person's."""
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as opened:
        yield opened


@pytest.fixture(scope="session")
def real_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of memories that real agents and people wrote, one for each repository."""
    if not ARCHIVE.is_file():
        pytest.skip("../shared/data/agent_memory.tar.gz is absent")
    folder = tmp_path_factory.mktemp("real")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    (root,) = {path.parent.parent for path in folder.rglob("COMMIT")}
    return root
