"""``memento serve`` for the journeys: the server as a process, and a client of its REST written from the wire alone."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.parse import quote, urlencode

from memento_tui.compat.http.server import ServerAddress, open_server

__all__ = ["Answer", "Client", "HttpProcess", "HttpServer", "serving", "serving_here"]

_DEADLINE_SECONDS = 60


@dataclass(frozen=True)
class Answer:
    """What the server said to one request."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def data(self) -> Any:  # noqa: ANN401 - whatever the server answers
        """The JSON of the body."""
        return json.loads(self.text)

    @property
    def said(self) -> str:
        """The text of the body, where it is an MCP result."""
        found: str = self.data["content"][0]["text"]
        return found

    @property
    def error(self) -> str:
        """Why nothing was done."""
        found: str = self.data["error"]
        return found


class Client:
    """One client with a key, in a workspace."""

    def __init__(self, port: int, key: str, workspace: str = "") -> None:
        self.port = port
        self.key = key
        self.workspace = workspace

    def within(self, workspace: str) -> Client:
        """Return the same client in another workspace."""
        return Client(self.port, self.key, workspace)

    def send(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Make one request just as it is given, with neither a key nor anything else added."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_DEADLINE_SECONDS)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read().decode())
        finally:
            connection.close()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:  # noqa: ANN401 - any JSON
        """Make one request with the key; underscores in the names of headers stand for hyphens."""
        given = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        if self.workspace:
            given["X-Memento-Workspace"] = self.workspace
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        return self.send(method, path, sent, given)

    def get(self, path: str, **query: Any) -> Answer:  # noqa: ANN401 - any parameter
        """Read something."""
        return self.ask("GET", f"{path}?{urlencode(query)}" if query else path)

    def post(self, path: str, **body: Any) -> Answer:  # noqa: ANN401 - any JSON
        """Send something."""
        return self.ask("POST", path, body)

    def put(self, path: str, **body: Any) -> Answer:  # noqa: ANN401 - any JSON
        """Change something."""
        return self.ask("PUT", path, body)

    def delete(self, path: str) -> Answer:
        """Delete something."""
        return self.ask("DELETE", path)

    def store(self, content: str, **fields: Any) -> str:  # noqa: ANN401 - any JSON
        """Store a memory that is let in; return its id."""
        answer = self.post("/v1/memories", content=content, **fields)
        assert answer.status == 201, answer
        found: str = answer.data["id"]
        return found

    def recall(self, query: str, **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - any parameter
        """Return what a recall finds."""
        answer = self.get("/v1/memories/recall", query=query, format="json", **more)
        assert answer.status == 200, answer
        found: list[dict[str, Any]] = answer.data["memories"]
        return found

    def memory(self, memory_id: str) -> dict[str, Any]:
        """Return one memory."""
        answer = self.get(f"/v1/memories/{quote(memory_id)}")
        assert answer.status == 200, answer
        found: dict[str, Any] = answer.data
        return found


class HttpServer:
    """A server that runs."""

    def __init__(self, address: ServerAddress, data_dir: Path) -> None:
        self.url, self.port, self.key = address
        self.data_dir = data_dir

    @property
    def client(self) -> Client:
        """A client with the key of the person's own agents."""
        return Client(self.port, self.key)


class HttpProcess(HttpServer):
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[str], data_dir: Path) -> None:
        self.process = process
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        super().__init__(ServerAddress(told["url"], told["port"], told["key"]), data_dir)


@contextmanager
def serving_here(data_dir: Path, *, profile: str = "native") -> Iterator[HttpServer]:
    """Run the server in a thread of this process.

    For journeys about what is answered: a process takes more than a second to import what it serves with.
    """
    addresses: Queue[ServerAddress] = Queue()
    ready = addresses.put
    with open_server(data_dir, host="127.0.0.1", port=0, profile=profile, key="", ready=ready) as server:
        thread = threading.Thread(target=lambda: asyncio.run(server.run_until_end()))
        thread.start()
        try:
            yield HttpServer(addresses.get(timeout=_DEADLINE_SECONDS), data_dir)
        finally:
            server.end()
            thread.join(_DEADLINE_SECONDS)
        assert not thread.is_alive()


@contextmanager
def serving(
    data_dir: Path, *arguments: str, key: str = "", port: int = 0, files: int | None = None
) -> Iterator[HttpProcess]:
    """Run the server, and end it with ctrl+c; it has to end by itself, well, and without a complaint.

    ``files`` is how many files the system lets it open.
    """
    options = ["--port", str(port), *arguments, "--json"]
    command = [sys.executable, "-m", "memento_tui", "--data-dir", str(data_dir), "serve", *options]
    if files is not None:
        command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMENTO_")}
    if key:
        environment["MEMENTO_API_KEY"] = key
    with (
        tempfile.TemporaryFile("w+") as complaints,  # and no pipe: nobody reads one until the end, and it would fill up
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints, text=True, env=environment) as process,  # noqa: S603 - this Python
    ):
        try:
            yield HttpProcess(process, data_dir)
            process.send_signal(signal.SIGINT)
            assert process.wait(_DEADLINE_SECONDS) == 0
        finally:
            process.kill()
            complaints.seek(0)
            told = complaints.read()
        assert told == ""
