from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.errors import InvalidInput
from memento_tui.formats.base import ImportRecord
from memento_tui.formats.import_export import run_export, run_import
from memento_tui.formats.protocol import sqlite
from memento_tui.formats.protocol.rows import RowContext
from memento_tui.formats.registry import detect_format
from memento_tui.formats.sqlite_reader import open_read_only
from memento_tui.model import Relation, WorkingItem, make_memory
from tests.unit.format_reading import Reading, reading
from tests.unit.protocol_sources import database, rows

NAME = "protocol-sqlite"


def memory(identity: str = "a1b2c3d4", **columns: object) -> dict[str, Any]:
    return {"id": identity, "content": f"The text of {identity}.", "created_at": "2026-02-14 10:00:00", **columns}


def skip(identity: str = "5c1b0001", **columns: object) -> dict[str, Any]:
    return {"id": identity, "item": "aurora", "reason": "Kp is low", "expires_at": "2027-02-20", **columns}


def read(path: Path) -> Reading:
    return reading(sqlite.read(path))


def one(path: Path, record: str = "memory") -> ImportRecord:
    (found,) = [one for one in read(path).taken if one.record == record]
    return found


def test_a_row_becomes_a_memory(tmp_path: Path) -> None:
    columns = {"type": "decision", "tags": '["api","source:distill:x"]', "expires_at": "2030-01-01T00:00:00.000Z"}
    found = read(database(tmp_path / "dev.db", memories=[memory(**columns)]))
    assert found.memories["a1b2c3d4"] == make_memory(
        {
            "id": "a1b2c3d4",
            "content": "The text of a1b2c3d4.",
            "kind": "decision",
            "tags": ["api"],
            "system_tags": ["source:distill:x"],
            "source_type": "derived",
            "created_at": "2026-02-14T10:00Z",
            "expires_at": "2030-01-01",
        }
    )
    assert (found.only.file, found.only.line) == ("dev.db/memories", 1)


def test_an_import_takes_everything_and_an_export_gives_every_row_back(workspace: Workspace, tmp_path: Path) -> None:
    linkages = (
        '[{"type":"memory","id":"a1b2c3d5","label":"consolidated-from"},{"type":"file","path":"a.py","label":"source"},'
        '{"type":"item","id":"1e000001"},{"type":"memory","id":"ffffffff"},{"type":"odd"}]'
    )
    source = database(
        tmp_path / "dev.db",
        memories=[
            memory(access_count=7, relevance=0.25, last_accessed_at="2026-03-01 08:00:00", type="insight", mood="calm"),
            memory("a1b2c3d5", consolidated=1, consolidated_into="a1b2c3d6", tags='[ "api" ]', created_at="once"),
            memory("a1b2c3d6", linkages=linkages, images='[{"key":"k","filename":"a.png"}]', embedded_at="2026-01-01"),
            memory("a1b2c3d7", consolidated=1, consolidated_into="c0000001", vector=b"\x00\xff", rank=float("inf")),
            memory("a1b2c3d8", content="enc:AAAAAAAAAAAAAAAA:BBBB"),
        ],
        consolidations=[{"id": "c0000001", "summary": "In short.", "source_ids": '["a1b2c3d7"]', "tags": '["api"]'}],
        skip_list=[skip(), skip("5c1b0002", expires_at="never"), skip("5c1b0003", expires_at="2020-01-01")],
        working_memory_items=[
            {"id": "1e000001", "category": "active_work", "title": "Search", "priority": 3, "next_action": "test"},
            {"id": "1e000002", "category": "skip_list", "title": "Never", "status": "paused", "tags": '["x"]'},
            {"id": "1e000003", "category": "strange", "title": "Two\nlines", "status": "odd", "priority": "high"},
        ],
        working_memory_sections=[
            {"section_key": "active_work", "heading": "Active Work", "content": ""},
            {"section_key": "mine", "heading": "My Own", "content": "Words.\n"},
        ],
        identity_snapshots=[
            {"id": "1d000001", "crystal": "I was.", "created_at": "2026-01-01 00:00:00", "source_count": 3},
            {"id": "1d000002", "crystal": "I am.", "created_at": "2026-02-01 00:00:00"},
        ],
        access_log=[{"memory_id": "a1b2c3d4", "query": "what"}] * 3,
        activity_log=[{"action": "create", "memory_id": "a1b2c3d4"}],
        workspace_settings=[{"key": "recall_alpha", "value": "0.5"}],
    )
    report = run_import(workspace, NAME, source)
    assert [(one.file, one.line) for one in report.refused] == [("dev.db/memories", 0)]
    (identity,) = workspace.review.list()[0]
    workspace.review.approve(identity.proposal.id)
    written = run_export(workspace, tmp_path / "out", format_name=NAME)
    assert (written.files, written.left_out, written.refused) == (1, 0, ())
    assert rows(tmp_path / "out" / "default.db") == rows(source)
    head = workspace._store.journal.head()
    again = run_import(workspace, NAME, source)
    assert (again.imported, again.updated, again.unchanged) == (0, 0, report.imported + 1)
    assert workspace._store.journal.head() == head


