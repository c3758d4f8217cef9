"""Whether what is under the cursor came there by itself, so that a key meant for something else must not act on it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

__all__ = ["Arrivals"]

_DEAF_SECONDS = 0.5
"""How long keys that write are refused after another item came under the cursor by itself."""


class Arrivals:
    """Follows the cursor of one list.

    ``version_of`` returns the present version of a record, ``None`` where it is gone: an item that is as it was shown
    was left by the person, and one that is not was taken away by somebody else.
    """

    def __init__(self, version_of: Callable[[str], int | None]) -> None:
        self._version_of = version_of
        self._shown: tuple[str, int] | None = None
        # What a list shows when it is opened is expected.
        self._is_expected = True
        self._deaf_until = 0.0

    def expect(self) -> None:
        """Note that the person acts: what comes under the cursor next is their doing."""
        self._is_expected = True

    def settled(self) -> None:
        """Note that the list shows what the person's act led to."""
        self._is_expected = False

    def show(self, row_id: str | None, version: int) -> None:
        """Note what the cursor is on now."""
        before, now = self._shown, None if row_id is None else (row_id, version)
        self._shown = now
        if now is None or now == before:
            return
        if not self._is_expected and not self._was_left(before, now):
            self._deaf_until = monotonic() + _DEAF_SECONDS
        self._is_expected = False

    def _was_left(self, before: tuple[str, int] | None, now: tuple[str, int]) -> bool:
        """Tell whether the person moved the cursor from one item to the other."""
        if before is None or before[0] == now[0]:
            return False
        return self._version_of(before[0]) == before[1]

    def why_not(self) -> str:
        """Return why a key must not act on what is under the cursor, or nothing where it may."""
        if monotonic() < self._deaf_until:
            return "This one has only just come up, so the key was ignored. Press it again."
        if self._shown is not None and self._version_of(self._shown[0]) != self._shown[1]:
            return "This was changed a moment ago, so the key was ignored. Look again."
        return ""
