"""A data directory that is missing, read-only, full, damaged or from the future: a sentence, and nothing lost."""

from __future__ import annotations

import codecs
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

import memento_tui
import memento_tui.search.keyword_index  # loaded while this process may still read every file
from memento_tui.api import Workspace
from memento_tui.errors import DataDirectoryError, InvalidInput
from memento_tui.model.filters import AllOf
from memento_tui.storage.failures import explain_failure
from memento_tui.storage.store import Store
from tests.made import WITHOUT_PACKED_IMAGES, note, put, without_engine

NOBODY = 65534


@contextmanager
def as_nobody() -> Iterator[None]:
    """Act as a user whom permissions bind, where the tests run as one whom they do not."""
    if os.geteuid() != 0:
        yield
        return
    codecs.lookup("utf-8-sig")  # a codec is read from a file too, where it is asked for first
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.fixture
def owned() -> Iterator[Path]:
    """A directory that belongs to the user of `as_nobody`, every folder above it open to them."""
    folder = Path(tempfile.mkdtemp(prefix="memento-faults-"))
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir():
            path.chmod(0o700)
    shutil.rmtree(folder)


def filled(data_dir: Path) -> Workspace:
    without_engine(data_dir)
    workspace = memento_tui.open(data_dir)
    workspace.remember("remembered before", title="before")
    return workspace


def test_a_missing_directory_is_made_unless_that_is_not_wanted(tmp_path: Path) -> None:
    missing = tmp_path / "not" / "yet"
    with pytest.raises(DataDirectoryError, match=f"There is no memento data in {missing}"):
        memento_tui.open(missing, create=False)
    assert not missing.exists()
    with memento_tui.open(missing) as workspace:
        workspace.remember("one")
    assert missing.stat().st_mode & 0o777 == 0o700
    with memento_tui.open(missing, create=False) as workspace:
        assert [memory.content for memory in workspace.list().items] == ["one"]


def test_a_file_where_the_directory_should_be_is_told_of(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("not a directory")
    for path in (file, file / "below"):
        with pytest.raises(DataDirectoryError, match=f"{path} cannot be made: "):
            memento_tui.open(path)
        with pytest.raises(DataDirectoryError, match="There is no memento data"):
            memento_tui.open(path, create=False)
    assert file.read_text() == "not a directory"


def test_a_directory_where_the_database_should_be_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "memento.db").mkdir()
    with pytest.raises(DataDirectoryError, match="cannot be opened"):
        Store(tmp_path / "memento.db")


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to be looked at" * 40, b"SQLite format 3"]
)
def test_a_file_that_is_no_database_is_told_of_and_kept(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "memento.db").write_bytes(content)
    with pytest.raises(DataDirectoryError, match=r"memento\.db is damaged") as caught:
        Store(tmp_path / "memento.db")
    assert "memento backup restore" in caught.value.hint
    assert (tmp_path / "memento.db").read_bytes() == content


def test_an_empty_file_is_a_store_that_was_not_begun(tmp_path: Path) -> None:
    (tmp_path / "memento.db").touch()
    store = Store(tmp_path / "memento.db")
    put(store, note("one"))
    store.close()


def test_a_database_of_a_newer_memento_is_left_alone(tmp_path: Path) -> None:
    filled(tmp_path / "d").close()
    path = tmp_path / "d" / "memento.db"
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA user_version = 99")
    connection.execute("CREATE TABLE from_the_future (a)")
    connection.close()
    with pytest.raises(DataDirectoryError, match="was written by a newer memento") as caught:
        memento_tui.open(tmp_path / "d")
    assert "Update memento" in caught.value.hint
    connection = apsw.Connection(str(path))
    assert connection.execute("SELECT count(*) FROM from_the_future").fetchone() == (0,)
    connection.close()


def test_a_database_of_the_first_format_is_brought_up_to_date_with_its_tags(tmp_path: Path) -> None:
    store = Store(tmp_path / "memento.db")
    put(store, note("one", tags=["Über", "API"]))
    connection = store.database.connection
    connection.execute("DELETE FROM memory_tag")
    connection.execute("INSERT INTO memory_tag SELECT value, number FROM memory, json_each(tags)")
    connection.execute("ALTER TABLE import_ledger DROP COLUMN said")
    connection.execute("DROP INDEX proposal_fingerprint")
    connection.execute("ALTER TABLE proposal DROP COLUMN fingerprint")
    for column in ("lowered", "later_until"):
        connection.execute(f"ALTER TABLE contradiction DROP COLUMN {column}")
    connection.execute("ALTER TABLE usage DROP COLUMN counted")
    for table in ("confirmation", "hook_session"):
        connection.execute(f"DROP TABLE {table}")
    lists = ("entry_list", "entry_note", "entry_day")
    for index in (
        *lists,
        "change_purged",
        "injection_memory",
        "memory_created",
        "memory_note_path",
        "memory_essential",
        "memory_foreign_id",
        "memory_session",
    ):
        connection.execute(f"DROP INDEX {index}")
    connection.execute("ALTER TABLE injection DROP COLUMN why")
    for statement in WITHOUT_PACKED_IMAGES:
        connection.execute(statement)
    connection.execute("PRAGMA user_version = 1")
    store.close()
    with memento_tui.open(tmp_path) as workspace:
        assert [len(workspace.list(f"tag:{tag}").items) for tag in ("über", "api", "none")] == [1, 1, 0]
        assert workspace._store.imports.of("memento:/a") == {}
        assert workspace._store.journal.verify() is None


