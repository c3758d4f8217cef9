"""Text that is being typed survives its process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.api.drafts import EditorFile, UnsavedTextFile, find_unsaved_texts
from memento_tui.errors import DataDirectoryError
from memento_tui.paths import DataPaths

pytestmark = pytest.mark.usefixtures("workspace")

_TYPING = """
import os, signal, sys
from pathlib import Path
from memento_tui.paths import DataPaths
from memento_tui.api.drafts import UnsavedTextFile
UnsavedTextFile(DataPaths(Path(sys.argv[1])), "memory", sys.argv[2], 3).keep("a title", ["one"], sys.argv[3])
os.kill(os.getpid(), signal.SIGKILL)
"""


def _typed_and_killed(data_dir: Path, record_id: str, text: str) -> None:
    command = [sys.executable, "-c", _TYPING, str(data_dir), record_id, text]
    assert subprocess.run(command, check=False).returncode == -9  # noqa: S603 - this project's own


def test_what_was_typed_is_found_after_its_process_was_killed(data_dir: Path) -> None:
    _typed_and_killed(data_dir, "m1", "half a sente")
    ((path, kept),) = find_unsaved_texts(DataPaths(data_dir))
    assert (kept.record, kept.record_id, kept.base_version) == ("memory", "m1", 3)
    assert (kept.title, kept.tags, kept.content) == ("a title", ("one",), "half a sente")
    assert path.stat().st_mode & 0o077 == 0


def test_what_a_living_process_types_is_not_offered_to_another(data_dir: Path) -> None:
    UnsavedTextFile(DataPaths(data_dir), "memory", "m1", 1).keep("", [], "still typing")
    assert find_unsaved_texts(DataPaths(data_dir)) == []


def test_nothing_is_left_of_a_text_that_was_stored(data_dir: Path) -> None:
    typed = UnsavedTextFile(DataPaths(data_dir), "memory", "m1", 1)
    typed.keep("", [], "text")
    typed.discard()
    typed.discard()
    assert list(DataPaths(data_dir).drafts.iterdir()) == []


def test_the_newest_text_comes_first_and_a_damaged_file_is_left_alone(data_dir: Path) -> None:
    _typed_and_killed(data_dir, "m1", "older")
    _typed_and_killed(data_dir, "m2", "newer")
    damaged = DataPaths(data_dir).typed_text("damaged")
    damaged.write_text("{", encoding="utf-8")
    assert [kept.content for _, kept in find_unsaved_texts(DataPaths(data_dir))] == ["newer", "older"]
    assert damaged.exists()


def test_a_purge_removes_what_was_typed_over_the_memory(data_dir: Path, workspace: Workspace) -> None:
    memory = workspace.remember("the password is hunter2")
    _typed_and_killed(data_dir, memory.id, "the password is hunter3")
    _typed_and_killed(data_dir, "other", "something else")
    workspace.purge(memory.id, "leaked")
    assert [kept.content for _, kept in find_unsaved_texts(DataPaths(data_dir))] == ["something else"]


def test_where_the_workspace_was_moved_away_nothing_is_made_and_it_is_said(
    data_dir: Path, workspace: Workspace
) -> None:
    typed = UnsavedTextFile(DataPaths(data_dir), "memory", "m1", 1)
    typed.keep("", [], "half a sentence")
    moved = data_dir.rename(data_dir.with_name("moved"))
    workspace.remember("this is written to the database that is open")
    for keep in (
        lambda: typed.keep("", [], "half a sentence more"),
        lambda: EditorFile(DataPaths(data_dir), "m1", "half a sentence more"),
    ):
        with pytest.raises(DataDirectoryError, match="no longer there: its directory was moved or removed"):
            keep()
    assert not data_dir.exists()
    data_dir.mkdir()  # whatever else makes the folder
    workspace.remember("and this too")
    assert list(data_dir.iterdir()) == []
    workspace.close()
    with Workspace(moved) as again:
        assert again.count_all() == 2
    assert len(list(DataPaths(moved).drafts.iterdir())) == 1


def test_a_folder_that_cannot_be_written_is_told_in_a_sentence(data_dir: Path) -> None:
    (data_dir / "drafts").write_text("in the way", encoding="utf-8")
    with pytest.raises(DataDirectoryError, match="cannot be kept"):
        UnsavedTextFile(DataPaths(data_dir), "memory", "m1", 1).keep("", [], "text")


def test_a_purge_removes_every_draft_that_holds_a_line_of_the_text(data_dir: Path, workspace: Workspace) -> None:
    memory = workspace.remember("Two lines.\nthe garden gate opens at noon")
    paths = DataPaths(data_dir)
    _typed_and_killed(data_dir, "a-proposal", "somewhere: the garden gate opens at noon \u2014 again")
    _typed_and_killed(data_dir, "other", "something else")
    sheet = paths.drafts / "review-20261121.md"
    sheet.write_text("decision: later\nthe garden gate opens at noon\n", encoding="utf-8")
    workspace.purge(memory.id, "leaked")
    assert not sheet.exists()
    assert [kept.content for _, kept in find_unsaved_texts(paths)] == ["something else"]
