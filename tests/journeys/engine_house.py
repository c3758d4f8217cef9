"""A data directory with its engine, for the tests; no engine outlives it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from memento_tui.model import Memory, make_memory
from memento_tui.model.filters import AllOf, Filter
from memento_tui.paths import DataPaths
from memento_tui.search.engine_client import SemanticAnswer, SemanticClient
from memento_tui.search.engine_protocol import EngineStatus
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store
from tests.made import unguarded

Value = TypeVar("Value")

PATIENCE = 60.0
"""Seconds: loading the model takes five on an idle machine, and these tests may share theirs."""

_LONGEST_PAUSE_SECONDS = 0.1


def until(look: Callable[[], Value | None], what: str, seconds: float = PATIENCE) -> Value:
    """Return the first value of ``look`` that holds."""
    deadline = time.monotonic() + seconds
    pause = 0.005
    while time.monotonic() < deadline:
        if value := look():
            return value
        time.sleep(pause)  # whom it waits for needs the processor too
        pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)
    raise AssertionError(f"{what}: not within {seconds:.0f} seconds")


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self/stat").exists()
    # A process that was killed and not yet collected is not alive.
    return stat.rpartition(")")[2].split()[0] != "Z"


class HeldModel:
    """A light model in a folder of its own, which embeds only as many documents as a test allows it."""

    def __init__(self, folder: Path, *, dimension: int = 1024, allowed: int | None = None) -> None:
        folder.mkdir()
        (folder / "dimension.txt").write_text(str(dimension))
        self.folder = folder
        self.config = f"[engine]\nmodel = {str(folder)!r}\n"
        self.allow(allowed)

    def allow(self, documents: int | None) -> None:
        """Let each engine embed so many documents in all, or all of them; it waits in the middle of its work then."""
        path = self.folder.with_suffix(".allowed")  # in the folder it would be a part of the model
        if documents is None:
            path.unlink(missing_ok=True)
            return
        self._allowed = documents
        beside = path.with_suffix(".new")
        beside.write_text(str(documents))
        beside.replace(path)

    def answer_between_batches(self, ask: Callable[[], Value]) -> Value:
        """Return what an engine answers that waits in a batch: one more is embedded now and then until it has."""
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(ask)
            while not asked.done():
                self.allow(self._allowed + 1)
                wait([asked], timeout=0.1)
            return asked.result()


class EngineHouse:
    """A store, and clients of its engine. Leaving it ends the engine."""

    def __init__(self, root: Path, config: str = "") -> None:
        self.paths = DataPaths(root)
        self.store = Store(self.paths.database)
        if config:
            self.paths.config.write_text(config, encoding="utf-8")
        self.clients: list[SemanticClient] = []
        self.client = self.new_client()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pids = {client._launcher._process.pid for client in self.clients if client._launcher._process}
        for client in self.clients:
            client.close()
        self.client.stop()
        if (status := self.client.status()) is not None:
            pids.add(status.pid)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.store.close()
        until(lambda: not any(map(is_alive, pids)), "the engine is gone")

    def new_client(self) -> SemanticClient:
        self.clients.append(SemanticClient(self.paths, enabled=True))
        return self.clients[-1]

    def add(self, *contents: str, **fields: Any) -> list[Memory]:  # noqa: ANN401 - the fields of a memory
        made = [make_memory({"content": content, **fields}) for content in contents]
        with unguarded(self.store, Author(), "remember") as tx:
            tx.add_all(made)
        return made

    def change(self, memory: Memory, **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
        with unguarded(self.store, Author(), "edit") as tx:
            current = tx.require(Memory, memory.id)
            return tx.put(msgspec.structs.replace(current, **fields), base=current.version)

    def settle(self) -> EngineStatus:
        """Wait until the index reflects everything; return the status."""
        self.client.wait(self.store.journal.head(), PATIENCE)
        return self.status()

    def status(self) -> EngineStatus:
        status = self.client.status()
        assert status is not None, self.client.logs(20)
        return status

    def has_left(self, client: SemanticClient | None = None) -> bool:
        """Tell whether the engine that a client started has ended."""
        started = (client or self.client)._launcher._process
        return started is not None and started.poll() is not None

    def listening(self) -> EngineStatus:
        """Start the engine, and return its status once it answers."""
        self.client.ensure()
        return until(self.client.status, "the engine answers")

    def search(self, text: str, tree: Filter | None = None, limit: int = 10) -> list[str]:
        """Return the ids that are nearest, from an engine that is ready."""

        def ready() -> SemanticAnswer | None:
            answer = self.client.search(text, tree or AllOf(), limit)
            return answer if answer.state == "ready" else None

        return [name for name, _ in until(ready, "the engine is ready").hits]