def test_what_was_consolidated_is_joined_to_what_stands_for_it(workspace: Workspace, tmp_path: Path) -> None:
    run_import(
        workspace,
        NAME,
        database(
            tmp_path / "dev.db",
            memories=[
                memory(),
                memory("a1b2c3d5", consolidated=1, consolidated_into="a1b2c3d4"),
                memory("a1b2c3d6", consolidated=1, consolidated_into="c0000001"),
            ],
            consolidations=[{"id": "c0000001", "summary": "In short.", "source_ids": '["a1b2c3d6"]'}],
        ),
    )
    joined = {(one.src, one.type, one.dst) for one in workspace._store.all_of(Relation)}
    assert joined == {
        ("a1b2c3d4", "consolidated_from", "a1b2c3d5"),
        ("c0000001", "consolidated_from", "a1b2c3d6"),
    }
    statuses = {one.id: one.status for batch in workspace._store.memories.batches() for one in batch}
    assert statuses["a1b2c3d5"] == "consolidated"
    assert statuses["c0000001"] == "active"


def test_a_linkage_becomes_a_relation_with_its_label(workspace: Workspace, tmp_path: Path) -> None:
    linkages = '[{"type":"memory","id":"a1b2c3d5","label":"see"},{"type":"file","path":"src/a.py"}]'
    source = database(tmp_path / "dev.db", memories=[memory(linkages=linkages), memory("a1b2c3d5")])
    run_import(workspace, NAME, source)
    joined = {(one.type, one.dst, one.label) for one in workspace._store.all_of(Relation)}
    assert joined == {("related", "a1b2c3d5", "see"), ("file", "src/a.py", "")}


@pytest.mark.parametrize("end", ["never", "", "7d", "soon", "2026-13-45"])
def test_a_skip_without_a_real_end_becomes_a_standing_decision(tmp_path: Path, end: str) -> None:
    found = one(database(tmp_path / "dev.db", skip_list=[skip(expires_at=end)]), "item")
    assert found.fields["category"] == "standing_decision"
    assert (found.fields["title"], found.fields["content"]) == ("Skip: aurora", "Kp is low")


def test_a_standing_decision_that_the_person_ended_is_no_skip_any_more(workspace: Workspace, tmp_path: Path) -> None:
    run_import(workspace, NAME, database(tmp_path / "dev.db", skip_list=[skip(expires_at="never")]))
    (decision,) = workspace._store.all_of(WorkingItem)
    workspace.items.update(decision.id, status="completed")
    run_export(workspace, tmp_path / "out", format_name=NAME)
    assert rows(tmp_path / "out" / "default.db")["skip_list"] == []


def test_being_read_and_rated_is_no_change_of_a_memory(workspace: Workspace, tmp_path: Path) -> None:
    source = database(tmp_path / "dev.db", memories=[memory()])
    run_import(workspace, NAME, source)
    _execute(source, "UPDATE memories SET access_count = 9, relevance = 0.1, last_accessed_at = '2026-03-01 00:00:00'")
    assert run_import(workspace, NAME, source).unchanged == 1
    _execute(source, "UPDATE memories SET content = 'Changed.'")
    assert run_import(workspace, NAME, source).updated == 1
    assert workspace.get("a1b2c3d4").content == "Changed."


