"""The engine's process and socket server.

One process per data directory, alone by a lock, with no output but its log. It answers requests while another thread
indexes, and exits when it has nothing to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakValueDictionary

import msgspec
from filelock import FileLock, Timeout

from memento_tui import clock
from memento_tui.config import Config, load_config
from memento_tui.embedding.engine_state import EngineState
from memento_tui.embedding.index_worker import IndexWorker
from memento_tui.encryption import is_unlocked
from memento_tui.errors import DataDirectoryError, LockedWorkspace, MementoError
from memento_tui.locations import check_socket_folder
from memento_tui.paths import DataPaths
from memento_tui.private_files import PRIVATE_FILE_MODE, use_private_umask
from memento_tui.regular_files import open_regular
from memento_tui.search.engine_protocol import LONGEST_LINE, EngineStatus, send_request
from memento_tui.version import __version__

__all__ = ["run_engine"]

if TYPE_CHECKING:
    from memento_tui.embedding.similarity import IndexSimilarity


_log = logging.getLogger(__name__)

_WATCH_SECONDS = 0.5
"""Seconds between two checks whether there is a reason to leave."""

_LONGEST_WAIT = 3600.0
"""Seconds that a request may wait for the index."""

_MOST_HITS = 1000
"""Results of one search, or neighbours of one memory."""

_CONCURRENT_SEARCHES = 4
"""Searches that run at the same time; further ones wait."""

_BYTES_BESIDE_RESULTS = 1_000
"""Bytes that an answer may take beside its list of results."""

_LOCK_SECONDS = 0.2
"""How long to wait for an engine that is just leaving, or that does not answer yet, until it is asked again."""

_LOCK_ATTEMPTS = 25
"""How often it is waited for and asked."""

_SAME_MOMENT_SECONDS = 0.1
"""To how many seconds the clock, the monotonic clock and the time of a file agree."""

_DISMISSAL_SECONDS = 1.0
"""How long an engine of another version may take to say that it leaves."""

_STOP_SECONDS = 3.0
"""How long the work in hand may take when the engine leaves."""

_LISTEN_BACKLOG = 64
"""Connections that wait to be accepted."""

_LARGEST_LOG_BYTES = 1_000_000
"""Bytes of the log above which only its end is kept when an engine starts."""

_LOG_KEPT_BYTES = 100_000
"""Bytes of that end."""


_HOOK_THREADS = 4
"""Calls of hooks that are answered at the same time; further ones wait."""

_DELIVERY_SECONDS = 5.0
"""Seconds in which a hook says that its host has the answer; it says so at once, and its end is noticed."""


class _Request(msgspec.Struct):
    """One line from a client; each ``op`` uses some of the fields."""

    op: str
    id: int | str | None = None
    version: str = ""
    database: tuple[int, int] = (0, 0)
    """The device and the number of the file that a hook found."""
    host: str = ""
    event: str = ""
    text: str = ""
    where: str = ""
    most_meet: bool = False
    """Whether nearly every memory is likely to meet the condition ``where``."""
    limit: int = 20
    seq: int = 0
    timeout: float = 0.0
    ids: list[str] = []
    minimum: float = 0.0


_decode = msgspec.json.Decoder(_Request).decode
_Reply = dict[str, Any]


class HookConversation(Protocol):
    """One call of a hook: its answer, and the record of its exposures."""

    @property
    def session(self) -> str:
        """The agent's session; empty where the host names none."""

    def answer(self) -> str:
        """Return the text for the host; empty where nothing is relevant."""

    def record(self) -> None:
        """Record that the host has the answer."""


class HookResponder(Protocol):
    """The function that answers the calls of hooks; it is given the paths and the worker."""

    def __call__(self, host: str, event: str, raw: bytes) -> HookConversation | None:
        """Return the conversation about a call; ``None`` for a call that memento does not answer."""


MakeHookResponder = Callable[[DataPaths, IndexWorker], HookResponder]


