"""The engine as a process: alone by a lock, silent but for its log, and gone when it has nothing to do."""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import socket
import sys
from pathlib import Path

from filelock import FileLock, Timeout

from memento_tui.config import load_config
from memento_tui.engine.follower import Follower
from memento_tui.engine.progress import Board
from memento_tui.engine.server import Server
from memento_tui.errors import DataDirectoryError, MementoError
from memento_tui.paths import DataPaths
from memento_tui.search.semantic_wire import check_socket_folder
from memento_tui.version import __version__

__all__ = ["run"]

_log = logging.getLogger(__name__)

_LOCK_SECONDS = 5.0
"""How long to wait for an engine that is just leaving."""

_STOP_SECONDS = 3.0
_WAITING_CLIENTS = 64
_LOG_BYTES = 1_000_000
_LOG_KEPT_BYTES = 100_000


def run(paths: DataPaths) -> int:
    """Be the engine of a data directory until there is a reason to leave; return the exit status.

    Returns at once with 0 where another engine is at work.
    """
    os.umask(0o077)
    try:
        if not paths.database.exists():
            raise DataDirectoryError(f"There is no memento data in {paths.root}.")
        lock = FileLock(paths.engine_lock)
        try:
            lock.acquire(timeout=_LOCK_SECONDS)
        except Timeout:
            return 0
        _open_log(paths.engine_log)
        _work(paths)
    except MementoError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the log; the process that started this one reads it
        return error.exit_code
    lock.release()
    return 0


def _work(paths: DataPaths) -> None:
    config = load_config(paths.config)
    board = Board()
    follower = Follower(paths, config, board)
    listening = _listen(paths)
    _log.info("engine %s at work in %s as process %d", __version__, paths.root, os.getpid())
    try:
        reason = asyncio.run(Server(paths, config, board, follower).serve(listening))
    finally:
        paths.engine_socket.unlink(missing_ok=True)
    follower.stop(_STOP_SECONDS)
    _log.info("the engine leaves: %s", reason)


def _listen(paths: DataPaths) -> socket.socket:
    """Bind the socket, in place of one that a killed engine left."""
    path = paths.engine_socket
    if path.parent != paths.root:
        path.parent.mkdir(mode=0o700, exist_ok=True)
    try:
        check_socket_folder(paths)
        path.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(os.fspath(path))  # by the umask, nobody else can connect at any moment
        path.chmod(0o600)
        listening.listen(_WAITING_CLIENTS)
    except OSError as error:
        raise DataDirectoryError(f"The engine cannot listen at {path}: {error}.") from error
    listening.setblocking(False)  # noqa: FBT003 - the argument has no name
    return listening


def _open_log(path: Path) -> None:
    """Send everything that the process says to the log, of which only the end is kept when it has grown long."""
    log = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    size = os.fstat(log).st_size
    if size > _LOG_BYTES:
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
