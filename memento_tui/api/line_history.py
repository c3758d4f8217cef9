"""The lines that a person typed before in one place of the app: searches, and commands."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal, get_args

import msgspec

from memento_tui.errors import DataDirectoryError
from memento_tui.storage.settings import Settings

__all__ = ["HistoryPlace", "LineHistory", "forget_lines"]

HistoryPlace = Literal["memories", "review", "working", "skips", "identity", "activity", "health", "command_line"]
"""A place whose lines are kept: the filter of a section, or the line of commands."""

_SETTING = "app.history."
_MAX_LINES_KEPT = 50
_MAX_LINE_CHARACTERS = 500
"""A line that is longer is not kept: it was pasted, not typed."""


class LineHistory:
    """The lines that were typed in one place, in the settings of the workspace: they are no part of the journal."""

    def __init__(self, settings: Settings, place: HistoryPlace) -> None:
        self._settings = settings
        self._setting = _SETTING + place
        self._lines: list[str] = []
        self._at = 0

    def begin(self) -> None:
        """Read the lines, because the person begins a new one."""
        kept = self._settings.get(self._setting)
        self._lines = msgspec.json.decode(kept, type=list[str]) if kept else []
        self._at = len(self._lines)

    def step(self, by: int) -> str | None:
        """Return the line before (-1) or after the one that was returned last; ``None`` where there is none."""
        at = self._at + by
        if not 0 <= at <= len(self._lines):
            return None
        self._at = at
        return self._lines[at] if at < len(self._lines) else ""

    @property
    def is_behind(self) -> bool:
        """Whether an earlier line is shown, so that there is a later one."""
        return self._at < len(self._lines)

    def keep(self, line: str) -> None:
        """Add a line at the end, and write it down; where nothing can be written, it is not kept."""
        line = line.strip()
        if line and len(line) <= _MAX_LINE_CHARACTERS:

            def added(present: str | None) -> str:
                lines = msgspec.json.decode(present, type=list[str]) if present else []
                kept = [*(other for other in lines if other != line), line][-_MAX_LINES_KEPT:]
                return msgspec.json.encode(kept).decode()

            with suppress(DataDirectoryError):
                self._settings.change(self._setting, added)


def forget_lines(settings: Settings) -> bool:
    """Remove all lines of all places, one of which may hold a purged text; return whether there were any."""
    kept = [name for name in (_SETTING + place for place in get_args(HistoryPlace)) if settings.get(name)]
    for name in kept:
        settings.set(name, "")
    return bool(kept)
