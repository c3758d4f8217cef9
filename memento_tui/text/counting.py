"""Say a number with its noun. Standard library only."""

from __future__ import annotations

__all__ = ["count_of"]


def count_of(count: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 memory``, ``2 memories``; the plural ends in s if not given."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"
