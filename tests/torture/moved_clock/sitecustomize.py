"""Run by Python as it starts: memento reads the time in one place, which is moved here."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

from memento_tui import clock

_now = clock.now
_days = Path(os.environ["TORTURE_CLOCK"])


def _moved() -> datetime:
    return _now() + timedelta(days=int(_days.read_text(encoding="utf-8") or 0))


clock.now = _moved
