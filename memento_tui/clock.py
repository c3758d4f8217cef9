"""The wall clock, read here and nowhere else in memento, so that a test can set it.

Deadlines and durations are measured with `time.monotonic`, which no one sets.
"""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["now"]


def now() -> datetime:
    """Return the present moment in UTC.

    Called as ``clock.now()``, never imported by its own name: a test replaces it in this module.
    """
    return datetime.now(UTC)
