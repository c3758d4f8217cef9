"""Wrong keys over HTTP: each address that guesses is answered later and later, and others at once."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest
from starlette.types import Message

from memento_tui.compat.http.guard import Guard, WrongKeys
from memento_tui.compat.http.keys import Caller


class Clock:
    """A clock whose sleepers return at once, or when they are released."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self.gate: asyncio.Event | None = None

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self.gate is not None:
            await self.gate.wait()


class Server:
    """A guard before an application that answers everything, and the clock of its wrong keys."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.asked: list[str] = []
        self.guard = Guard(
            _answers,
            self._caller_of,
            host="192.168.1.4",
            wrong_keys=WrongKeys(lambda: self.clock.now, self.clock.sleep),
        )

    async def _caller_of(self, key: str) -> Caller | None:
        self.asked.append(key)
        return Caller() if key == "right" else None

    async def ask(self, key: str, address: str = "192.168.1.7") -> tuple[int, dict[bytes, bytes]]:
        """Return the status and the headers of the answer."""
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/v1/health",
            "scheme": "http",
            "client": (address, 4000),
            "headers": [(b"host", b"192.168.1.4:8745"), (b"authorization", f"Bearer {key}".encode())],
        }
        answered: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            answered.append(message)

        await self.guard(scope, receive, send)
        return answered[0]["status"], dict(answered[0]["headers"])


async def _answers(_scope: Any, _receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def test_ten_wrong_keys_are_answered_at_once_and_each_further_one_later_than_the_last() -> None:
    server = Server()
    statuses = [asyncio.run(server.ask("wrong"))[0] for _ in range(17)]
    assert statuses == [401] * 17
    assert server.clock.slept == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0])


def test_a_client_that_knows_its_key_is_answered_at_once_beside_one_that_guesses() -> None:
    server = Server()
    for _ in range(20):
        asyncio.run(server.ask("wrong"))
    slept = len(server.clock.slept)
    assert asyncio.run(server.ask("right"))[0] == 200
    assert asyncio.run(server.ask("wrong", "192.168.1.8"))[0] == 401
    assert len(server.clock.slept) == slept


def test_wrong_keys_are_forgotten_in_time() -> None:
    server = Server()
    for _ in range(12):
        asyncio.run(server.ask("wrong"))
    server.clock.now += 12 * 30
    slept = len(server.clock.slept)
    assert asyncio.run(server.ask("wrong"))[0] == 401
    assert len(server.clock.slept) == slept


def test_a_client_that_guesses_with_many_connections_has_no_key_looked_at() -> None:
    async def guess(server: Server) -> None:
        for _ in range(10):
            await server.ask("wrong")
        server.clock.gate = asyncio.Event()
        held = [asyncio.create_task(server.ask("wrong")) for _ in range(8)]
        await anyio.wait_all_tasks_blocked()
        looked_at = len(server.asked)
        status, headers = await server.ask("right")
        assert (status, headers[b"retry-after"]) == (429, b"2")
        assert len(server.asked) == looked_at
        assert (await server.ask("right", "192.168.1.8"))[0] == 200
        server.clock.gate.set()
        assert {status for status, _ in await asyncio.gather(*held)} == {401}
        assert (await server.ask("right"))[0] == 200

    asyncio.run(guess(Server()))


def test_all_addresses_of_a_network_of_ipv6_are_one_client() -> None:
    server = Server()
    for number in range(11):
        asyncio.run(server.ask("wrong", f"2001:db8:0:1::{number:x}"))
    assert len(server.clock.slept) == 1
    asyncio.run(server.ask("wrong", "2001:db8:0:2::1"))
    assert len(server.clock.slept) == 1


def test_only_so_many_addresses_are_remembered() -> None:
    wrong_keys = WrongKeys(lambda: 0.0)
    for number in range(3_000):
        asyncio.run(wrong_keys.hold_back(f"10.0.{number // 250}.{number % 250}"))
    assert len(wrong_keys._addresses) == 1_000
