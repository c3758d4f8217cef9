"""Open one workspace per caller, so that every write carries its caller's name.

A database that was deleted or replaced stays open in the processes that hold it. They would go on acknowledging writes
that nobody ever reads again.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Generic, ParamSpec, Self, TypeAlias, TypeVar

from mcp.server.mcpserver import Context

from memento_tui.api import Workspace
from memento_tui.errors import DataDirectoryError
from memento_tui.text.fence import one_line

__all__ = ["McpWorkspaces", "WorkspacePool", "client_name", "open_mcp_workspaces"]


class _DatabaseFile:
    """The file of an open database; checks that it is still the one that was opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened = _file_identity(path)

    def check(self) -> None:
        """Raise `DataDirectoryError` where another file, or none, is at the path by now."""
        if _file_identity(self._path) != self._opened:
            raise DataDirectoryError(
                f"{self._path} was deleted or replaced while memento served it.",
                "Start the server again; until then nothing is read or written.",
            )


def _file_identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


_MAX_OPEN = 64
"""Workspaces held open. Callers beyond them, more than any honest set of programs has, write without a name."""

_WORKER_THREADS = 4
"""Threads that run calls. They live as long as the server, because each keeps its own database connections."""

P = ParamSpec("P")
T = TypeVar("T")
CallerT = TypeVar("CallerT")


class WorkspacePool(Generic[CallerT]):
    """The workspaces of the callers of one server, each opened when a caller of that name first asks.

    A directory that could not be opened is tried again by the next call. Safe to use from several threads. Use it as
    a context manager, or call `close`.
    """

    def __init__(
        self,
        data_dir: Path | None,
        session: str,
        *,
        channel: str,
        default_name: str,
        name_of: Callable[[CallerT], str],
    ) -> None:
        """``name_of`` returns a caller's name; one whose name is empty is called ``default_name``."""
        self._data_dir = data_dir
        self._session = session
        self._channel = channel
        self._default_name = default_name
        self._name_of = name_of
        self._workspaces: dict[str, Workspace] = {}
        self._file: _DatabaseFile | None = None
        # Guards the two above. A new caller waits while another's workspace is opened, which takes milliseconds.
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(_WORKER_THREADS, thread_name_prefix=channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Wait for the calls that are running, and close the workspaces."""
        self._threads.shutdown(cancel_futures=True)
        with self._lock:
            for workspace in self._workspaces.values():
                workspace.close()
            self._workspaces.clear()

    async def run(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Call a function on a thread where it may read and write the database, and return its result."""
        call = functools.partial(function, *arguments, **options)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def of(self, caller: CallerT) -> Workspace:
        """Return the workspace of a caller. Raises like `by_name`."""
        return self.by_name(self._name_of(caller))

    def by_name(self, name: str) -> Workspace:
        """Return the workspace of the callers of a name, which may be empty.

        Raises:
            DataDirectoryError: the data directory cannot be used, or its database was deleted or replaced since.
            InvalidInput: its ``config.toml`` is wrong.

        """
        with self._lock:
            if self._file is not None:
                self._file.check()
            known = name if name in self._workspaces or (name and len(self._workspaces) < _MAX_OPEN) else ""
            known = known or self._default_name
            if known not in self._workspaces:
                self._workspaces[known] = Workspace(
                    self._data_dir, actor="agent", channel=self._channel, agent=known, session=self._session
                )
                self._file = self._file or _DatabaseFile(self._workspaces[known].paths.database)
            return self._workspaces[known]


_MAX_NAME_CHARS = 100
_DEFAULT_NAME = "agent"

McpWorkspaces: TypeAlias = "WorkspacePool[Context[Any, Any]]"
"""The workspaces of MCP clients, by the request that a client sent."""


def open_mcp_workspaces(data_dir: Path | None, session: str, *, channel: str = "mcp") -> McpWorkspaces:
    """Return the workspaces of MCP clients. Opens none yet, so that a server starts even where that fails."""
    return WorkspacePool(data_dir, session, channel=channel, default_name=_DEFAULT_NAME, name_of=client_name)


def client_name(ctx: Context[Any, Any]) -> str:
    """Return the name of the client that sent a request, made printable and short.

    It is the one that the client gave itself. Over HTTP an older client gives none but its program's, which stands in
    the header ``User-Agent``; where that is missing too the name is ``agent``.
    """
    params = ctx.session.client_params
    name = params.client_info.name if params is not None else _program_name(ctx.headers or {})
    shown = "".join(character for character in one_line(name, _MAX_NAME_CHARS) if character.isprintable())
    return shown or _DEFAULT_NAME


def _program_name(headers: Mapping[str, str]) -> str:
    """Return the first name in ``User-Agent``, without its version: ``claude-code`` of ``claude-code/2.1 (cli)``."""
    return headers.get("user-agent", "").partition("/")[0].partition(" ")[0]
