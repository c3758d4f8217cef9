"""Report the last run of maintenance and its counts, and the time at which it is due again."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal, get_args

import msgspec

from memento_tui import clock
from memento_tui.errors import DataDirectoryError
from memento_tui.moments import format_moment
from memento_tui.storage.store import Store

__all__ = ["LAST_RUN_SETTING", "RUNNERS", "LastRun", "Runner", "due_at", "is_due", "last_run", "note_run", "note_start"]

Runner = Literal["person", "engine", "session", "command", "app", "timer"]
"""The caller of a maintenance run: the person's own command, or the program that runs it by itself."""
RUNNERS: tuple[Runner, ...] = get_args(Runner)

LAST_RUN_SETTING = "last maintenance"
"""The setting that holds the last complete run; of an earlier version its moment alone."""
_START_SETTING = "maintenance begun"
"""The setting that holds the moment at which a process of its own was last started for a run."""

_DAILY = timedelta(hours=20)
"""One run a day, at whatever hour somebody is there."""
_AFTER_A_SESSION = timedelta(hours=4)
"""Between a run and one that the end of a session, or the night's timer, begins."""
_BETWEEN_STARTS = timedelta(hours=1)
"""Between two processes that are started for a run, of which the first may be at work still or have failed."""


class LastRun(msgspec.Struct, frozen=True):
    """The last complete run of maintenance."""

    at: datetime
    by: str = ""
    """One of `RUNNERS`; empty where an earlier version ran it."""
    did: dict[str, int] = {}
    """How often each action was done or proposed, by its name."""
    waiting: int = 0
    """How many of these wait for a decision of the person's."""
    problems: int = 0
    backup_problem: str = ""
    """Why it could not make the backup that was due, as a sentence."""


def last_run(store: Store) -> LastRun | None:
    """Return the last complete run, or ``None`` before the first."""
    value = store.settings.get(LAST_RUN_SETTING)
    if value is None:
        return None
    return msgspec.json.decode(value, type=LastRun) if value.startswith("{") else LastRun(datetime.fromisoformat(value))


def note_run(store: Store, run: LastRun) -> None:
    """Record a run that is complete."""
    store.settings.set(LAST_RUN_SETTING, msgspec.json.encode(run).decode())


def due_at(store: Store, by: Runner) -> datetime | None:
    """Return from when on a run by ``by`` is due; ``None`` where nothing was ever written, or it always is.

    Before the first run the engine may begin at once; all else waits as long as it does between two runs.
    """
    interval, last = _AFTER_A_SESSION if by in ("session", "timer") else _DAILY, last_run(store)
    if last is not None:
        # One in the future was written before the clock was set back.
        return last.at + interval if last.at <= clock.now() else clock.now()
    first = [] if by == "engine" else store.journal.entries_after(0, 1)
    return datetime.fromisoformat(first[0].at) + interval if first else None


def is_due(store: Store, by: Runner) -> bool:
    """Tell whether a run that begins by itself is due."""
    at = due_at(store, by)
    if at is None:
        return by == "engine"
    return clock.now() >= at


def note_start(store: Store) -> bool:
    """Record that a process is started for a run; tell whether it may be, as none was started a little while ago."""
    now, before = clock.now(), store.settings.get(_START_SETTING)
    if before is not None and timedelta() <= now - datetime.fromisoformat(before) < _BETWEEN_STARTS:
        return False
    try:
        store.settings.set(_START_SETTING, format_moment(now))
    except DataDirectoryError:
        return False  # nothing could be maintained on a disk that cannot be written
    return True
