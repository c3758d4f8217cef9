from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.api import Workspace
from tests.unit.cli_program import Program, without_engine


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "data"))


def test_the_timeline_has_the_memory_in_its_middle(memento: Program) -> None:
    ids = [memento.add(f"memory number {number}") for number in range(5)]
    told = memento.json("timeline", ids[2][:8], "--count", "1")
    assert told["id"] == ids[2]
    assert [item["id"] for item in told["items"]] == [ids[3], ids[2], ids[1]]
    lines = memento.run("timeline", ids[2], "--count", "1").out.splitlines()
    assert [line[0] for line in lines[1:]] == [" ", ">", " "]
    assert lines[2].endswith("memory number 2")


def test_links_are_told_from_the_side_of_the_memory(memento: Program) -> None:
    old, new = memento.add("the old one"), memento.add("the new one")
    assert "no relations" in memento.run("links", old).out
    with Workspace(memento.data_dir) as workspace:
        workspace.relate(new, old, "supersedes", "since 2.0")
    (link,) = memento.json("links", old)["items"]
    assert (link["word"], link["direction"], link["end"], link["label"]) == ("replaced by", "in", new, "since 2.0")
    assert "<-  replaced by" in memento.run("links", old).out
    assert "->  replaces" in memento.run("links", new).out


def test_facets_are_counted(memento: Program) -> None:
    memento.json("rm", memento.add("none yet"))
    assert memento.json("facets")["kind"] == []
    memento.add("one", "--kind", "decision", "--tag", "api")
    memento.add("two", "--kind", "decision")
    told = memento.json("facets")
    assert told["kind"] == [{"value": "decision", "count": 2}]
    assert told["tag"] == [{"value": "api", "count": 1}]
    assert "2  decision" in memento.run("facets").out


def test_a_version_is_restored(memento: Program) -> None:
    given = memento.add("one")
    memento.json("edit", given, "--content", "two", "--tag", "x")
    told = memento.json("restore", given, "--version", "1")
    assert told == {"id": given, "version": 3, "changed": ["content", "tags"], "removed": []}
    assert memento.json("show", given)["content"] == "one"
    assert "nothing differs from version 1" in memento.run("restore", given, "--version", "1").out
    memento.json("undo")
    assert memento.json("show", given)["content"] == "two"
    assert memento.run("restore", given, "--version", "9", "--json").code == 3
    assert memento.run("restore", given, given, "--version", "1", "--json").code == 2


def test_searches_are_saved_listed_run_renamed_and_removed(memento: Program) -> None:
    given = memento.add("the endpoint moved", "--tag", "api")
    memento.add("something else")
    assert "None yet" in memento.run("searches").out
    memento.json("searches", "save", "Api", "tag:api", "endpoint")
    assert memento.json("searches")["items"] == [{"name": "Api", "query": "tag:api endpoint"}]
    assert [hit["id"] for hit in memento.json("searches", "run", "api")["results"]] == [given]
    assert memento.run("searches", "save", "API", "tag:web", "--json").code == 5
    memento.json("searches", "save", "API", "tag:web", "--replace")
    assert memento.json("searches", "rename", "api", "Web")["name"] == "Web"
    assert memento.json("searches", "remove", "web")["query"] == "tag:web"
    assert memento.run("searches", "remove", "web", "--json").code == 3
    assert memento.run("searches", "save", "x", "kind:nonsense", "--json").code == 2
