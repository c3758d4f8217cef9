"""A database that is closed while another thread reads it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memento_tui.storage.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "memento.db")
    yield opened
    opened.close()


def test_a_query_of_another_thread_ends_as_if_nothing_was_closed(database: Database) -> None:
    is_asked, is_closed = threading.Event(), threading.Event()

    def wait(number: int) -> int:
        is_asked.set()
        is_closed.wait(60)
        return number

    def ask() -> list[int]:
        with database.reading() as connection:
            connection.create_function("wait", 1, wait)
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


def test_the_connection_of_the_closing_thread_is_closed_at_once(database: Database) -> None:
    held = database.connection
    database.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        held.execute("SELECT 1")
