"""Watching the folder: which notes are new, changed or gone, and no longer being written.

The folder is looked at by polling. A look costs some 35 ms at 10,000 notes, needs no library, and works on network
file systems and shared folders, where file events do not arrive.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from memento_tui import clock
from memento_tui.interchange.incoming import Refused
from memento_tui.interchange.mirror.folder import Folder, Status

__all__ = ["SETTLING", "Sight", "Watch"]

SETTLING = 1.0
"""Seconds for which a file must stay as it is before it is read, and must be gone before it counts as deleted: an
editor that saves may empty a file first, or remove it and put another in its place."""


_PATIENCE = 10.0
"""Seconds for which a file that goes on changing is waited for."""


def _seconds() -> float:
    """Return the present moment as files have theirs: seconds since 1970."""
    return clock.now().timestamp()


class Sight(msgspec.Struct, frozen=True):
    """What was seen at one moment."""

    notes: dict[str, Status]
    settled: frozenset[str]
    """The notes that may be read."""
    gone: frozenset[str]
    """Those of the notes asked for that are no longer there, and have not been for a while."""
    young: frozenset[str]
    """The notes that may not be read yet, but soon; one that is written without a pause is not waited for."""
    refused: tuple[Refused, ...]
    awaited: frozenset[str]
    """Those that are not there either, but may only be on their way."""


class Watch:
    """Looks at a folder again and again, and remembers since when each file is as it is."""

    def __init__(
        self,
        folder: Folder,
        *,
        settling: float = SETTLING,
        monotonic: Callable[[], float] = time.monotonic,
        calendar: Callable[[], float] = _seconds,
    ) -> None:
        self._folder = folder
        self._settling = settling
        self._monotonic = monotonic
        self._calendar = calendar
        self._since: dict[str, tuple[Status, float]] = {}
        self._first: dict[str, float] = {}
        self._missing: dict[str, float] = {}

    def look(self, known: set[str]) -> Sight:
        """Look at the folder; ``known`` are the notes that were there. Raises `OSError` where it cannot be opened."""
        found = self._folder.look()
        now, today = self._monotonic(), self._calendar()
        self._since = {name: self._seen(name, status, now) for name, status in found.notes.items()}
        self._first = {name: self._first.get(name, now) for name in found.notes}
        barred = tuple(refused.file for refused in found.refused)
        missing = (name for name in known if name not in found.notes and not _is_behind(name, barred))
        self._missing = {name: self._missing.get(name, now) for name in missing}
        # One that was last written long ago has settled, though it is seen for the first time.
        settled = frozenset(
            name
            for name, (status, since) in self._since.items()
            if now - since >= self._settling or today - status.modified / 1e9 > self._settling
        )
        gone = frozenset(name for name, since in self._missing.items() if now - since >= self._settling)
        young = frozenset(
            name for name, first in self._first.items() if name not in settled and now - first < _PATIENCE
        )
        return Sight(found.notes, settled, gone, young, found.refused, frozenset(self._missing) - gone)

    def _seen(self, name: str, status: Status, now: float) -> tuple[Status, float]:
        before = self._since.get(name)
        return before if before is not None and before[0] == status else (status, now)


def _is_behind(name: str, barred: tuple[str, ...]) -> bool:
    """Tell whether a note may be there still, because it or a folder above it cannot be looked at."""
    return any(name == one or name.startswith(f"{one}/") for one in barred)
