"""State that the engine's threads share: index status, activity, and the lock around the model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

__all__ = ["EngineState", "ModelLock"]


@dataclass(frozen=True)
class IndexStatus:
    """How far the index is at one moment."""

    state: Literal["loading", "ready", "failed"] = "loading"
    model: str = ""
    """The name of the embedding model; empty until it is loaded."""
    serving: str = ""
    """The name of the model before, where its vectors answer until those of ``model`` are complete."""
    seq: int = 0
    """The journal entry that the index reflects."""
    pending: int = 0
    """Memories that were written or changed since."""
    total: int = 0
    """Memories that the index holds."""
    embedded_total: int = 0
    """Texts embedded since the engine started."""
    problem: str = ""
    """The reason why the state is ``failed``, or the index does not advance."""

    @property
    def is_busy(self) -> bool:
        """Whether there is work that the engine can do now: a model to load or memories to embed."""
        return self.state == "loading" or (self.pending > 0 and not self.problem)


class EngineState:
    """The index status and the activity of one engine; any thread may call any method.

    Activity decides two things that exclude each other: a maintenance run begins after a while without requests, and
    the engine leaves after a longer while. Both are decided under one lock, so the engine never leaves during a run,
    and no run begins once it is leaving.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._status = IndexStatus()
        self._last_activity = time.monotonic()
        self._open_requests = 0
        self._is_maintaining = False
        self._is_closing = False
        # Apart from the other lock: the listener is called while it is held, so that none is called after a change.
        self._listener_lock = threading.Lock()
        self._listener: Callable[[], object] | None = None

    @property
    def status(self) -> IndexStatus:
        """The latest index status."""
        with self._lock:
            return self._status

    def update_status(self, **changes: Any) -> None:  # noqa: ANN401 - the fields of IndexStatus
        """Change some fields of the index status, then call the listener in this thread."""
        with self._lock:
            self._status = replace(self._status, **changes)
        self._notify()

    def count_embedded(self, texts: int) -> None:
        """Add to the number of embedded texts, then call the listener in this thread."""
        with self._lock:
            self._status = replace(self._status, embedded_total=self._status.embedded_total + texts)
        self._notify()

    def set_listener(self, listener: Callable[[], object] | None) -> None:
        """Have a function called after every change of the status; the former one is not called after this returns."""
        with self._listener_lock:
            self._listener = listener

    def _notify(self) -> None:
        with self._listener_lock:
            if self._listener is not None:
                self._listener()

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request as activity, from its arrival until it is answered."""
        with self._lock:
            self._open_requests += 1
        try:
            yield
        finally:
            with self._lock:
                self._open_requests -= 1
                self._last_activity = time.monotonic()

    def is_quiet(self, seconds: float) -> bool:
        """Tell whether there was no activity for so long."""
        with self._lock:
            return self._idle_seconds() >= seconds

    def begin_maintenance(self, quiet_seconds: float) -> bool:
        """Begin a maintenance run; return ``False`` where there was activity lately, a run, or the engine leaves.

        Whoever gets ``True`` calls `end_maintenance` when the run is over.
        """
        with self._lock:
            if self._is_closing or self._is_maintaining or self._idle_seconds() < quiet_seconds:
                return False
            self._is_maintaining = True
            return True

    def end_maintenance(self) -> None:
        """Note that the maintenance run is over."""
        with self._lock:
            self._is_maintaining = False

    def close_if_idle(self, seconds: float) -> bool:
        """Close the engine if it was idle for longer than this and no maintenance runs; tell whether it is closed."""
        with self._lock:
            if not self._is_maintaining and self._idle_seconds() > seconds:
                self._is_closing = True
            return self._is_closing

    def close(self) -> None:
        """Let no further maintenance run begin: the engine is leaving."""
        with self._lock:
            self._is_closing = True

    def _idle_seconds(self) -> float:
        # The caller holds the lock. Work that is under way counts as activity until now.
        now = time.monotonic()
        if self._open_requests or self._status.is_busy:
            self._last_activity = now
        return now - self._last_activity


class ModelLock:
    """A lock around the model that prefers queries to batches: a query waits for one batch at most."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_held = False
        self._waiting_queries = 0

    @contextmanager
    def for_query(self, patience: float | None = None) -> Iterator[None]:
        """Hold the model as soon as it is free.

        Raises:
            TimeoutError: it is not free within ``patience`` seconds.

        """
        with self._changed:
            self._waiting_queries += 1
            is_free = self._changed.wait_for(lambda: not self._is_held, patience)
            self._waiting_queries -= 1
            if not is_free:
                self._changed.notify_all()  # a batch may have waited for this query
                raise TimeoutError("the model is busy")
            self._is_held = True
        yield from self._held()

    @contextmanager
    def for_batch(self) -> Iterator[None]:
        """Hold the model once it is free and no query waits."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_held and not self._waiting_queries)
            self._is_held = True
        yield from self._held()

    def _held(self) -> Iterator[None]:
        try:
            yield
        finally:
            with self._changed:
                self._is_held = False
                self._changed.notify_all()
