"""The client of the embedding engine: starts it, asks it, and is never slow to answer.

Cheap to import: no torch, LanceDB, NumPy or asyncio.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memento_tui.errors import EngineUnavailable
from memento_tui.model.filters import Filter
from memento_tui.paths import DataPaths
from memento_tui.search.engine_protocol import LONGEST_LINE, MOST_CLUSTERED, MOST_NEIGHBOURS, EngineStatus, send_request
from memento_tui.search.lance_filter import compile_lance_filter
from memento_tui.version import __version__

__all__ = ["SemanticAnswer", "SemanticClient"]

_RESTART_SECONDS_AFTER_EXIT = 0.5
"""Seconds until the next start after an engine left in order, such as one that found another at work."""

_RESTART_SECONDS_AFTER_FAILURE = 5.0
"""Seconds until the next start after an engine failed; doubled with each failure."""

_LONGEST_RESTART_PAUSE = 300.0


class EngineLauncher:
    """Starts engines for one data directory, one at a time. Safe to use from several threads."""

    def __init__(self, paths: DataPaths) -> None:
        self._paths = paths
        self._guard = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._worked = False
        self._failures = 0
        self._not_before = 0.0
        self.problem = ""
        """Why the last start failed, in one sentence."""

    @property
    def is_starting(self) -> bool:
        """Whether an engine that this started is alive; it may not listen yet."""
        with self._guard:
            return self._is_alive()

    def start(self) -> bool:
        """Start an engine unless one was just started or has just failed; tell whether one is alive."""
        with self._guard:
            if self._is_alive():
                return True
            if time.monotonic() < self._not_before:
                return False
            return self._spawn()

    def answered(self) -> None:
        """Note that the engine is ready: its death, whenever it comes, is no failure to start."""
        with self._guard:
            self._worked = True
            self._failures = 0
            self._not_before = 0.0
            self.problem = ""

    def _is_alive(self) -> bool:
        if self._process is None:
            return False
        code = self._process.poll()
        if code is None:
            return True
        self._process = None
        self._note_end(code)
        return False

    def _note_end(self, code: int) -> None:
        if self._worked:
            return
        if code == 0:
            self._not_before = time.monotonic() + _RESTART_SECONDS_AFTER_EXIT
            return
        pause = min(_RESTART_SECONDS_AFTER_FAILURE * 2**self._failures, _LONGEST_RESTART_PAUSE)
        self._failures += 1
        self._not_before = time.monotonic() + pause
        ended = f"with status {code}" if code > 0 else f"by signal {-code}"
        self.problem = f"The engine ended {ended}"

    def _spawn(self) -> bool:
        # -P: a module is never taken from the folder that the engine happens to be started in.
        command = [sys.executable, "-P", "-m", "memento_tui.embedding", "--data-dir", os.fspath(self._paths.root)]
        try:
            log = os.open(self._paths.engine_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                self._process = subprocess.Popen(  # noqa: S603 - this interpreter and this package
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True
                )
            finally:
                os.close(log)
        except OSError as error:
            self._not_before = time.monotonic() + _RESTART_SECONDS_AFTER_FAILURE
            self.problem = f"The engine cannot be started: {error}"
            return False
        self._worked = False
        # A long-lived parent must collect the process when it ends, or it stays in the process table.
        threading.Thread(target=self._process.wait, name="engine-reaper", daemon=True).start()
        return True


SemanticState = Literal["ready", "warming", "off"]

_PROBE_SECONDS = 0.2
"""How long a status may take before the engine counts as busy loading."""

_ANSWER_SECONDS = 5.0
_COMPARE_SECONDS = 180.0
"""How long neighbours or clusters may take: clustering 20,000 memories takes ten seconds on an idle core."""

_BYTES_BESIDE_TEXT = 1_000
"""Bytes that a request takes beside its ids."""

_STOP_SECONDS = 10.0
_LONGEST_QUESTION = 20_000
"""Characters; no model reads more of a question."""

_LOG_TAIL_BYTES = 1_000_000
_STATES: dict[str, SemanticState] = {"ready": "ready", "loading": "warming", "failed": "off"}


@dataclass(frozen=True)
class SemanticAnswer:
    """The ids of the memories nearest in meaning, nearest first, each with its similarity from 0 to 1."""

    state: SemanticState
    hits: list[tuple[str, float]]
    seq: int
    """The journal entry that the index reflects; what was written later is not among the hits."""
    problem: str = ""
    """Why there are no hits where that is neither the model's loading nor a setting."""


