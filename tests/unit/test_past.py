"""The memory at an earlier moment: which it is, what is listed and found there, and that nothing changes it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.past import find_entry
from memento_tui.errors import InvalidField, InvalidInput, NotAllowed, NotFound
from memento_tui.storage.long_work import StoppedError
from tests.clocks import START
from tests.made import edit
from tests.unit.cli_program import Program, without_engine


@pytest.fixture
def days(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that sets memento's clock to so many days after the first."""

    def set_to(number: float) -> None:
        monkeypatch.setattr(clock, "now", lambda: START + timedelta(days=number))

    set_to(0)
    return set_to


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "data of the command"))


@pytest.fixture
def lived(workspace: Workspace, days: Callable[[float], None]) -> Workspace:
    """A workspace of four days: a memory is written, changed, joined by another, and deleted."""
    workspace.remember("The port is 8080.", id="port", title="Ports", tags=["net"])
    days(1)
    edit(workspace, "port", content="The port is 9090.")
    days(2)
    workspace.remember("Deploys of the ports run at night.", id="deploy")
    workspace.relate("deploy", "port")
    days(3)
    workspace.forget("port")
    days(4)
    return workspace


def test_whoever_found_a_moment_sees_the_present_again_and_can_write(lived: Workspace) -> None:
    assert find_entry(lived._store, "1 day ago", clock.now() + timedelta(days=1)) is not None
    other = threading.Thread(target=lived.remember, args=("Written meanwhile.",))
    other.start()
    other.join()
    assert lived.list().items[0].content == "Written meanwhile."
    lived.undo()
    assert all(memory.content != "Written meanwhile." for memory in lived.list().items)


@pytest.mark.parametrize(
    ("at", "seq"),
    [
        ("2026-11-22", 1),
        ("2026-11-22T11:59Z", 1),
        ("2026-11-22T12:00Z", 2),
        ("2026-11-22T13:00+01:00", 2),
        ("36h", 4),
        ("2 days ago", 4),
        (" 3d ago ", 2),
        ("1 week", None),
        ("yesterday", 4),
        (" Today", 5),
        ("entry 3", 3),
        ("#1", 1),
        ("Entry:5", 5),
    ],
)
def test_a_moment_names_the_last_entry_written_by_then(lived: Workspace, at: str, seq: int | None) -> None:
    if seq is None:
        with pytest.raises(NotFound, match=r"Nothing had been written by .*begins at 2026-11-21 12:00Z"):
            find_entry(lived._store, at)
        return
    assert find_entry(lived._store, at).seq == seq


@pytest.mark.parametrize("at", ["", "soon", "2026-13-01", "tomorrow", "99999999y", "2027-01-01", "-3d"])
def test_what_is_no_moment_of_the_past_is_said(lived: Workspace, at: str) -> None:
    with pytest.raises(InvalidField):
        find_entry(lived._store, at)


def test_an_entry_that_is_not_there_is_said(lived: Workspace) -> None:
    for number in ("99", "9" * 40):
        with pytest.raises(NotFound, match=f"no entry {number}"):
            lived.at(f"entry {number}")


def test_each_day_is_seen_as_it_was(lived: Workspace) -> None:
    with lived.at("entry 1") as first, lived.at("entry 2") as second, lived.at("entry 4") as third:
        assert [one.content for one in first.list().items] == ["The port is 8080."]
        assert [one.content for one in second.list().items] == ["The port is 9090."]
        assert (first.get("po").version, second.get("po").version) == (1, 2)
        assert {one.id for one in third.list().items} == {"port", "deploy"}
        assert third.related("port") == [("related", "in", "deploy")]
        assert first.related("port") == []
        assert third.moment == datetime(2026, 11, 23, 12, tzinfo=UTC)
        with pytest.raises(NotFound):
            first.get("deploy")
    with lived.at("entry 5") as last:
        assert [one.id for one in last.list().items] == ["deploy"]
        assert [one.id for one in last.list("is:deleted").items] == ["port"]


def test_filters_and_words_are_of_that_moment(lived: Workspace) -> None:
    with lived.at("entry 4") as past:
        assert [one.id for one in past.list("tag:NET").items] == ["port"]
        assert [one.id for one in past.list("after:12h").items] == ["deploy"]
        assert [hit.memory.id for hit in past.search("port").hits] == ["port", "deploy"]
        assert [hit.memory.id for hit in past.search("ports tag:net").hits] == ["port"]
        assert [hit.memory.id for hit in past.search('"run at night"').hits] == ["deploy"]
        assert [hit.memory.id for hit in past.search("port -deploys").hits] == ["port"]
        assert past.search("port night", limit=1).total == 1
        assert past.search("8080").hits == []
        assert past.search("kindd:x").problems
    with lived.at("entry 1") as past:
        (hit,) = past.search("8080").hits
        assert hit.passage.text == "The port is 8080."


