"""Tests on another day: the date of the system is moved for them and for every process that they start."""

from __future__ import annotations

import os

__all__ = ["date_variables"]


def date_variables() -> dict[str, str]:
    """Return the environment variables that move the date, for a process that is given no others of this one."""
    return {name: os.environ[name] for name in ("LD_PRELOAD", "MOVED_DAYS") if name in os.environ}
