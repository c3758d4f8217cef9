"""Ignore keys that were meant for the row that stood under the cursor a moment ago."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from memento_tui.tui.widgets.paged_rows import Row

__all__ = ["StaleGuard"]

_IGNORE_KEYS_SECONDS = 0.5
"""How long actions are refused after another row came under the cursor by itself."""


class StaleGuard:
    """Blocks actions for half a second after the row under the cursor became another, or changed, by itself.

    ``key_was_pressed_since`` tells whether the person pressed a key just now, and after a moment on the clock ``now``.
    """

    def __init__(self, key_was_pressed_since: Callable[[float], bool], *, now: Callable[[], float] = monotonic) -> None:
        self._key_was_pressed_since = key_was_pressed_since
        self._now = now
        self._blocked_until = 0.0
        self._reached: tuple[str, int] | None = None
        """The id and the version of the row under the cursor, as it was reported last."""
        self._is_moved_by_person = False

    @property
    def is_blocking(self) -> bool:
        """Whether a key pressed now was probably meant for the row as it was before."""
        return self._now() < self._blocked_until

    @property
    def is_moved_by_person(self) -> bool:
        """Whether the next row that is reached comes there by an action of the person."""
        return self._is_moved_by_person

    def moved_by_person(self) -> None:
        """Note that the person moves the list on: the row that is reached next does not come by itself."""
        self._is_moved_by_person = True

    def row_reached(self, row: Row | None) -> None:
        """Note the row that is under the cursor now, or how it reads now."""
        reached = None if row is None else (row.id, getattr(row, "version", 0))
        by_itself = None not in (reached, self._reached) and reached != self._reached
        if by_itself and not self._is_moved_by_person and not self._key_was_pressed_since(self._blocked_until):
            self.content_changed()
        self._is_moved_by_person = False
        self._reached = reached

    def content_changed(self) -> None:
        """Note that the shown text of the row under the cursor changed by itself."""
        self._blocked_until = self._now() + _IGNORE_KEYS_SECONDS