class SemanticClient:
    """Asks the engine of one data directory, and starts it where none runs. Safe to use from several threads."""

    def __init__(self, paths: DataPaths, enabled: bool) -> None:  # noqa: FBT001 - the setting of that name
        self._paths = paths
        self._enabled = enabled
        self._starter = EngineLauncher(paths)
        self._known_ready = False
        self._closed = threading.Event()

    def close(self) -> None:
        """Start no engine from now on. One that runs stays until it has been idle for a while."""
        self._closed.set()

    # Asking without waiting

    def state(self) -> SemanticState:
        """Return whether meaning counts now; takes a fifth of a second at most, and starts nothing."""
        if not self._enabled:
            return "off"
        try:
            return _STATES.get(self._probe().state, "off")
        except TimeoutError:
            return "warming"
        except OSError:
            return "warming" if self._starter.is_starting else "off"

    def status(self) -> EngineStatus | None:
        """Return what a running engine says of itself, ``None`` where none runs; starts nothing."""
        try:
            return EngineStatus.of(send_request(self._paths, {"op": "status"}, seconds=_ANSWER_SECONDS))
        except OSError:
            return None

    def ensure(self) -> None:
        """Start the engine unless one runs; does not wait for it. An engine of another version is replaced."""
        if self._may_start():
            try:
                self._probe()
            except TimeoutError:
                return
            except OSError:
                self._starter.start()

    def search(self, text: str, tree: Filter, limit: int) -> SemanticAnswer:
        """Return the memories that are nearest in meaning among those that a filter selects.

        Does not wait for an engine that is starting: the state is ``warming`` then. Takes five seconds at most.
        """
        if not self._enabled:
            return SemanticAnswer("off", [], 0)
        question, where = _without_surrogates(text[:_LONGEST_QUESTION]), _without_surrogates(compile_lance_filter(tree))
        request = {"op": "search", "text": question, "where": where, "limit": limit}
        try:
            if not self._known_ready:
                status = self._probe()
                if status.state != "ready":
                    return SemanticAnswer(_STATES.get(status.state, "off"), [], status.seq, status.problem)
            answer = send_request(self._paths, request, seconds=_ANSWER_SECONDS)
        except TimeoutError:
            self._known_ready = False
            return SemanticAnswer("warming", [], 0)
        except OSError:
            return self._absent()
        return self._answer_of(answer)

    def _answer_of(self, answer: dict[str, Any]) -> SemanticAnswer:
        if "error" in answer:
            return SemanticAnswer("off", [], 0, f"The engine refused the question: {answer['error']}")
        state = _STATES.get(answer.get("state", ""), "off")
        self._note(state)
        hits = [(str(name), float(similarity)) for name, similarity in answer.get("hits", ())]
        return SemanticAnswer(state, hits, answer.get("seq", 0), answer.get("problem", ""))

    def _absent(self) -> SemanticAnswer:
        self._known_ready = False
        if self._may_start() and self._starter.start():
            return SemanticAnswer("warming", [], 0)
        return SemanticAnswer("off", [], 0, self._starter.problem)

    def _may_start(self) -> bool:
        return self._enabled and not self._closed.is_set() and self._paths.database.exists()

    def _probe(self) -> EngineStatus:
        status = EngineStatus.of(send_request(self._paths, {"op": "status"}, seconds=_PROBE_SECONDS))
        if status.version != __version__ and self._may_start():
            send_request(self._paths, {"op": "stop"}, seconds=_PROBE_SECONDS)
            raise ConnectionError("an engine of another version was told to leave")
        self._note(status.state)
        return status

    def _note(self, state: str) -> None:
        self._known_ready = state == "ready"
        if self._known_ready:
            self._starter.answered()

    # Comparing memories with each other

    def neighbours(self, ids: Sequence[str], *, limit: int, minimum: float) -> dict[str, list[tuple[str, float]]]:
        """Return for each id in the index the nearest other memories, nearest first, with their cosine similarity.

        Neighbours are ``active`` or ``compacted``, at least ``minimum`` similar, and ``limit`` (1 to 1,000) at most.

        Raises:
            EngineUnavailable: there is no engine that could answer now; where none runs, one is started.

        """
        asked = _unique_sendable_ids(ids)
        found: dict[str, list[tuple[str, float]]] = {}
        done = 0
        while done < len(asked):
            part = _first(asked[done : done + MOST_NEIGHBOURS])
            near = self._compare({"op": "neighbours", "ids": part, "limit": limit, "minimum": minimum}).get("near")
            if not near:
                raise EngineUnavailable(
                    "The engine gave no answer about neighbours.", "`memento engine logs` says more."
                )
            for name, hits in zip(part, near, strict=False):  # the answer may be about the first of them only
                if hits is not None:
                    found[name] = [(str(other), float(similarity)) for other, similarity in hits]
            done += len(near)
        return found

    def clusters(self, ids: Sequence[str]) -> list[list[str]]:
        """Return the groups of these memories that are dense in meaning, by ids; noise is left out.

        The first `MOST_CLUSTERED` ids are looked at, fewer where they are longer than 200 characters.

        Raises:
            EngineUnavailable: as in `neighbours`.

        """
        asked = _first(_unique_sendable_ids(ids)[:MOST_CLUSTERED])
        if not asked:
            return []
        groups = self._compare({"op": "clusters", "ids": asked}).get("clusters", ())
        return [[asked[place] for place in group] for group in groups]

    def seq(self) -> int:
        """Return the journal entry that the index reflects.

        Raises:
            EngineUnavailable: as in `neighbours`.

        """
        return int(self._compare({"op": "status"}, _ANSWER_SECONDS).get("seq", 0))

    def _compare(self, request: dict[str, Any], seconds: float = _COMPARE_SECONDS) -> dict[str, Any]:
        """Return an engine's answer that came from a loaded index."""
        if not self._enabled:
            raise self._switched_off()
        try:
            if not self._known_ready:
                self._probe()
            answer = send_request(self._paths, request, seconds=seconds)
        except TimeoutError:
            self._known_ready = False
            raise EngineUnavailable("The engine is busy and did not answer in time.", "Ask again later.") from None
        except OSError:
            if self._absent().state == "warming":
                raise EngineUnavailable("The engine is just starting.", "Ask again in a minute.") from None
            raise self._unavailable() from None
        if "error" in answer:
            raise EngineUnavailable(f"The engine refused: {answer['error']}", "`memento engine logs` says more.")
        self._note(answer.get("state", ""))
        if answer.get("state") == "failed":
            problem = answer.get("problem", "")
            raise EngineUnavailable(f"The engine cannot work: {problem}", "`memento engine logs` says more.")
        if not self._known_ready:
            raise EngineUnavailable("The engine is still loading its model.", "Ask again in a minute.")
        return answer

    @staticmethod
    def _switched_off() -> EngineUnavailable:
        return EngineUnavailable(
            "Semantic search is switched off.", "Set enabled = true under [engine] in config.toml."
        )

    # Waiting

    def wait(self, seq: int, timeout: float, progress: Callable[[int, int], None] | None = None) -> None:
        """Wait until the index reflects journal entry ``seq``, starting the engine where none runs.

        ``progress`` is called about once a second with how many memories are done, and how many there are to do.

        Raises:
            EngineUnavailable: semantic search is switched off, the engine fails, or ``timeout`` seconds pass.

        """
        if not self._enabled:
            raise self._switched_off()
        deadline = time.monotonic() + timeout
        most = pending = 0
        while (left := deadline - time.monotonic()) > 0:
            status = self._wait_once(seq, min(1.0, left))
            if status is None:
                time.sleep(0.05)
                continue
            if status.state == "ready" and status.seq >= seq:
                return
            pending, most = status.pending, max(most, status.pending)
            if progress is not None and most:
                progress(most - pending, most)
        waiting = f"; {pending:,} memories wait to be embedded" if pending else ""
        raise EngineUnavailable(
            f"The engine did not finish within {timeout:.0f} seconds{waiting}.",
            "It goes on in the background; ask again later.",
        )

    def _wait_once(self, seq: int, seconds: float) -> EngineStatus | None:
        """Wait for a moment; return where the engine stands, or ``None`` while it is starting."""
        request = {"op": "wait", "seq": seq, "timeout": seconds}
        try:
            status = EngineStatus.of(send_request(self._paths, request, seconds=seconds + _ANSWER_SECONDS))
        except TimeoutError:
            return None
        except OSError:
            self._known_ready = False
            if not self._may_start() or (not self._starter.start() and self._starter.problem):
                raise self._unavailable() from None
            return None
        self._note(status.state)
        if status.state == "failed":
            raise EngineUnavailable(f"The engine cannot work: {status.problem}", "`memento engine logs` says more.")
        if status.problem and status.seq < seq:
            raise EngineUnavailable(
                f"The semantic index does not advance: {status.problem}",
                "The engine goes on trying; `memento engine logs` says more.",
            )
        return status

    def _unavailable(self) -> EngineUnavailable:
        reason = self._starter.problem or "There is no engine"
        last = self.logs(1).strip()
        return EngineUnavailable(f"{reason}{f': {last}' if last else '.'}", "`memento engine logs` says more.")

    # Looking after it

    def stop(self) -> bool:
        """Stop the engine and wait until it is gone; tell whether one was running and has left."""
        try:
            pid = int(send_request(self._paths, {"op": "stop"}, seconds=_ANSWER_SECONDS).get("pid", 0))
        except OSError:
            return False
        self._known_ready = False
        deadline = time.monotonic() + _STOP_SECONDS
        while pid > 0 and time.monotonic() < deadline:
            try:
                os.kill(pid, 0)
            except OSError:
                return True
            time.sleep(0.02)
        return False

    def logs(self, lines: int) -> str:
        """Return the last lines of the engine's log; empty where there is none."""
        with contextlib.suppress(OSError), self._paths.engine_log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_TAIL_BYTES))
            return "\n".join(file.read().decode("utf-8", "replace").splitlines()[-lines:])
        return ""


def _without_surrogates(text: str) -> str:
    # Bytes that a terminal or a file name took in as half of a surrogate pair are no text to the engine.
    return text.encode("utf-8", "replace").decode("utf-8")


def _unique_sendable_ids(ids: Sequence[str]) -> list[str]:
    """Return the ids once each, without those that cannot be sent: no record has one of them."""
    return [name for name in dict.fromkeys(ids) if name == _without_surrogates(name)]


def _first(ids: list[str]) -> list[str]:
    """Return as many of the ids, from the first on, as one request can hold."""
    left = LONGEST_LINE - _BYTES_BESIDE_TEXT
    for place, name in enumerate(ids):
        left -= len(json.dumps(name)) + 2
        if left < 0:
            return ids[:place]
    return ids
