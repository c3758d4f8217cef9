"""Maintenance within the engine: contradictions of new memories where a model weighs them, and a daily run."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence

from memento_tui.config import Config, load_config
from memento_tui.embedding.engine_state import EngineState
from memento_tui.embedding.similarity import IndexSimilarity
from memento_tui.errors import MementoError
from memento_tui.maintenance.context import FEWEST_PROPOSALS, Comparators
from memento_tui.maintenance.contradictions.finder import (
    NEIGHBOURS,
    SIMILARITY_TO_COMPARE,
    ContradictionFinder,
    EntailmentScorer,
)
from memento_tui.maintenance.run import run_maintenance
from memento_tui.maintenance.schedule import is_due
from memento_tui.paths import DataPaths, typed_path
from memento_tui.policy.gate import Gate
from memento_tui.policy.policy import rules_in_force
from memento_tui.search.keyword_index import KeywordIndex
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store

__all__ = ["MaintenanceScheduler"]

_log = logging.getLogger(__name__)

_AUTHOR = Author("system", "engine", agent="memento")
_FIRST_RETRY_SECONDS, _LONGEST_RETRY_SECONDS = 60.0, 7200.0
"""Seconds between two attempts; doubled from the first to the longest."""

_QUIET_DIVISOR = 3
"""A run begins once the engine was quiet for a third of the time after which it leaves."""


class MaintenanceScheduler:
    """Runs the maintenance of one store from within the engine. ``stopping`` ends a run early.

    One thread, the one that follows the journal, calls the methods; a run has a thread of its own.
    """

    def __init__(
        self,
        paths: DataPaths,
        config: Config,
        store: Store,
        similarity: IndexSimilarity,
        state: EngineState,
        *,
        stopping: threading.Event,
    ) -> None:
        self._paths = paths
        self._config = config
        self._store = store
        self._gate = Gate(store, _AUTHOR, rules_in_force(config.review))
        self._similarity = similarity
        self._state = state
        self._stopping = stopping
        self._entailment = _EntailmentLoader(config.engine.entailment_model)
        self._run_thread: threading.Thread | None = None
        self._not_before = 0.0
        self._retry_seconds = _FIRST_RETRY_SECONDS

    def find_contradictions(self, ids: Sequence[str]) -> None:
        """Find and record contradictions between memories that were just embedded and their neighbours.

        Without a model that weighs them none are raised unasked. Of a long import only the surest are: a run of
        maintenance finds the others, a few at a time.
        """
        scorer = self._entailment.scorer()
        if scorer is None:
            return
        neighbours = self._similarity.neighbours(ids, limit=NEIGHBOURS, minimum=SIMILARITY_TO_COMPARE)
        finder = ContradictionFinder(self._store, self._gate, scorer)
        for contradiction in finder.write(finder.find(neighbours, FEWEST_PROPOSALS)):
            _log.info("contradiction %s between %s and %s", contradiction.id, contradiction.older, contradiction.newer)

    def start_if_due(self) -> None:
        """Begin a run, on a thread of its own, where it is quiet and the last one was a day ago."""
        quiet_seconds = self._config.engine.idle_seconds / _QUIET_DIVISOR
        if not self._has_no_run() or time.monotonic() < self._not_before or not self._state.is_quiet(quiet_seconds):
            return
        if not self._is_due() or not self._state.begin_maintenance(quiet_seconds):
            return
        thread = threading.Thread(target=self._run, name="maintenance", daemon=True)
        try:
            thread.start()
        except BaseException:
            self._state.end_maintenance()
            raise
        self._run_thread = thread

    def join(self) -> None:
        """Wait until no run is under way."""
        if self._run_thread is not None:
            self._run_thread.join()

    def _has_no_run(self) -> bool:
        """Tell whether no run is under way; note the end of one that was."""
        if self._run_thread is None:
            return True
        if self._run_thread.is_alive():
            return False
        self._run_thread = None
        # A run that ended well is not due for a day; any other is tried again, ever more seldom.
        self._not_before = time.monotonic() + self._retry_seconds
        self._retry_seconds = min(2 * self._retry_seconds, _LONGEST_RETRY_SECONDS)
        return True

    def _is_due(self) -> bool:
        return self._config.maintenance.run_when_idle and is_due(self._store, "engine")

    def _run(self) -> None:
        try:
            keyword = KeywordIndex(self._paths.keyword_index, self._paths.keyword_lock, self._store)
            keyword.catch_up()
            comparators = Comparators(keyword, self._similarity, self._entailment.scorer())
            # Settings that the person changed since the engine started apply.
            config = load_config(self._paths.config)
            report = run_maintenance(
                self._store, config, comparators, self._paths, by="engine", stopping=self._stopping
            )
            interrupted = ", interrupted" if report.interrupted else ""
            _log.info("maintenance run: %d actions%s", len(report.actions), interrupted)
            for problem in report.problems:
                _log.warning("during the maintenance run: %s", problem)
        except MementoError as error:
            _log.warning("the maintenance run could not begin: %s", error)
        except Exception:  # noqa: BLE001 - a thread's last line of defence: queries are answered on
            _log.exception("the maintenance run failed")
        finally:
            self._state.end_maintenance()


class _EntailmentLoader:
    """The optional model that weighs contradictions, loaded when it is first needed. Safe for several threads."""

    def __init__(self, setting: str) -> None:
        self._setting = setting
        self._lock = threading.Lock()
        self._is_loaded = False
        self._scorer: EntailmentScorer | None = None

    def scorer(self) -> EntailmentScorer | None:
        """Return the model's function; ``None`` where none is configured, or it cannot be loaded."""
        if not self._setting:
            return None
        with self._lock:
            if not self._is_loaded:
                self._scorer = self._load()
                self._is_loaded = True
            return self._scorer

    def _load(self) -> EntailmentScorer | None:
        from memento_tui.embedding.models import EntailmentModel  # noqa: PLC0415 - most do without

        try:
            return EntailmentModel(typed_path(self._setting)).contradiction
        except MementoError as error:
            _log.warning("contradictions are weighed without a model: %s", error)
            return None
