"""What files take while other processes remove them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.api.health import examine_directory
from memento_tui.regular_files import bytes_of, status_of


def test_what_a_folder_holds_is_counted_at_any_depth_and_what_is_not_there_takes_nothing(tmp_path: Path) -> None:
    (tmp_path / "one" / "two").mkdir(parents=True)
    (tmp_path / "one" / "a").write_bytes(b"abc")
    (tmp_path / "one" / "two" / "b").write_bytes(b"de")
    assert bytes_of(tmp_path / "one") == 5
    assert bytes_of(tmp_path / "one" / "a", tmp_path / "gone") == 3
    assert status_of(tmp_path / "gone") is None
    assert status_of(tmp_path / "one" / "a" / "below a file") is None


def test_an_index_that_loses_files_while_its_size_is_counted_is_no_fault(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.remember("The port is 8080.")
    workspace.search("port")
    index = workspace.paths.keyword_index
    (index / "merged.store").write_bytes(b"x" * 9)
    walk = os.walk

    def then_merge(path: str) -> Iterator[tuple[str, list[str], list[str]]]:
        for folder, folders, names in walk(path):
            if "merged.store" in names:
                (index / "merged.store").unlink()
            yield folder, folders, names

    monkeypatch.setattr("memento_tui.regular_files.os.walk", then_merge)
    found = {finding.name: finding for finding in examine_directory(workspace.paths)}
    assert found["disk"].ok
    assert not (index / "merged.store").exists()
