"""The clock of the tests: what they find does not depend on the day on which they run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import monotonic

import pytest

from memento_tui import clock

__all__ = ["START", "run_from_start", "ticking"]

START = datetime(2026, 11, 21, 12, tzinfo=UTC)
"""The moment at which each module of tests begins."""


def run_from_start(patch: pytest.MonkeyPatch) -> None:
    """Let memento's clock run at its own pace from `START`; processes that a test starts have the real one."""
    began = monotonic()
    patch.setattr(clock, "now", lambda: START + timedelta(seconds=monotonic() - began))


def ticking(patch: pytest.MonkeyPatch, first: datetime, step: timedelta) -> None:
    """Let memento's clock advance by ``step`` at each reading, from ``first``."""
    count = iter(range(1_000_000))
    patch.setattr(clock, "now", lambda: first + step * next(count))
