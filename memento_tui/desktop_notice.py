"""Show a notice on the person's desktop. Its words are memento's own: no text of a memory leaves the data directory."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from pathlib import Path

from memento_tui import clock
from memento_tui.processes import forget_ended, start_detached
from memento_tui.regular_files import open_regular

__all__ = ["show_notice"]

_log = logging.getLogger(__name__)

_LEAST_SECONDS_BETWEEN = 600
"""The least time between two notices of a data directory: a burst of writes is one interruption."""


def show_notice(last_shown: Path, count: int) -> None:
    """Say on the desktop that so many risky items wait; nothing where no program can show it, or one was shown lately.

    The file ``last_shown`` holds when the last notice was shown, in seconds since 1970, whichever process did it.
    """
    what = "Something risky waits" if count == 1 else f"{count:,} risky things wait"
    command = _command("memento", f"{what} for your decision, and can do nothing until then.")
    if command is None or not _is_due(last_shown):
        return
    forget_ended()
    try:
        with os.fdopen(open_regular(last_shown, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:
            file.write(f"{clock.now().timestamp()}\n")
        start_detached(command)
    except OSError as error:  # the write is acknowledged already; a notice is no part of it
        _log.warning("The desktop shows no notice: %s", error)


def _is_due(last_shown: Path) -> bool:
    try:
        last = float(last_shown.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # none was shown yet, or the file holds something else
        return True
    return not 0 <= clock.now().timestamp() - last < _LEAST_SECONDS_BETWEEN


def _command(title: str, text: str) -> list[str] | None:
    if sys.platform == "darwin":
        program = shutil.which("osascript")
        return [program, "-e", f'display notification "{text}" with title "{title}"'] if program else None
    program = shutil.which("notify-send")
    return [program, "--app-name", title, "--urgency", "critical", title, text] if program else None