def _execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def test_what_a_person_changed_here_is_what_an_export_says(workspace: Workspace, tmp_path: Path) -> None:
    columns = {"tags": '[ "old" ]', "type": "insight", "expires_at": "2030-01-01"}
    run_import(workspace, NAME, database(tmp_path / "dev.db", memories=[memory(**columns)]))
    workspace.update("a1b2c3d4", tags=["new"], expires_at=None)
    run_export(workspace, tmp_path / "out", format_name=NAME)
    (row,) = rows(tmp_path / "out" / "default.db")["memories"]
    assert (row["tags"], row["type"]) == ('["new"]', "insight")
    assert "expires_at" not in row


def test_an_export_adds_columns_in_the_order_of_the_source(workspace: Workspace, tmp_path: Path) -> None:
    names = [f"column{number}" for number in range(12)]
    run_import(workspace, NAME, database(tmp_path / "dev.db", memories=[memory(**dict.fromkeys(names, "x"))]))
    run_export(workspace, tmp_path / "out", format_name=NAME)
    with closing(sqlite3.connect(tmp_path / "out" / "default.db")) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(memories)")]
    assert columns[-len(names) :] == names


def test_of_two_workspaces_with_one_id_one_keeps_it_and_the_other_names_itself(
    workspace: Workspace, tmp_path: Path
) -> None:
    folder = tmp_path / "all"
    database(folder / "default.db", memories=[memory(), memory("a1b2c3d5")])
    database(folder / "projects" / "app.db", memories=[memory(), memory("a1b2c3d6")])
    report = run_import(workspace, NAME, folder)
    assert (report.imported, report.renamed) == (4, 1)
    found = [one for batch in workspace._store.memories.batches() for one in batch]
    assert sorted(one.namespace for one in found) == ["global", "global", "projects/app", "projects/app"]
    assert {one.id for one in found} == {"a1b2c3d4", "a1b2c3d4@projects/app", "a1b2c3d5", "a1b2c3d6"}
    assert workspace.get("a1b2c3d4").namespace == "global"
    again = run_import(workspace, NAME, folder)
    assert (again.imported, again.unchanged, again.renamed) == (0, 4, 0)
    run_export(workspace, tmp_path / "out", format_name=NAME)
    for name in ("default.db", "projects/app.db"):
        assert rows(tmp_path / "out" / name) == rows(folder / name)
    database(folder / "copy.db", memories=[memory(), memory("a1b2c3d5")])
    again = run_import(workspace, NAME, folder)
    assert (again.imported, again.renamed, again.refused) == (2, 2, [])
    kept = {one.namespace for batch in workspace._store.memories.batches() for one in batch if one.id == "a1b2c3d5"}
    assert kept == {"global"}
    assert workspace.get("a1b2c3d5@copy").namespace == "copy"


def test_encrypted_rows_are_kept_told_of_and_never_recalled(workspace: Workspace, tmp_path: Path) -> None:
    locked = "enc:AAAAAAAAAAAAAAAA:BBBBBBBBBBBB"
    source = database(tmp_path / "dev.db", memories=[memory(content=locked)], skip_list=[skip(item=locked)])
    report = run_import(workspace, NAME, source)
    assert [one.file for one in report.refused] == ["dev.db/memories", "dev.db/skip_list"]
    assert "protocol-rest" in report.refused[0].reason
    assert list(workspace._store.memories.batches()) == []
    assert {one.status for one in workspace._store.all_of(WorkingItem)} == {"archived"}
    run_export(workspace, tmp_path / "out", format_name=NAME)
    assert rows(tmp_path / "out" / "default.db") == rows(source)


def test_accounts_and_keys_are_left_where_they_are(workspace: Workspace, tmp_path: Path) -> None:
    source = database(tmp_path / "dev.db", memories=[memory()])
    _execute(source, "CREATE TABLE api_keys (id TEXT, key_hash TEXT)")
    _execute(source, "INSERT INTO api_keys VALUES ('k', 'the-hash')")
    assert [one.file for one in run_import(workspace, NAME, source).refused] == ["dev.db/api_keys"]
    assert b"the-hash" not in workspace.paths.database.read_bytes()


