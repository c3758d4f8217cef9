"""The workspace as each caller over HTTP writes in it: every write is in that caller's name."""

from __future__ import annotations

import asyncio
import functools
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, Self, TypeVar

from memento_tui.agent.http.keys import Caller
from memento_tui.workspace import Workspace

__all__ = ["Desks"]

_WORKERS = 4
"""Threads that answer. They live as long as the server, because each keeps database connections of its own."""

_MOST_NAMES = 64
"""Programs that are told apart; anyone may send any name."""

_PRODUCT = re.compile(r"[\w.+-]{1,60}", re.ASCII)
_UNNAMED = "http"

P = ParamSpec("P")
T = TypeVar("T")


class Desks:
    """Opens the data directory at once, so that one which cannot be used is told before anything is served.

    Safe to use from several threads. Use it as a context manager, or call `close`.

    Raises:
        DataDirectoryError: the data directory cannot be used.
        InvalidInput: its ``config.toml`` is wrong.

    """

    def __init__(self, data_dir: Path | None, session: str) -> None:
        self._data_dir = data_dir
        self._session = session
        self._guard = threading.Lock()
        self._open: dict[str, Workspace] = {}
        self.first = self._of(_UNNAMED)
        """The workspace of callers without a name."""
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="http")

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

    def of(self, caller: Caller, program: str) -> Workspace:
        """Return the workspace of an account, or of the program that a ``User-Agent`` header names."""
        if caller.account:
            return self._of(caller.root)
        product = _PRODUCT.match(program)
        return self._of(product[0] if product else _UNNAMED)

    def _of(self, name: str) -> Workspace:
        with self._guard:
            known = name if name in self._open or len(self._open) < _MOST_NAMES else _UNNAMED
            if known not in self._open:
                self._open[known] = Workspace(
                    self._data_dir, actor="agent", channel="http", agent=known, session=self._session
                )
            return self._open[known]
