"""Maintenance within the engine: contradictions of new memories, and a daily run when nobody asks anything."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from memento_tui import clock
from memento_tui.config import Config, load_config
from memento_tui.embedding.engine_state import EngineState
from memento_tui.embedding.similarity import IndexSimilarity
from memento_tui.errors import MementoError
from memento_tui.maintenance.context import Comparators
from memento_tui.maintenance.contradictions.finder import (
    NEIGHBOURS,
    SIMILARITY_TO_COMPARE,
    ContradictionFinder,
    EntailmentScorer,
)
from memento_tui.maintenance.run import LAST_RUN_SETTING, run_maintenance
from memento_tui.paths import DataPaths
from memento_tui.search.keyword_index import KeywordIndex
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store

__all__ = ["MaintenanceScheduler"]

_log = logging.getLogger(__name__)

_AUTHOR = Author("system", "engine", agent="memento")
_INTERVAL = timedelta(hours=20)
"""A sleep a day, at whatever hour it is quiet."""

_FIRST_RETRY_SECONDS, _LONGEST_RETRY_SECONDS = 60.0, 7200.0
"""Seconds between two attempts."""

_IDLE_DIVISOR = 3
"""The engine sleeps once it was quiet for a third of the time after which it leaves."""


class MaintenanceScheduler:
    """Looks after the memories of one store from within the engine. ``stopping`` ends a sleep early."""

    def __init__(
        self, paths: DataPaths, config: Config, store: Store, meaning: IndexSimilarity, board: EngineState
    ) -> None:
        self._paths = paths
        self._config = config
        self._store = store
        self._meaning = meaning
        self._board = board
        self._stopping = threading.Event()
        self._run_thread: threading.Thread | None = None
        self._not_before = 0.0
        self._pause = _FIRST_RETRY_SECONDS

    @cached_property
    def _entailment(self) -> EntailmentScorer | None:
        setting = self._config.engine.entailment_model
        if not setting:
            return None
        from memento_tui.embedding.models import EntailmentModel as Model  # noqa: PLC0415 - most do without

        try:
            return Model(Path(setting).expanduser()).contradiction
        except MementoError as error:
            _log.warning("contradictions are weighed without a model: %s", error)
            return None

    def compare(self, ids: Sequence[str]) -> None:
        """Look for contradictions between memories that were just embedded and their neighbours."""
        neighbours = self._meaning.neighbours(ids, limit=NEIGHBOURS, minimum=SIMILARITY_TO_COMPARE)
        finder = ContradictionFinder(self._store, _AUTHOR, self._entailment)
        for found in finder.write(finder.find(neighbours)):
            _log.info("contradiction %s between %s and %s", found.id, found.older, found.newer)

    def rest(self) -> None:
        """Begin a sleep, on a thread of its own, where it is quiet and the last one was a day ago."""
        if self._run_thread is not None and self._run_thread.is_alive():
            return
        quiet = time.monotonic() - self._board.last_request_at
        if time.monotonic() < self._not_before:
            return
        if quiet < self._config.engine.idle_seconds / _IDLE_DIVISOR or not self._is_due():
            return
        self._board.sleeping = True
        self._run_thread = threading.Thread(target=self._sleep, name="sleep", daemon=True)
        self._run_thread.start()

    def _is_due(self) -> bool:
        if not self._config.maintenance.run_when_idle:
            return False
        last = self._store.setting(LAST_RUN_SETTING)
        if last is None:
            return True
        # One in the future was written before the clock was set back.
        passed = clock.now() - datetime.fromisoformat(last)
        return passed > _INTERVAL or passed < timedelta()

    def _sleep(self) -> None:
        try:
            keyword = KeywordIndex(self._paths.keyword_index, self._paths.keyword_lock, self._store)
            keyword.catch_up()
            senses = Comparators(keyword, self._meaning, self._entailment)
            # What the person set since the engine started holds.
            config = load_config(self._paths.config)
            report = run_maintenance(self._store, config, senses, self._paths.sleep_lock, stopping=self._stopping)
            _log.info("slept: %d deeds%s", len(report.deeds), ", interrupted" if report.interrupted else "")
            for problem in report.problems:
                _log.warning("during the sleep: %s", problem)
        except MementoError as error:
            _log.warning("could not sleep: %s", error)
        except Exception:  # noqa: BLE001 - a thread's last line of defence; the log tells
            # Whatever went wrong, questions are answered on.
            _log.exception("the sleep failed")
        finally:
            # A sleep that ended well is not due for a day; any other is tried again, ever more seldom.
            self._not_before = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, _LONGEST_RETRY_SECONDS)
            self._board.sleeping = False

    def stop(self, seconds: float) -> None:
        """End a sleep that is under way, within the time given."""
        self._stopping.set()
        if self._run_thread is not None:
            self._run_thread.join(seconds)