@pytest.mark.parametrize(
    ("statement", "line", "reason"),
    [
        ("INSERT INTO memories (id, content) VALUES ('b', '   ')", 2, "has no content"),
        ("INSERT INTO memories (id, content) VALUES ('b', x'00ff')", 2, "has no content"),
        ("INSERT INTO memories (id, content) VALUES ('b', CAST(x'fffe41' AS TEXT))", 2, "not UTF-8"),
        ("INSERT INTO memories (id, content) VALUES ('b', CAST(zeroblob(17000000) AS TEXT))", 2, "cannot be read"),
        ("INSERT INTO memories (id, content) VALUES ('b', 'a' || char(0))", 2, "NUL"),
        ("INSERT INTO memories (id, content) VALUES ('b', hex(zeroblob(200000)))", 2, "the limit is"),
    ],
)
def test_a_broken_row_costs_only_itself(
    workspace: Workspace, tmp_path: Path, statement: str, line: int, reason: str
) -> None:
    source = database(tmp_path / "dev.db", memories=[memory()])
    _execute(source, statement)
    _execute(source, "INSERT INTO memories (id, content) VALUES ('c', 'After it.')")
    report = run_import(workspace, NAME, source)
    assert report.imported == 2
    (refused,) = report.refused
    assert (refused.file, refused.line) == ("dev.db/memories", line)
    assert reason in refused.reason


def test_a_row_without_an_id_is_told_apart_by_its_place(tmp_path: Path) -> None:
    source = database(tmp_path / "dev.db", memories=[memory(id=None), memory(id="  ")])
    assert read(source).keys == ["dev.db/memories:1", "dev.db/memories:2"]


def test_rows_without_ids_in_several_files_are_told_apart_by_their_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        database(tmp_path / f"{name}.db")
        with closing(sqlite3.connect(tmp_path / f"{name}.db")) as connection, connection:
            connection.execute("INSERT INTO memories (id, content) VALUES (NULL, ?)", [f"text of {name}"])
    found = read(tmp_path)
    assert found.refused == []
    assert sorted(memory.content for memory in found.memories.values()) == ["text of a", "text of b"]


def test_an_older_table_has_fewer_columns(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "old.db")) as connection, connection:
        connection.execute("CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT NOT NULL)")
        connection.execute("INSERT INTO memories VALUES ('a', 'Old.')")
    found = read(tmp_path / "old.db").only
    assert (found.fields["content"], found.fields["kind"], "extra" in found.fields) == ("Old.", "observation", False)


def test_a_damaged_file_is_one_sentence_and_what_can_be_read_is_taken(tmp_path: Path) -> None:
    source = database(tmp_path / "dev.db", memories=[memory(f"{n:08x}", content="x" * 900) for n in range(200)])
    data = bytearray(source.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 8192] = b"\xff" * 8192
    (tmp_path / "torn.db").write_bytes(data)
    (tmp_path / "short.db").write_bytes(data[:5000])
    (tmp_path / "text.db").write_text("no database at all, but long enough to be taken for one " * 10)
    found = read(tmp_path / "torn.db")
    assert found.refused
    assert found.taken
    for name in ("short.db", "text.db"):
        assert read(tmp_path / name).refused[0].file.startswith(name)


def test_another_database_is_refused_with_the_reason(tmp_path: Path) -> None:
    _execute(tmp_path / "other.db", "CREATE TABLE notes (id)")
    assert "without the tables" in read(tmp_path / "other.db").only_refused.reason
    _execute(tmp_path / "view.db", "CREATE VIEW memories AS SELECT 1 AS id, 'x' AS content")
    assert "without the tables" in read(tmp_path / "view.db").only_refused.reason


def test_reading_changes_nothing_of_the_source(workspace: Workspace, tmp_path: Path) -> None:
    source = database(tmp_path / "source" / "dev.db", memories=[memory()], access_log=[{"memory_id": "x"}])
    before = hashlib.sha256(source.read_bytes()).digest()
    run_import(workspace, NAME, source)
    assert hashlib.sha256(source.read_bytes()).digest() == before
    assert [path.name for path in source.parent.iterdir()] == ["dev.db"]


def test_a_database_with_a_write_ahead_log_is_read_whole_and_left_alone(tmp_path: Path) -> None:
    source = database(tmp_path / "dev.db", memories=[memory()])
    with closing(sqlite3.connect(source)) as server:
        server.execute("PRAGMA journal_mode = WAL")
        server.execute("INSERT INTO memories (id, content) VALUES ('a1b2c3d5', 'In the log.')")
        server.commit()
        assert read(source).keys == ["a1b2c3d4", "a1b2c3d5"]
        server.execute("INSERT INTO memories (id, content) VALUES ('a1b2c3d6', 'The server goes on.')")
        server.commit()
    assert read(source).keys == ["a1b2c3d4", "a1b2c3d5", "a1b2c3d6"]
    assert [path.name for path in tmp_path.iterdir()] == ["dev.db"]