def test_a_damaged_page_is_told_of_and_nothing_is_written(tmp_path: Path) -> None:
    store = Store(tmp_path / "memento.db")
    for number in range(50):
        put(store, note("x" * 3000 + str(number)))
    store.close()
    path = tmp_path / "memento.db"
    data = bytearray(path.read_bytes())
    data[8192:-4096] = b"\xa5" * (len(data) - 8192 - 4096)
    path.write_bytes(data)
    damaged = bytes(data)
    with pytest.raises(DataDirectoryError, match="is damaged"):
        _read_all(path)
    assert path.read_bytes() == damaged


def _read_all(path: Path) -> None:
    store = Store(path)
    try:
        list(store.memories.batches())
        store.journal.verify()
    finally:
        store.close()


def test_a_full_disk_is_told_of_changes_nothing_and_is_got_over(tmp_path: Path) -> None:
    with filled(tmp_path / "d") as workspace:
        connection = workspace._store.database.connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        head = workspace._store.journal.head()
        with pytest.raises(DataDirectoryError, match=r"The disk that holds .* is full\. Nothing was changed\."):
            workspace.remember("x" * 200_000)
        with pytest.raises(DataDirectoryError, match="is full"):
            workspace.remember_many({"content": f"{number}" * 2000} for number in range(200))
        assert (workspace._store.journal.head(), workspace._store.memories.count_all()) == (head, 1)
        assert workspace._store.journal.verify() is None
        connection.execute("PRAGMA max_page_count = 1000000")
        workspace.remember("x" * 200_000)
        assert workspace._store.memories.count_all() == 2
        assert workspace._store.journal.verify() is None


def test_a_database_that_may_only_be_read_says_so_and_keeps_reading(tmp_path: Path) -> None:
    with filled(tmp_path / "d") as workspace:
        workspace._store.database.connection.execute("PRAGMA query_only = ON")
        with pytest.raises(DataDirectoryError, match=f"{tmp_path / 'd'} is read-only") as caught:
            workspace.remember("more")
        assert "--data-dir or MEMENTO_HOME" in caught.value.hint
        assert [memory.title for memory in workspace.list().items] == ["before"]


def test_a_read_only_directory_can_be_read_and_searched_but_not_written(owned: Path) -> None:
    with as_nobody():
        with filled(owned / "d") as workspace:
            assert workspace.search("before").total == 1
        (owned / "d").chmod(0o500)
        (owned / "d" / "memento.db").chmod(0o400)
        with memento_tui.open(owned / "d") as workspace:
            assert [memory.title for memory in workspace.list().items] == ["before"]
            assert [hit.memory.title for hit in workspace.search("before").results] == ["before"]
            with pytest.raises(DataDirectoryError, match="is read-only"):
                workspace.remember("more")


def test_a_directory_that_nobody_may_enter_is_told_of(owned: Path) -> None:
    with as_nobody():
        filled(owned / "d").close()
        (owned / "d").chmod(0o000)
        with pytest.raises(DataDirectoryError, match="cannot be read: Permission denied"):
            memento_tui.open(owned / "d")
        with pytest.raises(DataDirectoryError, match="cannot be reached: Permission denied"):
            Store(owned / "d" / "memento.db")
        (owned / "d").chmod(0o700)
        with memento_tui.open(owned / "d") as workspace:
            assert workspace._store.memories.count_all() == 1


def test_a_directory_that_cannot_be_made_is_told_of(owned: Path) -> None:
    with as_nobody():
        owned.chmod(0o500)
        with pytest.raises(DataDirectoryError, match="cannot be made: Permission denied"):
            memento_tui.open(owned / "d")


@pytest.mark.parametrize(
    "text", ["[review]\npreset = 'lax'\n", "[engine]\ncolour = 1\n", "not toml", "[engine]\nenabled = 'perhaps'\n"]
)
def test_a_setting_that_does_not_exist_is_told_of_by_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(InvalidInput, match=r"config\.toml: ") as caught:
        memento_tui.open(tmp_path)
    assert "Mend the line" in caught.value.hint
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="is not UTF-8"):
        memento_tui.open(tmp_path)


def test_a_writer_that_waits_too_long_for_another_is_told_so(tmp_path: Path) -> None:
    with filled(tmp_path / "d") as workspace, filled_again(tmp_path / "d") as other:
        other._store.database.connection.execute("PRAGMA busy_timeout = 0")
        with workspace._store.database.writing():
            with pytest.raises(DataDirectoryError, match="Another program has been writing"):
                other.remember("more")
            assert [memory.title for memory in other.list().items] == ["before"]
        other.remember("more")
        assert other._store.memories.count(AllOf()) == 2


def filled_again(data_dir: Path) -> Workspace:
    return memento_tui.open(data_dir)


def test_every_failure_of_sqlite_becomes_a_sentence_with_a_next_step() -> None:
    for kind in (
        apsw.ReadOnlyError,
        apsw.FullError,
        apsw.CantOpenError,
        apsw.BusyError,
        apsw.LockedError,
        apsw.CorruptError,
        apsw.NotADBError,
        apsw.IOError,
    ):
        error = explain_failure(kind("what SQLite says"), Path("/data/memento.db"))
        assert error.message.endswith(".")
        assert error.hint.endswith(".")
        assert "/data" in error.message
