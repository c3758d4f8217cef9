"""How many examples a property is tried on: few by default, many with ``--hypothesis-profile=deep``."""

from __future__ import annotations

from hypothesis import settings

__all__ = ["examples"]

_USUAL = 100


def examples(number: int) -> int:
    """Return the number of examples for a property that deserves ``number`` where the usual one gets a hundred."""
    return max(1, number * settings().max_examples // _USUAL)
