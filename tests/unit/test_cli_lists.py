from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli_program import Program, without_engine


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "data"))


def _skip(memento: Program, item: str, until: str = "30d") -> str:
    found: str = memento.json("skip", "add", item, "--reason", "third-party code", "--until", until)["id"]
    return found


def test_a_skip_is_shown_with_the_words_that_it_fired_by(memento: Program) -> None:
    skip = _skip(memento, "reading vendor/")
    memento.run("skip", "check", "vendor/lib.js")
    shown = memento.json("skip", "show", skip[:8])
    assert (shown["item"], shown["hits"]) == ("reading vendor/", 1)
    assert [(hit["words"], hit["channel"]) for hit in shown["fired"]] == [("vendor/", "cli")]
    assert "vendor/" in memento.run("skip", "show", skip).out.partition("FIRED")[2]


def test_a_skip_is_added_listed_and_removed(memento: Program) -> None:
    late, soon = _skip(memento, "reading vendor/"), _skip(memento, "issue 4711", "2d")
    for command in (["skip"], ["skip", "list"]):
        assert [item["id"] for item in memento.json(*command)["items"]] == [soon, late]
    assert "issue 4711" in memento.run("skip").out
    assert memento.json("skip", "remove", late[:8])["outcomes"] == [{"id": late, "status": "removed"}]
    assert [item["id"] for item in memento.json("skip")["items"]] == [soon]
    memento.json("undo")
    assert len(memento.json("skip")["items"]) == 2


def test_a_check_tells_what_matches_and_counts_it(memento: Program) -> None:
    skip = _skip(memento, "vendor lib")
    checked = memento.json("skip", "check", "read vendor/lib.js")
    assert (checked["skip"], [item["id"] for item in checked["items"]]) == (True, [skip])
    assert memento.json("skip", "check", "read src/main.js")["skip"] is False
    assert memento.run("skip", "check", "read src/main.js").out == "Not on the list: read src/main.js\n"
    assert memento.json("skip")["items"][0]["hits"] == 1


def test_a_skip_is_changed_field_by_field(memento: Program) -> None:
    skip = _skip(memento, "vendor lib")
    changed = memento.json("skip", "edit", skip, "--reason", "still theirs", "--until", "1y", "--base-version", "1")
    assert (changed["item"], changed["reason"], changed["version"]) == ("vendor lib", "still theirs", 2)
    assert memento.run("skip", "edit", skip, "--reason", "x", "--base-version", "1", "--json").code == 4


def test_skips_are_extended_each_with_its_own_outcome(memento: Program) -> None:
    soon, late = _skip(memento, "issue 4711", "2d"), _skip(memento, "reading vendor/", "90d")
    ended = memento.run("skip", "extend", soon[:8], late, "--until", "30d", "--json")
    assert ended.code == 2
    assert [outcome["status"] for outcome in ended.data["outcomes"]] == ["extended", "failed"]
    assert "must be later" in ended.error["message"]
    assert ended.data["outcomes"][0]["expires_at"] == memento.json("skip")["items"][0]["expires_at"]
    assert (
        memento.run("skip", "extend", late, "--until", "2028-01-31").out == f"{late}  extended to 2028-01-31 00:00Z\n"
    )


def test_a_skip_that_changed_since_it_was_read_becomes_no_decision(memento: Program) -> None:
    skip = memento.json("skip", "add", "reading vendor/", "--reason", "not ours", "--until", "7d")["id"]
    memento.run("skip", "edit", skip, "--reason", "third-party code")
    assert memento.run("skip", "decide", f"{skip}@1").code != 0
    assert [one["id"] for one in memento.json("skip")["items"]] == [skip]
    (outcome,) = memento.json("skip", "decide", f"{skip}@2")["outcomes"]
    assert (outcome["id"], outcome["status"]) == (skip, "decided")


def test_a_skip_becomes_a_standing_decision_and_undo_takes_it_back(memento: Program) -> None:
    skip = _skip(memento, "reading vendor/")
    (outcome,) = memento.json("skip", "decide", skip[:8])["outcomes"]
    assert (outcome["id"], outcome["status"], outcome["item"]["title"]) == (skip, "decided", "Skip: reading vendor/")
    assert memento.json("skip")["items"] == []
    assert [item["id"] for item in memento.json("item", "list", "category:standing")["items"]] == [
        outcome["item"]["id"]
    ]
    memento.json("undo")
    assert memento.json("item")["items"] == []
    assert [item["id"] for item in memento.json("skip")["items"]] == [skip]
    said = memento.run("skip", "decide", skip, "--title", "Never read vendor/").out
    assert said.startswith(f"{skip}  decided: memento item show ")
    assert memento.json("item")["items"][0]["title"] == "Never read vendor/"


