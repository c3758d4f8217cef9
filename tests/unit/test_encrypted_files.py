"""What an encrypted file says of itself, who can open it, and where its key and its indexes are."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from memento_tui import encryption
from memento_tui.errors import DataDirectoryError, LockedWorkspace
from memento_tui.paths import DataPaths
from memento_tui.storage.connection import LockedDatabase, open_finished, open_for_writing, open_without_writing
from memento_tui.storage.database import Database
from memento_tui.storage.hook_store import HookStore
from tests.encrypted import files_with, use_own_memory

KEY_ID, KEY = "0123456789abcdef", bytes(range(32))


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return use_own_memory(tmp_path, monkeypatch)


@pytest.fixture
def database(memory: Path, tmp_path: Path) -> Path:
    """An encrypted file with one table, unlocked."""
    assert not memory.exists()
    encryption.unlock(KEY_ID, KEY)
    file = tmp_path / "data" / "memento.db"
    file.parent.mkdir()
    made = open_for_writing(file, busy_seconds=0, create=True, key_id=KEY_ID)
    made.execute("PRAGMA journal_mode = WAL")
    made.execute("CREATE TABLE note (text)")
    made.execute("INSERT INTO note VALUES ('perihelion')")
    made.close()
    return file


def test_an_encrypted_file_says_which_key_it_needs_and_nothing_else(database: Path) -> None:
    assert encryption.key_id_of(str(database)) == KEY_ID
    assert database.read_bytes().startswith(b"memento\x01")
    assert files_with("perihelion", database.parent) == []
    assert files_with("SQLite format", database.parent) == []


def test_a_file_without_a_key_has_no_id(tmp_path: Path) -> None:
    for name, content in {"clear.db": b"SQLite format 3\x00" * 10, "short.db": b"memento\x01", "empty.db": b""}.items():
        (tmp_path / name).write_bytes(content)
        assert encryption.key_id_of(str(tmp_path / name)) == ""
    assert encryption.key_id_of(str(tmp_path / "missing.db")) == ""
    assert encryption.key_id_of(str(tmp_path)) == ""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel lists locks on Linux")
def test_asking_for_the_key_lets_go_of_no_lock_of_an_open_database(database: Path) -> None:
    connection = open_for_writing(database, busy_seconds=0)
    connection.execute("SELECT * FROM note").fetchall()
    number = f":{database.stat().st_ino} "

    def locks() -> list[str]:
        return [line.split(": ")[1] for line in Path("/proc/locks").read_text().splitlines() if number in line]

    before = locks()
    assert before
    assert encryption.key_id_of(str(database)) == KEY_ID
    assert locks() == before
    connection.close()


def test_every_way_of_opening_takes_the_key(database: Path) -> None:
    for opened in (
        open_for_writing(database, busy_seconds=0),
        open_for_writing(database, busy_seconds=0, alone=True),
        open_finished(database),
        open_without_writing(database, busy_seconds=0),
    ):
        assert opened.execute("SELECT text FROM note").fetchall() == [("perihelion",)]
        opened.close()


def test_a_locked_file_is_opened_by_nobody_and_says_how_to_unlock_it(database: Path) -> None:
    assert encryption.forget_key(KEY_ID)
    assert encryption.read_key(KEY_ID) is None
    for opening in (open_finished, lambda path: open_for_writing(path, busy_seconds=0)):
        with pytest.raises(LockedDatabase, match=KEY_ID):
            opening(database)
    with pytest.raises(LockedDatabase):
        HookStore(database)
    with pytest.raises(LockedWorkspace, match=r"is encrypted and locked.*`memento unlock`"):
        Database(database)
    assert not encryption.forget_key(KEY_ID)


def test_what_is_written_to_an_encrypted_file_and_its_log_is_encrypted(database: Path) -> None:
    connection = open_for_writing(database, busy_seconds=0)
    connection.execute("INSERT INTO note VALUES ('aphelion')")
    assert database.with_name("memento.db-wal").stat().st_size
    assert files_with("aphelion", database.parent) == []
    connection.close()
    assert files_with("aphelion", database.parent) == []


def test_a_page_that_was_changed_is_found(database: Path) -> None:
    content = bytearray(database.read_bytes())
    content[-100] ^= 1
    database.write_bytes(content)
    connection = open_finished(database)
    with pytest.raises(Exception, match="malformed"):
        connection.execute("SELECT * FROM note").fetchall()
    connection.close()


def test_indexes_and_drafts_of_an_encrypted_workspace_lie_in_memory(database: Path, memory: Path) -> None:
    paths = DataPaths(database.parent)
    for path in (paths.keyword_index, paths.semantic_index, paths.drafts, paths.code_notes(Path("/code"))):
        assert path.is_relative_to(memory)
    for path in (paths.database, paths.backups, paths.config, paths.engine_lock):
        assert path.is_relative_to(paths.root)
    database.unlink()
    assert paths.keyword_index.is_relative_to(paths.root)


def test_two_copies_of_a_directory_share_a_key_and_no_index(database: Path) -> None:
    other = database.parent.with_name("copy")
    other.mkdir()
    (other / "memento.db").write_bytes(database.read_bytes())
    assert DataPaths(other).key_id == DataPaths(database.parent).key_id
    assert DataPaths(other).keyword_index != DataPaths(database.parent).keyword_index


def test_a_key_is_readable_by_its_user_alone(database: Path, memory: Path) -> None:
    assert encryption.key_id_of(str(database)) == KEY_ID
    assert {path.stat().st_mode & 0o777 for path in (memory, memory / "keys")} == {0o700}
    assert [path.stat().st_mode & 0o777 for path in (memory / "keys").iterdir()] == [0o600]
    (memory / "keys").chmod(0o755)
    with pytest.raises(PermissionError, match="only you may use"):
        encryption.unlock(KEY_ID, KEY)


def test_without_a_folder_in_memory_nothing_has_a_place_in_clear(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encryption, "_is_in_memory", lambda _folder: False)
    paths = DataPaths(database.parent)
    with pytest.raises(DataDirectoryError, match="no place in memory"):
        _ = paths.keyword_index
    with pytest.raises(encryption.NoMemoryFolder):
        encryption.unlock(KEY_ID, KEY)
    assert encryption.read_key(KEY_ID) is None
    assert encryption.text_folders(KEY_ID) == []


def test_a_folder_that_others_may_enter_keeps_no_keys(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.parent.chmod(0o755)
    assert encryption.memory_folder() != memory
    monkeypatch.setattr(encryption, "_belongs_to", lambda _folder, _user: False)
    monkeypatch.setattr(os.path, "lexists", lambda _path: True)
    with pytest.raises(PermissionError, match="only you may use"):
        encryption.memory_folder()
