"""Cut a page out of what was read of a list, and tell whether the list goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

__all__ = ["cut_page"]

RowT = TypeVar("RowT")


def cut_page(rows: Sequence[RowT], limit: int) -> tuple[list[RowT], bool]:
    """Return the ``limit`` rows of a page, of which one more was read, and whether that one was there.

    A page of no rows is where the list ends: there is no row behind which the next page could begin.
    """
    return list(rows[:limit]), 0 < limit < len(rows)
