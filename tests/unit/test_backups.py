from __future__ import annotations

import os
import resource
import shutil
import threading
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.backups import replace_damaged
from memento_tui.api.integrity import check_rows
from memento_tui.api.line_history import LineHistory
from memento_tui.errors import AmbiguousId, DataDirectoryError, NotAllowed, NotFound
from memento_tui.model import Memory
from memento_tui.paths import DataPaths
from memento_tui.storage.connection import Connection
from memento_tui.storage.long_work import StoppedError
from tests.made import PERSON, edit, without_engine


def _texts(workspace: Workspace, query: str) -> list[str]:
    return sorted(hit.memory.content for hit in workspace.search(query, mode="keyword").results)


def test_a_backup_is_one_file_of_its_owner_and_whole(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    file = workspace.paths.backups / made.name
    assert list(workspace.paths.backups.iterdir()) == [file]
    assert file.stat().st_mode & 0o777 == 0o600
    assert workspace.paths.backups.stat().st_mode & 0o777 == 0o700
    assert (made.head, made.memories, made.size, made.problem) == (1, 1, file.stat().st_size, "")
    assert workspace.backups.list() == [made]
    assert workspace.backups.verify(made.name) is None


def test_a_backup_elsewhere_is_checked_by_its_path(workspace: Workspace, tmp_path: Path) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    elsewhere = tmp_path / "usb" / "copy.db"
    elsewhere.parent.mkdir()
    shutil.copy(workspace.paths.backups / made.name, elsewhere)
    assert workspace.backups.verify(str(elsewhere)) is None
    assert [path.name for path in elsewhere.parent.iterdir()] == ["copy.db"]
    elsewhere.write_bytes(elsewhere.read_bytes()[:-4096])
    assert str(workspace.backups.verify(str(elsewhere))).startswith(f"{elsewhere} is damaged")
    elsewhere.write_text("Something else, and long enough to be read as a file of any kind. " * 100)
    assert "no backup of memento" in str(workspace.backups.verify(str(elsewhere)))
    elsewhere.write_text("")
    assert "no backup of memento" in str(workspace.backups.verify(str(elsewhere)))
    with pytest.raises(NotFound, match="no file at"):
        workspace.backups.verify(str(elsewhere.parent))
    assert [one.verified_at for one in workspace.backups.list()] == [made.verified_at]


def test_a_backup_holds_one_state_whatever_is_written_meanwhile(workspace: Workspace, data_dir: Path) -> None:
    for number in range(40):
        workspace.remember(f"Fact {number}: " + "filler " * 2000)
    with memento_tui.open(data_dir) as other:

        def write_on(_what: str, _done: int, _total: int) -> None:
            other.remember(f"Written meanwhile {other._store.journal.head()}.")

        made = workspace.backups.make(progress=write_on)
    assert made.head == 40
    assert workspace._store.journal.head() > 40


def test_progress_ends_with_the_whole(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    told: list[tuple[str, int, int]] = []
    workspace.backups.make(progress=lambda *words: told.append(words))
    assert list(dict.fromkeys(what for what, _, _ in told)) == ["Copying", "Checking the pages", "Checking the journal"]
    assert all(done <= total for _, done, total in told)
    assert told[-1] == ("Checking the journal", 1, 1)


def test_a_backup_that_is_stopped_leaves_nothing(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError):
        workspace.backups.make(stop=stop)
    assert list(workspace.paths.backups.iterdir()) == []


def test_a_limit_on_the_size_of_files_is_told_as_what_keeps_a_backup_from_being_written(workspace: Workspace) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, hard))
    try:
        with pytest.raises(DataDirectoryError, match="disk I/O error") as told:
            workspace.backups.make()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "65,536 bytes" in told.value.hint
    assert "ulimit -f" in told.value.hint
    assert workspace.backups.list() == []


