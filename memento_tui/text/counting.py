"""Say a number with its noun or its unit. Standard library only."""

from __future__ import annotations

__all__ = ["count_of", "format_bytes"]


def count_of(count: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 memory``, ``2 memories``; the plural ends in s if not given."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def format_bytes(count: int) -> str:
    """Return a number of bytes in decimal units, such as ``258 kB`` or ``1.4 GB``."""
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1_000:  # noqa: PLR2004 - the next unit
            return f"{size:.0f} {unit}" if unit in ("bytes", "kB") else f"{size:.1f} {unit}"
        size /= 1_000
    return f"{size:.1f} TB"
