"""What time it is for everything that the app shows, in one place so that a test can stop it."""

from __future__ import annotations

from datetime import datetime

from memento_tui.records.when import utc_now

__all__ = ["now"]


def now() -> datetime:
    """Return the present moment in UTC."""
    return utc_now()
