"""The workspace as each client of the server sees it: every write is in that client's name."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

from mcp.server.mcpserver import Context

from memento_tui.agent.fence import one_line
from memento_tui.workspace import Workspace

__all__ = ["Seats", "client_name"]

_LONGEST_NAME = 100
_NAMELESS = "agent"
_MOST_OPEN = 64
"""Workspaces held open. Clients beyond them, which no honest set of agents comes to, write without a name."""

_WORKERS = 4
"""Threads for the tools. They live as long as the server, because each keeps database connections of its own."""

P = ParamSpec("P")
T = TypeVar("T")


class Seats:
    """Opens the data directory when the first tool needs it, so that a server starts even where that fails.

    A directory that could not be opened is tried again by the next call. Safe to use from several threads. Use it as
    a context manager, or call `close`.
    """

    def __init__(self, data_dir: Path | None, session: str, *, channel: str = "mcp") -> None:
        self._data_dir = data_dir
        self._session = session
        self._channel = channel
        self._open: dict[str, Workspace] = {}
        self._guard = threading.Lock()
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="tool")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Wait for the tools that run, and close what was opened."""
        self._pool.shutdown(cancel_futures=True)
        with self._guard:
            for workspace in self._open.values():
                workspace.close()
            self._open.clear()

    async def run(self, tool: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Run a tool on a thread where it may read and write the database."""
        call = functools.partial(tool, *arguments, **named)
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    def of(self, ctx: Context[Any, Any]) -> Workspace:
        """Return the workspace of the client that sent a request.

        Raises:
            DataDirectoryError: the data directory cannot be used.
            InvalidInput: its ``config.toml`` is wrong.

        """
        name = client_name(ctx)
        with self._guard:
            if len(self._open) >= _MOST_OPEN and name not in self._open:
                name = _NAMELESS
            workspace = self._open.get(name)
            if workspace is None:
                workspace = self._open[name] = Workspace(
                    self._data_dir, actor="agent", channel=self._channel, agent=name, session=self._session
                )
            return workspace


def client_name(ctx: Context[Any, Any]) -> str:
    """Return the name of the client that sent a request, made printable and short.

    It is the one that the client gave itself. Over HTTP an older client gives none but its program's, which stands in
    the header ``User-Agent``; where that is missing too the name is ``agent``.
    """
    params = ctx.session.client_params
    given = params.client_info.name if params is not None else _program(ctx.headers or {})
    shown = "".join(character for character in one_line(given, _LONGEST_NAME) if character.isprintable())
    return shown or _NAMELESS


def _program(headers: Mapping[str, str]) -> str:
    """Return the first name in ``User-Agent``, without its version: ``claude-code`` of ``claude-code/2.1 (cli)``."""
    return headers.get("user-agent", "").partition("/")[0].partition(" ")[0]
