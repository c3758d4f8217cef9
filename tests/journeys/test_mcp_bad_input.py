"""Whatever an agent sends, it reads one sentence that says what to do, and nothing is changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

import memento_tui
from memento_tui.api import Workspace
from tests.journeys.mcp_agent import NO_ENGINE, Agent, connected, connected_to_process
from tests.made import without_engine

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("remember", {}, "remember needs content."),
    ("remember", {"content": None}, "remember needs content."),
    ("remember", {"content": " \n"}, "content: is empty."),
    ("remember", {"content": "x" * 1_000_000}, "content: is 1,000,000 bytes long; the limit is 262,144."),
    ("remember", {"content": "nul \0"}, "content: holds a NUL character."),
    ("remember", {"content": ["a"]}, "content: must be a text; not ['a']."),
    ("remember", {"content": "x", "colour": "red"}, "remember does not take 'colour'; nothing was done. It takes cont"),
    ("remember", {"content": "x", "title": "two\nlines"}, "title: must be one line."),
    ("remember", {"content": "x", "title": "t" * 1001}, "title: has 1,001 characters"),
    ("remember", {"content": "x", "kind": "poem"}, "kind: must be one of fact, decision"),
    ("remember", {"content": "x", "tags": "api, http"}, "tags: must be a list of texts; not 'api, http'."),
    ("remember", {"content": "x", "tags": [1]}, "tags: must be a list of texts"),
    ("remember", {"content": "x", "tags": [""]}, "tags: holds an empty tag."),
    ("remember", {"content": "x", "namespace": "../etc"}, "namespace: must be names joined by '/'"),
    ("remember", {"content": "x", "certainty": 9}, "certainty: must be a whole number from 1 to 5; not 9."),
    ("remember", {"content": "x", "certainty": "high"}, "certainty: must be a whole number; not 'high'."),
    ("remember", {"content": "x", "expires": "soon"}, "expires: must be a date such as"),
    ("remember", {"content": "x", "expires": "2026-02-30"}, "expires: must be a date such as"),
    ("remember", {"content": "x", "source_type": "oracle"}, "source_type: must be one of user, derived, external"),
    ("remember", {"content": "x", "id": ""}, "id: is empty."),
    ("remember", {"content": "x", "id": "known"}, "known"),
    ("search", {}, "search needs query."),
    ("search", {"query": "x", "limit": 0}, "limit: must be a whole number, 1 to 50; not 0."),
    ("search", {"query": "x", "limit": 51}, "limit: must be a whole number, 1 to 50; not 51."),
    ("search", {"query": "x" * 2001}, "query: must be a text of at most 2,000 characters; not 'xxx"),
    ("search", {"query": "x", "mode": "semantic"}, "search does not take 'mode'"),
    ("get", {"ids": []}, "ids: must be a list of texts, 1 to 20; not []."),
    ("get", {"ids": ["x"] * 21}, "ids: must be a list of texts, 1 to 20"),
    ("get", {"ids": ["no-such"]}, "There is no memory whose id is or begins with 'no-such'."),
    ("get", {"ids": ["twin"]}, "Several ids begin with 'twin': twin-a, twin-b."),
    ("get", {"id": "known"}, "get does not take 'id'; nothing was done. It takes ids, session. get needs ids."),
    ("update", {"id": "known", "title": "x"}, "update needs base_version."),
    ("update", {"id": "no-such", "base_version": 1, "title": "x"}, "There is no memory"),
    ("update", {"id": "known", "base_version": 1, "content": ""}, "content: is empty."),
    ("update", {"id": "known", "base_version": 1, "expires": "tomorrow-ish"}, "expires: must be a date"),
    ("update", {"id": "known", "base_version": 7, "title": "x"}, "version 1 now."),
    ("update", {"id": "known", "base_version": 1}, "Nothing to change was given. Give at least one of content, title"),
    ("item_update", {"id": "errand", "base_version": 1, "title": None}, "Nothing to change was given."),
    ("update", {"id": "gone", "base_version": 2, "title": "x"}, "is deleted."),
    ("forget", {"id": "known"}, "forget needs base_version."),
    ("forget", {"id": "no-such", "base_version": 1}, "There is no memory"),
    ("forget", {"id": "known", "base_version": 7}, "version 1 now."),
    ("skip_add", {"item": "x", "reason": "y"}, "skip_add needs expires."),
    ("skip_add", {"item": "x", "reason": "y", "expires": "never"}, "expires: must be a date"),
    ("skip_add", {"item": "x", "reason": "y", "expires": "2020-01-01"}, "expires: is not in the future"),
    ("skip_add", {"item": " ", "reason": "y", "expires": "7d"}, "item: is empty."),
    ("skip_check", {}, "skip_check needs query."),
    ("skip_list", {"all": True}, "skip_list does not take 'all'; nothing was done. It takes no arguments."),
    ("skip_remove", {"id": "no-such"}, "skip_remove needs base_version."),
    ("skip_remove", {"id": "no-such", "base_version": 1}, "There is no skip"),
    ("item_create", {"title": ""}, "title: is empty."),
    ("item_create", {"title": "x", "category": "skip_list"}, "category: must be one of active_work"),
    ("item_create", {"title": "x", "priority": 1.5}, "priority: must be a whole number; not 1.5."),
    ("item_update", {"id": "errand", "title": "x"}, "item_update needs base_version."),
    ("item_update", {"id": "no-such", "base_version": 1, "title": "x"}, "There is no item"),
    (
        "item_update",
        {"id": "errand", "base_version": 1, "status": "done"},
        "status: must be one of active, paused, completed, archived",
    ),
    ("item_update", {"id": "errand", "title": "x", "base_version": 5}, "version 1 now."),
    ("item_list", {"category": "all"}, "category: must be one of active_work"),
    ("item_list", {"status": "open"}, "status: must be one of active"),
    ("item_remove", {"id": "errand"}, "item_remove needs base_version."),
    ("item_remove", {"id": "errand", "base_version": 7}, "version 1 now."),
    ("item_remove", {"id": "no-such", "base_version": 1}, "There is no item"),
    ("identity_write", {"content": ""}, "content: is empty."),
    ("identity_write", {"content": "x", "base_id": "old"}, "The identity was changed meanwhile."),
    ("context", {}, "context needs message."),
    ("context", {"message": "x", "namespace": "/"}, "namespace: must be names joined by '/'"),
    ("context", {"message": "x", "namespace": 'a"b'}, "namespace: must not hold a quotation mark"),
    ("related", {"id": "no-such"}, "There is no memory"),
    ("related", {"id": "known", "steps": 3}, "steps: must be a whole number, 1 to 2; not 3."),
    ("related", {"id": "gone"}, "The memory gone is deleted."),
    ("search", {"query": "x", "namespace": "a b/"}, "namespace: must be names joined by '/'"),
    ("relate", {"src": "known", "dst": "no-such"}, "There is no memory"),
    ("relate", {"src": "no-such", "dst": "known"}, "There is no memory"),
    ("relate", {"src": "gone", "dst": "known"}, "The memory gone is deleted."),
    ("relate", {"src": "known", "dst": "known"}, "dst: is the memory itself"),
    ("relate", {"src": "known", "dst": "twin-a", "type": "consolidated_from"}, "type: must be one of related"),
    ("relate", {"src": "known", "dst": "errand"}, "There is no memory"),
    ("session_open", {"namespace": "a b/"}, "namespace: must be names joined by '/'"),
    ("session_open", {"cwd": 7}, "cwd: must be a text; not 7."),
    ("session_close", {"session": "s"}, "session_close needs summary."),
    ("session_close", {"session": "no handle", "summary": "x"}, "session: is no handle that session_open gives."),
    ("session_close", {"session": "s", "summary": "x", "next_action": "a\nb"}, "next_action: must be one line."),
    ("capture", {"summary": " "}, "summary: is empty."),
    ("capture", {"summary": "x", "decisions": ["y", ""]}, "content: is empty."),
    ("capture", {"summary": "x", "decisions": ["y"] * 21}, "decisions: must be a list of texts"),
    ("capture", {"summary": "x", "session": "\x1b[2J"}, "session: is no handle"),
    ("distill", {}, "Either text or path is needed, and not both."),
    ("distill", {"text": "User: x", "path": "/x.jsonl"}, "Either text or path is needed, and not both."),
    ("distill", {"text": "x" * 100_001}, "text: must be a text of at most 100,000 characters"),
    ("distill", {"path": "/etc/passwd"}, "'/etc/passwd' is not the path of a transcript."),
    ("distill", {"path": "../x.jsonl"}, "'../x.jsonl' is not the path of a transcript."),
    ("distill", {"path": "/no/such/x.jsonl"}, "There is no transcript /no/such/x.jsonl."),
    ("distill", {"path": "/x\0.jsonl"}, "is not the path of a transcript."),
    ("distill", {"path": f"/{'x' * 5000}.jsonl"}, "There is no transcript"),
    ("contradictions", {"after": "no-such"}, "There is no contradiction"),
    ("contradictions", {"limit": 0}, "limit: must be a whole number, 1 to 50; not 0."),
    ("contradiction_suggest", {"id": "no-such", "resolution": "merged"}, "There is no contradiction"),
    ("contradiction_suggest", {"id": "known"}, "contradiction_suggest needs resolution."),
    ("proposals", {"which": "all"}, "which: must be one of decided, waiting; not 'all'."),
    ("proposals", {"after": "no-such"}, "There is no proposal"),
    ("search", {"query": "x", "session": "a b"}, "session: is no handle"),
    ("status", {"verbose": True}, "status does not take 'verbose'; nothing was done. It takes no arguments."),
]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mcp") / "data"
    made.mkdir()
    (made / "config.toml").write_text(NO_ENGINE)
    return made


@pytest.fixture(scope="module")
def person(data_dir: Path) -> Iterator[Workspace]:
    with memento_tui.open(data_dir) as workspace:
        for name in ("known", "gone", "twin-a", "twin-b"):
            workspace.remember(f"The text of {name}.", id=name)
        workspace.forget("gone")
        workspace.items.create("An errand", id="errand")
        yield workspace


@pytest.fixture(scope="module")
def agent(data_dir: Path, person: Workspace) -> Iterator[Agent]:  # noqa: ARG001 - what it finds there
    with connected_to_process(data_dir) as made:
        yield made


@pytest.mark.parametrize(("tool", "arguments", "expected"), BAD, ids=[f"{tool}-{want[:30]}" for tool, _, want in BAD])
def test_bad_input_is_answered_with_a_sentence_and_changes_nothing(
    agent: Agent, person: Workspace, tool: str, arguments: dict[str, Any], expected: str
) -> None:
    head = person._store.journal.head()

    sentence = agent.refused(tool, **arguments)

    assert expected in sentence
    assert len(sentence) < 1000
    for noise in ("Traceback", "pydantic", "Error executing", "sqlite", 'File "'):
        assert noise not in sentence
    assert person._store.journal.head() == head


@pytest.mark.parametrize(
    "query",
    ['"unbalanced', "[/nope]", "\x1b]52;c;AAAA\x07", "", "a b " * 500],
    ids=lambda query: repr(query)[:20],
)
def test_a_query_that_is_not_well_formed_is_answered_all_the_same(agent: Agent, query: str) -> None:
    agent.call("search", query=query)


@pytest.mark.parametrize(
    "message", ["a" * 500_000, "a1 /b2 " * 70_000, "\0", ""], ids=["word", "words", "nul", "empty"]
)
def test_a_message_of_any_length_has_a_context(agent: Agent, message: str) -> None:
    agent.call("context", message=message)
    agent.call("skip_check", query=message)


@pytest.mark.parametrize("query", ["kind:poem text", "kindd:fact text", "tag:", "certainty:>=9", "-text", "-", "%"])
def test_a_query_that_cannot_be_used_is_refused_with_what_to_do(agent: Agent, query: str) -> None:
    assert query.split(maxsplit=1)[0].partition(":")[0] in agent.refused("search", query=query)


def test_a_hostile_text_comes_back_as_it_was_once_a_person_let_it_in(agent: Agent, data_dir: Path) -> None:
    text = "[/nope] [@click=app.bell]x[/] \x1b]52;c;AAAA\x07\x1b[2J \u202e \U000e0041 \r\n\t\x85\u2028end"
    name = agent.call("remember", content=text)["id"]
    with memento_tui.open(data_dir) as person:
        person.review.approve(name, despite="orders")

    assert agent.call("get", ids=[name])["memories"][0]["content"] == text


def damage_config(data_dir: Path) -> None:
    (data_dir / "config.toml").write_text("[review]\npreset = 'lax'\n")


def damage_database(data_dir: Path) -> None:
    (data_dir / "memento.db").write_bytes(b"this is not a database, though it is long enough to be one" * 100)


def damage_version(data_dir: Path) -> None:
    with apsw.Connection(str(data_dir / "memento.db")) as connection:
        connection.execute("PRAGMA user_version = 9999")
    connection.close()


def damage_by_file(data_dir: Path) -> None:
    data_dir.rmdir()
    data_dir.write_text("a file stands where the directory should")


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (damage_config, "preset"),
        (damage_database, "is damaged"),
        (damage_version, "newer memento"),
        (damage_by_file, "data"),
    ],
)
def test_a_server_on_a_directory_that_cannot_be_used_says_so_to_each_call(
    tmp_path: Path,
    damage: Callable[[Path], None],
    expected: str,
) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    damage(data_dir)

    with connected(data_dir) as agent:
        for tool, arguments in (("remember", {"content": "x"}), ("search", {"query": "x"}), ("status", {})):
            sentence = agent.refused(tool, **arguments)
            assert expected in sentence
            assert "Traceback" not in sentence
        assert len(agent.tools()) > 10


def test_a_directory_that_is_mended_is_used_from_the_next_call_on(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    damage_config(data_dir)

    with connected(data_dir) as agent:
        assert "preset" in agent.refused("remember", content="x")
        (data_dir / "config.toml").write_text(NO_ENGINE)
        assert agent.call("remember", content="x")["status"] == "active"


def test_a_directory_that_is_missing_is_made(tmp_path: Path) -> None:
    data_dir = tmp_path / "deep" / "data"
    data_dir.parent.mkdir()

    with connected(data_dir) as agent:
        name = agent.call("remember", content="The first of all.")["id"]

    with memento_tui.open(data_dir, create=False) as person:
        assert person.get(name).content == "The first of all."


def test_what_is_read_only_can_be_read(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    with memento_tui.open(data_dir) as person:
        name = person.remember("Still readable.").id
        person.search("readable")
    for path in (*data_dir.rglob("*"), data_dir):
        path.chmod(0o500 if path.is_dir() else 0o400)
    if os.access(data_dir, os.W_OK):
        pytest.skip("this user writes to read-only directories too")

    try:
        with connected(data_dir) as agent:
            assert "read-only" in agent.refused("remember", content="x")
            assert agent.call("get", ids=[name])["memories"][0]["content"] == "Still readable."
            assert agent.call("status")["memories"] == 1
    finally:
        for path in (data_dir, *data_dir.rglob("*")):
            path.chmod(0o700)
