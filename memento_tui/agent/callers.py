"""The workspaces that a server's callers write in: every write is in its caller's name."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, Self, TypeVar

from memento_tui.agent.database_file import DatabaseFile
from memento_tui.workspace import Workspace

__all__ = ["Callers"]

_MOST_OPEN = 64
"""Workspaces held open. Callers beyond them, which no honest set of programs comes to, write without a name."""

_WORKERS = 4
"""Threads that answer. They live as long as the server, because each keeps database connections of its own."""

P = ParamSpec("P")
T = TypeVar("T")


class Callers:
    """Opens the data directory once for each caller's name, when that caller first asks.

    A directory that could not be opened is tried again by the next call. Safe to use from several threads. Use it as
    a context manager, or call `close`.
    """

    def __init__(self, data_dir: Path | None, session: str, *, channel: str, nameless: str) -> None:
        """``nameless`` is what callers without a name are called."""
        self._data_dir = data_dir
        self._session = session
        self._channel = channel
        self._nameless = nameless
        self._open: dict[str, Workspace] = {}
        self._file: DatabaseFile | None = None
        self._guard = threading.Lock()
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix=channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Wait for the answers that are being made, and close what was opened."""
        self._pool.shutdown(cancel_futures=True)
        with self._guard:
            for workspace in self._open.values():
                workspace.close()
            self._open.clear()

    async def run(self, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Run something on a thread where it may read and write the database."""
        call = functools.partial(work, *arguments, **named)
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    def named(self, name: str) -> Workspace:
        """Return the workspace of a caller by its name, which may be empty.

        Raises:
            DataDirectoryError: the data directory cannot be used, or its database was deleted or replaced since.
            InvalidInput: its ``config.toml`` is wrong.

        """
        with self._guard:
            if self._file is not None:
                self._file.check()
            known = name if name in self._open or (name and len(self._open) < _MOST_OPEN) else self._nameless
            if known not in self._open:
                self._open[known] = Workspace(
                    self._data_dir, actor="agent", channel=self._channel, agent=known, session=self._session
                )
                self._file = self._file or DatabaseFile(self._open[known].paths.database)
            return self._open[known]
