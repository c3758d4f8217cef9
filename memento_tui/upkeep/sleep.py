"""Sleep: looking after all memories. Interruptible at any moment, and safe to run twice."""

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
from memento_tui.records.ids import new_id
from memento_tui.records.when import to_text
from memento_tui.review.gate import Gate
from memento_tui.review.rules import rules_of
from memento_tui.store.journal import Author
from memento_tui.store.store import Store
from memento_tui.upkeep.expiring import ask_about_skips
from memento_tui.upkeep.night import Deed, Night, Progress, Senses
from memento_tui.upkeep.sleep_aging import age_memories, end_skips, expire_proposals
from memento_tui.upkeep.sleep_gathering import gather
from memento_tui.upkeep.sleep_pairs import compare_pairs
from memento_tui.upkeep.sleep_trust import weigh_use

__all__ = ["LAST_SLEEP", "SleepReport", "sleep"]

_log = logging.getLogger(__name__)

LAST_SLEEP = "last sleep"
"""The setting that says when a sleep last came to its end."""

_STEPS: tuple[tuple[str, Callable[[Night], None]], ...] = (
    ("ages", age_memories),
    ("skips", end_skips),
    ("proposals", expire_proposals),
    ("expiring skips", ask_about_skips),
    ("use", weigh_use),
    ("pairs", compare_pairs),
    ("gathering", gather),
)


class SleepReport(msgspec.Struct, frozen=True):
    """What a sleep did, or in a dry run would do."""

    deeds: tuple[Deed, ...]
    problems: tuple[str, ...]
    """A sentence for everything that could not be done; the rest went on."""
    interrupted: bool
    dry_run: bool


def sleep(
    store: Store,
    config: Config,
    senses: Senses,
    lock: Path,
    *,
    dry_run: bool = False,
    stopping: threading.Event | None = None,
    progress: Progress | None = None,
) -> SleepReport:
    """Look after all memories. ``lock`` is held meanwhile; ``stopping`` ends it after the piece of work at hand.

    Raises:
        NotAllowed: another sleep is under way.
        InvalidInput: the rules in the configuration contradict each other.

    """
    night = Night(
        store=store,
        gate=Gate(store, Author("system", "sleep", agent="memento"), rules_of(config.review)),
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
            _run(night)
            if not dry_run and not night.interrupted:
                store.keep_setting(LAST_SLEEP, to_text(night.now))
    except Timeout:
        raise NotAllowed("Another sleep is under way.", "Wait until it has ended; `memento history` tells.") from None
    return SleepReport(tuple(night.deeds), tuple(dict.fromkeys(night.problems)), night.interrupted, dry_run)


def _run(night: Night) -> None:
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