def test_what_a_killed_program_left_is_no_backup_and_goes_with_the_next(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    first = workspace.backups.make()
    half = workspace.paths.backups / "memento-20260101T000000Z.part"
    half.write_bytes(b"half")
    assert workspace.backups.list() == [first]
    second = workspace.backups.make()
    assert {one.name for one in workspace.backups.list()} == {first.name, second.name}
    assert not half.exists()


def test_the_oldest_backups_go_and_no_other_file(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    workspace.paths.backups.mkdir(mode=0o700)
    mine = workspace.paths.backups / "my own copy.db"
    mine.write_bytes(b"mine")
    names = [workspace.backups.make(keep=3).name for _ in range(5)]
    assert [one.name for one in workspace.backups.list()] == names[:1:-1]
    assert mine.exists()


def test_a_restored_backup_is_what_is_found_and_the_state_before_is_kept(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    workspace.remember("The port is 9090.")
    assert len(_texts(workspace, "port")) == 2
    restored = workspace.backups.restore(made.name)
    assert _texts(workspace, "port") == ["The port is 8080."]
    entry = workspace._store.journal.entries(limit=1)[0]
    assert (entry.seq, entry.action) == (restored.seq, "restore backup")
    assert restored.name in entry.note
    assert restored.before in entry.note
    assert workspace._store.journal.verify() is None
    workspace.backups.restore(restored.before)
    assert len(_texts(workspace, "port")) == 2


def test_a_search_is_right_when_as_many_entries_follow_a_restored_backup_as_were_lost(
    workspace: Workspace, data_dir: Path
) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    workspace.remember("The port is 9090.")
    with memento_tui.open(data_dir) as other:
        assert len(_texts(other, "port")) == 2
        workspace.backups.restore(made.name)
        assert other._store.journal.head() == 2
        assert _texts(other, "port") == ["The port is 8080."]
        other.remember("The port is 7070.")
        assert _texts(workspace, "port") == ["The port is 7070.", "The port is 8080."]


def test_another_program_reads_and_writes_on_over_a_restored_backup(workspace: Workspace, data_dir: Path) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    gone = workspace.remember("The port is 9090.")
    with memento_tui.open(data_dir) as other, other._store.reading() as connection:
        before = connection.execute("SELECT count(*) FROM memory").fetchone()[0]
        threading.Thread(target=workspace.backups.restore, args=(made.name,)).run()
        assert before == connection.execute("SELECT count(*) FROM memory").fetchone()[0] == 2
    with memento_tui.open(data_dir) as other:
        with pytest.raises(NotFound):
            edit(other, gone.id, content="The port is 9091.")
        other.remember("The port is 7070.")
        assert other._store.journal.verify() is None


def test_restoring_is_not_taken_back_by_undo(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    restored = workspace.backups.restore(made.name)
    with pytest.raises(NotAllowed, match="backup list"):
        workspace.undo(restored.seq)
    assert [entry.action for entry in workspace.undo()] == ["remember"]


def test_a_restore_that_is_stopped_changes_nothing(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    workspace.remember("The port is 9090.")
    stop = threading.Event()

    def stop_at_the_end(what: str, _done: int, _total: int) -> None:
        if what == "Preparing":
            stop.set()

    with pytest.raises(StoppedError):
        workspace.backups.restore(made.name, progress=stop_at_the_end, stop=stop)
    assert workspace._store.memories.count_all() == 2
    assert [path for path in workspace.paths.backups.iterdir() if path.suffix != ".db"] == []


def test_a_backup_of_the_older_format_is_brought_up_to_date(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    file = workspace.paths.backups / made.name
    connection = apsw.Connection(str(file))
    connection.execute("DROP INDEX proposal_fingerprint")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(DataDirectoryError, match="newer memento"):
        workspace.backups.restore(made.name)


@pytest.mark.parametrize("damage", ["cut", "garbled", "altered"])
def test_a_damaged_backup_is_told_and_not_restored(workspace: Workspace, damage: str) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    file = workspace.paths.backups / made.name
    if damage == "cut":
        os.truncate(file, made.size // 2)
    elif damage == "garbled":
        file.write_bytes(file.read_bytes()[:4096] + b"\xff" * (made.size - 4096))
    else:
        connection = apsw.Connection(str(file))
        connection.execute("UPDATE stored_change SET image = replace(image, '8080', '8081')")
        connection.close()
    assert workspace.backups.verify(made.name)
    workspace.remember("The port is 9090.")
    with pytest.raises(DataDirectoryError, match="Nothing was changed"):
        workspace.backups.restore(made.name)
    assert workspace._store.memories.count_all() == 2
    assert workspace.backups.list()[0].problem


def test_a_database_that_is_out_of_order_makes_no_backup(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    with workspace._store.database.writing() as connection:
        connection.execute("UPDATE stored_change SET image = replace(image, '8080', '8081')")
    with pytest.raises(DataDirectoryError, match="altered"):
        workspace.backups.make()
    assert workspace.backups.list() == []


def test_a_backup_of_another_workspace_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    workspace.remember("Mine.")
    workspace.backups.make()
    with memento_tui.open(without_engine(tmp_path / "other")) as other:
        other.remember("Theirs.")
        theirs = other.backups.make()
        shutil.copy(other.paths.backups / theirs.name, workspace.paths.backups / "memento-20250101T000000Z.db")
    with pytest.raises(NotAllowed, match="another workspace"):
        workspace.backups.restore("memento-20250101T000000Z.db")


def test_an_agent_neither_makes_nor_restores_nor_removes_a_backup(workspace: Workspace, agent: Workspace) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    for attempt in (agent.backups.make, lambda: agent.backups.restore(made.name), lambda: agent.backups.remove("x")):
        with pytest.raises(NotAllowed):
            attempt()
    with pytest.raises(NotAllowed):
        replace_damaged(agent.paths, agent.author, made.name)


def test_a_backup_is_named_by_its_beginning_or_as_the_latest(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    first = workspace.backups.make()
    assert workspace.backups.find(first.name.removeprefix("memento-")[:8]) == first
    second = workspace.backups.make()
    assert workspace.backups.find("latest") == second
    with pytest.raises(AmbiguousId):
        workspace.backups.find("memento-2")
    for unknown in ("none", "", "../memento.db"):
        with pytest.raises(NotFound):
            workspace.backups.find(unknown)
    workspace.backups.remove(first.name)
    assert workspace.backups.list() == [second]


def test_a_purge_goes_through_the_backups_and_leaves_them_whole(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    before = workspace.backups.make()
    leaked = workspace.remember("The meeting is on Monday.")
    edit(workspace, leaked.id, content="The meeting is on Tuesday.")
    after = workspace.backups.make()
    outcome = workspace.purge(leaked.id, "it leaked")
    assert (outcome.purged_backups, outcome.backups) == ([after.name], [])
    for one in workspace.backups.list():
        assert b"The meeting" not in (workspace.paths.backups / one.name).read_bytes()
        assert workspace.backups.verify(one.name) is None
    assert {path.name for path in workspace.paths.backups.iterdir()} == {before.name, after.name}
    workspace.backups.restore(after.name)
    assert _texts(workspace, "port") == ["The port is 8080."]
    assert workspace.find(leaked.id) is None
    assert workspace._store.journal.verify() is None


def test_a_purged_note_and_a_purged_name_go_from_the_backups_too(workspace: Workspace, agent: Workspace) -> None:
    memory = agent.remember("The port is 8080.")
    workspace.reject(memory.id, "It quotes marmalade.")
    noted = workspace._store.journal.head()
    made = workspace.backups.make()
    file = workspace.paths.backups / made.name
    assert b"marmalade" in file.read_bytes()
    workspace.purge(str(noted), "a password", kind="note")
    assert b"marmalade" not in file.read_bytes()
    assert workspace.purge(agent.author.agent, "a name", kind="agent").purged_backups == [made.name]
    assert f'"{agent.author.agent}"'.encode() not in file.read_bytes()
    assert workspace.backups.verify(made.name) is None


def test_a_note_is_not_purged_from_another_entry_of_the_same_number(workspace: Workspace) -> None:
    first = workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    workspace.reject(first.id, "This was another past.")
    kept = workspace.backups.restore(made.name).before
    workspace.reject(first.id, "A reason that holds hunter2.")
    number = workspace._store.journal.head()
    workspace.remember("More.")
    assert number > 2
    workspace.backups.restore(kept)
    assert workspace.purge("2", "a note", kind="note").backups == []
    assert b"This was another past" not in (workspace.paths.backups / kept).read_bytes()
    assert any(
        b"A reason that holds hunter2" in (workspace.paths.backups / one.name).read_bytes()
        for one in workspace.backups.list()
    )


def test_a_backup_that_cannot_be_purged_is_named_and_stays(workspace: Workspace) -> None:
    leaked = workspace.remember("The meeting is on Monday.")
    made = workspace.backups.make()
    os.truncate(workspace.paths.backups / made.name, made.size // 2)
    outcome = workspace.purge(leaked.id, "it leaked")
    assert (outcome.purged_backups, outcome.backups) == ([], [made.name])
    assert [path.name for path in workspace.paths.backups.iterdir()] == [made.name]


def test_a_purge_without_a_reason_touches_no_backup(workspace: Workspace) -> None:
    leaked = workspace.remember("The meeting is on Monday.")
    file = workspace.paths.backups / workspace.backups.make().name
    before = file.read_bytes()
    with pytest.raises(NotAllowed, match="reason"):
        workspace.purge(leaked.id, " ")
    assert file.read_bytes() == before


def test_a_backup_makes_a_workspace_of_an_empty_directory(workspace: Workspace, tmp_path: Path) -> None:
    for number in range(30):
        workspace.remember(f"Fact {number}.")
    workspace.skips.add("The old cluster", reason="It is gone.", expires_at=clock.now() + timedelta(days=9))
    made = workspace.backups.make()
    fresh = DataPaths(tmp_path / "not there yet")
    restored = replace_damaged(fresh, PERSON, str(workspace.paths.backups / made.name))
    assert (restored.name, restored.before) == (made.name, "")
    without_engine(tmp_path / "settings")
    (tmp_path / "settings" / "config.toml").rename(fresh.config)
    with memento_tui.open(fresh.root) as other:
        assert list(other.export_records()) == list(workspace.export_records())
        assert other._store.journal.verify() is None
        assert [entry.action for entry in other._store.journal.entries(limit=1)] == ["restore backup"]
        assert _texts(other, "17") == ["Fact 17."]
        assert check_rows(other).ok


def test_each_backup_says_when_it_was_verified(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    assert made.verified_at is not None
    kept = workspace.backups.restore(made.name).before
    assert [one.verified_at for one in workspace.backups.list() if one.name == kept] == [None]
    workspace.backups.verify(kept)
    assert all(one.verified_at for one in workspace.backups.list())
    workspace.paths.backup_checks.unlink()
    assert not any(one.verified_at for one in workspace.backups.list())


def test_a_database_that_cannot_be_opened_is_replaced_and_kept(workspace: Workspace, data_dir: Path) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    paths = workspace.paths
    workspace.close()
    paths.database.write_bytes(b"damaged" * 1000)
    with pytest.raises(DataDirectoryError, match="backup restore"):
        memento_tui.open(data_dir)
    restored = replace_damaged(paths, PERSON, made.name)
    assert (paths.backups / restored.before).read_bytes().startswith(b"damaged")
    with memento_tui.open(data_dir) as mended:
        assert _texts(mended, "port") == ["The port is 8080."]
        assert mended._store.journal.verify() is None
        assert [one.problem != "" for one in mended.backups.list()] == [True, False]


def test_only_one_backup_is_made_at_a_time(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    refused: list[str] = []

    def another(what: str, _done: int, _total: int) -> None:
        if what == "Copying":
            with pytest.raises(NotAllowed, match="Another backup"):
                workspace.backups.make()
            refused.append(what)

    workspace.backups.make(progress=another)
    assert refused


def test_a_backup_that_cannot_be_gone_through_keeps_no_purge_from_the_database(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = workspace.remember("The port of marmalade is 8080.")
    made = workspace.backups.make()

    def fails(*_: object) -> bool:
        raise ValueError("Invalid isoformat string: 'nonsense'")

    monkeypatch.setattr("memento_tui.storage.backup.purge_copy", fails)
    assert workspace.purge(memory.id, "a leak").backups == [made.name]
    assert workspace.find(memory.id) is None


def test_a_file_with_an_impossible_date_in_its_name_is_no_backup(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    (workspace.paths.backups / "memento-20261399T000000Z.db").write_bytes(b"")
    assert [one.name for one in workspace.backups.list()] == [made.name]


def test_the_note_of_an_entry_that_is_not_there_is_looked_for_in_no_backup(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = agent.remember("The port is 8080.")
    workspace.reject(memory.id, "It quotes marmalade.")
    noted = workspace._store.journal.head()
    made = workspace.backups.make()
    with pytest.raises(NotFound, match=f"no entry {noted + 7}"):
        workspace.purge(str(noted + 7), "a leak", kind="note")
    assert b"marmalade" in (workspace.paths.backups / made.name).read_bytes()


def _leave_log(file: Path, statement: str) -> None:
    """Change a database as a program that was killed leaves it: the change lies in the log beside it."""
    live = file.with_name("live.db")
    shutil.copyfile(file, live)
    connection = apsw.Connection(str(live))
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
    connection.execute(statement)
    for end in ("", "-wal"):
        shutil.copyfile(f"{live}{end}", f"{file}{end}")
    connection.close()
    live.unlink()


@pytest.mark.parametrize("into", ["an empty directory", "the present"])
def test_what_lies_in_a_log_beside_a_backup_is_restored_with_it(
    workspace: Workspace, tmp_path: Path, into: str
) -> None:
    workspace.remember("The port is 8080.")
    workspace.remember("The port is 9090.")
    workspace._store.database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    workspace.remember("The port is 7070.")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for end in ("", "-wal"):
        shutil.copyfile(f"{workspace.paths.database}{end}", elsewhere / f"memento.db{end}")
    assert (elsewhere / "memento.db-wal").stat().st_size
    if into == "an empty directory":
        fresh = DataPaths(tmp_path / "fresh")
        replace_damaged(fresh, PERSON, str(elsewhere / "memento.db"))
        without_engine(tmp_path / "settings")
        (tmp_path / "settings" / "config.toml").rename(fresh.config)
        with memento_tui.open(fresh.root) as other:
            assert len(_texts(other, "port")) == 3
    else:
        workspace.remember("The port is 6060.")
        workspace.backups.restore(str(elsewhere / "memento.db"))
        assert len(_texts(workspace, "port")) == 3
    assert [path.suffix for path in workspace.paths.backups.glob("*.part*")] == []


def test_a_log_beside_a_backup_is_checked_and_purged_with_it(workspace: Workspace) -> None:
    leaked = workspace.remember("The port of marmalade is 8080.")
    made = workspace.backups.make()
    file = workspace.paths.backups / made.name
    _leave_log(file, "UPDATE stored_change SET image = replace(image, '8080', '8081')")
    assert "altered" in str(workspace.backups.verify(made.name))
    assert workspace.backups.list()[0].problem
    _leave_log(file, "UPDATE stored_change SET image = replace(image, '8081', '8080')")
    assert workspace.backups.verify(made.name) is None
    assert workspace.purge(leaked.id, "a leak").purged_backups == [made.name]
    for path in workspace.paths.backups.iterdir():
        assert b"marmalade" not in path.read_bytes()
    assert sorted(path.suffix for path in workspace.paths.backups.iterdir()) == [".db"]


def test_a_failure_that_may_pass_is_not_kept_as_a_problem_of_the_backup(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()

    def fails(_file: Path) -> Connection:
        raise apsw.CantOpenError("unable to open database file")

    with monkeypatch.context() as failing:
        failing.setattr("memento_tui.storage.backup.open_finished", fails)
        assert "cannot be opened" in str(workspace.backups.verify(made.name))
    assert workspace.backups.list() == [made]
    assert workspace.backups.restore("latest").name == made.name


def test_a_backup_of_a_newer_format_is_in_order_once_memento_knows_it(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    connection = apsw.Connection(str(workspace.paths.backups / made.name))
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert "newer memento" in str(workspace.backups.verify(made.name))
    assert workspace.backups.list()[0].problem == ""


def test_a_date_to_come_in_a_name_makes_a_backup_no_newer(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    first = workspace.backups.make()
    lying = workspace.paths.backups / "memento-20990101T000000Z-daily.db"
    (workspace.paths.backups / first.name).rename(lying)
    workspace.remember("The port is 9090.")
    assert workspace.backups.is_behind()
    second = workspace.backups.make()
    assert [one.name for one in workspace.backups.list()] == [second.name, lying.name]
    assert workspace.backups.find("latest").name == second.name
    assert not workspace.backups.is_behind()
    assert all(one.at <= clock.now() for one in workspace.backups.list())


def test_a_backup_from_days_to_come_is_listed_last(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(days=20_000))
    workspace.remember("The port is 8080.")
    ahead = workspace.backups.make()
    monkeypatch.setattr(clock, "now", real)
    workspace.remember("The port is 9090.")
    made = workspace.backups.make()
    assert [one.name for one in workspace.backups.list()] == [made.name, ahead.name]


def test_what_is_only_in_a_backup_is_purged_by_its_id(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    before = workspace.backups.make()
    leaked = workspace.remember("The meeting of marmalade is on Monday.")
    kept = workspace.backups.restore(before.name).before
    assert not workspace._store.journal.history(Memory, leaked.id)
    outcome = workspace.purge(leaked.id, "it leaked")
    assert (outcome.was_here, outcome.purged_backups, outcome.backups) == (False, [kept], [])
    assert b"marmalade" not in (workspace.paths.backups / kept).read_bytes()
    with pytest.raises(NotFound):
        workspace.purge(leaked.id, "it leaked")


@pytest.mark.parametrize("kind", ["memory", "agent", "session", "note"])
def test_what_was_purged_here_is_purged_again_from_a_backup_that_came_back(
    workspace: Workspace, data_dir: Path, kind: str
) -> None:
    with memento_tui.open(data_dir, actor="agent", agent="marmalade", session="s-marmalade") as agent:
        memory = agent.remember("The port of marmalade is 8080.")
    workspace.reject(memory.id, "It quotes marmalade.")
    name = {"memory": memory.id, "note": str(workspace._store.journal.head())}
    name |= {"agent": "marmalade", "session": "s-marmalade"}
    made = workspace.backups.make()
    file = workspace.paths.backups / made.name
    elsewhere = data_dir / "elsewhere.db"
    shutil.copyfile(file, elsewhere)
    assert workspace.purge(name[kind], "a leak", kind=kind).was_here
    elsewhere.rename(file)
    outcome = workspace.purge(name[kind], "a leak", kind=kind)
    assert (outcome.was_here, outcome.purged_backups) == (False, [made.name])
    assert workspace.backups.verify(made.name) is None
    assert workspace._store.journal.verify() is None


def test_what_is_nowhere_is_not_found_and_names_the_backups_that_could_not_be_read(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    made = workspace.backups.make()
    os.truncate(workspace.paths.backups / made.name, made.size // 2)
    with pytest.raises(NotFound) as told:
        workspace.purge("nobody", "a leak", kind="agent")
    assert made.name in told.value.hint


def test_lines_that_were_typed_go_from_the_backups_with_a_purge(workspace: Workspace) -> None:
    leaked = workspace.remember("The port is 8080.")
    LineHistory(workspace._store.settings, "memories").keep("where is marmalade")
    made = workspace.backups.make()
    workspace.backups.restore(made.name)
    other = workspace.remember("The port is 9090.")
    workspace.purge(other.id, "a leak")
    for path in [*workspace.paths.backups.glob("*.db"), workspace.paths.database]:
        assert b"marmalade" not in path.read_bytes()
    assert workspace.purge(leaked.id, "a leak").backups == []


def test_an_older_backup_that_cannot_be_removed_does_not_unmake_the_new_one(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    (workspace.paths.backups / "memento-20200101T000000Z.db").mkdir(parents=True)
    told: list[str] = []
    made = workspace.backups.make(keep=1, warn=told.append)
    assert workspace.backups.find("latest") == made
    assert [said.partition(" (")[0] for said in told] == [
        "An older backup could not be removed: memento-20200101T000000Z.db"
    ]
