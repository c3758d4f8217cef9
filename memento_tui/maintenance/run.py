"""Run every step of maintenance over all memories. Interruptible at any moment, and safe to run twice."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import nullcontext
from datetime import timedelta

import msgspec
from filelock import FileLock, Timeout

from memento_tui import clock
from memento_tui.config import Config
from memento_tui.errors import DataDirectoryError, MementoError, NotAllowed
from memento_tui.maintenance.comparison import compare_pairs
from memento_tui.maintenance.confirmed_use import apply_confirmed_use
from memento_tui.maintenance.consolidation.step import consolidate, learn
from memento_tui.maintenance.context import Comparators, MaintenanceAction, MaintenanceContext, Progress
from memento_tui.maintenance.expiry import (
    age_memories,
    ask_about_skips,
    end_skips,
    expire_proposals,
    offer_ended_branches,
)
from memento_tui.maintenance.schedule import LastRun, Runner, note_run
from memento_tui.maintenance.second_opinions import ask_second_opinions
from memento_tui.model.validation import new_id
from memento_tui.paths import DataPaths
from memento_tui.policy.gate import Gate
from memento_tui.policy.policy import rules_in_force
from memento_tui.private_files import PRIVATE_FILE_MODE
from memento_tui.storage.backup_folder import BackupFolder
from memento_tui.storage.journal import Author
from memento_tui.storage.long_work import StoppedError
from memento_tui.storage.store import Store

__all__ = ["MaintenanceReport", "run_maintenance"]

_log = logging.getLogger(__name__)

_DAILY = timedelta(hours=20)
"""The least time between two daily backups; less than a day, because maintenance runs at varying hours."""


def _back_up(context: MaintenanceContext) -> None:
    """Make the daily backup where it is due, checked, and remove those that need not stay."""
    if context.dry_run or not context.config.maintenance.backups:
        return
    folder = BackupFolder(context.paths)
    try:
        if not _is_backup_due(context):
            return
        with folder.locked(), context.store.database.reading() as source:
            made = folder.add(source, "daily", checked=True, progress=context.report_progress, stop=context.stopping)
            if problem := folder.rotate("daily"):
                context.problems.append(problem)
    except StoppedError:
        return  # the run ends
    except (DataDirectoryError, NotAllowed) as error:
        context.backup_problem = error.message
        context.problems.append(f"The daily backup could not be made: {error}")
        return
    except OSError as error:
        context.backup_problem = f"The folder of the backups cannot be read: {error.strerror}."
        context.problems.append(f"The daily backup could not be made. {context.backup_problem}")
        return
    context.backup = made.name


def _is_backup_due(context: MaintenanceContext) -> bool:
    """Tell whether something changed since the newest backup, and the last daily one was made a day ago."""
    folder = BackupFolder(context.paths)
    daily = next((one.at for one in folder.list() if one.why == "daily" and not one.problem), None)
    if daily is not None and timedelta() <= context.now - daily < _DAILY:
        return False
    return folder.is_behind(context.store.journal)


_STEPS: tuple[tuple[str, Callable[[MaintenanceContext], None]], ...] = (
    ("backup", _back_up),
    ("ages", age_memories),
    ("skips", end_skips),
    ("proposals", expire_proposals),
    ("expiring skips", ask_about_skips),
    ("branches", offer_ended_branches),
    ("use", apply_confirmed_use),
    ("consolidation", consolidate),
    ("pairs", compare_pairs),
    ("lessons", learn),
    ("second opinions", ask_second_opinions),
)


class MaintenanceReport(msgspec.Struct, frozen=True):
    """The actions of a maintenance run, or in a dry run the planned ones."""

    actions: tuple[MaintenanceAction, ...]
    problems: tuple[str, ...]
    """A sentence for each part that could not be done; the rest was done."""
    interrupted: bool
    dry_run: bool
    backup: str = ""
    """The name of the backup that was made first, where one was due."""


def run_maintenance(  # noqa: PLR0913 - what a run needs, all but four by name
    store: Store,
    config: Config,
    comparators: Comparators,
    paths: DataPaths,
    *,
    dry_run: bool = False,
    asked: Collection[str] = (),
    by: Runner = "person",
    stopping: threading.Event | None = None,
    progress: Progress | None = None,
) -> MaintenanceReport:
    """Run all steps on the data directory of a store, and return the report.

    ``stopping`` ends it after the part at hand. ``asked`` names the steps of `ON_REQUEST` that are taken too, ``by``
    says who began it.

    Raises:
        NotAllowed: another maintenance run is in progress.
        DataDirectoryError: the data directory cannot be written.
        InvalidInput: the rules in the configuration contradict each other.

    """
    context = MaintenanceContext(
        store=store,
        gate=Gate(store, Author("system", "maintenance", agent="memento"), rules_in_force(config.review)),
        config=config,
        paths=paths,
        keyword=comparators.keyword,
        similarity=comparators.similarity,
        entailment=comparators.entailment,
        now=clock.now(),
        dry_run=dry_run,
        asked=frozenset(asked),
        batch=new_id(),
        stopping=stopping or threading.Event(),
        report_progress=progress or (lambda _work, _done, _total: None),
    )
    try:
        # A dry run writes nothing, a lock file neither, and may be made beside another run.
        with nullcontext() if dry_run else FileLock(paths.sleep_lock, timeout=0, mode=PRIVATE_FILE_MODE):
            _run_steps(context)
            if not dry_run and not context.interrupted:
                note_run(store, _as_last_run(context, by))
    except Timeout:
        raise NotAllowed(
            "Another maintenance run is in progress.", "Wait until it has ended; `memento history` shows it."
        ) from None
    except OSError as error:
        raise DataDirectoryError(
            f"{error.filename or paths.sleep_lock} cannot be written: {error.strerror}.",
            "Make the data directory writable, and free some space where its disk is full.",
        ) from error
    return MaintenanceReport(
        tuple(context.actions), tuple(dict.fromkeys(context.problems)), context.interrupted, dry_run, context.backup
    )


def _as_last_run(context: MaintenanceContext, by: Runner) -> LastRun:
    counts = Counter(action.action for action in context.actions)
    return LastRun(
        context.now,
        by,
        dict(counts),
        sum(action.waits for action in context.actions),
        len(set(context.problems)),
        context.backup_problem,
    )


def _run_steps(context: MaintenanceContext) -> None:
    for name, step in _STEPS:
        if context.interrupted:
            return
        try:
            step(context)
        except MementoError as error:
            # A step that fails keeps no other from its work; the report says so.
            context.problems.append(f"The step {name} was cut short: {error}")
        except Exception as error:  # noqa: BLE001 - a defect here or in an index; the same holds
            _log.exception("the maintenance step %s failed", name)
            context.problems.append(f"The step {name} failed and was left out ({type(error).__name__}: {error}).")