def test_a_log_that_grows_is_kept_in_parts_and_only_the_last_one_changes(workspace: Workspace, tmp_path: Path) -> None:
    log = [{"memory_id": "a", "query": "q" * 900, "accessed_at": "2026-01-01 00:00:00"}] * 1000
    source = database(tmp_path / "dev.db", memories=[memory("a")], access_log=log)
    assert run_import(workspace, NAME, source).imported == 4
    _execute(source, "INSERT INTO access_log (memory_id, query) VALUES ('a', 'one more')")
    again = run_import(workspace, NAME, source)
    assert (again.imported, again.updated, again.unchanged) == (0, 1, 3)
    run_export(workspace, tmp_path / "out", format_name=NAME)
    assert rows(tmp_path / "out" / "default.db")["access_log"] == rows(source)["access_log"]


def test_what_no_agent_may_see_is_not_exported(tmp_path: Path) -> None:
    memories = [
        make_memory({"id": status, "content": status, "status": status})
        for status in ("active", "pending", "rejected", "deleted", "archived", "superseded")
    ]
    written = sqlite.write(memories, tmp_path)
    assert (written.records, written.left_out) == (3, 3)
    found = {row["id"]: (row["content"], row["consolidated"]) for row in rows(tmp_path / "default.db")["memories"]}
    assert found == {
        "active": ("active", 0),
        "archived": ("archived", 1),
        "superseded": ("superseded", 1),
    }


def test_hostile_leftovers_cost_no_more_than_themselves(tmp_path: Path) -> None:
    extras: list[Any] = [
        {"row": {'x" , "y': 1, "tags": 7, "id": ["a"]}, "id": 5, "linkages": {"a": 1}, "consolidated_into": [1]},
        {"row": {"content": {"$blob": "%%%"}, "big": 2**80}},
        {"row": [1], "absent": "x", "rows": 3, "table": ["t"]},
        "text",
    ]
    memories = [
        make_memory({"id": f"m{n}", "content": f"text {n}", "extra": {"memento-protocol": extra}})
        for n, extra in enumerate(extras)
    ]
    written = sqlite.write(memories, tmp_path)
    texts = {row["content"] for row in rows(tmp_path / "default.db")["memories"]}
    assert texts == {"text 0", "text 2", "text 3"}
    assert [one.file for one in written.refused] == ["default.db/memories"]


def test_nothing_that_a_file_computes_is_asked_for(tmp_path: Path) -> None:
    """A view, a computed column and a virtual table in disguise may each take any time, or any memory."""
    path = tmp_path / "dev.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            CREATE TABLE skip_list (id, item, "a "" b", huge GENERATED ALWAYS AS (zeroblob(15000000)));
            INSERT INTO skip_list VALUES ('s', 'aurora', 7), ('t', 'kp', 8);
            CREATE VIEW memories AS
                WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
                SELECT x AS consolidated_into, x AS id FROM n;
            CREATE VIRTUAL TABLE consolidations USING fts5(id);
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, 'CREATE VIRTUAL', 'CREATE/**/VIRTUAL')
                WHERE name = 'consolidations';
            """
        )
    with open_read_only(path) as found:
        assert found.columns("memories") == found.columns("consolidations") == []
        assert list(found.rows("memories", "x")) == list(found.rows("consolidations", "x")) == []
        assert list(found.rows("skip_list", "x")) == [
            (1, {"id": "s", "item": "aurora", 'a " b': 7}),
            (2, {"id": "t", "item": "kp", 'a " b': 8}),
        ]


def test_no_computed_column_is_asked_for_by_a_name_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "dev.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            CREATE TABLE memories (content, consolidated_into, id GENERATED ALWAYS AS (zeroblob(999)));
            INSERT INTO memories VALUES ('The port is 8080.', 'a');
            CREATE TABLE consolidations (id);
            INSERT INTO consolidations VALUES ('c');
            CREATE TABLE skip_list (id, RowId GENERATED ALWAYS AS (zeroblob(999)));
            INSERT INTO skip_list VALUES ('s');
            CREATE TABLE identity_snapshots (rowid TEXT, created_at);
            INSERT INTO identity_snapshots VALUES ('i', 'now');
            """
        )
    asked: set[str] = set()

    def note(action: int, table: str | None, column: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            asked.add(f"{table}.{column}".lower())
        return sqlite3.SQLITE_OK

    with open_read_only(path) as found:
        found.connection.set_authorizer(note)
        list(sqlite._DatabaseReader(found, "dev.db", RowContext()).records())
    assert "memories.content" in asked
    assert asked.isdisjoint(["memories.id", "skip_list.rowid", "identity_snapshots.rowid"])


def test_an_export_writes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "default.db").write_text("mine")
    with pytest.raises(InvalidInput, match="is there already"):
        sqlite.write([make_memory({"content": "x"})], tmp_path)
    assert (tmp_path / "default.db").read_text() == "mine"


