"""Which rows of a list are marked."""

from __future__ import annotations

__all__ = ["RowMarks"]


class RowMarks:
    """Marks by id, which outlive every query, and a range of rows that is being marked."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.begun: tuple[str, int] | None = None
        """The id and the index of the row where the range was begun; ``None`` where there is no range."""

    def toggle(self, row_id: str) -> None:
        """Mark a row, or unmark it."""
        self.ids ^= {row_id}

    def span(self, cursor: int) -> range:
        """Return the indexes from where the range was begun to the cursor, both included."""
        if self.begun is None:
            return range(0)
        start = self.begun[1]
        return range(min(start, cursor), max(start, cursor) + 1)

    def glyph(self, row_id: str | None, index: int, cursor: int) -> str:
        """Return the letter that says so beside a row: ``*`` marked, ``+`` about to be, a space neither."""
        if row_id in self.ids:
            return "*"
        return "+" if index in self.span(cursor) else " "
