"""A full and a read-only disk: what is there is read and searched, what cannot be written is said with its cause."""

from __future__ import annotations

import gc
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace, overview
from memento_tui.api.health import examine, examine_directory
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.errors import DataDirectoryError
from memento_tui.paths import DataPaths
from tests.disks import SmallDisk, small_disk
from tests.made import without_engine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="disks are mounted as Linux does it")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk") as made:
        yield made


@pytest.fixture
def data(disk: SmallDisk) -> Path:
    """A workspace that nobody has open, with an index that is at the head of the journal."""
    with memento_tui.open(without_engine(disk.path / "data")) as workspace:
        workspace.remember("The port is 8080.", id="port")
        workspace.remember("Deploys run at night.", id="deploy")
        workspace.search("port", mode="keyword")
    return disk.path / "data"


def _ids(workspace: Workspace, query: str) -> list[str]:
    return [hit.id for hit in workspace.search(query, mode="keyword").results]


def test_on_a_full_disk_everything_is_read_and_searched(disk: SmallDisk, data: Path) -> None:
    disk.fill()
    with memento_tui.open(data) as workspace:
        assert {memory.id for memory in workspace.list().items} == {"port", "deploy"}
        assert _ids(workspace, "port") == ["port"]
        assert workspace.search_engine.keyword.notice == ""
        assert all(one.ok for one in examine(workspace) if one.name not in ("disk", "backups"))
        with pytest.raises(DataDirectoryError, match="is full") as told:
            workspace.remember("More.")
        assert "Free some space" in told.value.hint
        with workspace.at("entry 1") as past:
            assert past.count == 1
    disk.free()
    with memento_tui.open(data) as workspace:
        workspace.remember("More.", id="more")
        assert _ids(workspace, "more") == ["more"]


def test_on_a_full_disk_the_log_of_a_program_that_was_killed_is_read_too(
    disk: SmallDisk, data: Path, tmp_path: Path
) -> None:
    with memento_tui.open(data) as workspace:
        workspace.remember("The last write.", id="last")
        # What a killed program leaves: a log that was not moved into the database.
        shutil.copytree(data, tmp_path / "killed", ignore=shutil.ignore_patterns("*-shm", "index"))
    shutil.rmtree(data)
    shutil.copytree(tmp_path / "killed", data)
    disk.fill()
    with memento_tui.open(data) as workspace:
        assert "last" in {memory.id for memory in workspace.list().items}


def test_an_index_that_cannot_be_replaced_is_not_thrown_away(disk: SmallDisk, data: Path) -> None:
    disk.fill()
    with memento_tui.open(data) as workspace:
        with pytest.raises(DataDirectoryError, match="cannot be written: No space left") as told:
            workspace.search_engine.keyword.rebuild()
        assert told.value.hint == "Free some space on its disk."
        assert _ids(workspace, "port") == ["port"]


def test_without_an_index_a_full_disk_is_the_cause_that_is_said(disk: SmallDisk, data: Path) -> None:
    shutil.rmtree(data / "index")
    disk.fill()
    with memento_tui.open(data) as workspace, pytest.raises(DataDirectoryError) as told:
        workspace.search("port", mode="keyword")
    assert "Free some space" in told.value.hint


def test_on_a_read_only_disk_everything_is_read_and_searched(disk: SmallDisk, data: Path) -> None:
    disk.make_read_only()
    with memento_tui.open(data) as workspace:
        assert {memory.id for memory in workspace.list().items} == {"port", "deploy"}
        assert _ids(workspace, "port") == ["port"]
        assert _ids(workspace, "nights") == ["deploy"]
        signs = {one.name: one for one in overview.health_signs(workspace, clock.now())}
        assert "2 journal entries" in signs["database"].detail
        with pytest.raises(DataDirectoryError, match="is read-only"):
            workspace.remember("More.")
        with pytest.raises(DataDirectoryError, match="cannot be written: Read-only file system") as told:
            maintain_workspace(workspace)
        assert "writable" in told.value.hint
        with pytest.raises(DataDirectoryError, match="backups cannot be used: Read-only file system"):
            workspace.backups.make()


def test_the_doctor_says_that_a_directory_is_read_only_unless_nothing_is_to_be_written(
    disk: SmallDisk, data: Path
) -> None:
    paths = DataPaths(data)
    assert examine_directory(paths)[0].ok
    disk.make_read_only()
    found = examine_directory(paths)[0]
    assert (found.name, found.ok, found.hint) == (
        "data directory",
        False,
        "Make it writable, or look with --read-only.",
    )
    assert examine_directory(paths, read_only=True)[0].ok


def test_an_index_of_a_read_only_disk_leaves_no_copy_of_its_texts(
    disk: SmallDisk, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    disk.make_read_only()
    with memento_tui.open(data) as workspace:
        assert _ids(workspace, "port") == ["port"]
        made = [path for path in scratch.rglob("*") if path.is_file() and not path.is_symlink()]
        assert not any(b"8080" in path.read_bytes() for path in made)
    del workspace
    gc.collect()
    assert list(scratch.iterdir()) == []


def test_an_index_that_is_behind_on_a_read_only_disk_says_so_and_is_not_written_elsewhere(
    disk: SmallDisk, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memento_tui.open(data) as workspace:
        workspace.remember("Otters eat fish.", id="otter")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    disk.make_read_only()
    with memento_tui.open(data) as workspace:
        assert _ids(workspace, "port") == ["port"]
        assert "1 changes behind: it cannot be written" in workspace.search_engine.keyword.notice
        assert not any(b"tters" in path.read_bytes() for path in scratch.rglob("*") if path.is_file())
