"""The timer of the system that runs maintenance every night: shown, written and removed."""

from __future__ import annotations

import difflib
import sys
from typing import Any

from memento_tui.cli.command import current_session
from memento_tui.cli.interaction import confirm
from memento_tui.cli.output import colour_diff, emit, safe
from memento_tui.hosts.programs import find_programs
from memento_tui.hosts.timers import NightlyTimer, nightly_timer, run_system_commands

__all__ = ["change_timer", "current_timer"]


def current_timer() -> NightlyTimer:
    """Return the timer of this run's data directory, whether it is installed or not.

    Raises:
        InvalidInput: the program is not installed, or a path cannot stand in a timer's file.

    """
    root = current_session().paths.root
    return nightly_timer(find_programs(root, "native").server, root)


def change_timer(*, removes: bool, dry_run: bool, yes: bool) -> None:
    """Show the files of the timer, ask, write or remove them, and let the system take note of it."""
    timer = current_timer()
    data: dict[str, Any] = {
        "files": [{"path": str(file.path), "text": file.text} for file in timer.files],
        "commands": [" ".join(words) for words in _commands(timer, removes=removes)],
        "written": False,
        "problem": "",
    }
    if not timer.is_installed if removes else timer.is_current:
        emit(data, lambda: "There is no timer." if removes else "The timer is installed already.")
        return
    shown = "\n".join(_difference(timer, removes=removes))
    if dry_run:
        emit(data, lambda: f"{colour_diff(shown)}\nThen: {'; '.join(data['commands'])}")
        return
    if not yes and not current_session().as_json:
        sys.stderr.write(colour_diff(shown) + "\n")
    confirm(
        "Remove these files" if removes else "Write these files",
        yes=yes,
        unasked="Changing the system's timers asks first.",
        hint="Say --yes if you are sure; --dry-run shows the files.",
        declined="Nothing was changed.",
    )
    if removes:
        data["problem"] = run_system_commands(timer.stop)
        timer.remove()
        data["problem"] = data["problem"] or run_system_commands(timer.after_removal)
    else:
        timer.write()
        data["problem"] = run_system_commands(timer.start)
    data["written"] = True
    emit(data, lambda: safe("\n".join(_outcome(timer, data, removes=removes)), multiline=True))


def _commands(timer: NightlyTimer, *, removes: bool) -> list[list[str]]:
    return [list(words) for words in ((*timer.stop, *timer.after_removal) if removes else timer.start)]


def _difference(timer: NightlyTimer, *, removes: bool) -> list[str]:
    """Return the lines of the difference that the change makes, file by file."""
    lines: list[str] = []
    for file in timer.files:
        before = file.path.read_text(encoding="utf-8") if file.path.is_file() else ""
        after = "" if removes else file.text
        name = str(file.path)
        lines += difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="")
    return lines


def _outcome(timer: NightlyTimer, data: dict[str, Any], *, removes: bool) -> list[str]:
    lines = [f"{'removed' if removes else 'written'}  {file.path}" for file in timer.files]
    if data["problem"]:
        lines += [f"! {data['problem']}", f"Run it yourself: {' && '.join(data['commands'])}"]
    elif not removes:
        lines.append("Maintenance runs every night at half past three. `memento status` says when it ran last.")
    return lines
