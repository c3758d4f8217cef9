"""A mirrored folder as people and programs use it: synchronised, under git, on a full disk, within another one."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import InvalidInput
from memento_tui.formats.base import source_digest
from memento_tui.mirror.folder import MirrorFolder
from memento_tui.mirror.mirror import Mirror
from memento_tui.model import Memory
from tests.made import without_engine
from tests.unit.mirroring import put, step


def told(mirror: Mirror) -> dict[str, str]:
    return {event.note: event.why for event in mirror.step()}


def only(workspace: Workspace) -> Memory:
    (found,) = workspace.list().items
    assert isinstance(found, Memory)
    return found


# Synchronised


def test_machines_that_share_a_folder_do_not_take_it_for_another(workspace: Workspace, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    put(shared, "a.md", "One.")
    with Mirror(workspace, shared, quiet_seconds=0) as mirror:
        step(mirror)
    with (
        memento_tui.open(without_engine(tmp_path / "other machine")) as other,
        Mirror(other, shared, quiet_seconds=0) as mirror,
    ):
        step(mirror)
    with Mirror(workspace, shared, quiet_seconds=0) as mirror:
        assert step(mirror) == []
        (shared / "a.md").unlink()
        assert step(mirror) == [("deleted", "a.md")]


def test_a_conflicting_copy_that_is_put_aside_does_not_take_the_memory_with_it(
    workspace: Workspace, folder: Path
) -> None:
    with Mirror(workspace, folder, quiet_seconds=0) as mirror:
        found = workspace.remember("Mine.", title="A")
        step(mirror)
    path = folder / "global/A.md"
    with Mirror(workspace, folder, quiet_seconds=0.05) as mirror:
        step(mirror)
        mine = path.read_text()
        os.utime(path, (1_000_000_000, 1_000_000_000))  # it was last written long ago
        path.rename(folder / "global/A.sync-conflict-20261121-113900-ABCDEFG.md")
        assert step(mirror) == []
        path.write_text(mine.replace("Mine.", "Theirs."))
        while not mirror.is_settled or workspace.get(found.id).content == "Mine.":
            step(mirror)
    assert workspace.get(found.id).content == "Theirs."
    assert sorted(memory.content for memory in workspace.list().items) == ["Mine.", "Theirs."]


def test_a_note_that_icloud_took_off_the_disk_is_not_taken_for_deleted(
    workspace: Workspace, mirror: Mirror, folder: Path
) -> None:
    path = put(folder, "sub/a.md", "One.")
    put(folder, ".picture.png.icloud", "")
    step(mirror)
    path.rename(path.with_name(".a.md.icloud"))
    assert told(mirror) == {"sub/a.md": "lies in iCloud only; it is read once it is on this disk again"}
    path.with_name(".a.md.icloud").rename(path)
    assert step(mirror) == []
    assert only(workspace).content == "One."


# Away and back


def test_a_note_that_returns_brings_its_memory_back_with_all_that_hangs_on_it(
    workspace: Workspace, mirror: Mirror, folder: Path
) -> None:
    path = put(folder, "a.md", "One.")
    step(mirror)
    found, other = only(workspace), workspace.remember("Other.", title="o", namespace="projects/b")
    workspace.relate(found.id, other.id)
    path.unlink()  # another branch is checked out
    assert ("deleted", "a.md") in step(mirror)
    put(folder, "a.md", "One.")
    assert ("restored", "a.md") in step(mirror)
    assert workspace.get(found.id).status == "active"
    assert len(workspace.related(found.id)) == 1
    assert step(mirror) == []


def test_the_very_same_file_returns(workspace: Workspace, mirror: Mirror, folder: Path, tmp_path: Path) -> None:
    path = put(folder, "a.md", "One.")
    step(mirror)
    path.rename(tmp_path / "a.md")
    step(mirror)
    (tmp_path / "a.md").rename(path)
    assert step(mirror) == [("restored", "a.md")]
    assert only(workspace).content == "One."


def test_a_note_that_returns_with_another_text_changes_the_memory_it_names(
    workspace: Workspace, mirror: Mirror, folder: Path
) -> None:
    found = workspace.remember("One.", title="A")
    step(mirror)
    path = folder / "global/A.md"
    text = path.read_text()
    path.unlink()
    step(mirror)
    put(folder, "global/A.md", text.replace("One.", "Two."))
    assert step(mirror) == [("restored", "global/A.md"), ("changed", "global/A.md")]
    assert only(workspace).id == found.id
    assert only(workspace).content == "Two."


def test_a_memory_that_a_person_deleted_does_not_return_with_a_note(
    workspace: Workspace, mirror: Mirror, folder: Path
) -> None:
    path = put(folder, "a.md", "One.")
    step(mirror)
    found = only(workspace)
    path.unlink()
    step(mirror)
    workspace.restore(found.id)
    step(mirror)
    workspace.forget(found.id)
    assert step(mirror) == [("trashed", "a.md")]
    put(folder, "a.md", "One.")
    assert step(mirror) == [("taken", "a.md")]
    assert workspace.get(found.id).status == "deleted"


def test_notes_that_say_the_same_keep_their_memories_when_their_folder_is_renamed(
    workspace: Workspace, mirror: Mirror, folder: Path
) -> None:
    for name in ("x", "y"):
        put(folder, f"old/{name}/Log.md", "Nothing yet.")
    step(mirror)
    before = {memory.namespace: memory.id for memory in workspace.list().items}
    (folder / "old").rename(folder / "new")
    assert step(mirror) == [("moved", "new/x/Log.md"), ("moved", "new/y/Log.md")]
    put(folder, "new/x/Log.md", "Something.")
    step(mirror)
    assert workspace.get(before["old/x"]).content == "Something."


def test_git_does_not_see_what_the_mirror_keeps_for_itself(mirror: Mirror, folder: Path) -> None:
    assert (folder / ".memento-mirror/.gitignore").read_text() == "*\n"
    assert step(mirror) == []


# Within another one


def test_a_folder_within_a_mirrored_one_is_refused(workspace: Workspace, mirror: Mirror, folder: Path) -> None:
    assert step(mirror) == []
    with pytest.raises(InvalidInput, match="which is mirrored as a whole"):
        Mirror(workspace, folder / "api")


def test_a_folder_with_a_mirror_of_its_own_is_left_to_it(workspace: Workspace, folder: Path) -> None:
    workspace.remember("One.", title="A")
    with (
        Mirror(workspace, folder / "api", quiet_seconds=0) as inner,
        Mirror(workspace, folder, quiet_seconds=0) as outer,
    ):
        step(inner)
        assert "has a mirror of its own" in told(outer)["api"]
        for _ in range(3):
            assert step(inner) == step(outer) == []
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md")) == [
        "api/global/A.md",
        "global/A.md",
    ]


def test_a_purge_names_the_copies_that_the_trash_holds(workspace: Workspace, mirror: Mirror, folder: Path) -> None:
    path = put(folder, "sub/a.md", "One.")
    step(mirror)
    found = only(workspace)
    workspace.verify(found.id)
    path.write_text("One, and what leaked.")
    step(mirror)
    workspace.review.reject(workspace.review.list()[0][0].proposal.id)
    step(mirror)
    put(folder, ".trash/sub/another.md", "Not this one.")
    workspace.purge(found.id, "a leak")
    assert told(mirror)["sub/a.md"].endswith("; look yourself at what was put into .trash/sub/a.md")


# A full disk, and what is saved at the wrong moment


@contextmanager
def no_file_longer_than(limit: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_takes_no_more_is_not_filled_with_attempts(folder: Path) -> None:
    made = MirrorFolder(folder)
    path = put(folder, "a.md", "before")
    for _ in range(3):
        with no_file_longer_than(100), pytest.raises(InvalidInput, match="cannot be written"):
            made.write("a.md", b"x" * 10_000, expected=source_digest(b"before"))
        assert made.copy_to_trash("a.md", b"kept") == ".trash/a.md"
    assert path.read_text() == "before"
    assert list((folder / ".memento-mirror").glob("*.part")) == []
    assert made.copy_to_trash("a.md", b"other") == ".trash/a 2.md"
    made.close()


def test_a_name_that_fills_its_limit_has_room_in_the_trash_twice(folder: Path) -> None:
    made = MirrorFolder(folder)
    name = "n" * 252 + ".md"
    for number in range(3):
        put(folder, name, f"Text {number}.")
        assert (folder / made.trash(name)).read_text() == f"Text {number}."
    made.close()


def test_a_text_saved_while_its_purged_note_is_removed_goes_to_the_trash(folder: Path) -> None:
    made = MirrorFolder(folder)
    put(folder, "a.md", "leaked")
    made.remove("a.md", expected=source_digest(b"leaked"))
    made.remove("a.md", expected=source_digest(b"leaked"))
    assert list(folder.rglob("*.md")) == []
    put(folder, "a.md", "words of today")
    made.remove("a.md", expected=source_digest(b"leaked"))
    assert (folder / ".trash/a.md").read_text() == "words of today"
    made.close()


def test_a_read_only_note_is_left_alone_and_told_once(workspace: Workspace, mirror: Mirror, folder: Path) -> None:
    path = put(folder, "a.md", "One.")
    step(mirror)
    workspace.verify(only(workspace).id)
    path.write_text("Two.")
    step(mirror)
    workspace.review.reject(workspace.review.list()[0][0].proposal.id)
    path.chmod(0o444)
    assert "it is read-only" in told(mirror)["a.md"]
    step(mirror)  # the text that was turned down still stands there, which is told as well
    assert step(mirror) == []
    assert path.read_text() == "Two."
    path.chmod(0o644)
    assert step(mirror) == [("trashed", "a.md"), ("written", "a.md")]
    assert [one.read_text() for one in (folder / ".trash").iterdir()] == ["Two."]


def test_a_note_that_cannot_be_written_again_is_not_forgotten(
    workspace: Workspace, mirror: Mirror, folder: Path
) -> None:
    path = put(folder, "sub/a.md", "One.")
    step(mirror)
    workspace.update(only(workspace).id, content="Two.")
    path.unlink()
    path.parent.rmdir()
    put(folder, "sub", "a file where the folder was")
    assert step(mirror) == [("refused", "sub/a.md")]
    assert step(mirror) == []
    (folder / "sub").unlink()
    assert step(mirror) == [("written", "sub/a.md")]
    assert path.read_text() == "Two."
