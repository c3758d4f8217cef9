"""How whoever waits for something long is told how far it is."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Progress", "no_progress"]

Progress = Callable[[str, int, int], None]
"""Receives the name of the present step, the amount done and the whole amount."""


def no_progress(_what: str, _done: int, _total: int) -> None:
    """Tell nobody."""