def test_the_databases_of_an_export_are_found_further_below(tmp_path: Path) -> None:
    database(tmp_path / "projects" / "app.db", memories=[memory()])
    assert detect_format(tmp_path) == NAME


def test_the_format_of_a_database_is_guessed(tmp_path: Path) -> None:
    source = database(tmp_path / "in" / "dev.db", memories=[memory()])
    assert detect_format(source) == NAME
    assert detect_format(source.parent) == NAME


def test_native_memories_make_a_database_that_comes_back_the_same(workspace: Workspace, tmp_path: Path) -> None:
    kept = workspace.remember("Words of our own.", tags=["one"], kind="decision")
    workspace.skips.add("aurora", "Kp is low", "30d")
    workspace.items.create("Search", category="waiting_for", next_action="ask")
    run_export(workspace, tmp_path / "out", format_name=NAME)
    found = read(tmp_path / "out" / "default.db")
    assert found.refused == []
    assert {one.record for one in found.taken} == {"memory", "skip", "item"}
    (back,) = [make_memory(one.fields) for one in found.taken if one.record == "memory"]
    assert (back.id, back.content, back.tags, back.kind) == (kept.id, kept.content, kept.tags, kept.kind)
    assert (back.created_at, back.extra) == (kept.created_at, {})


def test_a_skip_that_a_person_removed_or_decided_does_not_come_back(workspace: Workspace, tmp_path: Path) -> None:
    place = tmp_path / "dev.db"
    database(place, skip_list=[skip(), skip("5c1b0002", item="borealis"), skip("5c1b0003", item="comets")])
    run_import(workspace, NAME, place)
    workspace.skips.remove("5c1b0001")
    workspace.skips.decide("5c1b0002")
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("UPDATE skip_list SET reason = 'Said again' WHERE id = '5c1b0001'")
    report = run_import(workspace, NAME, place)
    assert (report.imported, report.unchanged, report.refused) == (0, 3, [])
    assert [one.id for one in workspace.skips.list(ended=True)] == ["5c1b0003"]
    workspace.undo()
    assert {one.id for one in workspace.skips.list(ended=True)} == {"5c1b0002", "5c1b0003"}


def test_an_undone_import_of_skips_can_be_done_again(workspace: Workspace, tmp_path: Path) -> None:
    place = database(tmp_path / "dev.db", skip_list=[skip()])
    run_import(workspace, NAME, place)
    workspace.undo()
    assert workspace.skips.list(ended=True) == []
    assert run_import(workspace, NAME, place).imported == 1
    assert [one.id for one in workspace.skips.list(ended=True)] == ["5c1b0001"]


def test_a_skip_that_was_over_comes_back_only_where_the_source_gave_it_a_new_end(
    workspace: Workspace, tmp_path: Path
) -> None:
    place = database(tmp_path / "dev.db", skip_list=[skip(expires_at="2020-01-01")])
    run_import(workspace, NAME, place)
    maintain_workspace(workspace)
    assert workspace.skips.list(ended=True) == []
    assert run_import(workspace, NAME, place).unchanged == 1
    assert workspace.skips.list(ended=True) == []
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("UPDATE skip_list SET expires_at = '2027-02-20'")
    assert run_import(workspace, NAME, place).imported == 1
    assert [one.id for one in workspace.skips.list()] == ["5c1b0001"]
