"""The client of the embedding engine: starts it, sends requests to it, and never waits long.

Cheap to import: no torch, LanceDB, NumPy or asyncio.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memento_tui.encryption import is_unlocked
from memento_tui.errors import EngineUnavailable
from memento_tui.meaning import check_installed, is_installed
from memento_tui.model.filters import Filter
from memento_tui.paths import DataPaths
from memento_tui.processes import engine_command
from memento_tui.regular_files import open_regular
from memento_tui.search.engine_protocol import LONGEST_LINE, MOST_NEIGHBOURS, EngineStatus, OpenRequests, send_request
from memento_tui.search.lance_filter import compile_lance_filter
from memento_tui.storage.long_work import raise_if_stopped
from memento_tui.text.quantities import count_of
from memento_tui.version import __version__

__all__ = ["SemanticAnswer", "SemanticClient", "SemanticState"]

_RESTART_SECONDS_AFTER_EXIT = 0.5
"""Seconds until the next start after an engine left in order, such as one that found another at work."""

_RESTART_SECONDS_AFTER_FAILURE = 5.0
"""Seconds until the next start after an engine failed; doubled with each failure."""

_LONGEST_RESTART_PAUSE = 300.0
"""Seconds until the next start, at most."""

_LOG_TAIL_BYTES = 1_000_000
"""Bytes at the end of the log that are read for its last lines."""

_REPORT_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ (?:DEBUG|INFO|WARNING) ")
"""The beginning of a line of the log that reports no error."""


class EngineLauncher:
    """Starts engines for one data directory, one at a time. Safe to use from several threads."""

    def __init__(self, paths: DataPaths) -> None:
        self._paths = paths
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._was_ready = False
        self._failures = 0
        self._not_before = 0.0
        self.problem = ""
        """The reason why the last start failed, in one sentence."""
        self._log_begin: int | None = None
        """Bytes that the log had when the last engine was started; ``None`` where this started none."""

    @property
    def is_starting(self) -> bool:
        """Whether an engine that this started is alive; it may not listen yet."""
        with self._lock:
            return self._is_alive()

    def start(self) -> bool:
        """Start an engine unless one was just started or has just failed; return whether one is alive."""
        with self._lock:
            if self._is_alive():
                return True
            if time.monotonic() < self._not_before:
                return False
            return self._spawn()

    def note_gone(self, pid: int) -> None:
        """Note that an engine is gone: one that this started is not alive any more, and the next may be started."""
        with self._lock:
            if self._process is not None and self._process.pid == pid:
                # The thread that collects it may have done so and not have noted it yet.
                self._process.wait()

    def note_ready(self) -> None:
        """Note that the engine is ready: from now on its end is no failure to start."""
        with self._lock:
            self._was_ready = True
            self._failures = 0
            self._not_before = 0.0
            self.problem = ""

    def last_error(self) -> str:
        """Return the last line that the engine which this started last logged and that only an error leaves."""
        begin = self._log_begin
        if begin is None:
            return ""
        with contextlib.suppress(OSError), self._paths.engine_log.open("rb") as file:
            file.seek(max(begin, file.seek(0, os.SEEK_END) - _LOG_TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
            errors = (line.strip() for line in reversed(lines) if not _REPORT_LINE.match(line))
            return next(filter(None, errors), "")
        return ""

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
        if self._was_ready:
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
        try:
            log = open_regular(self._paths.engine_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                self._log_begin = os.fstat(log).st_size
                self._process = subprocess.Popen(  # noqa: S603 - this interpreter and this package
                    engine_command(self._paths.root),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd="/",
                    start_new_session=True,
                )
            finally:
                os.close(log)
        except OSError as error:
            self._not_before = time.monotonic() + _RESTART_SECONDS_AFTER_FAILURE
            self.problem = f"The engine cannot be started: {error}"
            return False
        self._was_ready = False
        # A long-lived parent must collect the process when it ends, or it stays in the process table.
        threading.Thread(target=self._process.wait, name="engine-reaper", daemon=True).start()
        return True


SemanticState = Literal["ready", "warming", "off"]

_PROBE_SECONDS = 0.2
"""How long a status may take before the engine counts as loading."""

_ANSWER_SECONDS = 5.0
"""How long the answer to a search may take."""

_COMPARE_SECONDS = 180.0
"""How long neighbours may take: a request is answered in some five seconds on an idle core."""

_PURGE_SECONDS = 120.0
"""How long a purge may take: an index of 100,000 vectors is written in a few seconds."""

_BYTES_BESIDE_TEXT = 1_000
"""Bytes that a request takes beside its ids."""

_STOP_SECONDS = 10.0
"""How long an engine may take to end after a request to stop."""

_LONGEST_QUERY = 20_000
"""Characters of a query that are sent; no model reads more."""

_STATES: dict[str, SemanticState] = {"ready": "ready", "loading": "warming", "failed": "off"}


@dataclass(frozen=True)
class SemanticAnswer:
    """The ids of the memories nearest in meaning, nearest first, each with its similarity from 0 to 1."""

    state: SemanticState
    hits: list[tuple[str, float]]
    seq: int
    """The journal entry that the index reflects; memories written later are not among the hits."""
    problem: str = ""
    """The reason why there are no hits, other than a model that is loading or a setting."""


class SemanticClient:
    """Sends requests to the engine of one data directory. Safe for several threads.

    Where none runs it starts one, unless ``may_start`` is false.
    """

    def __init__(self, paths: DataPaths, enabled: bool, *, may_start: bool = True) -> None:  # noqa: FBT001 - the setting of that name
        self._paths = paths
        self._is_starter = may_start
        self._enabled = enabled
        self._launcher = EngineLauncher(paths)
        self._known_ready = False
        """Whether the last answer came from an engine that was ready; else it is asked first whether it is."""
        self._requests = OpenRequests()

    def close(self) -> None:
        """Start no engine from now on, and wait for no answer. A running one ends once it has been idle for a while."""
        self._requests.give_up()

    def _send(self, request: Mapping[str, Any], *, seconds: float) -> dict[str, Any]:
        return send_request(self._paths, request, seconds=seconds, among=self._requests)

    # Requests that never wait

    def state(self) -> SemanticState:
        """Return whether semantic search is available now; takes a fifth of a second at most, and starts nothing."""
        if not self._enabled:
            return "off"
        try:
            return _STATES.get(self._probe().state, "off")
        except TimeoutError:
            return "warming"
        except OSError:
            return "warming" if self._launcher.is_starting else "off"

    def status(self) -> EngineStatus | None:
        """Return the status of a running engine, ``None`` where none runs; starts nothing."""
        try:
            return EngineStatus.of(self._send({"op": "status"}, seconds=_ANSWER_SECONDS))
        except OSError:
            return None

    def is_silent(self) -> bool:
        """Tell whether an engine runs that does not answer, as one that was suspended; waits five seconds for it."""
        try:
            self._send({"op": "status"}, seconds=_ANSWER_SECONDS)
        except TimeoutError:
            return True
        except OSError:
            pass
        return False

    def ensure(self) -> None:
        """Start the engine unless one runs; does not wait for it. An engine of another version is replaced."""
        if self._may_start():
            try:
                self._probe()
            except TimeoutError:
                return
            except OSError:
                self._launcher.start()

    def search(self, text: str, tree: Filter, limit: int, *, most_meet: bool = False) -> SemanticAnswer:
        """Return the memories that are nearest in meaning among those that a filter selects.

        ``most_meet`` says that it is likely to select nearly all, which makes the search cheaper where it does.

        Does not wait for an engine that is starting: the state is ``warming`` then. Takes five seconds at most.
        """
        if not self._enabled:
            return SemanticAnswer("off", [], 0)
        query, where = _without_surrogates(text[:_LONGEST_QUERY]), _without_surrogates(compile_lance_filter(tree))
        request = {"op": "search", "text": query, "where": where, "limit": limit, "most_meet": most_meet}
        try:
            if not self._known_ready:
                status = self._probe()
                if status.state != "ready":
                    return SemanticAnswer(_STATES.get(status.state, "off"), [], status.seq, status.problem)
            answer = self._send(request, seconds=_ANSWER_SECONDS)
        except TimeoutError:
            self._known_ready = False
            return SemanticAnswer("warming", [], 0)
        except OSError:
            return self._absent()
        return self._answer_of(answer)

    def _answer_of(self, answer: dict[str, Any]) -> SemanticAnswer:
        if "error" in answer:
            return SemanticAnswer("off", [], 0, f"The engine refused the query: {answer['error']}")
        state = _STATES.get(answer.get("state", ""), "off")
        self._note(state)
        hits = [(str(name), float(similarity)) for name, similarity in answer.get("hits", ())]
        return SemanticAnswer(state, hits, answer.get("seq", 0), answer.get("problem", ""))

    def _absent(self) -> SemanticAnswer:
        self._known_ready = False
        if self._may_start() and self._launcher.start():
            return SemanticAnswer("warming", [], 0)
        return SemanticAnswer("off", [], 0, self._launcher.problem)

    def _may_start(self) -> bool:
        if not (self._enabled and self._is_starter and is_installed()):
            return False
        if self._requests.are_given_up or not self._paths.database.exists():
            return False
        key_id = self._paths.key_id
        return not key_id or is_unlocked(key_id)

    def _probe(self) -> EngineStatus:
        status = EngineStatus.of(self._send({"op": "status"}, seconds=_PROBE_SECONDS))
        if status.version != __version__ and self._may_start():
            self._send({"op": "stop"}, seconds=_PROBE_SECONDS)
            raise ConnectionError("an engine of another version was told to leave")
        self._note(status.state)
        return status

    def _note(self, state: str) -> bool:
        """Note the state that the engine answered with, and return whether it is ready.

        Another thread may note another one meanwhile: whoever was answered goes by its own answer.
        """
        is_ready = self._known_ready = state == "ready"
        if is_ready:
            self._launcher.note_ready()
        return is_ready

    # Comparison of memories

    def neighbours(self, ids: Sequence[str], *, limit: int, minimum: float) -> dict[str, list[tuple[str, float]]]:
        """Return for each id in the index the nearest other memories, nearest first, with their cosine similarity.

        Neighbours are ``active`` or ``compacted``, at least ``minimum`` similar, and ``limit`` (1 to 1,000) at most.

        Raises:
            EngineUnavailable: there is no engine that could answer now; where none runs, one is started.

        """
        unique = _unique_sendable_ids(ids)
        found: dict[str, list[tuple[str, float]]] = {}
        done = 0
        while done < len(unique):
            part = _first_in_one_request(unique[done : done + MOST_NEIGHBOURS])
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

    def seq(self) -> int:
        """Return the journal entry that the index reflects.

        Raises:
            EngineUnavailable: as in `neighbours`.

        """
        return int(self._compare({"op": "status"}, _ANSWER_SECONDS).get("seq", 0))

    def _compare(self, request: dict[str, Any], seconds: float = _COMPARE_SECONDS) -> dict[str, Any]:
        """Return the answer of an engine with a loaded index."""
        if not self._enabled:
            raise self._switched_off()
        try:
            if not self._known_ready:
                self._probe()
            answer = self._send(request, seconds=seconds)
        except TimeoutError:
            self._known_ready = False
            raise EngineUnavailable("The engine is busy and did not answer in time.", "Ask again later.") from None
        except OSError:
            check_installed()
            if self._absent().state == "warming":
                raise EngineUnavailable("The engine is just starting.", "Ask again in a minute.") from None
            raise self._unavailable() from None
        if "error" in answer:
            raise EngineUnavailable(f"The engine refused: {answer['error']}", "`memento engine logs` says more.")
        is_ready = self._note(answer.get("state", ""))
        if answer.get("state") == "failed":
            problem = answer.get("problem", "")
            raise EngineUnavailable(f"The engine cannot work: {problem}", "`memento engine logs` says more.")
        if not is_ready:
            raise EngineUnavailable("The engine is still loading its model.", "Ask again in a minute.")
        return answer

    @staticmethod
    def _switched_off() -> EngineUnavailable:
        return EngineUnavailable(
            "Semantic search is switched off.", "Set enabled = true under [engine] in config.toml."
        )

    # Purging

    def purge(self, ids: Sequence[str]) -> bool:
        """Have a running engine take the vectors of purged memories out of its files; return whether it did.

        Starts no engine: where none runs, the caller may write the files itself.
        """
        request = {"op": "purge", "ids": list(ids)}
        try:
            # Given up half-way, the vectors would be left to nobody: a purge is waited for.
            answer = send_request(self._paths, request, seconds=_PURGE_SECONDS)
        except OSError:
            return False
        return answer.get("state") == "ready"

    # Waiting

    def wait(
        self,
        seq: int,
        timeout: float,
        progress: Callable[[int, int], None] | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        """Wait until the index reflects journal entry ``seq``, starting the engine where none runs.

        ``progress`` is called about once a second with how many memories are done, and how many there are to do.

        Raises:
            EngineUnavailable: semantic search is switched off, the engine fails, ``timeout`` seconds pass, or this is
                closed meanwhile.
            StoppedError: ``stop`` was set.

        """
        if not self._enabled:
            raise self._switched_off()
        deadline = time.monotonic() + timeout
        most = pending = 0
        while (left := deadline - time.monotonic()) > 0:
            raise_if_stopped(stop)
            status = self._wait_once(seq, min(1.0, left))
            if status is None:
                time.sleep(0.05)
                continue
            if status.state == "ready" and status.seq >= seq:
                return
            pending, most = status.pending, max(most, status.pending)
            if progress is not None and most:
                progress(most - pending, most)
        waiting = f"; {count_of(pending, 'memory', 'memories')} still to be embedded" if pending else ""
        raise EngineUnavailable(
            f"The engine did not finish within {timeout:.0f} seconds{waiting}.",
            "It goes on in the background; ask again later.",
        )

    def _wait_once(self, seq: int, seconds: float) -> EngineStatus | None:
        """Wait for a moment; return the engine's status, or ``None`` while it is starting."""
        request = {"op": "wait", "seq": seq, "timeout": seconds}
        try:
            status = EngineStatus.of(self._send(request, seconds=seconds + _ANSWER_SECONDS))
        except TimeoutError:
            return None
        except OSError:
            self._known_ready = False
            check_installed()
            if not self._may_start() or (not self._launcher.start() and self._launcher.problem):
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
        reason = self._launcher.problem or "There is no engine"
        last = self._launcher.last_error()
        return EngineUnavailable(f"{reason}{f': {last}' if last else '.'}", "`memento engine logs` says more.")

    # Control

    def stop(self) -> bool:
        """Stop the engine and wait until it has ended; return whether one was running and has ended."""
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
                self._launcher.note_gone(pid)
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
    # Undecodable bytes of a terminal or a file name become halves of surrogate pairs, which cannot be sent.
    return text.encode("utf-8", "replace").decode("utf-8")


def _unique_sendable_ids(ids: Sequence[str]) -> list[str]:
    """Return the ids once each, without those that cannot be sent: no record has such an id."""
    return [name for name in dict.fromkeys(ids) if name == _without_surrogates(name)]


def _first_in_one_request(ids: list[str]) -> list[str]:
    """Return as many of the ids, from the first on, as one request can hold."""
    left = LONGEST_LINE - _BYTES_BESIDE_TEXT
    for position, name in enumerate(ids):
        left -= len(json.dumps(name)) + 2
        if left < 0:
            return ids[:position]
    return ids
