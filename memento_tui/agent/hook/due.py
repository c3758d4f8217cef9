"""When a transcript is worth being read: reading one takes a second of a processor, and some events come every turn."""

from __future__ import annotations

__all__ = ["is_due"]

_EVERY_TURN = frozenset({"stop", "afteragent"})
"""Events that come after every answer."""
_FIRST, _GROWN = 10_000, 50_000
"""Bytes that such an event waits for: a few exchanges the first time, about ten later. Other events wait for nothing.

Some hosts never say that a session ends, so what is short has to be read after a turn as well.
"""


def is_due(event: str, size: int, learned: int) -> bool:
    """Tell whether a transcript of ``size`` bytes is read now, of which so many bytes were learned from before.

    One that is missing (0 bytes) is: whoever reads it says so.
    """
    if not size or event.lower() not in _EVERY_TURN:
        return not size or size != learned
    return size - learned >= (_GROWN if learned else _FIRST)
