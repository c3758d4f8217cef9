"""The timeline of identity crystals: where its rows come from, and what one looks like."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock

from memento_tui.records import Crystal
from memento_tui.store.store import Store
from memento_tui.tui.display import cells, has_hidden
from memento_tui.tui.identity_prose import local
from memento_tui.tui.widgets.record_list import Line
from memento_tui.workspace import identity

__all__ = ["CrystalSource", "crystal_line"]

_GLYPHS = {"current": ("=", "good"), "proposed": ("~", "warning"), "past": ("-", "muted"), "rejected": ("x", "error")}
_DATE_WIDTH, _AUTHOR_WIDTH, _SIZE_WIDTH = 10, 10, 5
_HEAD = 400
"""Characters of a text that its first words are looked for in."""


class CrystalSource:
    """The crystals that hold some words or have some status, newest first. All are read at once, when first asked."""

    def __init__(self, store: Store, wanted: str) -> None:
        self._store = store
        self._wanted = wanted.casefold().split()
        self._guard = Lock()
        self._all: list[Crystal] | None = None
        self._rows: list[Crystal] = []

    @property
    def all(self) -> Sequence[Crystal]:
        """Every crystal, whatever is wanted."""
        with self._guard:
            if self._all is None:
                self._all = identity.timeline(self._store)
                self._rows = [crystal for crystal in self._all if self._is_wanted(crystal)]
            return self._all

    @property
    def rows(self) -> Sequence[Crystal]:
        """Those that are wanted."""
        return self._rows if self.all else ()

    def _is_wanted(self, crystal: Crystal) -> bool:
        text = f"{crystal.id} {crystal.author} {crystal.content}".casefold()
        return all(word == f"is:{crystal.status}" if word.startswith("is:") else word in text for word in self._wanted)

    def total(self) -> int:
        """Return how many there are."""
        return len(self.rows)

    def page(self, start: int, count: int) -> Sequence[Crystal]:
        """Return some of them."""
        return self.rows[start : start + count]

    def locate(self, row_id: str) -> int | None:
        """Return where one stands."""
        return next((place for place, row in enumerate(self.rows) if row.id == row_id), None)

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of some of them."""
        return [row.id for row in self.page(start, count)]


def crystal_line(row: Crystal, width: int, *, is_base: bool) -> list[Line]:
    """Return the row of a crystal: status, date, author, size, the first words."""
    glyph, style = _GLYPHS[row.status]
    flag = "c" if is_base else "!" if _has_hidden(row.content) else " "
    author = cells(identity.writer_of(row), _AUTHOR_WIDTH)
    facts = f"{local(row.created_at):%Y-%m-%d} {author} {_size(len(row.content)):>{_SIZE_WIDTH}}  "
    lines = [line for line in row.content[:_HEAD].split("\n") if line.strip()]
    # A heading says the same in all of them.
    said = " ".join(" ".join(line for line in lines if not line.startswith("#")).split()) or " ".join(lines)
    left = width - 3 - _DATE_WIDTH - _AUTHOR_WIDTH - _SIZE_WIDTH - 4
    tone = {"current": "strong", "proposed": ""}.get(row.status, "muted")
    return [
        [
            (glyph, style),
            (flag, "match" if is_base else "warning"),
            (" ", ""),
            (facts, "muted"),
            (cells(said, left), tone),
        ]
    ]


def _size(characters: int) -> str:
    return str(characters) if characters < 1_000 else f"{characters / 1_000:.1f}k"  # noqa: PLR2004 - a thousand


@lru_cache(maxsize=256)
def _has_hidden(content: str) -> bool:
    # A row is painted often, and a page of prose is long.
    return has_hidden(content)
