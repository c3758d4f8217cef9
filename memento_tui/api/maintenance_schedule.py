"""When maintenance ran last and is due again, and its start in a process of its own. Light: every command asks."""

from __future__ import annotations

import logging
import os
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from memento_tui.errors import MementoError
from memento_tui.maintenance.schedule import LastRun, Runner, due_at, is_due, last_run, note_start
from memento_tui.processes import module_command, start_detached

if TYPE_CHECKING:
    from memento_tui.api.workspace import Workspace

__all__ = [
    "describe_maintenance",
    "is_maintenance_due",
    "maintenance_state",
    "start_maintenance_if_due",
]

_log = logging.getLogger(__name__)

_RUNNER_WORDS = {
    "person": "you",
    "engine": "the engine",
    "session": "the end of a session",
    "command": "a command",
    "app": "the app",
    "timer": "the timer",
}


class MaintenanceState(msgspec.Struct, frozen=True):
    """The last maintenance run with its counts, and the time at which the next is due."""

    last: LastRun | None
    """``None`` before the first run."""
    due_at: datetime | None
    """From when on whoever is there runs it; ``None`` where it does not run by itself, or nothing was written yet."""
    by_itself: bool
    """Whether it runs by itself."""


def maintenance_state(workspace: Workspace) -> MaintenanceState:
    """Return when maintenance ran last and is due again."""
    by_itself = workspace.config.maintenance.run_when_idle
    due = due_at(workspace._store, "command") if by_itself else None
    return MaintenanceState(last_run(workspace._store), due, by_itself)


def is_maintenance_due(workspace: Workspace, by: Runner) -> bool:
    """Tell whether a run that begins by itself is due, and none was started a little while ago."""
    return workspace.config.maintenance.run_when_idle and is_due(workspace._store, by)


def start_maintenance_if_due(workspace: Workspace, by: Runner) -> bool:
    """Start a run in a process of its own where one is due; tell whether. Nobody waits for it.

    Never fails: whoever asks has done what it was asked for.
    """
    if workspace.is_read_only:
        return False
    root = os.fspath(workspace.paths.root)
    command = module_command("memento_tui", "maintain", "--by", by, "--data-dir", root)
    try:
        if not is_maintenance_due(workspace, by) or not note_start(workspace._store):
            return False
        start_detached(command, log=os.fspath(workspace.paths.maintenance_log))
    except (OSError, MementoError) as error:
        _log.warning("maintenance could not be started: %s", error)
        return False
    return True


def describe_maintenance(state: MaintenanceState, now: datetime, *, timer: bool = False) -> str:
    """Return one line on the last run (time, author, counts) and the next."""
    last, then = state.last, _next_run(state, now, timer=timer)
    if last is None:
        return f"has not run yet, {then}"
    did = ", ".join(f"{count:,} {action}" for action, count in last.did.items()) or "nothing was due"
    who = f"by {_RUNNER_WORDS[last.by]}: " if last.by in _RUNNER_WORDS else ""
    return f"{_ago(now - last.at)}, {then}; {who}{did}"


def _ago(passed: timedelta) -> str:
    hours = round(passed / timedelta(hours=1))
    if hours < 1:
        return "just now"
    return f"{hours} h ago" if hours < 48 else f"{hours // 24} days ago"  # noqa: PLR2004 - two days


def _next_run(state: MaintenanceState, now: datetime, *, timer: bool) -> str:
    if timer:
        return "next at 03:30"
    if not state.by_itself:
        return "switched off in config.toml"
    if state.due_at is None:
        return "nothing to do yet"
    if state.due_at <= now:
        return "due now"
    hours = max(1, round((state.due_at - now) / timedelta(hours=1)))
    return f"next in {hours} h"