class EngineServer:
    """Serves one engine until there is a reason to leave."""

    def __init__(
        self, paths: DataPaths, config: Config, state: EngineState, worker: IndexWorker, hooks: HookResponder
    ) -> None:
        self._paths = paths
        self._config = config
        self._state = state
        self._worker = worker
        self._started_at = time.monotonic()
        self._search_pool = ThreadPoolExecutor(_CONCURRENT_SEARCHES, thread_name_prefix="search")
        # Apart from the searches, and one at a time: each takes seconds, and some hundred megabytes.
        self._compare_pool = ThreadPoolExecutor(1, thread_name_prefix="comparison")
        # Apart from both: a host waits for it, and no search that is slow.
        self._hooks = hooks
        self._hook_pool = ThreadPoolExecutor(_HOOK_THREADS, thread_name_prefix="hook")
        self._session_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._database = _file_identity(paths.database)
        self._reason_to_leave: asyncio.Future[str]
        self._is_leaving = False
        self._status_changed = asyncio.Event()
        self._operations: dict[str, Callable[[_Request], Awaitable[_Reply]]] = {
            "status": self._get_status,
            "search": self._search,
            "neighbours": self._neighbours,
            "purge": self._purge,
            "wait": self._wait,
            "stop": self._stop,
        }

    async def serve(self, listening: socket.socket) -> str:
        """Answer requests on a bound socket; return why the engine leaves."""
        loop = asyncio.get_running_loop()
        self._reason_to_leave = loop.create_future()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._leave, f"signal {number}")
        self._state.set_listener(lambda: loop.call_soon_threadsafe(self._notify_waiters))
        server = await asyncio.start_unix_server(self._converse, sock=listening, limit=LONGEST_LINE)
        watching = loop.create_task(self._watch())
        self._worker.start()
        try:
            return await self._reason_to_leave
        finally:
            # The worker goes on for a moment after the loop is closed, and must not call it then.
            self._state.set_listener(None)
            watching.cancel()
            server.close()

    def _leave(self, reason: str) -> None:
        self._is_leaving = True
        self._state.close()
        if not self._reason_to_leave.done():
            self._reason_to_leave.set_result(reason)

    # When to leave

    async def _watch(self) -> None:
        # An engine whose lock or socket was taken away cannot be found, one whose database was replaced reads the
        # old one: each leaves, and the next request starts another.
        watched = [self._paths.database, self._paths.engine_lock, self._paths.engine_socket]
        at_start = [_file_identity(path) for path in watched]
        config_seen = _modified_at(self._paths.config)
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            for path, before in zip(watched, at_start, strict=True):
                # One that was taken away before the watch began is missing at the start already.
                if _file_identity(path) != before or before is None:
                    self._leave(f"{path.name} was removed or replaced")
            if (seen := _modified_at(self._paths.config)) != config_seen:
                config_seen = seen
                if self._engine_settings_changed():
                    self._leave("the configuration changed")
            if self._state.close_if_idle(self._config.engine.idle_seconds):
                self._leave("idle")

    def _engine_settings_changed(self) -> bool:
        try:
            return load_config(self._paths.config).engine != self._config.engine
        except MementoError as error:
            _log.warning("the configuration cannot be read, and the old one stays in force: %s", error)
            return False

    # The conversation

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            # A client may leave without its answer, and the engine with the conversation open: both are meant, and
            # a task that ends as cancelled is logged with a trace.
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; tell whether there may be another."""
        try:
            line = await reader.readline()
        except ValueError:
            await _send(writer, {"error": f"the request is longer than {LONGEST_LINE:,} bytes"})
            return False
        if not line.endswith(b"\n"):
            return False
        with self._state.request():
            try:
                request = _decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                await _send(writer, {"error": f"the request cannot be read: {error}"})
                return True
            if request.op == "hook":
                await self._converse_with_hook(request, reader, writer)
                return False
            await _send(writer, await self._answer(request))
        return True

    async def _converse_with_hook(
        self, request: _Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer a hook, and record the exposures once it reports that its host has the answer."""
        if request.version != __version__ or request.database != self._database:
            await _send(writer, {"error": "this engine is of another version or another database"})
            return
        try:
            call = self._hooks(request.host, request.event, request.text.encode())
            # One call of a session at a time: what the one tells, the next does not tell again.
            async with self._session_lock("" if call is None else call.session):
                await self._tell(call, reader, writer)
        except ConnectionError:
            raise
        except Exception as error:  # noqa: BLE001 - the hook answers by itself, and logs what keeps it from that
            _log.warning("a hook was not answered: %s: %s", type(error).__name__, error)
            await _send(writer, {"error": f"{type(error).__name__}: {error}"})

    async def _tell(
        self, call: HookConversation | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        loop = asyncio.get_running_loop()
        text = "" if call is None else await loop.run_in_executor(self._hook_pool, call.answer)
        await _send(writer, {"version": __version__, "answer": text})
        if call is None or not text:
            return
        told = b""
        with contextlib.suppress(TimeoutError, ValueError):
            told = await asyncio.wait_for(reader.readline(), _DELIVERY_SECONDS)
        if told:
            await loop.run_in_executor(self._hook_pool, call.record)

    def _session_lock(self, session: str) -> asyncio.Lock:
        return self._session_locks.setdefault(session, asyncio.Lock()) if session else asyncio.Lock()

    async def _answer(self, request: _Request) -> _Reply:
        operation = self._operations.get(request.op)
        if operation is None:
            known = ", ".join(self._operations)
            return {"id": request.id, "error": f"there is no op {request.op!r:.60}; there are {known}"}
        try:
            return {"id": request.id, **await operation(request)}
        except Exception as error:  # noqa: BLE001 - one bad request must not end the conversation
            _log.exception("a request failed: %s", request.op)
            return {"id": request.id, "error": f"{type(error).__name__}: {error}"}

    async def _get_status(self, _: _Request) -> _Reply:
        status = EngineStatus(
            **asdict(self._state.status),
            pid=os.getpid(),
            version=__version__,
            uptime=round(time.monotonic() - self._started_at, 3),
            rss=_resident_bytes(),
            leaving=self._is_leaving,
        )
        return asdict(status)

    async def _search(self, request: _Request) -> _Reply:
        status = self._state.status
        if status.state != "ready":
            return {"state": status.state, "problem": status.problem}
        self._worker.wake()
        limit = min(max(request.limit, 1), _MOST_HITS)
        running = asyncio.get_running_loop().run_in_executor(
            self._search_pool,
            partial(self._worker.search, request.text, request.where, limit, most_meet=request.most_meet),
        )
        try:
            found = await running
        except ValueError as error:
            return {"error": f"the condition cannot be used: {error}"}
        if found is None:
            return {"state": "loading"}
        return {"state": "ready", "hits": found.hits, "seq": found.seq}

    async def _neighbours(self, request: _Request) -> _Reply:
        """Answer for as many of the ids, from the first on, as one answer can hold."""
        limit = min(max(request.limit, 1), _MOST_HITS)
        return await self._compare(
            lambda similarity: _neighbours_reply(similarity, request.ids, limit, request.minimum)
        )

    async def _compare(self, read: Callable[[IndexSimilarity], _Reply]) -> _Reply:
        status = self._state.status
        if status.state != "ready":
            return {"state": status.state, "problem": status.problem}
        reply = await asyncio.get_running_loop().run_in_executor(self._compare_pool, self._worker.compare, read)
        return {"state": "loading"} if reply is None else {"state": "ready", **reply}

    async def _purge(self, request: _Request) -> _Reply:
        """Take vectors out of the files, and answer once they are gone."""
        if self._state.status.state != "ready":
            return {"state": self._state.status.state}
        await asyncio.wrap_future(self._worker.purge(request.ids))
        return {"state": "ready"}

    async def _wait(self, request: _Request) -> _Reply:
        self._worker.wake()
        seconds = min(max(request.timeout, 0.0), _LONGEST_WAIT)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self._is_decided(request.seq):
                    await self._status_changed.wait()
        return await self._get_status(request)

    def _is_decided(self, seq: int) -> bool:
        """Tell whether the index reflects a journal entry, or never will."""
        status = self._state.status
        return status.state == "failed" or (status.state == "ready" and status.seq >= seq)

    def _notify_waiters(self) -> None:
        self._status_changed.set()
        self._status_changed = asyncio.Event()

    async def _stop(self, _: _Request) -> _Reply:
        self._is_leaving = True
        # Once this answer is on its way.
        asyncio.get_running_loop().call_later(0.05, self._leave, "asked to stop")
        return {"pid": os.getpid()}


def _neighbours_reply(similarity: IndexSimilarity, ids: list[str], limit: int, minimum: float) -> _Reply:
    """Return a list for each id, ``None`` for one that the index does not hold.

    The lists are those of as many ids, from the first on, as can be compared at once and one answer can hold.
    """
    first = ids[: similarity.most_ids_at_once()]
    found = similarity.neighbours(first, limit=limit, minimum=minimum)
    near: list[list[tuple[str, float]] | None] = []
    left = LONGEST_LINE - _BYTES_BESIDE_RESULTS
    for name in first:
        hits = found.get(name)
        left -= len(msgspec.json.encode(hits)) + 1
        if left < 0:
            break
        near.append(hits)
    return {"near": near, "seq": similarity.seq()}


async def _send(writer: asyncio.StreamWriter, reply: _Reply) -> None:
    writer.write(msgspec.json.encode(reply) + b"\n")
    await writer.drain()


def _file_identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _modified_at(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _resident_bytes() -> int:
    """Return the bytes of memory that the process holds; where the system does not say, the most that it ever held."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")


def run_engine(paths: DataPaths, make_hooks: MakeHookResponder, *, asked_at: float | None = None) -> int:
    """Run the engine of a data directory until there is a reason to leave; return the exit status.

    Returns with 0 where another engine is at work, or has come or left since this one was ``asked_at``, a moment of the
    monotonic clock. One that is leaving is waited for, and one of another version is told to leave first. An engine
    that stays is not waited for: a person who stopped it would meet the one that waited.
    """
    use_private_umask()
    try:
        if not paths.database.exists():
            raise DataDirectoryError(f"There is no memento data in {paths.root}.")
        if (key_id := paths.key_id) and not is_unlocked(key_id):
            raise LockedWorkspace(paths.database, key_id)
        lock = FileLock(paths.engine_lock, mode=PRIVATE_FILE_MODE)
        if (asked_at is not None and _comes_late(paths, asked_at)) or not _take_lock(paths, lock):
            return 0
        _open_log(paths.engine_log)
        _serve_until_stopped(paths, make_hooks)
    except MementoError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the log; the process that started this one reads it
        return error.exit_code
    with contextlib.suppress(OSError):  # it was taken away
        os.utime(paths.engine_lock)
    lock.release()
    return 0


def _comes_late(paths: DataPaths, asked_at: float) -> bool:
    """Tell whether another engine took the lock or left it since this one was asked for.

    On a busy machine a process takes seconds to come so far. Who asked for it has been served, or asks again, and a
    person who stopped the engine meanwhile is not to meet another.
    """
    try:
        seconds = clock.now().timestamp() - paths.engine_lock.stat().st_mtime
    except FileNotFoundError:
        return False
    return 0 <= seconds < time.monotonic() - asked_at - _SAME_MOMENT_SECONDS


def _take_lock(paths: DataPaths, lock: FileLock) -> bool:
    """Take the lock of the directory's engine; return whether it was free in time, and no other is there to stay."""
    for _ in range(_LOCK_ATTEMPTS):
        if _is_at_work(paths):
            return False
        with contextlib.suppress(Timeout):
            lock.acquire(timeout=_LOCK_SECONDS)
            return True
    return False


def _is_at_work(paths: DataPaths) -> bool:
    """Tell whether an engine of this version is there to stay; tell one of another version to leave.

    One of another version answers neither hooks nor this version's clients.
    """
    with contextlib.suppress(OSError):  # most often there is none
        status = EngineStatus.of(send_request(paths, {"op": "status"}, seconds=_DISMISSAL_SECONDS))
        if status.version == __version__:
            return not status.leaving
        send_request(paths, {"op": "stop"}, seconds=_DISMISSAL_SECONDS)
    return False


def _serve_until_stopped(paths: DataPaths, make_hooks: MakeHookResponder) -> None:
    config = load_config(paths.config)
    state = EngineState()
    worker = IndexWorker(paths, config, state)
    server = EngineServer(paths, config, state, worker, make_hooks(paths, worker))
    listening = _bind_socket(paths)
    _log.info("engine %s at work in %s as process %d", __version__, paths.root, os.getpid())
    try:
        reason = asyncio.run(server.serve(listening))
    finally:
        paths.engine_socket.unlink(missing_ok=True)
    worker.stop(_STOP_SECONDS)
    _log.info("the engine leaves: %s", reason)


def _bind_socket(paths: DataPaths) -> socket.socket:
    """Bind the socket, in place of one that a killed engine left."""
    path = paths.engine_socket
    if path.parent != paths.root:
        path.parent.mkdir(mode=0o700, exist_ok=True)
    try:
        check_socket_folder(os.fspath(paths.root), os.fspath(path))
        path.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(os.fspath(path))  # by the umask, nobody else can connect at any moment
        path.chmod(0o600)
        listening.listen(_LISTEN_BACKLOG)
    except OSError as error:
        raise DataDirectoryError(f"The engine cannot listen at {path}: {error}.") from error
    listening.setblocking(False)  # noqa: FBT003 - the argument has no name
    return listening


def _open_log(path: Path) -> None:
    """Send all output of the process to the log, of which only the end is kept when it has grown long."""
    log = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    size = os.fstat(log).st_size
    if size > _LARGEST_LOG_BYTES:
        end = os.pread(log, _LOG_KEPT_BYTES, size - _LOG_KEPT_BYTES)
        os.ftruncate(log, 0)
        os.write(log, end[end.find(b"\n") + 1 :])
    os.dup2(log, sys.stdout.fileno())
    os.dup2(log, sys.stderr.fileno())
    os.close(log)
    faulthandler.enable()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for chatty in ("sentence_transformers", "transformers", "lancedb", "asyncio", "filelock"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
