"""A real HTTP server on a free port of this machine that serves MCP, and a client that posts to it."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from memento_tui.mcp.streamable_http import mcp_app
from memento_tui.mcp.workspaces import open_mcp_workspaces

__all__ = ["Answer", "Posting", "served"]

_PATIENCE = 60
"""Seconds."""


class Answer(NamedTuple):
    """An HTTP answer; ``body`` is its JSON, or ``None`` where it is empty."""

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def result(self) -> dict[str, Any]:
        found: dict[str, Any] = self.body["result"]
        return found

    @property
    def reason(self) -> str:
        return str(self.body["error"]["message"])


class Posting:
    """Posts one message at a time, each on a connection of its own."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}/mcp"

    def send(self, body: bytes | object, headers: Mapping[str, str] | None = None, method: str = "POST") -> Answer:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", "Accept": "application/json"} if headers is None else headers
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        try:
            connection.request(method, "/mcp", raw, dict(sent))
            answered = connection.getresponse()
            text = answered.read().decode()
            shown = {name.lower(): value for name, value in answered.getheaders()}
            return Answer(answered.status, shown, json.loads(text) if text else None)
        finally:
            connection.close()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - the tool's own
        """Post a bare ``tools/call``, as a client does that never shakes hands."""
        params = {"name": tool, "arguments": arguments}
        return self.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).result


@contextmanager
def served(data_dir: Path, profile: str = "native") -> Iterator[Posting]:
    with open_mcp_workspaces(data_dir, "", channel="http") as mcp_workspaces:
        mcp = mcp_app(mcp_workspaces, profile)
        app = Starlette(routes=[Route("/mcp", mcp)], lifespan=lambda _: mcp.lifespan())
        config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, ws="none", lifespan="on")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        try:
            yield Posting(_port(server, thread))
        finally:
            server.should_exit = True
            thread.join(_PATIENCE)
        assert not thread.is_alive()


def _port(server: uvicorn.Server, thread: threading.Thread) -> int:
    end = time.monotonic() + _PATIENCE
    while not server.started:
        assert thread.is_alive()
        assert time.monotonic() < end
        thread.join(0.01)
    return int(server.servers[0].sockets[0].getsockname()[1])
