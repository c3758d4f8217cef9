"""The maintenance run over all memories. Interruptible at any moment, and safe to run twice."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from memento_tui import clock
from memento_tui.config import Config
from memento_tui.errors import MementoError, NotAllowed
from memento_tui.maintenance.consolidation.step import consolidate
from memento_tui.maintenance.context import Comparators, MaintenanceAction, MaintenanceContext, Progress
from memento_tui.maintenance.steps import (
    age_memories,
    apply_confirmed_use,
    ask_about_skips,
    compare_pairs,
    end_skips,
    expire_proposals,
)
from memento_tui.model.validation import new_id
from memento_tui.moments import format_moment
from memento_tui.policy.gate import Gate
from memento_tui.policy.policy import rules_in_force
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store

__all__ = ["LAST_RUN_SETTING", "MaintenanceReport", "run_maintenance"]

_log = logging.getLogger(__name__)

LAST_RUN_SETTING = "last sleep"
"""The setting that says when a sleep last came to its end."""

_STEPS: tuple[tuple[str, Callable[[MaintenanceContext], None]], ...] = (
    ("ages", age_memories),
    ("skips", end_skips),
    ("proposals", expire_proposals),
    ("expiring skips", ask_about_skips),
    ("use", apply_confirmed_use),
    ("pairs", compare_pairs),
    ("gathering", consolidate),
)


class MaintenanceReport(msgspec.Struct, frozen=True):
    """What a sleep did, or in a dry run would do."""

    deeds: tuple[MaintenanceAction, ...]
    problems: tuple[str, ...]
    """A sentence for everything that could not be done; the rest went on."""
    interrupted: bool
    dry_run: bool


def run_maintenance(
    store: Store,
    config: Config,
    senses: Comparators,
    lock: Path,
    *,
    dry_run: bool = False,
    stopping: threading.Event | None = None,
    progress: Progress | None = None,
) -> MaintenanceReport:
    """Look after all memories. ``lock`` is held meanwhile; ``stopping`` ends it after the piece of work at hand.

    Raises:
        NotAllowed: another sleep is under way.
        InvalidInput: the rules in the configuration contradict each other.

    """
    night = MaintenanceContext(
        store=store,
        gate=Gate(store, Author("system", "sleep", agent="memento"), rules_in_force(config.review)),
        config=config,
        keyword=senses.keyword,
        meaning=senses.meaning,
        entailment=senses.entailment,
        now=clock.now(),
        dry_run=dry_run,
        batch=new_id(),
        stopping=stopping or threading.Event(),
        tell=progress or (lambda _what, _done, _total: None),
    )
    try:
        with FileLock(lock, timeout=0):
            _run_steps(night)
            if not dry_run and not night.interrupted:
                store.keep_setting(LAST_RUN_SETTING, format_moment(night.now))
    except Timeout:
        raise NotAllowed("Another sleep is under way.", "Wait until it has ended; `memento history` tells.") from None
    return MaintenanceReport(tuple(night.deeds), tuple(dict.fromkeys(night.problems)), night.interrupted, dry_run)


def _run_steps(night: MaintenanceContext) -> None:
    for name, step in _STEPS:
        if night.interrupted:
            return
        try:
            step(night)
        except MementoError as error:
            # What one step cannot do keeps no other from its work; the person is told.
            night.problems.append(f"The step {name} was cut short: {error}")
        except Exception as error:  # noqa: BLE001 - a fault of ours, or of an index; the same holds
            _log.exception("the step %s of a sleep failed", name)
            night.problems.append(f"The step {name} failed and was left out ({type(error).__name__}: {error}).")
