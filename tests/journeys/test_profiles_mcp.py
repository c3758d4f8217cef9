"""Agents of Memento Vault, memento-core and agent-memory, over the pipes and over HTTP of real servers.

The client of Memento Vault over HTTP is written from what is known of its own: it posts one ``tools/call`` without a
handshake, and reads each block of text as JSON.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import memento_tui
from tests.journeys.http_server import serving_here
from tests.journeys.mcp_agent import NO_ENGINE, connected, connected_to_process, text_of

TOOLS = {
    "vault": [
        "memento_search",
        "memento_briefing",
        "memento_recall",
        "memento_tool_context",
        "memento_store",
        "memento_daily_snapshot",
        "memento_status",
        "memento_get",
        "memento_capture",
        "memento_list",
        "memento_reindex",
    ],
    "core": ["memory_store", "memory_search", "memory_recall", "memory_delete", "memory_list_namespaces"],
    "bank": ["recall", "get_memory", "retain"],
}
MOST_TOKENS = {"vault": 1400, "core": 600, "bank": 550}
GOVERNING = {
    "stability": "verified",
    "pinned": True,
    "tier": "long_term",
    "status": "active",
    "approve": True,
    "verified_by": "person",
    "version": 7,
}


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    (made / "config.toml").write_text(NO_ENGINE)
    return made


@pytest.mark.parametrize("profile", TOOLS)
def test_a_profile_lists_its_systems_tools_in_their_order_and_few_words(data_dir: Path, profile: str) -> None:
    with connected_to_process(data_dir, profile=profile) as agent:
        tools = agent.tools()

    assert [tool.name for tool in tools] == TOOLS[profile]
    for tool in tools:
        assert tool.title
        assert tool.description
        assert tool.output_schema
        assert tool.output_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert tool.annotations is not None
        assert tool.annotations.open_world_hint is False
    read = [{"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in tools]
    tokens = sum(len(json.dumps(tool, separators=(",", ":"))) for tool in read) / 4
    assert tokens < MOST_TOKENS[profile]


@pytest.mark.parametrize("profile", TOOLS)
def test_no_tool_takes_what_only_a_person_sets(data_dir: Path, profile: str) -> None:
    with connected(data_dir, profile=profile) as agent:
        for tool in TOOLS[profile]:
            answered = agent.send(tool, GOVERNING)
            assert answered.is_error
            assert "a person decides that" in text_of(answered)
        for name in ("approve", "verify", "pin", "undo", "purge", "review_approve", ""):
            assert agent.send(name, {}).is_error
    with memento_tui.open(data_dir) as person:
        assert person._store.memories.count_all() == 0


@pytest.mark.parametrize(
    ("profile", "tool", "system"),
    [
        ("vault", "memory_store", "memento-core"),
        ("core", "memento_search", "--profile"),
        ("bank", "memento_capture", "Memento Vault"),
        ("vault", "retain", "agent-memory"),
    ],
)
def test_a_tool_of_another_system_is_refused_with_the_profile_that_has_it(
    data_dir: Path, profile: str, tool: str, system: str
) -> None:
    with connected(data_dir, profile=profile) as agent:
        assert system in text_of(agent.send(tool, {}))


def test_what_one_systems_agent_stores_every_other_finds(data_dir: Path) -> None:
    with connected(data_dir, name="cursor", profile="vault") as vault:
        vault.send(
            "memento_store",
            {"title": "Proxy port", "body": "The staging proxy listens on port 8080.", "project": "shop"},
        )
    with connected(data_dir, name="codex", profile="core") as core:
        (found,) = json.loads(core.read("memory_search", query="staging proxy", namespace="projects/shop"))
        core.read("memory_store", content="Proxies restart at night.", namespace="projects/shop")
    with connected(data_dir, name="gemini", profile="bank") as bank:
        assert "8080" in bank.read("get_memory", id=found["id"])
        assert len(bank.call("recall", bank_id="projects/shop", query="proxy proxies")["memories"]) == 2
    with memento_tui.open(data_dir) as person:
        writers = {memory.source.agent for memory in person.list().items}
    assert writers == {"cursor", "codex"}


def test_an_agent_of_the_vault_reads_why_the_data_directory_cannot_be_used(data_dir: Path) -> None:
    (data_dir / "config.toml").write_text("[review]\npreset = 7\n")
    with connected(data_dir, profile="vault") as agent:
        answered = agent.send("memento_status", {})
        assert answered.is_error
        assert "config.toml" in json.loads(text_of(answered))["error"]
        (data_dir / "config.toml").write_text(NO_ENGINE)
        assert json.loads(agent.read("memento_status"))["note_count"] == 0


# Over HTTP


class Remote(NamedTuple):
    """Memento Vault's remote client: where it posts, and with which key."""

    url: str
    key: str

    def call(self, tool: str, **arguments: Any) -> Any:  # noqa: ANN401 - the tool's own
        """Return what the client makes of a result: the one object of its blocks, or all of them."""
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Authorization": f"Bearer {self.key}",
        }
        request = urllib.request.Request(f"{self.url}/mcp", json.dumps(message).encode(), headers, method="POST")  # noqa: S310 - our own server
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - as above
            result = json.load(response)["result"]
        parsed = [json.loads(block["text"]) for block in result["content"]]
        return parsed[0] if len(parsed) == 1 else parsed


@pytest.fixture
def remote(data_dir: Path) -> Iterator[Remote]:
    with serving_here(data_dir, profile="vault") as server:
        yield Remote(server.url, server.key)


def test_the_remote_client_of_a_vault_works_without_a_handshake(remote: Remote) -> None:
    assert remote.call("memento_status")["note_count"] == 0
    assert remote.call("memento_search", query="proxy", limit=6, semantic=False, min_score=0.4, cwd="/x") == []
    stored = remote.call(
        "memento_store", title="Proxy port", body="The staging proxy listens on port 8080.", note_type="discovery"
    )
    assert stored["path"] == "notes/proxy-port.md"
    remote.call("memento_store", title="Gateway", body="The gateway of the proxy is edge-1.")
    found = remote.call("memento_search", query="staging proxy gateway")
    assert {note["path"] for note in found} == {"notes/proxy-port.md", "notes/gateway.md"}
    note = remote.call("memento_get", path="notes/proxy-port.md")
    assert note["content"].endswith("The staging proxy listens on port 8080.")
    assert {note["path"] for note in remote.call("memento_list", include_hash=True)} == {
        "notes/proxy-port.md",
        "notes/gateway.md",
    }
    assert remote.call("memento_capture", session_summary="Fixed the uploader.", session_id="h1")["note_path"]
    assert remote.call("memento_capture", session_summary="Fixed the uploader.", session_id="h1")["deduplicated"]


def test_what_goes_wrong_is_told_to_the_remote_client_as_an_error(remote: Remote, tmp_path: Path) -> None:
    assert "title" in remote.call("memento_store", title="", body="x")["error"]
    assert "nonsense" in remote.call("memento_store", title="x", body="y", nonsense=1)["error"]
    assert "There is no" in remote.call("memento_nothing")["error"]
    (tmp_path / "t.jsonl").write_text("{}")
    captured = remote.call("memento_capture", transcript_path=str(tmp_path / "t.jsonl"))
    assert "stdio" in captured["error"]
