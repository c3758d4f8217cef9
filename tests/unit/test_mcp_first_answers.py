"""A host's first requests are answered while the server is still being loaded, as the server would answer them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from memento_tui.mcp.first_answers import ANSWERS_FILE, INITIALIZE, LISTS, Beginning, answer_while
from tests.first_answers import greeting, render

VERSION = "2025-06-18"
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Host:
    """A host's ends of the two pipes of a server that loads until it is told that it has."""

    def __init__(self) -> None:
        self._requests, self._to_server = os.pipe()
        self._from_server, self._answers = os.pipe()
        self._replies = os.fdopen(self._from_server, "rb")
        self._loaded = threading.Event()
        self._threads = ThreadPoolExecutor(1)
        self._beginning: Future[Beginning] = self._threads.submit(
            answer_while, self._load, "native", requests=self._requests, answers=self._answers
        )
        self.failure: Exception | None = None

    def _load(self) -> None:
        self._loaded.wait(60)
        if self.failure is not None:
            raise self.failure

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        lines = [m if isinstance(m, bytes) else json.dumps(m).encode() + b"\n" for m in messages]
        os.write(self._to_server, b"".join(lines))

    def reply(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._replies.readline())
        return answer

    def ends(self) -> None:
        os.close(self._to_server)
        self._to_server = -1

    def beginning(self) -> Beginning:
        """Let the server be loaded, and return what is handed to it, with what it finds on its standard input."""
        self._loaded.set()
        handed = self._beginning.result(60)
        if self._to_server >= 0:
            self.ends()
        # From here on the number may be that of another file.
        requests, self._requests = self._requests, -1
        with os.fdopen(requests, "rb") as rest:
            return handed._replace(unread=handed.unread + rest.read())

    def close(self) -> None:
        self._loaded.set()
        self._threads.shutdown()
        self._replies.close()
        os.close(self._answers)
        for descriptor in (self._requests, self._to_server):
            if descriptor >= 0:
                os.close(descriptor)


@pytest.fixture
def host() -> Iterator[Host]:
    made = Host()
    yield made
    made.close()


def asked(method: str, number: int | str = 1, **parameters: object) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method}
    return message | ({"params": parameters} if parameters else {})


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def test_the_file_holds_what_the_server_answers() -> None:
    assert ANSWERS_FILE.read_text(encoding="utf-8") == render(), "make reference writes it"


def test_the_handshake_and_the_lists_are_answered_before_the_server_is_loaded(host: Host) -> None:
    host.send(greeting(VERSION, "first"))
    hello = host.reply()
    assert (hello["id"], hello["result"]["serverInfo"]["name"]) == ("first", "memento")
    assert hello["result"]["protocolVersion"] == VERSION
    host.send(INITIALIZED, *(asked(method, at) for at, method in enumerate(LISTS)))
    lists = [host.reply() for _ in LISTS]
    assert [reply["id"] for reply in lists] == list(range(len(LISTS)))
    assert "remember" in {tool["name"] for tool in lists[0]["result"]["tools"]}

    handed = host.beginning()

    # The server reads the handshake too, and nothing that is answered for good.
    assert handed == Beginning(line(greeting(VERSION, "first")) + line(INITIALIZED), "first")


def test_a_request_that_only_the_server_can_answer_is_left_to_it_with_all_that_follow(host: Host) -> None:
    call = asked("tools/call", 2, name="remember", arguments={"content": "Zebra."})
    host.send(greeting(VERSION), call, asked("tools/list", 3), b'{"half a ')
    host.reply()
    assert (
        host.beginning().unread == b"".join(map(line, [greeting(VERSION), call, asked("tools/list", 3)])) + b'{"half a '
    )


def test_a_list_from_a_cursor_on_is_left_to_the_server(host: Host) -> None:
    host.send(greeting(VERSION), asked("tools/list", 2, cursor="x"))
    host.reply()
    assert line(asked("tools/list", 2, cursor="x")) in host.beginning().unread


@pytest.mark.parametrize(
    "message",
    [
        b"not JSON\n",
        b"[" * 10_000 + b"\n",
        b'"text"\n',
        line(asked("tools/list")),
        line(asked("ping")),
        line(INITIALIZED),
        line(asked(INITIALIZE)),
        line(greeting("1999-01-01")),
        line({**greeting(VERSION), "id": None}),
        line({**greeting(VERSION), "id": True}),
        line({**greeting(VERSION), "jsonrpc": "1.0"}),
        line(asked(INITIALIZE, protocolVersion=VERSION, clientInfo={"name": "x", "version": "1"})),
        line(asked(INITIALIZE, protocolVersion=VERSION, clientInfo={"name": "x"}, capabilities={})),
        line(
            asked(INITIALIZE, protocolVersion=VERSION, clientInfo={"name": "x", "version": "1"}, capabilities={"a": 1})
        ),
    ],
)
def test_a_beginning_that_is_no_plain_handshake_is_left_to_the_server(host: Host, message: bytes) -> None:
    host.send(message)
    assert host.beginning() == Beginning(message, None)


def test_a_host_that_says_nothing_or_half_a_line_or_goes_away_keeps_nothing_from_loading(host: Host) -> None:
    host.send(b'{"half a ')
    host.ends()
    assert host.beginning() == Beginning(b'{"half a ', None)


def test_a_server_that_cannot_be_loaded_fails_as_it_would_have(host: Host) -> None:
    host.failure = ImportError("no SDK")
    host.send(greeting(VERSION))
    host.reply()
    with pytest.raises(ImportError, match="no SDK"):
        host.beginning()
