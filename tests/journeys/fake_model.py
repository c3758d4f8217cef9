"""A model's API on a free port of this machine: it writes down what a host sends, and answers what a test gave it.

It speaks as much of the APIs of Anthropic (messages), OpenAI (responses) and Google (generateContent) as the hosts'
own programs need for a turn.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

__all__ = ["FakeModel", "UseTool", "fake_model"]

_PATIENCE = 60
"""Seconds."""


class UseTool(NamedTuple):
    """The model asks its host to run a tool; only in Anthropic's words."""

    name: str
    given: dict[str, Any]


class FakeModel:
    """What was sent, and what is answered next; hosts ask from threads of the server's."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.sent: list[Any] = []
        self._answers: deque[str | UseTool] = deque()

    def will_answer(self, *answers: str | UseTool) -> None:
        """Give the answers of the turns to come; after them it says no more than "Done."."""
        self._answers.extend(answers)

    def take(self, path: str, body: Any) -> bytes:  # noqa: ANN401 - any JSON
        """Return the answer to one request, as events of a stream."""
        # Hosts ask on the side too, for a title or a summary, and offer no tools then.
        is_turn = bool(body.get("tools"))
        if is_turn:
            self.sent.append(body)
        answer = self._answers.popleft() if is_turn and self._answers else "Done."
        if path.startswith("/v1/messages"):
            return _named_events(_anthropic(answer, len(self.sent)))
        assert isinstance(answer, str)
        return _named_events(_openai(answer)) if path.endswith("/responses") else _event(_google(answer))

    def told(self, turn: int = -1) -> str:
        """Return every text of one request that had tools: what the model could read."""
        return "\n".join(_texts({name: part for name, part in self.sent[turn].items() if name != "tools"}))


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _event(data: dict[str, Any], name: str = "") -> bytes:
    return f"{f'event: {name}' + chr(10) if name else ''}data: {json.dumps(data)}\n\n".encode()


def _named_events(events: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(_event(event, event["type"]) for event in events)


def _anthropic(answer: str | UseTool, number: int) -> list[dict[str, Any]]:
    block: dict[str, Any]
    if isinstance(answer, str):
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": answer}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number:04}", "name": answer.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(answer.given)}
    reason = "end_turn" if isinstance(answer, str) else "tool_use"
    message = {"id": f"msg_{number:04}", "type": "message", "role": "assistant", "model": "claude", "content": []}
    stop = {"stop_reason": None, "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**message, **stop, "usage": {"input_tokens": 9, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {**stop, "stop_reason": reason}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]


def _openai(answer: str) -> list[dict[str, Any]]:
    content = [{"type": "output_text", "text": answer, "annotations": []}]
    item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content}
    usage = {"input_tokens": 9, "input_tokens_details": None, "output_tokens": 9, "output_tokens_details": None}
    return [
        {"type": "response.created", "response": {"id": "r1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r1", "usage": {**usage, "total_tokens": 18}}},
    ]


def _google(answer: str) -> dict[str, Any]:
    said = {"content": {"role": "model", "parts": [{"text": answer}]}, "finishReason": "STOP", "index": 0}
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18}
    return {"candidates": [said], "usageMetadata": counts}


@contextmanager
def fake_model() -> Iterator[FakeModel]:
    """Serve a model until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._answer("text/event-stream", model.take(self.path, body))

        def do_GET(self) -> None:
            self._answer("application/json", b'{"data": [], "models": []}')

        def do_HEAD(self) -> None:
            self.do_GET()

        def _answer(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if self.command != "HEAD" else b"")

        def log_message(self, *_: object) -> None:
            """Say nothing: standard error is the test's."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model = FakeModel(server.server_port)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join(_PATIENCE)
        server.server_close()
