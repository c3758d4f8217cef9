"""The person's last input, and its time: by it the parts of the app know whom a key was meant for."""

from __future__ import annotations

from math import inf
from time import monotonic

from textual import events

__all__ = ["TypedInput"]

_JUST_NOW_SECONDS = 0.5
"""How long after a key a row that comes up is taken for one that the key led to."""


class TypedInput:
    """The key or click that is being carried out."""

    def __init__(self) -> None:
        self.carried_out_at = 0.0
        """When the last one began to be carried out, on the monotonic clock."""
        self.seconds_since_same_key = inf
        """Seconds between the key and the one before it, where that was the same key; infinite where it was another."""
        self._typed_at = 0.0
        self._key = ""
        self._done_at = 0.0

    def note(self, event: events.Key | events.MouseDown) -> None:
        """Note a key or a click, before anything else sees it."""
        key = event.key if isinstance(event, events.Key) else ""
        self.seconds_since_same_key = event.time - self._typed_at if key and key == self._key else inf
        self.carried_out_at, self._typed_at, self._key = monotonic(), event.time, key

    def note_done(self) -> None:
        """Note that the last one is carried out: what comes up from now on is what it led to, however long it took."""
        self._done_at = monotonic()

    def key_was_pressed_since(self, moment: float) -> bool:
        """Return whether a key was pressed after ``moment`` of the monotonic clock and was carried out just now."""
        last = max(self.carried_out_at, self._done_at)
        return self.carried_out_at > moment and monotonic() - last < _JUST_NOW_SECONDS

    def was_typed_since(self, moment: float) -> bool:
        """Return whether what is being carried out was typed after ``moment`` of the monotonic clock."""
        return self._typed_at > moment
