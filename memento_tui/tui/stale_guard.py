"""Ignore keys that were meant for the row that stood under the cursor a moment ago."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from memento_tui.tui.widgets.paged_rows import Row

__all__ = ["StaleGuard"]

_IGNORE_KEYS_SECONDS = 0.5
"""How long actions are refused after another row came under the cursor by itself."""

_REPEAT_BEGINS_SECONDS = 0.7
"""Within how many seconds of a key that acted the same key may be that key, held: terminals let .25 to .66 s pass."""

_REPEAT_SECONDS = 0.3
"""Within how many seconds of a key that was refused the same key is that key, still held: the slowest repeat each .1 s.

A person who reads why the key was refused takes longer to press it again.
"""


class StaleGuard:
    """Blocks actions for half a second after the row under the cursor became another, or changed, by itself.

    It also lets a key that is held act on one row alone, though the next one comes under the cursor.
    ``key_was_pressed_since`` tells whether the person pressed a key just now, and after a moment on the clock ``now``.
    """

    def __init__(self, key_was_pressed_since: Callable[[float], bool], *, now: Callable[[], float] = monotonic) -> None:
        self._key_was_pressed_since = key_was_pressed_since
        self._now = now
        self._blocked_until = 0.0
        self._reached: tuple[str, int] | None = None
        """The id and the version of the row under the cursor, as it was reported last."""
        self._is_moved_by_person = False
        self._acted_on: frozenset[str] = frozenset()
        """The ids of the rows that the last key was for that might act."""
        self._was_refused = False

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

    def refusal(
        self, chosen: frozenset[str], since_same_key: float, *, was_shown: bool = True, is_marked: bool = False
    ) -> str:
        """Return in a sentence why a key may not act on the chosen rows now; an empty text where it may.

        ``since_same_key`` are the seconds since the same key was pressed with no other key between, ``was_shown`` tells
        whether the row was on the screen when the key was typed. Where the rows were marked (``is_marked``), the one
        under the cursor does not matter.
        """
        held_within = _REPEAT_SECONDS if self._was_refused else _REPEAT_BEGINS_SECONDS
        is_other_row = self._was_refused or chosen != self._acted_on
        reason = ""
        if since_same_key < held_within and is_other_row:
            reason = "A key that is held acts on one row only, and this is the next. Press it again."
        elif not was_shown and not is_marked:
            reason = "This was not on the screen yet when the key was pressed. Press it again."
        elif self.is_blocking and not is_marked:
            reason = "This has just come up or changed; the key was ignored. Press it again."
        else:
            self._acted_on = chosen
        self._was_refused = bool(reason)
        return reason
