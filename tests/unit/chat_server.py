"""A language model's endpoint on loopback that speaks the OpenAI chat protocol, well or badly as each test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self

import pytest

from memento_tui.config import LanguageModelConfig
from tests.agreed import agreed

__all__ = ["ChatServer", "Question", "without_proxies"]

_DRIP_SECONDS = 0.05


def without_proxies(patch: pytest.MonkeyPatch) -> None:
    """Let requests go to the server itself, whatever the shell that runs the tests sends them through."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        patch.delenv(name, raising=False)
        patch.delenv(name.upper(), raising=False)


@dataclass(frozen=True)
class Question:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def instruction(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def text(self) -> str:
        return str(self.body["messages"][1]["content"])


class ChatServer:
    """Serves while it is open, at an address that is agreed to.

    ``questions`` are what was asked; the methods say how the next ones are answered.
    """

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.sent = 0
        """Bytes of the last endless answer that the other side took."""
        self.left = threading.Event()
        """Set when the other side went away during an answer that had no end."""
        self._closing = threading.Event()
        self._answer: Callable[[_Handler], None] = _Handler.nothing
        handler = type("Handler", (_Handler,), {"house": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self.config()  # a test may write the address into a file

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving; the address refuses connections from now on."""
        self._closing.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def config(self, **settings: Any) -> LanguageModelConfig:  # noqa: ANN401 - the settings of a language model
        """Return settings that name the server, which are agreed to."""
        return agreed(
            LanguageModelConfig(**{"url": self.url, "model": "test-model", "timeout_seconds": 60, **settings})
        )

    def says(self, content: str | None, finish: str | None = "stop") -> None:
        choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
        body = json.dumps({"id": "1", "object": "chat.completion", "choices": [choice]}).encode()
        self._answer = lambda handler: handler.whole(200, body)

    def sends(self, body: bytes, status: int = 200, **headers: str) -> None:
        self._answer = lambda handler: handler.whole(status, body, headers)

    def redirects_to(self, url: str) -> None:
        self._answer = lambda handler: handler.whole(307, b"", {"Location": url})

    def hangs(self) -> None:
        """Take the question and say nothing."""
        self._answer = _Handler.wait

    def drips_headers(self) -> None:
        self._answer = lambda handler: handler.endless(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a", _DRIP_SECONDS)

    def drips_a_body(self) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
        self._answer = lambda handler: handler.endless(head, b" ", _DRIP_SECONDS)

    def sends_without_end(self) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
        self._answer = lambda handler: handler.endless(head, b" " * 65_536, 0)

    def closes_the_connection(self) -> None:
        self._answer = _Handler.nothing

    def breaks_off(self) -> None:
        self._answer = lambda handler: handler.raw(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"choices":')

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the test, no longer than that; tell whether it came."""
        return self._closing.wait(seconds)

    def answer(self, handler: _Handler) -> None:
        self._answer(handler)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = True

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as its base has them
        """Say nothing: that the other side leaves in the middle is what many of the tests want."""


class _Handler(BaseHTTPRequestHandler):
    house: ClassVar[ChatServer]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.house.questions.append(Question(self.path, dict(self.headers.items()), json.loads(body)))
        self.close_connection = True
        self.house.answer(self)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - as its base has them
        pass

    def nothing(self) -> None:
        pass

    def wait(self) -> None:
        self.house.wait()

    def raw(self, data: bytes) -> None:
        self.wfile.write(data)

    def whole(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def endless(self, head: bytes, part: bytes, pause: float) -> None:
        self.wfile.write(head)
        self.house.sent = 0
        try:
            while not self.house.wait(pause):
                self.wfile.write(part)
                self.house.sent += len(part)
        except OSError:
            self.house.left.set()
