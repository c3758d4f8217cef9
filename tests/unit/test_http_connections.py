"""One connection of the HTTP server: its deadlines, and what happens beyond the limit of open connections."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from memento_tui.compat.http.server import BoundedConnection

_HEAD = b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"


class ManualLoop:
    """An event loop whose time passes only when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[Timer] = []
        self.tasks: list[Any] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        self.timers.append(Timer(self.now + delay, callback))
        return self.timers[-1]

    def create_task(self, coroutine: Any, **_: Any) -> Any:  # noqa: ANN401 - any coroutine, as asyncio takes it
        task = ManualTask(coroutine)
        self.tasks.append(task)
        return task

    def pass_time(self, seconds: float) -> None:
        """Let time pass, and run what is due meanwhile."""
        ends = self.now + seconds
        while due := [timer for timer in self.timers if timer.at <= ends]:
            timer = min(due, key=lambda one: one.at)
            self.timers.remove(timer)
            self.now = timer.at
            if not timer.is_cancelled:
                timer.callback()
        self.now = ends


class Timer:
    def __init__(self, at: float, callback: Callable[[], None]) -> None:
        self.at = at
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class ManualTask:
    def __init__(self, coroutine: Any) -> None:  # noqa: ANN401 - as above
        self.coroutine = coroutine

    def add_done_callback(self, _: object) -> None:
        """Do nothing: tests run the coroutine themselves or not at all."""

    def run(self) -> None:
        """Run the request to its end; it waits for nothing."""
        with pytest.raises(StopIteration):
            self.coroutine.send(None)


class Wire:
    """A transport that keeps what is written, and whose client takes it only when ``takes`` is set."""

    def __init__(self) -> None:
        self.written = b""
        self.is_closed = False
        self.is_gone = False
        self.takes = True
        self.protocol: BoundedConnection

    def get_extra_info(self, _: str) -> None:
        return None

    def write(self, data: bytes) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            if self.takes:
                self._lose()

    def abort(self) -> None:
        self.is_closed = True
        if not self.is_gone:
            self._lose()

    def _lose(self) -> None:
        self.is_gone = True
        self.protocol.connection_lost(None)

    def pause_reading(self) -> None:
        """Do nothing: the test decides what comes."""

    def resume_reading(self) -> None:
        """Do nothing, as above."""


async def _answers(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401, ARG001 - ASGI
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


class Server:
    """Connections of one server, whose time a test controls."""

    def __init__(self) -> None:
        self.loop = ManualLoop()
        self.state = ServerState()
        self.config = Config(_answers, log_config=None, ws="none", lifespan="off", limit_concurrency=3)
        self.config.load()

    def connect(self) -> tuple[BoundedConnection, Wire]:
        wire = Wire()
        connection = BoundedConnection(self.config, self.state, {}, cast("asyncio.AbstractEventLoop", self.loop))
        wire.protocol = connection
        connection.connection_made(cast("asyncio.Transport", wire))
        return connection, wire


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    for task in made.loop.tasks:
        task.coroutine.close()


def test_a_client_that_sends_nothing_is_closed_after_ten_seconds(server: Server) -> None:
    _, wire = server.connect()
    server.loop.pass_time(9.9)
    assert not wire.is_gone
    server.loop.pass_time(0.2)
    assert (wire.is_gone, wire.written, server.state.connections) == (True, b"", set())


def test_a_head_that_comes_byte_by_byte_has_ten_seconds_in_all_and_is_told_so(server: Server) -> None:
    connection, wire = server.connect()
    for byte in b"GET / HTTP":
        connection.data_received(bytes([byte]))
        server.loop.pass_time(1.01)
    assert wire.is_gone
    assert wire.written.startswith(b"HTTP/1.1 408")
    assert b"did not come within 10 s" in wire.written


def test_the_second_request_of_a_connection_has_the_same_limit(server: Server) -> None:
    connection, wire = server.connect()
    connection.data_received(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    server.loop.tasks[0].run()
    assert wire.written.endswith(b"ok")
    connection.data_received(b"GET /v1/he")
    server.loop.pass_time(9.9)
    assert not wire.is_gone
    server.loop.pass_time(0.2)
    assert wire.is_gone


def test_an_idle_connection_is_closed_by_the_limit_of_uvicorn(server: Server) -> None:
    connection, wire = server.connect()
    connection.data_received(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    server.loop.tasks[0].run()
    server.loop.pass_time(server.config.timeout_keep_alive + 0.1)
    assert wire.is_gone


def test_a_request_in_progress_has_no_limit_once_its_body_is_there(server: Server) -> None:
    connection, wire = server.connect()
    connection.data_received(_HEAD + b"0123456789")
    server.loop.pass_time(1000)
    assert not wire.is_closed


def test_a_body_that_never_comes_is_given_up_after_the_guard_has_had_its_time(server: Server) -> None:
    connection, wire = server.connect()
    connection.data_received(_HEAD + b"01")
    server.loop.pass_time(69)
    connection.data_received(b"2")
    assert not wire.is_closed
    server.loop.pass_time(1.1)
    assert wire.is_gone


def test_the_rest_of_a_body_that_was_answered_has_five_seconds(server: Server) -> None:
    connection, wire = server.connect()
    connection.data_received(_HEAD)
    server.loop.tasks[0].run()
    for _ in range(4):
        server.loop.pass_time(1)
        connection.data_received(b"0")
    assert not wire.is_closed
    server.loop.pass_time(1.1)
    assert wire.is_gone


def test_a_client_that_does_not_take_its_answer_is_cut_off(server: Server) -> None:
    connection, wire = server.connect()
    wire.takes = False
    connection.data_received(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    server.loop.tasks[0].run()
    assert (wire.is_closed, wire.is_gone) == (True, False)
    server.loop.pass_time(60.1)
    assert wire.is_gone


def test_a_long_answer_that_is_not_taken_is_cut_off_and_one_that_is_goes_on(server: Server) -> None:
    connection, wire = server.connect()
    connection.data_received(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    connection.pause_writing()
    server.loop.pass_time(59)
    connection.resume_writing()
    server.loop.pass_time(1000)
    assert not wire.is_closed
    connection.pause_writing()
    server.loop.pass_time(60.1)
    assert wire.is_gone


def test_beyond_the_limit_the_client_that_has_been_silent_longest_makes_room(server: Server) -> None:
    wires = []
    for _ in range(5):
        wires.append(server.connect()[1])
        server.loop.pass_time(0.1)
    assert [wire.is_gone for wire in wires] == [True, True, False, False, False]
    assert len(server.state.connections) == 3


def test_a_client_beyond_the_limit_is_told_to_come_back_where_all_others_are_served(server: Server) -> None:
    for _ in range(3):
        server.connect()[0].data_received(_HEAD)
    connection, wire = server.connect()
    connection.data_received(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    server.loop.tasks[-1].run()
    assert wire.written.startswith(b"HTTP/1.1 503")
    assert b"retry-after: 5" in wire.written
    assert b"try again soon" in wire.written
    assert wire.is_gone
    assert len(server.state.connections) == 3