def test_a_title_is_for_one_decision(memento: Program) -> None:
    one, two = _skip(memento, "one"), _skip(memento, "two")
    assert memento.run("skip", "decide", one, two, "--title", "both", "--json").code == 2
    outcomes = memento.json("skip", "decide", one, two)["outcomes"]
    assert [outcome["status"] for outcome in outcomes] == ["decided", "decided"]


def test_the_lists_are_narrowed_by_a_query(memento: Program) -> None:
    soon = _skip(memento, "issue 4711", "2d")
    _skip(memento, "reading vendor/")
    memento.json("item", "add", "Move to /v3", "--tag", "db")
    assert [item["id"] for item in memento.json("skip", "list", "expires:<7d")["items"]] == [soon]
    assert [item["title"] for item in memento.json("item", "list", "v3", "tag:db")["items"]] == ["Move to /v3"]
    assert memento.run("item", "list", "status:gone", "--json").code == 2


@pytest.mark.parametrize("until", ["never", "2020-01-01", "soon", ""])
def test_a_skip_ends_in_the_future(memento: Program, until: str) -> None:
    ended = memento.run("skip", "add", "x", "--reason", "y", "--until", until, "--json")
    assert (ended.code, ended.error["field"]) == (2, "expires_at")


def test_working_items_are_kept_by_priority(memento: Program) -> None:
    low = memento.json("item", "add", "Later")["id"]
    options = ["--category", "waiting_for", "--priority", "2", "--tag", "a,b", "--next", "ask", "--namespace", "work"]
    high = memento.json("item", "add", "Answer from legal", *options, "--content", "-", stdin=b"All of it.\n")
    assert (high["category"], high["priority"], high["tags"]) == ("waiting_for", 2, ["a", "b"])
    assert (high["next_action"], high["namespace"], high["content"]) == ("ask", "work", "All of it.")
    for command in (["item"], ["item", "list"]):
        assert [item["id"] for item in memento.json(*command)["items"]] == [high["id"], low]
    assert [item["id"] for item in memento.json("item", "list", "--category", "waiting_for")["items"]] == [high["id"]]
    assert "Answer from legal" in memento.run("item").out
    assert "All of it." in memento.run("item", "show", high["id"][:8]).out


def test_a_working_item_is_changed_completed_and_removed(memento: Program) -> None:
    item = memento.json("item", "add", "Move to /v3", "--next", "plan")["id"]
    changed = memento.json("item", "edit", item, "--title", "Move to /v4", "--base-version", "1")
    assert (changed["title"], changed["next_action"], changed["version"]) == ("Move to /v4", "plan", 2)
    assert memento.run("item", "edit", item, "--json").code == 2
    assert memento.json("item", "done", item)["outcomes"] == [{"id": item, "status": "completed"}]
    assert memento.json("item", "list", "--status", "active")["items"] == []
    memento.json("item", "rm", item)
    assert memento.run("item", "show", item, "--json").code == 3
    assert memento.run("item").out == "No working items.\n"


def test_a_crystal_never_overwrites_the_one_before(memento: Program) -> None:
    first = memento.json("crystal", "write", "I am careful.")
    second = memento.json(
        "crystal", "write", "-", "--base", first["id"][:8], stdin="I am careful and ünhurried.\n".encode()
    )
    assert second["parent"] == first["id"]
    assert memento.json("crystal")["content"] == "I am careful and ünhurried."
    history = memento.json("crystal", "history")["items"]
    assert [(item["id"], item["status"]) for item in history] == [(second["id"], "current"), (first["id"], "past")]
    assert memento.json("crystal", "show", first["id"])["content"] == "I am careful."
    restored = memento.json("crystal", "restore", first["id"])
    assert (restored["content"], restored["parent"]) == ("I am careful.", second["id"])
    assert "I am careful." in memento.run("crystal").out


def test_a_crystal_written_from_an_old_one_is_a_conflict(memento: Program) -> None:
    first = memento.json("crystal", "write", "I am careful.")["id"]
    memento.json("crystal", "write", "I am fast.")
    ended = memento.run("crystal", "write", "I am slow.", "--base", first, "--json")
    assert (ended.code, ended.error["current"]["content"]) == (4, "I am fast.")
    assert memento.json("crystal")["content"] == "I am fast."


def test_without_a_crystal_there_is_none_to_show(memento: Program) -> None:
    memento.add("text")
    assert memento.run("crystal", "--json").code == 3
    assert memento.run("crystal", "history").out == "There is no crystal yet.\n"
