from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from memento_tui.errors import AmbiguousId, Conflict, InvalidInput, NotFound
from memento_tui.model import Memory, make_exposure, make_item, make_relation, make_skip
from memento_tui.model.filters import AllOf, HasTag
from memento_tui.storage.ledgers import ImportedRecord
from memento_tui.storage.store import Store
from tests.made import AGENT, NOW, PERSON, note, put, unguarded


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "memento.db")
    yield opened
    opened.close()


def test_a_record_is_read_back_as_it_was_written(store: Store) -> None:
    (memory,) = put(
        store,
        note(
            "line\n\x1b[2J \u202e [/nope]",
            tags=["é", "b"],
            system_tags=["source:x"],
            extra={"a": [None, 1.5, "\x00"]},
            pinned=True,
            surprise=0.25,
            expires_at=NOW,
            source={"agent": "claude"},
        ),
    )
    assert store.get(Memory, memory.id) == memory
    assert store.journal.image(Memory, memory.id, 1) == memory
    assert store.memories.page(AllOf()).items == [memory]
    assert store.memories.get_many([memory.id, "none"]) == {memory.id: memory}


def test_every_write_makes_the_next_version(store: Store) -> None:
    (memory,) = put(store, note("one", version=7))
    assert memory.version == 1
    with unguarded(store, PERSON, "edit") as tx:
        second = tx.put(msgspec.structs.replace(memory, content="two"), base=1)
        third = tx.put(msgspec.structs.replace(second, content="three"), base=2)
    assert (second.version, third.version) == (2, 3)
    assert [change.version for change in store.journal.changes(2)] == [2, 3]
    assert store.versions("memory", [memory.id, "none"]) == {memory.id: 3}


def test_a_change_from_an_older_version_is_a_conflict_with_both_sides(store: Store) -> None:
    (memory,) = put(store, note("one"))
    with unguarded(store, PERSON, "edit") as tx:
        tx.put(msgspec.structs.replace(memory, content="by a person"), base=1)
    mine = msgspec.structs.replace(memory, content="by an agent")
    with (
        pytest.raises(Conflict, match=r"you changed version 1, it is at 2\.") as caught,
        unguarded(store, AGENT, "edit") as tx,
    ):
        tx.put(mine, base=1)
    assert caught.value.current is not None
    assert caught.value.attempted is not None
    assert (caught.value.current["content"], caught.value.current["version"]) == ("by a person", 2)
    assert caught.value.attempted["content"] == "by an agent"
    assert set(caught.value.attempted) == set(type(memory).__struct_fields__)
    assert store.get(Memory, memory.id).content == "by a person"
    assert store.journal.head() == 2


def test_a_change_to_what_is_gone_and_a_new_record_with_a_known_id_are_conflicts(store: Store) -> None:
    (memory,) = put(store, note("one"))
    with pytest.raises(Conflict, match="exists already") as caught, unguarded(store, PERSON, "new") as tx:
        tx.put(note("two", id=memory.id), base=0)
    assert caught.value.current is not None
    assert caught.value.current["content"] == "one"
    with unguarded(store, PERSON, "remove") as tx:
        tx.remove(memory, base=1)
    for base in (1, 2):
        with pytest.raises(Conflict, match="is gone"), unguarded(store, PERSON, "edit") as tx:
            tx.put(memory, base=base)
        with pytest.raises(Conflict, match="is gone"), unguarded(store, PERSON, "remove") as tx:
            tx.remove(memory, base=base)


def test_many_records_are_written_at_once_and_all_or_none(store: Store) -> None:
    with unguarded(store, PERSON, "import") as tx:
        tx.add_all([note(str(number), tags=["t"], version=9) for number in range(10)])
    assert store.memories.count(HasTag("T")) == 10
    assert {memory.version for memory in store.memories.page(AllOf()).items} == {1}
    (known,) = put(store, note("known", id="known"))
    with pytest.raises(Conflict, match="One of these 2 records exists already"), unguarded(store, PERSON, "x") as tx:
        tx.add_all([note("new", id="new"), note("again", id=known.id)])
    assert store.find(Memory, "new") is None
    assert store.journal.verify() is None


