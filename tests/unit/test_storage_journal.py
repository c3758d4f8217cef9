from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from memento_tui.api import Workspace
from memento_tui.errors import InvalidField
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store
from tests.made import AGENT, PERSON, note, put, unguarded


@pytest.fixture
def written(workspace: Workspace) -> Store:
    """A store whose journal has entries of every sort: creation, change, several records, removal, undo, purge."""
    first = workspace.remember("one", title="t")
    workspace.update(first.id, content="two")
    workspace.remember_many([{"content": "three"}, {"content": "four"}])
    skip = workspace.skips.add("folder", "generated", "7d")
    workspace.skips.remove(skip.id)
    workspace.undo()
    secret = workspace.remember("sk-secret")
    workspace.purge(secret.id, "leaked")
    workspace.remember("last")
    assert workspace._store.journal.verify() is None
    return workspace._store


def _cells(store: Store, table: str) -> Iterator[tuple[str, str, object]]:
    """Yield every cell that has a value: its column, where it is, and the value."""
    connection = store.database.connection
    key = "rowid" if table == "entry" else "seq || '-' || ordinal"
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    for column in columns:
        for place, value in connection.execute(f"SELECT {key}, {column} FROM {table}").fetchall():  # noqa: S608 - names of this test
            if value is not None:
                yield column, f"{key} = {place!r}", value


def _altered(value: object) -> object:
    """Return a value of the same type that differs in one place."""
    if isinstance(value, int):
        return value + 1
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    text = str(value)
    return text[:-1] + ("x" if text[-1:] != "x" else "y") if text else "x"


@pytest.mark.parametrize("table", ["entry", "stored_change"])
def test_altering_any_cell_of_the_journal_is_reported(written: Store, table: str) -> None:
    connection = written.database.connection
    cells = list(_cells(written, table))
    assert len(cells) > 70
    for column, where, value in cells:
        connection.execute("BEGIN")
        try:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (_changed(table, column, value),))  # noqa: S608 - names of this test
        except apsw.ConstraintError:
            pass  # SQLite itself refused it
        else:
            assert written.journal.verify(), f"{table}.{column} where {where} was altered unseen"
        finally:
            connection.execute("ROLLBACK")
    assert written.journal.verify() is None


def _changed(table: str, column: str, value: object) -> object:
    return "agent" if (table, column, value) == ("entry", "actor", "person") else _altered(value)


def test_every_byte_of_a_text_and_of_a_hash_counts(written: Store) -> None:
    connection = written.database.connection
    image = connection.execute("SELECT image FROM stored_change WHERE seq = 1").fetchone()[0]
    digest = connection.execute("SELECT hash FROM entry WHERE seq = 2").fetchone()[0]
    for place in range(len(image)):
        connection.execute("BEGIN")
        altered = image[:place] + ("#" if image[place] != "#" else "+") + image[place + 1 :]
        connection.execute("UPDATE stored_change SET image = ? WHERE seq = 1", (altered,))
        assert (
            written.journal.verify()
            == f"The text of memory {written.journal.changes(1)[0].record_id} in entry 1 was altered."
        )
        connection.execute("ROLLBACK")
    for place in range(len(digest)):
        connection.execute("BEGIN")
        altered_hash = digest[:place] + bytes([digest[place] ^ 128]) + digest[place + 1 :]
        connection.execute("UPDATE entry SET hash = ? WHERE seq = 2", (altered_hash,))
        assert written.journal.verify() == "Entry 2 was altered, or the one before it was."
        connection.execute("ROLLBACK")


def test_an_entry_that_was_deleted_is_reported_wherever_it_stood(written: Store) -> None:
    connection = written.database.connection
    for seq in range(1, written.journal.head() + 1):
        for statements in (
            ["DELETE FROM entry WHERE seq = ?"],
            ["DELETE FROM stored_change WHERE seq = ?"],
            ["DELETE FROM entry WHERE seq = ?", "DELETE FROM stored_change WHERE seq = ?"],
        ):
            connection.execute("BEGIN")
            for statement in statements:
                connection.execute(statement, (seq,))
            assert written.journal.verify(), f"entry {seq} was deleted unseen by {statements}"
            connection.execute("ROLLBACK")


def test_entries_cut_off_at_the_end_are_reported(written: Store) -> None:
    connection = written.database.connection
    for statement in ("DELETE FROM entry WHERE seq > 2", "DELETE FROM stored_change WHERE seq > 2"):
        connection.execute(statement)
    assert "its entry is missing" in str(written.journal.verify())


