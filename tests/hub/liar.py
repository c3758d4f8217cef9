"""A server that speaks PostgreSQL's protocol just far enough to be let in, and then answers as a test says."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self

__all__ = ["Liar", "error", "message"]

_AUTHENTICATION_OK = b"\0\0\0\0"
_READY = b"I"
_TLS_REQUEST = 80877103


def message(kind: bytes, body: bytes = b"") -> bytes:
    """Return one message of the protocol."""
    return kind + struct.pack("!I", len(body) + 4) + body


def error(text: bytes) -> bytes:
    """Return the messages by which a server refuses a statement."""
    return message(b"E", b"SERROR\0C99999\0M" + text + b"\0\0") + message(b"Z", _READY)


class Liar:
    """Listens on the loopback address; ``answer`` is given the line of whoever was let in and asked the first thing."""

    def __init__(self, answer: Callable[[socket.socket], object]) -> None:
        self._answer = answer
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._lines: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def address(self) -> str:
        """The address of a hub that this server would be."""
        return f"postgresql://ana@127.0.0.1:{self._listening.getsockname()[1]}/memento"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self._listening, *self._lines):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._thread.join()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                line, _ = self._listening.accept()
                self._lines.append(line)
                with suppress(OSError, struct.error):
                    self._let_in(line)
                    line.recv(65_536)
                    self._answer(line)

    def _let_in(self, line: socket.socket) -> None:
        while True:
            size, code = struct.unpack("!II", line.recv(8))
            line.recv(size - 8)
            if code != _TLS_REQUEST:
                break
            line.sendall(b"N")
        parameters = {b"client_encoding": b"UTF8", b"server_version": b"16.0"}
        told = b"".join(message(b"S", name + b"\0" + value + b"\0") for name, value in parameters.items())
        line.sendall(message(b"R", _AUTHENTICATION_OK) + told + message(b"Z", _READY))
