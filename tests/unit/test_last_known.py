"""A directory knows what it held: a lost database, an emptied one and a lost log are no new workspace."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import LostData
from memento_tui.paths import DataPaths
from memento_tui.storage import last_known
from memento_tui.storage.hook_store import HookStore, LostDatabase
from memento_tui.storage.last_known import last_known_file, read_last_known
from tests.made import without_engine
from tests.unit.cli_program import Program


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    program = Program(without_engine(tmp_path / "data"))
    program.json("add", "The port is 8080.")
    program.json("backup", "make")
    program.json("add", "Deploys run from deploy.sh.")
    return program


def lose(data_dir: Path) -> None:
    for file in data_dir.glob("memento.db*"):
        file.unlink()


def empty(data_dir: Path) -> None:
    lose(data_dir)
    (data_dir / "memento.db").touch()


def begin_anew(data_dir: Path) -> None:
    lose(data_dir)
    with memento_tui.open(data_dir / "other") as other:
        other.remember("Somebody else's.")
        other.remember("Somebody else's too.")
    shutil.copyfile(data_dir / "other" / "memento.db", data_dir / "memento.db")


Loss = Callable[[Path], None]
LOSSES: dict[Loss, str] = {
    lose: "is gone; it held 2 journal entries",
    empty: "is empty; it held 2 journal entries",
    begin_anew: "is the database of another workspace",
}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_lost_database_is_told_by_every_command_and_nothing_begins_in_its_place(memento: Program, loss: Loss) -> None:
    loss(memento.data_dir)
    for command in (("list",), ("add", "text"), ("search", "port"), ("doctor",)):
        ended = memento.run(*command, "--json")
        assert ended.code == 6
        assert LOSSES[loss] in ended.out + ended.err
        assert "backup restore latest" in ended.out + ended.err
    with pytest.raises(LostData):
        memento_tui.open(memento.data_dir, actor="agent")
    with pytest.raises(LostDatabase, match="backup restore latest"):
        HookStore(DataPaths(memento.data_dir).database)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_backup_comes_back_where_the_database_was_lost(memento: Program, loss: Loss) -> None:
    loss(memento.data_dir)
    assert len(memento.json("backup", "list")["items"]) >= 1
    memento.json("backup", "restore", "latest", "--yes")
    assert [one["content"] for one in memento.json("list")["items"]] == ["The port is 8080."]
    memento.json("add", "It goes on.")
    assert memento.run("doctor").code == 0


def test_a_lost_log_with_acknowledged_writes_is_told(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    with memento_tui.open(data_dir) as workspace:
        workspace.remember("one")
    with memento_tui.open(data_dir) as workspace:
        workspace.remember("two")
        older = tmp_path / "older"
        shutil.copytree(data_dir, older)  # as a power cut would leave it, had the disk lied
    (older / "memento.db-wal").unlink()
    with pytest.raises(LostData, match=r"lacks entry 2 of the journal.*memento.db-wal"):
        memento_tui.open(older)
    last_known_file(older / "memento.db").unlink()
    with memento_tui.open(older) as workspace:
        assert workspace._store.journal.head() == 1


def test_the_note_follows_each_write_and_a_restored_backup(workspace: Workspace) -> None:
    database = workspace.paths.database
    workspace.remember("one")
    made = workspace.backups.make()
    workspace.remember("two")
    workspace.remember("three")
    noted = read_last_known(database)
    assert noted is not None
    assert (noted.workspace, noted.entry) == (workspace._store.database.origin, 3)
    assert noted.hash == workspace._store.journal.mark(3)
    workspace.backups.restore(made.name)
    noted = read_last_known(database)
    assert noted is not None
    assert (noted.entry, noted.hash) == (2, workspace._store.journal.mark(2))
    with memento_tui.open(workspace.paths.root) as again:
        assert again._store.memories.count_all() == 1


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"workspace": 1}', b"\xff" * 200])
def test_a_note_that_cannot_be_read_is_written_anew(workspace: Workspace, content: bytes) -> None:
    workspace.remember("one")
    last_known_file(workspace.paths.database).write_bytes(content)
    with memento_tui.open(workspace.paths.root) as again:
        assert again._store.memories.count_all() == 1
    assert read_last_known(workspace.paths.database) is not None


def test_a_copied_backup_is_no_data_directory(workspace: Workspace) -> None:
    workspace.remember("one")
    made = workspace.backups.make()
    workspace.backups.restore(made.name)
    assert {path.suffix for path in workspace.paths.backups.iterdir()} == {".db"}


def test_a_database_without_a_note_is_opened_and_noted(workspace: Workspace) -> None:
    workspace.remember("one")
    last_known_file(workspace.paths.database).unlink()
    workspace.close()
    connection = apsw.Connection(str(workspace.paths.database))
    connection.close()
    with memento_tui.open(workspace.paths.root):
        noted = read_last_known(workspace.paths.database)
    assert noted is not None
    assert noted.entry == 1


def before_the_note(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen after the next write was committed, and before it is noted."""
    write, coming = last_known._write, [happens]

    def held(*given: object) -> None:
        if coming:
            coming.pop()()
        write(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(last_known, "_write", held)


def test_whoever_is_held_between_a_write_and_its_note_leaves_the_note_of_the_newest_entry(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memento_tui.open(workspace.paths.root) as other:
        before_the_note(monkeypatch, lambda: other.remember("two"))
        workspace.remember("one")
    noted = read_last_known(workspace.paths.database)
    assert noted is not None
    assert (noted.entry, noted.hash) == (2, workspace._store.journal.mark(2))


def test_a_restore_while_a_write_is_noted_leaves_the_note_of_what_was_restored(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.remember("one")
    with memento_tui.open(workspace.paths.root) as other:
        made = other.backups.make()
        workspace.remember("two")
        workspace.remember("three")
        before_the_note(monkeypatch, lambda: other.backups.restore(made.name))
        workspace.remember("four")
    noted = read_last_known(workspace.paths.database)
    assert noted is not None
    assert (noted.entry, noted.hash) == (2, workspace._store.journal.mark(2))


def test_each_entry_is_told_of_once_however_many_threads_write(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, told = workspace._store.database, list[int]()
    database.after_entry = lambda _connection, before: told.append(before)
    other = threading.Thread(target=workspace.remember, args=("two",))

    def write_beside() -> None:
        other.start()
        while workspace._store.journal.head() < 2:
            pass

    before_the_note(monkeypatch, write_beside)
    workspace.remember("one")
    other.join()
    assert told == [0]
    assert database._noted_entry == 2