def test_an_entry_that_was_put_in_between_is_reported(written: Store) -> None:
    connection = written.database.connection
    connection.execute("UPDATE stored_change SET seq = seq + 100 WHERE seq > 2")
    connection.execute("UPDATE entry SET seq = seq + 100 WHERE seq > 2")
    connection.execute("UPDATE stored_change SET seq = seq - 99 WHERE seq > 100")
    connection.execute("UPDATE entry SET seq = seq - 99 WHERE seq > 100")
    assert written.journal.verify() == "Entry 3 is missing from the journal."


def test_a_row_written_past_the_journal_is_reported(written: Store) -> None:
    connection = written.database.connection
    connection.execute("UPDATE memory SET version = version + 1, content = 'forged' WHERE content = 'last'")
    assert "was written without an entry in the journal" in str(written.journal.verify())


def test_emptying_a_text_without_a_purge_is_reported(written: Store) -> None:
    written.database.connection.execute("UPDATE stored_change SET image = NULL, nonce = NULL WHERE seq = 3")
    assert "was removed, and no later entry says so" in str(written.journal.verify())


def test_a_text_put_in_place_of_a_purged_one_is_reported(written: Store) -> None:
    written.database.connection.execute("UPDATE stored_change SET image = '{}' WHERE nonce IS NULL AND NOT removed")
    assert "was altered" in str(written.journal.verify())


def test_an_entry_says_who_wrote_it_when_and_through_what(tmp_path: Path) -> None:
    store = Store(tmp_path / "memento.db")
    put(store, note("one"), author=AGENT)
    put(store, note("two"))
    second, first = store.journal.entries()
    assert (first.actor, first.agent, first.session, first.channel, first.action) == (
        "agent",
        "claude",
        "s1",
        "mcp",
        "remember",
    )
    assert (second.seq, second.actor, second.origin, second.at > first.at) == (2, "person", first.origin, True)
    assert len({first.id, second.id}) == 2
    store.close()


def test_a_block_that_changes_nothing_or_fails_leaves_no_entry(tmp_path: Path) -> None:
    store = Store(tmp_path / "memento.db")
    with unguarded(store, PERSON, "nothing"):
        pass
    with pytest.raises(InvalidField), unguarded(store, PERSON, "failing") as tx:
        tx.put(tx.put(note("one"), base=0) and note(""), base=0)
    assert (store.journal.head(), store.memories.count_all(), store.journal.entries()) == (0, 0, [])
    store.close()


def test_entries_are_read_in_pages_both_ways(tmp_path: Path) -> None:
    store = Store(tmp_path / "memento.db")
    for number in range(5):
        put(store, note(str(number)))
    assert [entry.seq for entry in store.journal.entries(limit=2)] == [5, 4]
    assert [entry.seq for entry in store.journal.entries(before=4, limit=2)] == [3, 2]
    assert [entry.seq for entry in store.journal.entries_after(3)] == [4, 5]
    store.close()


def test_changed_memories_are_told_by_whole_entries(workspace: Workspace) -> None:
    first = workspace.remember("one")
    many = [memory.id for memory in workspace.remember_many([{"content": str(number)} for number in range(3)])]
    workspace.skips.add("folder", "generated", "7d")
    store = workspace._store
    assert store.journal.changed_memories(0, 1) == ([first.id], 1)
    assert store.journal.changed_memories(1, 1) == (many, 3)
    assert store.journal.changed_memories(0, 100) == ([first.id, *many], 3)
    assert store.journal.changed_memories(3, 100) == ([], 3)


def test_use_is_counted_beside_the_journal(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    workspace.used([memory.id])
    workspace._store.usage.count("memory", [memory.id], shown=2)
    counted = workspace.get(memory.id)
    assert (counted.used_count, counted.shown_count, counted.version) == (1, 2, 1)
    assert counted.last_used_at is not None
    assert workspace._store.journal.head() == 1
    edited = workspace.update(memory.id, content="two").memory
    assert workspace.get(memory.id).used_count == 1
    assert edited.version == 2
    assert "used_count" not in str(workspace._store.journal.changes(2)[0].image)


def test_a_long_name_that_is_no_text_is_shortened_like_any_other() -> None:
    long = Author(actor="agent", agent="claude", channel="mcp", session="s" * 400)
    odd = Author(actor="agent", agent="claude", channel="mcp", session="\ud800" * 400)
    assert len(odd.session) == len(long.session)
