"""State that the engine's threads share: index status, activity, and the lock around the model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

__all__ = ["EngineState", "IndexStatus", "ModelLock"]


@dataclass(frozen=True)
class IndexStatus:
    """How far the index is at one moment."""

    state: Literal["loading", "ready", "failed"] = "loading"
    model: str = ""
    seq: int = 0
    """The journal entry that the index reflects."""
    pending: int = 0
    """Memories that were written or changed since."""
    total: int = 0
    """Memories that the index holds."""
    embedded_total: int = 0
    """Texts embedded since the engine started."""
    problem: str = ""
    """Why the state is ``failed``, or why the index does not advance."""


class EngineState:
    """Holds the present standing; written by the thread that indexes, read by all."""

    def __init__(self) -> None:
        self.now = IndexStatus()
        self.last_request_at = time.monotonic()
        """When somebody last asked the engine anything."""
        self.sleeping = False
        """Whether the memories are being looked after."""
        self._on_change: Callable[[], object] = lambda: None

    def listen(self, on_change: Callable[[], object]) -> None:
        """Have a function called, in the writer's thread, after every change."""
        self._on_change = on_change

    def post(self, standing: IndexStatus) -> None:
        """Replace the standing, and tell whoever listens."""
        self.now = standing
        self._on_change()


class ModelLock:
    """One user of the model at a time, and questions before batches: a question waits for one batch at most."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = False
        self._questions = 0

    @contextmanager
    def for_query(self) -> Iterator[None]:
        """Hold the model as soon as it is free."""
        with self._changed:
            self._questions += 1
            self._changed.wait_for(lambda: not self._busy)
            self._questions -= 1
            self._busy = True
        yield from self._held()

    @contextmanager
    def for_batch(self) -> Iterator[None]:
        """Hold the model once it is free and no question waits."""
        with self._changed:
            self._changed.wait_for(lambda: not self._busy and not self._questions)
            self._busy = True
        yield from self._held()

    def _held(self) -> Iterator[None]:
        try:
            yield
        finally:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
