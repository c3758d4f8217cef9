"""Show a notice on the person's desktop. Its words are memento's own: no text of a memory leaves the data directory."""

from __future__ import annotations

import logging
import shutil
import sys

from memento_tui.processes import forget_ended, start_detached

__all__ = ["show_notice"]

_log = logging.getLogger(__name__)


def show_notice(count: int) -> None:
    """Say on the desktop that so many risky items more wait; nothing where no program can show it."""
    what = "Something risky waits" if count == 1 else f"{count:,} risky things wait"
    command = _command("memento", f"{what} for your decision. It can do nothing until then.")
    if command is None:
        return
    forget_ended()
    try:
        start_detached(command)
    except OSError as error:  # the write is acknowledged already; a notice is no part of it
        _log.warning("The desktop shows no notice: %s", error)


def _command(title: str, text: str) -> list[str] | None:
    if sys.platform == "darwin":
        program = shutil.which("osascript")
        return [program, "-e", f'display notification "{text}" with title "{title}"'] if program else None
    program = shutil.which("notify-send")
    return [program, "--app-name", title, "--urgency", "critical", title, text] if program else None
