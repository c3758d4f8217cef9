from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memento_tui.model import make_memory
from memento_tui.paths import DataPaths
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store
from tests.made import unguarded
from tests.unit.cli_program import Program, without_engine

KEY = "AKIAQ3EGRXWBZJ5KTN7Y"


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    """A workspace of two memories, one without tags."""
    program = Program(without_engine(tmp_path / "data"))
    program.add("The port is 8080.", "--tag", "net")
    program.add("The users endpoint is /v2/users.")
    return program


def test_an_audit_tells_how_many_what_it_means_and_what_to_do(memento: Program) -> None:
    items = {item["code"]: item for item in memento.json("audit")["items"]}
    assert items["untagged"]["count"] == 1
    assert items["untagged"]["query"] == "is:untagged"
    assert items["secrets"]["count"] == 0
    assert all(item["means"] and item["todo"] and item["title"] for item in items.values())
    told = memento.run("audit").out
    assert "1  Without tags  (untagged)" in told
    assert "None found: secrets in stored text, " in told


def test_a_quick_audit_reads_no_texts_and_says_so(memento: Program) -> None:
    items = {item["code"]: item["count"] for item in memento.json("audit", "--quick")["items"]}
    assert (items["secrets"], items["copies"]) == (None, 0)
    assert "Not searched: secrets in stored text" in memento.run("audit", "--quick").out


def test_what_was_found_is_listed_in_pages(memento: Program) -> None:
    memento.add("Another endpoint is /v2/teams.")
    first = memento.json("audit", "--list", "untagged", "--limit", "1")
    second = memento.json("audit", "--list", "untagged", "--limit", "1", "--after", first["next"])
    assert [page["items"][0]["content"] for page in (first, second)] == [
        "Another endpoint is /v2/teams.",
        "The users endpoint is /v2/users.",
    ]
    assert "There are more: --after" in memento.run("audit", "--list", "untagged", "--limit", "1").out
    assert memento.run("audit", "--list", "copies").out == "None found.\n"


def test_a_secret_is_told_by_its_kind_and_place_and_never_printed(memento: Program) -> None:
    store = Store(DataPaths(memento.data_dir).database)
    with unguarded(store, Author(), "import") as tx:
        tx.add_all([make_memory({"id": "leak", "content": f"The key is {KEY}.", "tags": ["a"]})])
    store.close()
    told = memento.run("audit", "--list", "secrets").out
    assert KEY not in told
    assert "AWS" in told
    assert "in content, line 1" in told
    assert memento.json("audit", "--list", "secrets")["items"][0]["why"]


def test_kinds_that_are_unknown_or_wait_in_the_review_are_errors(memento: Program) -> None:
    assert "never_used" in memento.run("audit", "--list", "none", "--json").error["hint"]
    assert "memento review" in memento.run("audit", "--list", "merges", "--json").error["hint"]


def test_a_backup_is_made_listed_checked_and_restored(memento: Program) -> None:
    assert memento.run("backup").out == "There is no backup yet: memento backup make\n"
    made = memento.json("backup", "make")
    assert Path(made["path"]).is_file()
    memento.add("The port is 9090.", "--tag", "net")
    assert [item["name"] for item in memento.json("backup", "list")["items"]] == [made["name"]]
    assert made["name"] in memento.run("backup").out
    assert memento.json("backup", "verify") == {"items": [{"name": made["name"], "ok": True, "problem": ""}]}
    assert memento.run("backup", "restore", "latest", "--json").code == 2
    restored = memento.json("backup", "restore", "latest", "--yes")
    assert restored["name"] == made["name"]
    assert [hit["content"] for hit in memento.json("search", "port")["results"]] == ["The port is 8080."]
    assert memento.json("backup")["items"][0]["why"] == "before restore"
    assert memento.json("history")["items"][0]["action"] == "restore backup"
    assert memento.json("backup", "rm", restored["before"]) == {"removed": [restored["before"]]}


@pytest.mark.parametrize("content", [b"", b"damaged" * 1000])
def test_a_file_that_is_no_backup_is_refused_and_the_database_is_not_said_to_be_damaged(
    memento: Program, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "other.db"
    file.write_bytes(content)
    ended = memento.run("backup", "restore", str(file), "--yes")
    assert ended.code == 6
    assert ended.err.startswith(f"memento: other.db cannot be restored. {file} is ")
    assert "Nothing was changed." in ended.err
    assert len(ended.err.splitlines()) == 2


def test_the_list_of_backups_shows_the_whole_of_each_name(memento: Program) -> None:
    memento.json("backup", "make")
    before = memento.json("backup", "restore", "latest", "--yes")["before"]
    assert f"{before}  " in memento.run("backup").out


def test_a_damaged_backup_is_told_with_an_exit_code(memento: Program) -> None:
    made = memento.json("backup", "make")
    Path(made["path"]).write_bytes(b"damaged" * 1000)
    ended = memento.run("backup", "verify")
    assert ended.code == 6
    assert ended.out.startswith(f"BAD  {made['name']}")
    assert memento.run("backup", "restore", made["name"], "--yes", "--json").code == 6
    assert len(memento.json("list")["items"]) == 2


def test_a_backup_that_is_not_there_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ended = Program(tmp_path / "empty").run("backup", "restore", "latest")
    assert (ended.code, "There is no backup yet." in ended.err, "Type yes" in ended.err) == (3, True, False)


def test_a_damaged_database_is_replaced_by_a_backup(memento: Program) -> None:
    memento.run("backup", "make")
    for file in memento.data_dir.glob("memento.db*"):
        file.unlink()
    (memento.data_dir / "memento.db").write_bytes(b"damaged" * 1000)
    assert "memento backup restore" in memento.run("list").err
    restored = memento.json("backup", "restore", "latest", "--yes")
    assert (DataPaths(memento.data_dir).backups / restored["before"]).read_bytes().startswith(b"damaged")
    assert len(memento.json("list")["items"]) == 2
    assert memento.run("doctor").code == 0


def test_a_purge_goes_through_the_backups(memento: Program) -> None:
    leaked = memento.add("The meeting is on Monday.")
    made = memento.json("backup", "make")
    told = memento.run("purge", leaked, "--reason", "leaked", "--yes").out
    assert told.endswith("purged, from 1 backup too\n")
    assert made["name"] not in told
    assert memento.json("purge", memento.add("x y z"), "--reason", "leaked", "--yes")["backups"] == []


def test_a_folder_in_the_place_of_the_databases_log_is_told_with_the_way_back(memento: Program) -> None:
    log = memento.data_dir / "memento.db-wal"
    (log / "more").mkdir(parents=True)
    told = memento.run("doctor")
    assert told.code == 6
    assert f"BAD  data directory  {log} is a folder" in told.out
    assert "Move the folder away." in told.out
    refused = memento.run("add", "Another.", "--json")
    assert f"{log} is a folder" in refused.error["message"]
    shutil.rmtree(log)
    assert memento.run("add", "Another.").code == 0


def test_a_file_in_the_place_of_the_index_is_told_with_the_way_back(memento: Program) -> None:
    index = memento.data_dir / "index"
    shutil.rmtree(index, ignore_errors=True)
    index.write_text("x")
    for ended in (memento.run("doctor"), memento.run("search", "port")):
        told = f"{ended.out} {ended.err}"
        assert f"{index} is a file" in told
        assert "Move the file away; the index is built anew" in told
    index.unlink()
    assert "8080" in memento.run("search", "port").out
