"""What is stored of earlier versions: little, and all of it comes back, also after the file was written anew."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import NoReturn

import apsw
import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.compaction import compact
from memento_tui.api.integrity import check_rows
from memento_tui.cli.author import TOKEN_VARIABLE
from memento_tui.errors import DataDirectoryError, NotAllowed, ReadOnlyMode
from memento_tui.model import Memory
from memento_tui.storage import compaction
from tests.made import WITHOUT_PACKED_IMAGES, edit
from tests.unit.cli_program import Program, without_engine

_LONG = "".join(f"Sentence {number} is about port {number * 7919 % 9973}. " for number in range(1_000))


def _sizes(workspace: Workspace) -> list[tuple[int, bool]]:
    """Return for each image of memories, oldest first, the bytes stored and whether it is stored whole."""
    query = (
        "SELECT coalesce(length(packed), length(image)), packed IS NULL FROM stored_change WHERE record = 'memory'"
        " AND nonce IS NOT NULL AND NOT removed ORDER BY seq, ordinal"
    )
    with workspace._store.reading() as connection:
        return [(int(size), bool(whole)) for size, whole in connection.execute(query)]


def _contents(workspace: Workspace, memory_id: str) -> list[str]:
    history = workspace._store.journal.history(Memory, memory_id)
    return [one.record.content for one in history if one.record is not None]


@pytest.fixture
def older(workspace: Workspace) -> Workspace:
    """A workspace whose versions are all stored whole, as an earlier memento did, and that has free pages."""
    long = workspace.remember(_LONG)
    for number in range(8):
        edit(workspace, long.id, content=f"{_LONG}Edited {number}.")
    short = workspace.remember("The port is 8080.")
    edit(workspace, short.id, content="The port is 9090.")
    leaked = workspace.remember("Leaked. " * 20_000)
    workspace.purge(leaked.id, "a leak")
    _store_whole(workspace)
    return workspace


def _store_whole(workspace: Workspace) -> None:
    with workspace._store.database.writing() as connection:
        connection.execute(
            "UPDATE stored_change SET image = (SELECT image FROM change WHERE change.seq = stored_change.seq"
            " AND change.ordinal = stored_change.ordinal), base = NULL, packed = NULL"
        )


def test_a_change_stores_what_changed(workspace: Workspace) -> None:
    memory = workspace.remember(_LONG)
    edit(workspace, memory.id, title="A title")
    edit(workspace, memory.id, content=f"Now. {_LONG}")
    edit(workspace, memory.id, content="Something else, and short: the port is 8080, and nothing of the sentences.")
    edit(workspace, memory.id, title="Another title")
    sizes = _sizes(workspace)
    assert [whole for _, whole in sizes] == [True, False, False, True, False]
    assert sizes[0][0] > len(_LONG)
    assert all(size < len(_LONG) / 10 for size, whole in sizes if not whole)
    assert [len(content) for content in _contents(workspace, memory.id)] == [
        74,
        74,
        len(_LONG) + len("Now. "),
        *[len(_LONG)] * 2,
    ]
    assert workspace._store.journal.verify() is None


def test_a_packed_version_is_undone_shown_in_the_past_and_purged_like_any(workspace: Workspace) -> None:
    memory = workspace.remember("The port of marmalade is 8080. " * 9)
    for port in (9090, 7070):
        edit(workspace, memory.id, content=f"The port of marmalade is {port}. " * 9)
    assert not _sizes(workspace)[-1][1]
    with workspace.at("entry 2") as past:
        assert "9090" in past.get(memory.id).content
    workspace.undo()
    assert "9090" in workspace.get(memory.id).content
    workspace.undo(workspace._store.journal.head())
    assert "7070" in workspace.get(memory.id).content
    assert check_rows(workspace).ok
    workspace.purge(memory.id, "a leak")
    assert _sizes(workspace) == []
    assert workspace._store.journal.verify() is None


def test_a_name_is_purged_from_packed_versions(workspace: Workspace) -> None:
    with memento_tui.open(workspace.paths.root, actor="agent", agent="marmalade", session="s") as agent:
        memory = agent.remember("The port is 8080. " * 9)
        edit(agent, memory.id, content="The port is 9090. " * 9)
    edit(workspace, memory.id, content="The port is 7070. " * 9)
    workspace.purge("marmalade", "a name", kind="agent")
    history = workspace._store.journal.history(Memory, memory.id)
    assert all(one.record is not None and one.record.source.agent == "purged" for one in history)
    assert b"marmalade" not in b"".join(path.read_bytes() for path in workspace.paths.root.glob("memento.db*"))
    assert workspace._store.journal.verify() is None


def test_compacting_packs_older_versions_and_changes_nothing_that_is_read(older: Workspace) -> None:
    before = list(older.export_records())
    history = [(one.entry.seq, one.record) for one in older._store.journal.history(Memory, before[0].id)]
    planned = compact(older, dry_run=True)
    assert all(whole for _, whole in _sizes(older))
    done = compact(older)
    assert (done.packed, done.dry_run, planned.packed, planned.dry_run) == (9, False, 9, True)
    assert done.after < done.before / 2
    assert abs(planned.after - done.after) < done.after / 10
    assert [whole for _, whole in _sizes(older)].count(True) == 2
    assert list(older.export_records()) == before
    assert [(one.entry.seq, one.record) for one in older._store.journal.history(Memory, before[0].id)] == history
    assert older._store.journal.verify() is None
    assert check_rows(older).ok
    assert compact(older).packed == 0


@pytest.mark.parametrize("sentences", [1, 60])
def test_a_dry_run_tells_the_size_afterwards_within_a_fifth(workspace: Workspace, sentences: int) -> None:
    for number in range(60):
        memory = workspace.remember(f"Note {number}. {_LONG[number * 30 :][: 40 * sentences]}")
        for title in ("First", "Second", "Third"):
            edit(workspace, memory.id, title=title)
    _store_whole(workspace)

    planned = compact(workspace, dry_run=True)

    done = compact(workspace)
    assert planned.packed == done.packed == 180
    assert abs(planned.after - done.after) < done.after / 5


def test_a_version_that_others_are_packed_against_stays_whole(older: Workspace) -> None:
    compact(older)
    edit(older, next(iter(older.export_records())).id, content=f"{_LONG}At last.")
    assert compact(older).packed == 0
    assert older._store.journal.verify() is None


def test_another_program_goes_on_over_a_compaction(older: Workspace) -> None:
    with memento_tui.open(older.paths.root) as other:
        head = other._store.journal.head()
        compact(older)
        other.remember("The port is 6060.")
        assert other._store.journal.head() == head + 1
        assert other.search("6060", mode="keyword").results
    assert older._store.journal.verify() is None


def test_without_room_nothing_is_compacted_and_a_sentence_says_so(
    older: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "_ROOM", 10**15)
    with pytest.raises(DataDirectoryError, match="no room to write"):
        compact(older)
    assert all(whole for _, whole in _sizes(older))


@pytest.mark.skipif(sys.platform != "linux", reason="another system does not tell which files are open")
def test_what_is_temporary_lies_in_the_data_directory(older: Workspace) -> None:
    connection = older._store.database.connection
    connection.execute("PRAGMA cache_size = 10")
    older.remember_many({"content": f"{number} {_LONG}"} for number in range(20))
    open_files: set[str] = set()

    def look() -> bool:
        for one in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # another thread has closed it
                open_files.add(str(one.readlink()))
        return False

    connection.set_progress_handler(look, 20)
    compact(older)
    connection.set_progress_handler(None, 0)
    assert older.paths.root in {Path(one).parent for one in open_files if one.endswith("(deleted)")}
    assert connection.execute("PRAGMA temp_store").fetchone()[0] == 2
    assert connection.execute("PRAGMA temp_store_directory").fetchall() in ([], [("",)])


def test_one_who_reads_an_older_state_holds_nobody_up_and_is_named(
    older: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "_CHECKPOINT_SECONDS", 0.0)
    with memento_tui.open(older.paths.root) as other:
        with other._store.reading() as reader:
            reader.execute("SELECT count(*) FROM memory").fetchone()
            done = compact(older)
            older.remember("The port is 6060.")
        assert (done.is_read, done.packed) == (True, 9)
        again = compact(older)
    assert (again.is_read, again.packed) == (False, 0)
    assert again.after < done.before / 2


def test_a_disk_that_becomes_full_meanwhile_leaves_what_was_packed(
    older: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list(older.export_records())

    def full(_database: object) -> NoReturn:
        raise apsw.FullError("database or disk is full")

    monkeypatch.setattr(compaction, "_temporary_files_beside", full)
    with pytest.raises(DataDirectoryError, match=r"became full.*what was packed stays packed"):
        compact(older)
    assert [whole for _, whole in _sizes(older)].count(True) == 2
    assert list(older.export_records()) == before


def test_read_only_nothing_is_compacted_and_a_dry_run_tells(older: Workspace) -> None:
    older.close()
    with memento_tui.open(older.paths.root, read_only=True) as reader:
        assert compact(reader, dry_run=True).packed == 9
        with pytest.raises(ReadOnlyMode):
            compact(reader)


def test_an_agent_compacts_nothing_and_may_ask_what_it_would_come_to(agent: Workspace) -> None:
    assert compact(agent, dry_run=True).dry_run
    with pytest.raises(NotAllowed, match="Only a person"):
        compact(agent)


def test_a_database_of_the_format_before_is_read_and_compacted(older: Workspace) -> None:
    with older._store.database.writing() as connection:
        for statement in WITHOUT_PACKED_IMAGES:
            connection.execute(statement)
        connection.execute("PRAGMA user_version = 10")
    before = list(older.export_records())
    older.close()
    with memento_tui.open(older.paths.root) as present:
        assert list(present.export_records()) == before
        assert compact(present).packed == 9
        assert present._store.journal.verify() is None
        (kept,) = present.backups.list()
        assert (kept.why, present.backups.verify(kept.name)) == ("before migration", None)


def test_the_command_says_how_large_the_database_was_and_is(tmp_path: Path) -> None:
    memento = Program(without_engine(tmp_path / "data"))
    memento.add("The port is 8080.")
    planned = memento.json("compact", "--dry-run")
    assert (planned["packed"], planned["dry_run"], planned["before"] > 0) == (0, True, True)
    assert "Now it is" in memento.run("compact").out


def test_a_script_of_nobodys_may_ask_for_a_dry_run_and_not_compact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memento = Program(without_engine(tmp_path / "data"))
    memento.add("The port is 8080.")
    monkeypatch.setattr("memento_tui.cli.author.has_terminal", lambda: False)
    monkeypatch.setattr("tests.unit.cli_program.token_environment", lambda _: {TOKEN_VARIABLE: ""})
    assert memento.json("compact", "--dry-run")["dry_run"]
    refused = memento.run("compact")
    assert refused.code != 0
    assert "is for a person to decide" in refused.err
