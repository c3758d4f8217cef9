"""The clock of the tests: what they find does not depend on the day on which they run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import monotonic

import pytest

from memento_tui import clock

__all__ = ["START", "day_to_come", "run_from_start", "ticking"]

START = datetime(2026, 11, 21, 12, tzinfo=UTC)
"""The moment at which each module of tests begins."""


def run_from_start(patch: pytest.MonkeyPatch) -> None:
    """Let memento's clock run at its own pace from `START`; processes that a test starts have the real one."""
    began = monotonic()
    patch.setattr(clock, "now", lambda: START + timedelta(seconds=monotonic() - began))


def day_to_come() -> str:
    """Return a date three hundred days away; called when a module is imported, by the clock of the machine.

    That one the processes read which a test starts.
    """
    return f"{clock.now() + timedelta(days=300):%Y-%m-%d}"


def ticking(patch: pytest.MonkeyPatch, first: datetime, step: timedelta) -> None:
    """Let memento's clock advance by ``step`` at each reading, from ``first``."""
    count = iter(range(1_000_000))
    patch.setattr(clock, "now", lambda: first + step * next(count))
