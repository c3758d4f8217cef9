from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.api import Workspace
from tests.unit.cli_program import Program, without_engine


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "data"))


def test_the_history_of_a_memory_tells_every_version(memento: Program) -> None:
    given = memento.add("text")
    memento.json("edit", given, "--title", "named", "--tag", "a")
    memento.json("rm", given)
    told = memento.json("history", given)
    assert [(item["version"], item["action"], item["record"]["status"]) for item in told["items"]] == [
        (3, "forget", "deleted"),
        (2, "edit", "active"),
        (1, "remember", "active"),
    ]
    assert told["next"] is None
    assert [line.split()[-1] for line in memento.run("history", given).out.splitlines()] == [
        "CHANGED",
        "status",
        "tags",
        "text",
    ]


def test_at_100_columns_the_history_says_what_was_done(memento: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    with Workspace(memento.data_dir, actor="agent", channel="mcp", agent="claude-code-desktop") as workspace:
        given = workspace.remember("The port of the staging database is 5433, the replica's 5434.").id
    memento.json("rm", given)
    memento.json("undo")
    memento.json("redo")
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _self: True, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    told = memento.run("history").out.splitlines()
    assert all(len(line) <= 100 for line in told)
    for word, line in zip(("WHAT", "redone", "undone (undone by 4)", "deleted", "added"), told, strict=True):
        assert word in line
    assert "WHAT" in memento.run("history", given).out.splitlines()[0]


def test_the_journal_comes_in_pages(memento: Program) -> None:
    ids = [memento.add(f"memory number {number}") for number in range(3)]
    first = memento.json("history", "--limit", "2")
    rest = memento.json("history", "--limit", "2", "--after", first["next"])
    told = [record["id"] for item in [*first["items"], *rest["items"]] for record in item["records"]]
    assert told == ids[::-1]
    assert rest["next"] is None
    assert memento.run("history", "--after", "x", "--json").code == 2


def test_undo_and_redo_name_what_they_took_back(memento: Program) -> None:
    given = memento.add("text")
    memento.json("rm", given)
    undone = memento.json("undo")["undone"]
    assert [entry["action"] for entry in undone] == ["forget"]
    assert memento.json("show", given)["status"] == "active"
    redone = memento.json("redo")["redone"]
    assert [entry["undoes"] for entry in redone] == [undone[0]["seq"]]
    assert memento.json("show", given)["status"] == "deleted"


def test_undo_takes_back_any_entry_whoever_made_it(memento: Program) -> None:
    with Workspace(memento.data_dir, actor="agent", channel="mcp", agent="claude") as workspace:
        given = workspace.remember("from the agent").id
    memento.add("mine")
    assert memento.json("undo", "1")["undone"][0]["agent"] == "claude"
    assert memento.run("show", given).code == 3


def test_a_bulk_write_is_taken_back_whole(memento: Program) -> None:
    with Workspace(memento.data_dir) as workspace:
        workspace.remember_many({"content": f"number {number}"} for number in range(2500))
    told = memento.json("history")["items"]
    assert [entry["records"] for entry in told] == [None, None]
    assert len(memento.json("undo")["undone"]) == 2
    assert memento.json("list")["items"] == []


def test_nothing_to_undo_or_redo_is_not_found(memento: Program) -> None:
    memento.add("text")
    memento.json("undo")
    assert memento.run("undo", "--json").error["message"] == "There is nothing to undo."
    assert memento.run("undo", "--json").code == 3
    memento.json("redo")
    assert memento.run("redo", "--json").code == 3


def test_an_entry_with_a_number_beyond_all_is_one_that_does_not_exist(memento: Program) -> None:
    memento.add("text")
    ended = memento.run("undo", "9" * 23)
    assert ended.code == 3
    assert f"The journal has no entry {'9' * 23}." in ended.err
    assert "memento history" in ended.err
