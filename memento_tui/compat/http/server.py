"""Run the server of ``memento serve``: listen, report where, and end on a signal.

Bound what a connection may cost: time limits for heads, bodies and answers, and a limit of open connections.

uvicorn limits the time between two requests (``timeout_keep_alive``) and nothing else: a client that sends half a head
holds its connection, and a file of the process, for as long as it likes.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import h11
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from memento_tui.compat.http.app import build_application
from memento_tui.compat.http.exchange import error_response
from memento_tui.compat.http.guard import is_loopback
from memento_tui.compat.http.keys import KEY_VARIABLE, ApiKeys, check_key, open_http_workspaces
from memento_tui.errors import InvalidInput
from memento_tui.mcp.streamable_http import mcp_app
from memento_tui.mcp.workspaces import open_mcp_workspaces
from memento_tui.model.validation import new_id

__all__ = [
    "BoundedConnection",
    "Server",
    "ServerAddress",
    "open_server",
    "serve",
]


_HEAD_SECONDS = 10.0
"""Seconds in which the head of a request must be there. A client on this machine or its network needs milliseconds."""

_BODY_SECONDS = 70.0
"""Seconds in which a body must be there; longer than the guard's own limit, which answers in words."""

_DISCARD_SECONDS = 5.0
"""Seconds for the rest of a body whose request has been answered, such as that of one without a key."""

_ANSWER_SECONDS = 60.0
"""Seconds in which a client must take its answer."""

_RETRY_SECONDS = 5
"""Seconds after which a client that found no connection free is told to try again."""

_WANTED_FILES = 4096
"""Open files that the server asks the system for; many systems allow a program 256 unless it asks."""

_RESERVED_FILES = 64
"""Open files kept for the database, the indexes and the engine's socket."""

_ACCEPTED_AT_ONCE = 32
"""Connections that are accepted before the first of them is looked at; each costs a file."""

_MAX_CONNECTIONS = 512


def _max_connections() -> int:
    """Return how many connections may be open, after asking the system for enough open files.

    A request needs files of its own besides its connection, so half of what is left is for connections.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED_FILES if hard == resource.RLIM_INFINITY else min(_WANTED_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (OSError, ValueError):
            pass  # the limit stays as it is
    files = _WANTED_FILES if soft == resource.RLIM_INFINITY else soft
    return max(8, min(_MAX_CONNECTIONS, (files - _RESERVED_FILES - _ACCEPTED_AT_ONCE) // 2))


_Phase = Literal["", "head", "body", "discard", "answer"]

_PHASE_SECONDS: dict[_Phase, float] = {
    "head": _HEAD_SECONDS,
    "body": _BODY_SECONDS,
    "discard": _DISCARD_SECONDS,
    "answer": _ANSWER_SECONDS,
}


class BoundedConnection(H11Protocol):
    """One connection, with a deadline for whatever its client is to do next.

    The limit of open connections is uvicorn's ``limit_concurrency``. Beyond it the connection that has waited longest
    for a head is closed, so that a client that sends its request at once is answered whatever others hold open; where
    every connection has a request in progress, the new one is told to come back.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        # uvicorn's own answer to a client beyond the limit is no JSON and gives no reason.
        self._most, self.limit_concurrency = self.limit_concurrency, None
        self._phase: _Phase = ""
        self._deadline: asyncio.TimerHandle | None = None
        self.silent_since = 0.0
        """When the connection was made or last answered, in the loop's seconds."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        """Begin to wait for a head; make room for the connection where there are too many."""
        super().connection_made(transport)
        self.silent_since = self.loop.time()
        self._begin("head")
        if self._most is not None and len(self.connections) > self._most and not self._make_room():
            self.app = cast("Any", _refuse)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._begin("")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a client's bytes, and set the deadline for its next ones."""
        super().data_received(data)
        if self.transport.is_closing():
            self._begin("answer")
        elif self._phase != "answer":
            self._begin(self._next_phase())

    def on_response_complete(self) -> None:
        """Set the deadline for the rest of the request, or for the client to take the answer."""
        super().on_response_complete()
        self.silent_since = self.loop.time()
        if self.transport.is_closing():
            self._begin("answer")
        elif self.conn.their_state is h11.SEND_BODY:
            self._begin("discard")
        elif self.cycle.response_complete:
            self._begin("")  # uvicorn's own limit holds until the next byte

    def pause_writing(self) -> None:
        """Set a deadline for the client to take its answer, of which much waits by now."""
        super().pause_writing()
        self._begin("answer")

    def resume_writing(self) -> None:
        """Lift that deadline."""
        super().resume_writing()
        if not self.transport.is_closing():
            self._begin("")

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that has been silent after its answer; one that has not taken it has a deadline."""
        super().timeout_keep_alive_handler()
        self._begin("answer")

    @property
    def is_waiting(self) -> bool:
        """Whether no request is in progress."""
        return self.cycle is None or self.cycle.response_complete

    def _next_phase(self) -> _Phase:
        if self.conn.their_state is h11.SEND_BODY:
            return "discard" if self.cycle.response_complete else "body"
        return "head" if self.conn.their_state is h11.IDLE else ""

    def _begin(self, phase: _Phase) -> None:
        """Set the deadline of a phase; more bytes in the same phase do not put it off."""
        if phase == self._phase:
            return
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._phase = phase
        if phase:
            self._deadline = self.loop.call_later(_PHASE_SECONDS[phase], self._end)

    def _end(self) -> None:
        """End a connection whose deadline has passed."""
        if self._phase == "answer":
            self.transport.abort()
            return
        if self._phase == "head" and self.conn.trailing_data[0]:
            self._send_late_head()
        self.transport.close()
        self._begin("answer")

    def _send_late_head(self) -> None:
        body = error_response(f"The head of the request did not come within {_HEAD_SECONDS:.0f} s.", 408).body
        headers = [("content-type", "application/json"), ("content-length", str(len(body))), ("connection", "close")]
        event: h11.Event
        for event in (h11.Response(status_code=408, headers=headers), h11.Data(data=bytes(body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")

    def _make_room(self) -> bool:
        """Close the connection that has waited longest for a head; return whether there was one."""
        others = [other for other in self.connections if other is not self and isinstance(other, BoundedConnection)]
        waiting = [other for other in others if other.is_waiting]
        if not waiting:
            return False
        oldest = min(waiting, key=lambda other: other.silent_since)
        self.connections.discard(oldest)
        oldest.transport.abort()
        return True


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for which there is no connection free."""
    refusal = error_response("The server has as many requests in progress as it can take; try again soon.", 503)
    refusal.headers["Retry-After"] = str(_RETRY_SECONDS)
    refusal.headers["Connection"] = "close"
    await refusal(scope, receive, send)