def test_a_record_that_returns_goes_on_counting_its_versions(store: Store) -> None:
    (memory,) = put(store, note("one"))
    with unguarded(store, PERSON, "remove") as tx:
        tx.remove(memory, base=1)
    with unguarded(store, PERSON, "import") as tx:
        (again,) = tx.add_all([memory])
    assert again.version == 3
    assert store.get(Memory, memory.id).version == 3
    assert store.journal.verify() is None


def test_tags_follow_every_change(store: Store) -> None:
    (memory,) = put(store, note("one", tags=["API", "api", "Über"]))
    assert [store.memories.count(HasTag(tag)) for tag in ("api", "Api", "über", "ÜBER", "a")] == [1, 1, 1, 1, 0]
    with unguarded(store, PERSON, "edit") as tx:
        memory = tx.put(msgspec.structs.replace(memory, tags=("Straße",)), base=1)
    assert [store.memories.count(HasTag(tag)) for tag in ("api", "über", "STRASSE")] == [0, 0, 1]
    with unguarded(store, PERSON, "remove") as tx:
        tx.remove(memory, base=2)
    assert store.database.connection.execute("SELECT count(*) FROM memory_tag").fetchone()[0] == 0


def test_tags_are_counted_as_the_newest_memory_writes_them_and_only_where_it_is_recalled(store: Store) -> None:
    put(
        store,
        note("1", tags=["api", "web"]),
        note("2", tags=["API"]),
        note("3", tags=["api", "hidden"], status="pending"),
        note("4", tags=["gone"], status="deleted"),
    )
    assert store.memories.tags() == [("API", 2), ("web", 1)]
    assert store.memories.tags(1) == [("API", 2)]


def test_namespaces_are_counted_by_what_is_recalled(store: Store) -> None:
    put(store, note("1", namespace="a/b"), note("2", namespace="a/b"), note("3"), note("4", status="deleted"))
    assert store.memories.namespaces() == [("a/b", 2), ("global", 1)]


def test_an_id_is_found_by_a_prefix_that_only_it_has(store: Store) -> None:
    put(store, *(note(identity, id=identity) for identity in ("abc", "abcd", "abx", "x", "日本語")))
    assert store.resolve("memory", "abx") == "abx"
    assert store.resolve("memory", "abc") == "abc"
    assert store.resolve("memory", "abcd") == "abcd"
    assert store.resolve("memory", "x") == "x"
    assert store.resolve("memory", "日") == "日本語"
    with pytest.raises(AmbiguousId) as caught:
        store.resolve("memory", "ab")
    assert caught.value.candidates == ["abc", "abcd", "abx"]
    for unknown in ("", "b", "abcde", "%", "_", "ABX", "\x00"):
        with pytest.raises(NotFound, match="There is no memory whose id is or begins with"):
            store.resolve("memory", unknown)


@pytest.mark.parametrize("text", ["\ud800", "a\udcff"])
def test_text_that_no_database_can_hold_is_refused_in_words(store: Store, text: str) -> None:
    for ask in (
        lambda: store.resolve("memory", text),
        lambda: store.find(Memory, text),
        lambda: store.journal.history(Memory, text),
        lambda: store.memories.count(HasTag(text)),
        lambda: store.usage.count("memory", [text]),
    ):
        with pytest.raises(InvalidInput, match="is not UTF-8"):
            ask()


def test_twins_are_those_of_the_same_words_that_still_stand(store: Store) -> None:
    first, _, _ = put(store, note("Use  the API"), note("use the api", status="deleted"), note("another"))
    digest = store.database.connection.execute("SELECT digest FROM memory WHERE id = ?", (first.id,)).fetchone()[0]
    assert [memory.id for memory in store.memories.with_digest(digest)] == [first.id]
    assert store.memories.with_digest(b"none") == []


