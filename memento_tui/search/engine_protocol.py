"""The protocol between a client and the engine: one JSON object a line over a Unix socket."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

from memento_tui.locations import check_socket_folder
from memento_tui.paths import DataPaths

__all__ = ["LONGEST_LINE", "MOST_NEIGHBOURS", "EngineStatus", "OpenRequests", "send_request"]

LONGEST_LINE = 1 << 22
"""Bytes of a request or an answer: the neighbours of many memories."""

MOST_NEIGHBOURS = 2_000
"""Ids in one request for neighbours."""

_CONNECT_SECONDS = 0.05
"""How long a connection to the engine may take: it is on the same machine."""


@dataclass(frozen=True)
class EngineStatus:
    """The status of a running engine, as it reports it."""

    state: Literal["loading", "ready", "failed"] = "loading"
    pid: int = 0
    version: str = ""
    """The version of memento that it runs."""
    model: str = ""
    """The name of the embedding model; empty until it is loaded."""
    serving: str = ""
    """The name of the model before, where its vectors answer until those of ``model`` are complete."""
    seq: int = 0
    """The journal entry that its index reflects."""
    pending: int = 0
    """Memories that were written or changed since."""
    total: int = 0
    """Memories that the index holds."""
    embedded_total: int = 0
    """Texts embedded since it started."""
    uptime: float = 0.0
    """Seconds since it started."""
    rss: int = 0
    """Bytes of memory that it uses."""
    problem: str = ""
    """Why the state is ``failed``, or why the index does not advance."""
    leaving: bool = False
    """Whether it was told to stop, or has a reason of its own, and ends in a moment."""

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        """Return the status in an answer; that of an engine of another version may have fewer or more fields."""
        return cls(**{field.name: answer[field.name] for field in fields(cls) if field.name in answer})


class OpenRequests:
    """The requests of one client that wait for their answers. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self.are_given_up = False
        """Whether no answer is waited for any more."""

    @contextmanager
    def waiting_on(self, connection: socket.socket) -> Iterator[None]:
        """Have a request given up with the others while the body waits; `ConnectionError` if they already are."""
        with self._lock:
            if self.are_given_up:
                raise ConnectionAbortedError("nobody waits for the engine any more")
            self._connections.add(connection)
        try:
            yield
        finally:
            with self._lock:
                self._connections.discard(connection)

    def give_up(self) -> None:
        """Let each request that waits fail as if the engine had gone, and every later one at once."""
        with self._lock:
            self.are_given_up = True
            for connection in self._connections:
                with suppress(OSError):  # the engine may just have gone
                    connection.shutdown(socket.SHUT_RDWR)


def send_request(
    paths: DataPaths, request: Mapping[str, Any], *, seconds: float, among: OpenRequests | None = None
) -> dict[str, Any]:
    """Send one request and return the answer. It can be cancelled through ``among``, the open requests it joins.

    Raises:
        TimeoutError: the engine took longer than ``seconds``.
        OSError: there is no engine, it went away, or the request was given up.

    """
    path = os.fspath(paths.engine_socket)
    check_socket_folder(os.fspath(paths.root), path)
    deadline = time.monotonic() + seconds
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection,
        (among or OpenRequests()).waiting_on(connection),
    ):
        connection.settimeout(_CONNECT_SECONDS)
        connection.connect(path)
        connection.settimeout(seconds)
        connection.sendall(json.dumps(request).encode() + b"\n")
        line = _read_line(connection, deadline)
    try:
        answer = json.loads(line)
    except ValueError as error:
        raise ConnectionError("the engine's answer is not JSON") from error
    if not isinstance(answer, dict):
        raise ConnectionError("the engine's answer is not an object")
    return answer


def _read_line(connection: socket.socket, deadline: float) -> bytes:
    received = bytearray()
    while not received.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the engine did not answer in time")
        connection.settimeout(left)
        part = connection.recv(65_536)
        if not part or len(received) > LONGEST_LINE:
            raise ConnectionError("the engine went away")
        received += part
    return bytes(received)
