"""A pipe in the place of a file of the data directory is answered at once, and waits for no writer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.config import load_config
from memento_tui.encryption import noted_key
from memento_tui.errors import DataDirectoryError
from memento_tui.hooks.settings import HookSettings, read_settings
from memento_tui.status_line import waiting
from memento_tui.storage.last_known import read_last_known


def test_a_pipe_in_the_place_of_the_configuration_is_said_to_be_none(tmp_path: Path) -> None:
    pipe = tmp_path / "config.toml"
    os.mkfifo(pipe)
    with pytest.raises(DataDirectoryError, match="it is no regular file"):
        load_config(pipe)
    assert read_settings(pipe) == HookSettings()


def test_pipes_in_the_place_of_what_memento_notes_are_passed_over(data_dir: Path) -> None:
    with Workspace(data_dir) as workspace:
        kept = workspace.remember("The port is 8080.")
    for name in ("workspace.json", "waiting.txt"):
        (data_dir / name).unlink()
        os.mkfifo(data_dir / name)
    with Workspace(data_dir) as workspace:
        workspace.remember("The host is stage2.")
        assert workspace.get(kept.id).content == "The port is 8080."
    assert waiting(str(data_dir)) == (0, 0)
    assert read_last_known(data_dir / "memento.db") is None
    assert noted_key(data_dir / "memento.db") == ""
