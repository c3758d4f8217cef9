"""Fixtures that several units stand on: a mirrored folder, which settles at once so that a step sees all of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.mirror.mirror import Mirror


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def mirror(workspace: Workspace, folder: Path) -> Iterator[Mirror]:
    with Mirror(workspace, folder, quiet_seconds=0) as made:
        yield made
