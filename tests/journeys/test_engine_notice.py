"""What a person is told while results by meaning are not whole."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.search import SearchAnswer
from tests.journeys.engine_house import HeldModel, until


@pytest.fixture
def model(tmp_path: Path) -> HeldModel:
    return HeldModel(tmp_path / "model")


@pytest.fixture
def workspace(model: HeldModel) -> Iterator[Workspace]:
    # Not pytest's folder: its path may be too long for a socket beside the database.
    with tempfile.TemporaryDirectory(prefix="memento-") as folder:
        (Path(folder) / "config.toml").write_text(model.config)
        with memento_tui.open(folder) as opened:
            yield opened
            opened.search_engine.semantic.stop()


def search(workspace: Workspace, *, wait: bool = False) -> SearchAnswer:
    return workspace.search("a cat on a stove", mode="semantic", wait=wait)


@pytest.mark.engine
@pytest.mark.usefixtures("light_model")
def test_a_deleted_semantic_index_is_rebuilt_with_a_notice_and_found_by_again(
    workspace: Workspace, model: HeldModel
) -> None:
    workspace.remember("The cat sleeps on the warm stove.", id="cat")
    for number in range(150):
        workspace.remember(f"Ledger line {number} was checked twice by the clerk.")
    until(lambda: search(workspace, wait=True).notice == "", "the index is whole")

    model.allow(160)  # the engine waits in the middle of what it embeds once more
    shutil.rmtree(Path(workspace.paths.semantic_index))
    until(
        lambda: "incomplete" in model.answer_between_batches(lambda: search(workspace)).notice,
        "the notice comes",
    )
    model.allow(None)
    until(lambda: search(workspace, wait=True).notice == "", "the index is whole again")
    assert search(workspace, wait=True).results[0].id == "cat"