def test_nothing_can_be_written_in_the_past(lived: Workspace) -> None:
    with lived.at("entry 1") as past:
        with pytest.raises(NotAllowed, match="past"), past._store.database.writing():
            pass
        with pytest.raises(Exception, match=r"readonly|read-only"):
            past._store.database._connect().execute("DELETE FROM memory")
    assert lived.count_all() == 2


def test_the_past_is_read_by_several_threads_and_is_gone_when_it_is_closed(lived: Workspace) -> None:
    past = lived.at("entry 1")
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(past.get("port").content))
    thread.start()
    thread.join()
    assert found == ["The port is 8080."]
    past.close()
    assert not [path for path in lived.paths.root.iterdir() if "past" in path.name]


def test_what_was_purged_is_in_no_past(lived: Workspace) -> None:
    lived.purge("port", "it leaked")
    with lived.at("entry 2") as past:
        assert past.count == 0
        assert past.search("port").hits == []


def test_going_back_is_stopped_between_two_parts(lived: Workspace) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError):
        lived.at("entry 4", stop=stop)


def test_an_export_of_the_past_is_taken_in_with_its_trust(lived: Workspace, memento: Program, tmp_path: Path) -> None:
    written = tmp_path / "then.jsonl"
    with lived.at("entry 2") as past:
        from memento_tui.formats.import_export import run_export  # noqa: PLC0415 - its import takes long

        assert run_export(lived, written, past=past).records == 1
    assert "9090" in written.read_text(encoding="utf-8")
    assert memento.json("import", "memento", str(written))["imported"] == 1


# The command line


def test_the_commands_show_the_memory_as_it_was(memento: Program) -> None:
    given = memento.add("The port is 8080.")
    memento.run("edit", given, "--content", "The port is 9090.")
    memento.add("Deploys run at night.")
    listed = memento.run("list", "--at", "entry 2")
    assert "9090" in listed.out
    assert "Deploys" not in listed.out
    assert "after journal entry 2." in listed.err
    assert "8080" in memento.run("show", given, "--at", "entry 1").out
    assert memento.run("show", given, "--raw", "--at", "#1").out == "The port is 8080.\n"
    assert memento.json("show", given, "--at", "entry 1")["version"] == 1
    found = memento.json("search", "port", "--at", "entry 1")
    assert [(one["content"], one["score"]) for one in found["results"]] == [("The port is 8080.", 1)]
    assert (found["entry"], found["total"]) == (1, 1)
    assert "9090" in memento.run("search", "port", "--at", "entry 3").out
    assert memento.run("search", "night", "--at", "entry 1").out == "Nothing was found there.\n"
    line = json.loads(memento.run("export", "-", "--at", "entry 1").out.splitlines()[-1])
    assert line["content"] == "The port is 8080."


@pytest.mark.parametrize(
    "arguments",
    [("list", "--at", "soon"), ("show", "x", "--life", "--at", "1d"), ("search", "x", "--wait", "--at", "1d")],
)
def test_a_wrong_question_about_the_past_is_answered_with_a_sentence(
    memento: Program, arguments: tuple[str, ...]
) -> None:
    memento.add("The port is 8080.")
    ended = memento.run(*arguments)
    assert ended.code == 2
    assert ended.err


def test_the_past_is_searched_inside_the_runs_of_an_unspaced_script(workspace: Workspace) -> None:
    workspace.remember("我们部署服务器在东京", id="it")
    workspace.remember("服务器用Redis缓存", id="mixed")
    with workspace.at("entry 2") as past:
        found = {query: [hit.memory.id for hit in past.search(query).hits] for query in ("东京", "redis", '"署服"')}
        assert found == {"东京": ["it"], "redis": ["mixed"], '"署服"': ["it"]}
        assert [hit.memory.id for hit in past.search('服务器 -"东京"').hits] == ["mixed"]


@pytest.mark.parametrize("query", ["certainty:>=9", "tag:,", "kind:poem", "after:99999y", "-word"])
def test_a_filter_that_cannot_be_used_lists_nothing_now_or_then(lived: Workspace, query: str) -> None:
    with pytest.raises(InvalidInput):
        lived.list(query)
    with lived.at("entry 4") as past, pytest.raises(InvalidInput):
        past.list(query)
