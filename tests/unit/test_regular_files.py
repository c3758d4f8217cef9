"""What files take while other processes remove them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memento_tui import regular_files
from memento_tui.api import Workspace
from memento_tui.api.health import examine_directory
from memento_tui.private_files import links_below
from memento_tui.regular_files import bytes_of, entries_of, status_of


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
    merged = workspace.paths.keyword_index / "merged.store"
    merged.write_bytes(b"x" * 9)

    def then_merge(folder: str) -> list[os.DirEntry[str]]:
        found = entries_of(folder)
        merged.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(regular_files, "entries_of", then_merge)
    found = {finding.name: finding for finding in examine_directory(workspace.paths)}
    assert found["disk"].ok
    assert not merged.exists()


def test_links_that_lead_nowhere_and_a_folder_of_a_thousand_levels_are_counted_and_looked_through(
    tmp_path: Path,
) -> None:
    index = tmp_path / "index"
    index.mkdir()
    (index / "loop").symlink_to(index / "loop")
    assert status_of(index / "loop") is None
    assert bytes_of(index) == len(os.fspath(index / "loop")), "a link takes its own name"
    levels = [index.joinpath(*["d"] * depth) for depth in range(1, 1200)]
    for level in levels:
        level.mkdir()
    assert bytes_of(index) == len(os.fspath(index / "loop")), "folders take nothing"
    assert list(links_below(index)) == [index / "loop"]
    for level in reversed(levels):  # what removes the folders of tests goes down by calls
        level.rmdir()


def test_health_tells_of_a_link_that_leads_to_itself(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    index = workspace.paths.keyword_index.parent
    index.mkdir(exist_ok=True)
    (index / "loop").symlink_to(index / "loop")
    assert {finding.name for finding in examine_directory(workspace.paths)} >= {"disk", "permissions"}
