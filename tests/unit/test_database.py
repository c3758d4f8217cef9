"""One database: closed while another thread reads it, and the library that opens it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from memento_tui.errors import DataDirectoryError
from memento_tui.model.memory import make_exposure
from memento_tui.storage.connection import SQLITE_VERSION
from memento_tui.storage.database import Database
from memento_tui.storage.ledgers import ExposureLedger, UsageLedger


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "memento.db")
    yield opened
    opened.close()


def test_a_query_of_another_thread_ends_as_if_nothing_was_closed(database: Database) -> None:
    is_asked, is_closed = threading.Event(), threading.Event()

    def wait(*numbers: Any) -> int:  # noqa: ANN401 - a value of SQL
        is_asked.set()
        is_closed.wait(60)
        return int(numbers[0])

    def ask() -> list[int]:
        with database.reading() as connection:
            connection.create_scalar_function("wait", wait, 1)
            rows = connection.execute("WITH few(n) AS (VALUES (1), (2), (3)) SELECT wait(n) FROM few").fetchall()
            return [row[0] for row in rows]

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask)
        assert is_asked.wait(60)
        database.close()
        is_closed.set()
        assert answer.result(60) == [1, 2, 3]
        # The log goes with the last connection.
        assert not database.path.with_name("memento.db-wal").exists()


def test_the_connection_of_a_thread_that_reads_nothing_now_is_closed_at_once(database: Database) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: database.origin).result(60)
        database.close()
        assert not database.path.with_name("memento.db-wal").exists()


def test_a_read_that_was_not_taken_to_its_end_keeps_nobody_in_the_past(database: Database) -> None:
    def first_table() -> str:
        with database.reading() as connection:
            rows = connection.execute("SELECT name FROM sqlite_schema")
            return str(next(rows)[0])

    def count() -> int:
        with database.reading() as connection:
            return int(connection.execute("SELECT count(*) FROM setting WHERE name = 'a'").fetchone()[0])

    def write(value: str) -> None:
        with database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO setting (name, value) VALUES ('a', ?)", (value,))

    assert first_table()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(write, '"theirs"').result(60)
    assert count() == 1
    write('"mine"')


def test_the_connection_of_the_closing_thread_is_closed_at_once(database: Database) -> None:
    held = database.connection
    database.close()
    with pytest.raises(apsw.ConnectionClosedError):
        held.execute("SELECT 1")


def test_the_database_is_opened_by_a_sqlite_without_the_race_of_resetting_logs(database: Database) -> None:
    # Before 3.51.3 a commit could be lost where several connections wrote and moved the log into the file.
    (version,) = database.connection.execute("SELECT sqlite_version()").fetchone()
    assert version == SQLITE_VERSION
    assert tuple(map(int, version.split("."))) >= (3, 51, 3)


def test_a_text_that_is_not_utf8_is_explained_as_damage(database: Database) -> None:
    with pytest.raises(DataDirectoryError, match="is damaged"), database.reading() as connection:
        connection.execute("SELECT CAST(x'ff' AS TEXT)").fetchone()


def _set(database: Database, name: str) -> None:
    with database.writing() as connection:
        connection.execute("INSERT INTO setting VALUES (?, 'x')", (name,))


def _names(database: Database) -> set[str]:
    rows = database.connection.execute("SELECT name FROM setting WHERE name LIKE 'joined%'").fetchall()
    return {str(row[0]) for row in rows}


def test_joined_writes_are_seen_by_others_together(database: Database) -> None:
    with ThreadPoolExecutor(1) as pool:
        with database.joined_writes():
            _set(database, "joined one")
            _set(database, "joined two")
            assert pool.submit(_names, database).result(60) == set()
        assert pool.submit(_names, database).result(60) == {"joined one", "joined two"}


def test_a_joined_write_that_raises_is_undone_alone_and_those_before_it_hold(database: Database) -> None:
    def write_and_fail() -> None:
        with database.writing() as connection:
            connection.execute("INSERT INTO setting VALUES ('joined two', 'x')")
            raise KeyError("two")

    def join_and_fail() -> None:
        with database.joined_writes():
            _set(database, "joined one")
            write_and_fail()

    with pytest.raises(KeyError):
        join_and_fail()
    with database.joined_writes():
        _set(database, "joined three")
        with suppress(KeyError):
            write_and_fail()
        _set(database, "joined four")
    assert _names(database) == {"joined one", "joined three", "joined four"}


def test_a_write_after_joined_ones_is_committed_by_itself(database: Database) -> None:
    with database.joined_writes():
        _set(database, "joined one")
    _set(database, "joined two")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(_names, database).result(60) == {"joined one", "joined two"}


def test_after_a_write_that_did_not_wait_for_the_disk_the_next_one_does(database: Database) -> None:
    level = database.connection.pragma("synchronous")

    def write_and_fail() -> None:
        with database.writing(waits_for_disk=False):
            raise KeyError("one")

    with database.writing(waits_for_disk=False) as connection:
        assert connection.pragma("synchronous") < level
        connection.execute("INSERT INTO setting VALUES ('joined one', 'x')")
    with pytest.raises(KeyError):
        write_and_fail()
    with database.writing() as connection:
        assert connection.pragma("synchronous") == level
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(_names, database).result(60) == {"joined one"}


@pytest.mark.parametrize(("table", "waits"), [("injection", False), ("usage", False), ("confirmation", True)])
def test_what_was_shown_is_noted_without_a_wait_for_the_disk_and_what_was_of_use_with_one(
    database: Database, table: str, *, waits: bool
) -> None:
    connection = database.connection
    level = connection.pragma("synchronous")
    levels: list[int] = []

    def note_level(*_: Any) -> None:  # noqa: ANN401 - values of SQL
        levels.append(connection.pragma("synchronous"))

    connection.create_scalar_function("note_level", note_level, 0)
    connection.execute(f"CREATE TEMP TRIGGER noted AFTER INSERT ON {table} BEGIN SELECT note_level(); END")
    exposure = {"memory_id": "m1", "memory_version": 1, "session": "s1", "channel": "mcp", "rank": 1, "score": 0.5}
    if waits:
        UsageLedger(database).count("memory", ["m1"], used=1, session="s1")
    else:
        UsageLedger(database).count("memory", ["m1"], shown=1)
        ExposureLedger(database).add([make_exposure({**exposure, "tokens": 3})])
    assert [found == level for found in levels] == [waits]