def test_lists_come_in_the_order_that_they_are_read_in(store: Store) -> None:
    soon = make_skip({"item": "a", "reason": "b", "expires_at": "1d"})
    late = make_skip({"item": "c", "reason": "d", "expires_at": "9d"})
    over = make_skip({"item": "e", "reason": "f", "expires_at": NOW - timedelta(days=900)}, stored=True)
    low, high = make_item({"title": "low"}), make_item({"title": "high", "priority": 5, "category": "waiting_for"})
    with unguarded(store, PERSON, "add") as tx:
        for record in (late, soon, over, low, high):
            tx.put(record, base=0)
    assert [skip.id for skip in store.lists.skips()] == [over.id, soon.id, late.id]
    assert [skip.id for skip in store.lists.skips(at=soon.created_at)] == [soon.id, late.id]
    assert [item.title for item in store.lists.items()] == ["high", "low"]
    assert [item.title for item in store.lists.items(category="waiting_for")] == ["high"]
    assert store.lists.items(status="archived") == []


def test_relations_are_found_from_both_ends(store: Store) -> None:
    one, two, three = put(store, note("1"), note("2"), note("3"))
    relation = make_relation({"src": one.id, "dst": two.id, "type": "supersedes"})
    with unguarded(store, PERSON, "relate") as tx:
        tx.put(relation, base=0)
    assert store.memories.relations_of(one.id) == store.memories.relations_of(two.id) == [relation]
    assert store.memories.relations_of(three.id) == []


@pytest.mark.parametrize(
    ("old", "new", "demoted"),
    [
        ({}, {}, True),
        ({"stability": "verified"}, {}, False),
        ({"stability": "verified"}, {"stability": "verified"}, True),
        ({}, {"status": "pending"}, False),
        ({}, {"status": "deleted"}, False),
    ],
)
def test_a_memory_is_superseded_by_one_that_is_recalled_and_not_less_trusted(
    store: Store, old: dict[str, str], new: dict[str, str], *, demoted: bool
) -> None:
    before, after = put(store, note("before", **old), note("after", **new))
    with unguarded(store, PERSON, "relate") as tx:
        tx.put(make_relation({"src": after.id, "dst": before.id, "type": "supersedes"}), base=0)
        tx.put(make_relation({"src": before.id, "dst": after.id, "type": "related"}), base=0)
    assert store.memories.successors([before.id, after.id]) == ({before.id: (after.id,)} if demoted else {})


def test_what_was_put_before_a_session_is_kept(store: Store) -> None:
    fields = {"memory_id": "a", "memory_version": 1, "session": "s", "rank": 1, "score": 0.5, "tokens": 10}
    store.exposures.add([make_exposure(fields), make_exposure({**fields, "rank": 2, "used_at": NOW})])
    rows = store.database.connection.execute("SELECT rank, used_at FROM injection ORDER BY rank").fetchall()
    assert [tuple(row) for row in rows] == [(1, None), (2, "2026-01-15T12:00:00.000000Z")]
    assert store.journal.head() == 0


def test_the_import_ledger_keeps_what_a_source_said(store: Store) -> None:
    (memory,) = put(store, note("here"))
    said = msgspec.json.encode(msgspec.structs.replace(memory, content="there")).decode()
    rows = [
        ImportedRecord("memento:/a", "memory:1", "memory", memory.id, b"d", 1),
        ImportedRecord("memento:/b", "memory:1", "memory", memory.id, b"d", 1, said),
    ]
    with unguarded(store, PERSON, "import") as tx:
        store.imports.write(tx, rows)
    assert store.imports.of("memento:/a") == {"memory:1": rows[0]}
    assert store.imports.of_others("memento:/a") == {("memory", memory.id): rows[1]}
    assert [store.imports.in_source(row).content for row in rows] == ["here", "there"]
    assert store.imports.in_source(ImportedRecord("memento:/a", "x", "memory", memory.id, b"d", 9)) is None


def test_each_thread_has_a_connection_of_its_own(store: Store) -> None:
    failures: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for turn in range(10):
                put(store, note(f"{number} {turn}"))
                assert store.memories.count_all() > 0
        except BaseException as error:  # noqa: BLE001 - told below
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert (store.memories.count_all(), store.journal.head()) == (40, 40)
    assert store.journal.verify() is None


def test_a_reader_sees_one_state_while_others_write(store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "memento.db")
    put(store, note("one"))
    with store.reading():
        assert store.memories.count_all() == 1
        put(other, note("two"))
        assert store.memories.count_all() == 1
    assert store.memories.count_all() == 2
    other.close()
