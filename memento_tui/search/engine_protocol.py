"""The protocol between a client and the engine: one JSON object a line over a Unix socket."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

from memento_tui.locations import check_socket_folder
from memento_tui.paths import DataPaths

__all__ = ["LONGEST_LINE", "MOST_NEIGHBOURS", "EngineStatus", "send_request"]

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


def send_request(paths: DataPaths, request: Mapping[str, Any], *, seconds: float) -> dict[str, Any]:
    """Send one request and return the answer.

    Raises:
        TimeoutError: the engine took longer than ``seconds``.
        OSError: there is no engine, or it went away.

    """
    path = os.fspath(paths.engine_socket)
    check_socket_folder(os.fspath(paths.root), path)
    deadline = time.monotonic() + seconds
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
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