_GRACE_SECONDS = 5
"""How long a request that is being answered may take once the server is to end."""

_QUEUED_CONNECTIONS = 512
"""Connections that the system keeps until they are accepted; they cost the server no file."""


class ServerAddress(NamedTuple):
    """Where a server listens, and the key that the person's own agents send."""

    url: str
    port: int
    key: str


def serve(
    data_dir: Path | None, *, host: str, port: int, profile: str, key: str, ready: Callable[[ServerAddress], None]
) -> None:
    """Serve one data directory until SIGINT or SIGTERM; ``ready`` is called with the address once it listens.

    ``key`` is one that the person chose; empty for the one that is kept in the data directory.

    Raises:
        InvalidInput: the port is taken, the host is not this machine's, the key cannot be used, or other machines could
            connect and no key was chosen.
        DataDirectoryError: the data directory cannot be used.

    """
    if not key and not is_loopback(host):
        raise InvalidInput(
            f"Other machines could connect to {host}, and no key was chosen for them.",
            f"Set {KEY_VARIABLE} to a key of your own, or leave --host out.",
        )
    # Before uvicorn configures logging: it would decorate the lines for a terminal.
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    # Nobody who reads the log could act on its warnings, such as of bytes that are no HTTP.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    with open_server(data_dir, host=host, port=port, profile=profile, key=key, ready=ready) as server:
        asyncio.run(_run(server))


@contextmanager
def open_server(
    data_dir: Path | None, *, host: str, port: int, profile: str, key: str, ready: Callable[[ServerAddress], None]
) -> Iterator[Server]:
    """Open the workspaces that `serve` serves, and listen; the caller runs the server.

    Raises:
        InvalidInput, DataDirectoryError: as in `serve`.

    """
    session = new_id()
    with (
        open_http_workspaces(data_dir, session) as http_workspaces,
        open_mcp_workspaces(data_dir, session, channel="http") as mcp_workspaces,
    ):
        # Opened at once, so that a data directory which cannot be used is reported before anything is served.
        workspace = http_workspaces.by_name("")
        keys = ApiKeys(workspace.settings, workspace.paths.http_key, check_key(key) if key else "")
        with _open_listener(host, port) as listener:
            app = build_application(http_workspaces, keys, mcp_app(mcp_workspaces, profile), host=host)
            bound = int(listener.getsockname()[1])
            name = f"[{host}]" if ":" in host else host
            server = Server(
                uvicorn.Config(
                    app,
                    log_config=None,
                    access_log=False,
                    proxy_headers=False,
                    server_header=False,
                    http=BoundedConnection,
                    limit_concurrency=_max_connections(),
                    backlog=_ACCEPTED_AT_ONCE,
                    ws="none",
                    lifespan="on",
                    timeout_graceful_shutdown=_GRACE_SECONDS,
                ),
                listener,
            )
            server.ready = lambda: ready(ServerAddress(f"http://{name}:{bound}", bound, keys.own))
            server.ending = app.end
            yield server


async def _run(server: Server) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.end)
    await server.run_until_end()


class Server(uvicorn.Server):
    """A server that reports when it listens and when it is to end, and that ends on a signal without an error."""

    ready: Callable[[], None]
    ending: Callable[[], None]

    def __init__(self, config: uvicorn.Config, listener: socket.socket) -> None:
        super().__init__(config)
        self._listener = listener

    async def run_until_end(self) -> None:
        """Answer requests until `end` is called."""
        await self.serve([self._listener])

    def end(self) -> None:
        """End once the requests in progress are answered."""
        self.should_exit = True
        self.ending()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and report it."""
        await super().startup(sockets)
        for listener in sockets or ():
            # uvicorn gives the kernel's queue the length of what it accepts at once.
            listener.listen(_QUEUED_CONNECTIONS)
        if self.started:
            self.ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the loop; uvicorn would raise them again once it has ended."""
        yield


_OTHER_PORT_HINT = "Choose another with --port; 0 takes one that is free."


@contextmanager
def _open_listener(host: str, port: int) -> Iterator[socket.socket]:
    """Listen on a port, 0 for any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen()
        except OSError:
            listener.close()
            raise
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        is_elsewhere = isinstance(error, (socket.gaierror, UnicodeError)) or error.errno == errno.EADDRNOTAVAIL
        hint = "Name an address of this machine with --host." if is_elsewhere else _OTHER_PORT_HINT
        raise InvalidInput(f"Port {port} of {host} cannot be used: {reason}.", hint) from error
    with listener:
        yield listener
