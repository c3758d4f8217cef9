"""Run the server of ``memento serve``: listen, report where, and end on a signal."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn

from memento_tui.compat.http.app import build_application
from memento_tui.compat.http.connections import ACCEPTED_AT_ONCE, BoundedConnection, max_connections
from memento_tui.compat.http.guard import is_loopback
from memento_tui.compat.http.keys import KEY_VARIABLE, ApiKeys, check_key, open_http_workspaces
from memento_tui.errors import InvalidInput
from memento_tui.mcp.streamable_http import mcp_app
from memento_tui.mcp.workspaces import open_mcp_workspaces
from memento_tui.model.validation import new_id

__all__ = ["Server", "ServerAddress", "open_server", "serve"]

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
    """Open what `serve` serves, and listen; the caller runs the server.

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
                    limit_concurrency=max_connections(),
                    backlog=ACCEPTED_AT_ONCE,
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
