"""The wire itself: only JSON-RPC on standard output, an answer to every request, and a quick, clean end."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.mcp_agent import NO_ENGINE, server_command

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw\x1b[2J\nhost", "version": "1"},
    },
}


class Wire:
    """The pipes of a server, line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answered = json.loads(self.process.stdout.readline())
        assert answered["jsonrpc"] == "2.0"
        assert isinstance(answered, dict)
        return answered

    def ask(self, message: dict[str, Any] | bytes) -> dict[str, Any]:
        self.write(message if isinstance(message, bytes) else json.dumps(message).encode())
        return self.read()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - the tool's own
        params = {"name": tool, "arguments": arguments}
        answered: dict[str, Any] = self.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        result: dict[str, Any] = answered["result"]
        return result

    def end(self) -> tuple[bytes, bytes]:
        return self.process.communicate(timeout=60)


@contextmanager
def started(data_dir: Path) -> Iterator[Wire]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(server_command(data_dir), stdin=pipe, stdout=pipe, stderr=pipe)  # noqa: S603 - our own program
    try:
        wire = Wire(process)
        assert wire.ask(INITIALIZE)["result"]["serverInfo"]["name"] == "memento"
        wire.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        yield wire
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    (made / "config.toml").write_text(NO_ENGINE)
    return made


def test_each_request_has_its_answer_and_nothing_else_reaches_standard_output(data_dir: Path) -> None:
    with started(data_dir) as wire:
        assert "structuredContent" in wire.call("remember", content="A first text.")
        assert wire.call("remember", colour="red")["isError"]
        assert wire.call("no_such_tool")["isError"]
        assert wire.ask({"jsonrpc": "2.0", "id": 5, "method": "no/such"})["error"]["code"] == -32601
        bad = {"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "get", "arguments": ["x"]}}
        assert wire.ask(bad)["error"]["code"] == -32602
        assert wire.ask(b'{"jsonrpc": "2.0", "id": 7, "met')["error"]["code"] == -32700
        assert wire.ask(b"not JSON at all \xff\xfe")["error"]["code"] == -32700
        assert wire.call("status")["structuredContent"]["memories"] == 1

        rest, log = wire.end()

        assert rest == b""
        assert log == b""
        assert wire.process.returncode == 0


def test_the_handshake_is_answered_once_and_lists_alike_before_and_after_the_server_runs(data_dir: Path) -> None:
    call = {"name": "remember", "arguments": {"content": "Zebras wear stripes."}}
    with started(data_dir) as wire:
        wire.write(b'{"jsonrpc": "2.0", "id": 0, "method": "tools/list"}')
        wire.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode())
        wire.write(b'{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}')
        answered = {reply["id"]: reply["result"] for reply in (wire.read() for _ in range(3))}
        rest, _ = wire.end()
    assert (sorted(answered), rest) == ([0, 1, 2], b"")
    assert answered[0] == answered[2]
    assert not answered[1].get("isError")


def test_half_a_character_from_a_host_that_cuts_texts_does_not_cost_the_answer(data_dir: Path) -> None:
    with started(data_dir) as wire:
        head = b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "remember", "arguments": '

        answered = wire.ask(head + rb'{"content": "A smile \ud83d"}}}')
        stored = answered["result"]["structuredContent"]["id"]

        assert answered["id"] == 2
        whole = wire.call("get", ids=[stored])["structuredContent"]["memories"][0]
        assert whole["content"] == "A smile ?"


def test_bytes_that_are_not_utf_8_are_replaced_and_answered(data_dir: Path) -> None:
    with started(data_dir) as wire:
        head = b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "remember", "arguments": '

        answered = wire.ask(head + b'{"content": "caf\xe9"}}}')

        assert "structuredContent" in answered["result"]


def test_a_client_with_a_hostile_name_is_filed_under_a_printable_one(data_dir: Path) -> None:
    with started(data_dir) as wire:
        assert wire.call("status")["structuredContent"]["agent"] == "raw[2J host"


def test_an_interrupt_ends_a_server_that_waits_for_a_request(data_dir: Path) -> None:
    with started(data_dir) as wire:
        wire.process.send_signal(signal.SIGINT)

        assert wire.process.wait(timeout=60) == -signal.SIGINT


def test_a_server_whose_host_no_longer_listens_ends_without_a_traceback(data_dir: Path) -> None:
    with started(data_dir) as wire:
        assert wire.process.stdout is not None
        wire.process.stdout.close()
        wire.write(b'{"jsonrpc": "2.0", "id": 9, "method": "tools/list"}')
        assert wire.process.stdin is not None
        wire.process.stdin.close()
        wire.process.stdin = wire.process.stdout = None

        _, log = wire.end()

        assert wire.process.returncode == 141
        assert b"Traceback" not in log
