"""What a person is told while results by meaning are not whole."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from time import monotonic

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.search import SearchAnswer


def search(workspace: Workspace, *, wait: bool = False) -> SearchAnswer:
    return workspace.search("a cat on a stove", mode="semantic", wait=wait)


@pytest.mark.engine
@pytest.mark.usefixtures("light_model")
def test_a_deleted_semantic_index_is_rebuilt_with_a_notice_and_found_by_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIGHT_MODEL_PAUSE_SECONDS", "0.1")  # so that it is incomplete for a second
    # Not pytest's folder: its path may be too long for a socket beside the database.
    with tempfile.TemporaryDirectory(prefix="memento-") as folder, memento_tui.open(folder) as workspace:
        try:
            workspace.remember("The cat sleeps on the warm stove.", id="cat")
            for number in range(150):
                workspace.remember(f"Ledger line {number} was checked twice by the clerk.")
            search(workspace, wait=True)
            assert search(workspace).notice == ""

            shutil.rmtree(Path(workspace.paths.semantic_index))
            ends = monotonic() + 30
            while "incomplete" not in search(workspace).notice:
                assert monotonic() < ends, "the notice never came"
            while (answer := search(workspace, wait=True)).notice:
                assert monotonic() < ends + 30, "the index is never whole again"
            assert answer.results[0].id == "cat"
        finally:
            workspace.search_engine.semantic.stop()
