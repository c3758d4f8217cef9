"""MCP over streamable HTTP: the SDK's client in both of its ways, and clients that only post."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp_types import Implementation

import memento_tui
from memento_tui.mcp.profiles import PROFILES
from tests.journeys.mcp_agent import NO_ENGINE, Agent
from tests.journeys.mcp_over_http import Posting, served

LISTING = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("http") / "data"
    made.mkdir()
    (made / "config.toml").write_text(NO_ENGINE)
    return made


@pytest.fixture(scope="module")
def post(data_dir: Path) -> Iterator[Posting]:
    with served(data_dir) as posting:
        yield posting


@pytest.mark.parametrize(("mode", "name"), [("auto", "journey"), ("legacy", "python-httpx2")])
def test_the_sdks_client_uses_the_tools_whether_it_shakes_hands_or_not(post: Posting, mode: str, name: str) -> None:
    with start_blocking_portal() as portal:
        client = Client(post.url, client_info=Implementation(name="journey", version="1"), mode=mode)
        with portal.wrap_async_context_manager(client):
            agent = Agent(portal, client)
            stored = agent.call("remember", content=f"The {mode} client posts to the marmot host.")

            found = agent.call("search", query="marmot")["results"]

            assert stored["id"] in [memory["id"] for memory in found]
            assert agent.call("status")["agent"] == name
            assert "search needs query." in agent.refused("search")
            assert len(agent.tools()) == 26
            assert portal.call(client.list_prompts).prompts
            assert portal.call(client.read_resource, "memento://skips").contents


def test_a_bare_call_without_a_handshake_is_answered_as_json(post: Posting) -> None:
    stored = post.call("remember", content="A remote client posts one tools/call and no more.")

    assert stored["isError"] is False
    read = post.send({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "status"}})
    assert read.headers["content-type"] == "application/json"
    assert read.body["id"] == "a"
    assert read.result["structuredContent"]["agent"] == "agent"


def test_a_client_that_names_no_type_takes_any(post: Posting) -> None:
    answered = post.send(LISTING, {"Content-Type": "application/json"})

    assert (answered.status, len(answered.result["tools"])) == (200, 26)


def test_an_older_client_is_known_by_the_name_of_its_program(post: Posting) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "status"}}
    headers = {"Content-Type": "application/json", "User-Agent": "claude-code/2.1.0 (cli)"}

    assert post.send(call, headers).result["structuredContent"]["agent"] == "claude-code"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "The body is not JSON."),
        (b'{"jsonrpc": "2.0", "id": 1, "met', "The body is not JSON."),
        (b"[" * 100_000, "The body is not JSON."),
        (b"\xff\xfe\x00", "The body is not JSON."),
        ([LISTING, LISTING], "Post requests one by one."),
        ("tools/list", "The body is not one JSON-RPC request."),
        ({"id": 1, "method": "tools/list"}, '"jsonrpc" must be "2.0".'),
        ({"jsonrpc": "2.0", "id": 1}, '"method" must be a text.'),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [1]}, '"params" must be an object.'),
        ({"jsonrpc": "2.0", "id": [1], "method": "tools/list"}, '"id" must be a text or a whole number.'),
    ],
)
def test_a_body_that_is_no_request_is_refused_in_a_sentence(post: Posting, body: Any, reason: str) -> None:  # noqa: ANN401 - any JSON
    answered = post.send(body)

    assert answered.status == 400
    assert reason in answered.reason
    assert len(answered.reason) < 300


def test_a_method_that_does_not_exist_and_bad_parameters_are_answered(post: Posting) -> None:
    assert post.send({"jsonrpc": "2.0", "id": 1, "method": "no/such"}).body["error"]["code"] == -32601
    bad = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get", "arguments": ["x"]}}
    assert post.send(bad).body["error"]["code"] == -32602
    assert post.call("get", ids=[])["isError"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_only_post_is_answered(post: Posting, method: str) -> None:
    answered = post.send(b"", {"Accept": "text/event-stream"}, method)

    assert (answered.status, answered.headers["allow"]) == (405, "POST")
    assert "Only POST" in answered.reason


def test_half_a_character_is_replaced_and_the_rest_is_kept(post: Posting) -> None:
    head = b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "remember", "arguments": '

    for tail, kept in ((rb'{"content": "A grin \ud83d"}}}', "A grin ?"), (b'{"content": "caf\xe9"}}}', "caf\ufffd")):
        stored = post.send(head + tail).result["structuredContent"]["id"]
        assert post.call("get", ids=[stored])["structuredContent"]["memories"][0]["content"] == kept


def test_many_clients_at_once_each_have_their_answer(post: Posting, data_dir: Path) -> None:
    texts = [f"The {word} service answers on port {number}." for number, word in enumerate("abcdefghijkl", 4000)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda text: post.call("remember", content=text), texts))

    with memento_tui.open(data_dir) as person:
        stored = [person.get(answered["structuredContent"]["id"]) for answered in answers]
    assert [memory.content for memory in stored] == texts
    assert {memory.status for memory in stored} == {"active"}


def test_each_client_over_http_opens_a_session_of_its_own_and_what_it_is_shown_is_filed_there(
    post: Posting, data_dir: Path
) -> None:
    post.call("remember", content="The quokka queue is drained on Mondays.")
    one, two = (post.call("session_open")["structuredContent"]["session"] for _ in range(2))

    shown = post.call("context", message="quokka queue", session=one)["structuredContent"]["memories"]
    post.call("get", ids=[shown[0]["id"]], session=one)

    assert one != two
    with memento_tui.open(data_dir) as person:
        totals = person._store.exposures.session(one)
        assert totals is not None
        assert person._store.exposures.session(two) is None


def test_a_path_is_not_read_for_a_client_over_http(post: Posting, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text('{"role": "user", "content": "Always run make check first."}\n')

    refused = post.call("distill", path=str(transcript))

    assert refused["isError"]
    assert "not read for an agent that asks over HTTP" in refused["content"][0]["text"]
    assert not post.call("distill", text="User: From now on always run make check first.")["isError"]


def test_names_without_end_do_not_open_workspaces_without_end(post: Posting) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "status"}}
    names = [
        post.send(call, {"Content-Type": "application/json", "User-Agent": f"bot{number}/1"}).result[
            "structuredContent"
        ]["agent"]
        for number in range(80)
    ]

    assert names[0] == "bot0"
    assert names[-1] == "agent"


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_is_served_without_a_handshake(tmp_path: Path, profile: str) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    (data_dir / "config.toml").write_text(NO_ENGINE)
    with served(data_dir, profile) as posting:
        assert posting.send(LISTING).result["tools"]
        assert posting.call("no_such_tool")["content"][0]["text"]
