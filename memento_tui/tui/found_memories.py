"""The results of a search as the list shows them: with the passage that answers, a score, and the weak ones folded."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from memento_tui.api.search import SearchAnswer, SearchHit
from memento_tui.search.ranking import clears_floor
from memento_tui.search.snippets import make_snippet
from memento_tui.text.passages import Snippet
from memento_tui.tui.display import cells, shown
from memento_tui.tui.memory_columns import WIDE_ROW
from memento_tui.tui.widgets.record_list import Line

__all__ = ["FoundMemories", "evidence_line", "score_bar"]

_BAR_CELLS = 5
_MAX_SCANNED_CHARACTERS = 4_000
"""Characters of a memory in which the passage is looked for: a screenful of results must not take longer than a key."""

_INDENT = 3
"""Cells of the signs of trust that the evidence stands to the right of."""

_NARROW = 60


class FoundMemories:
    """The results of one search, and whether the weak ones among them are listed."""

    def __init__(self) -> None:
        self._answer: SearchAnswer | None = None
        self._passages: dict[str, Snippet] = {}
        self.with_weak = False
        """Whether weak results are listed beside good ones; alone they always are."""

    def show(self, answer: SearchAnswer | None) -> None:
        """Take the results of another search, or of none."""
        self._answer = answer
        self._passages.clear()

    @property
    def good(self) -> list[SearchHit]:
        """The results that answer well enough for an agent to be told of them, best first."""
        return [] if self._answer is None else [hit for hit in self._answer.results if _is_good(hit)]

    @property
    def listed(self) -> list[SearchHit]:
        """The results that are listed, best first."""
        if self._answer is None:
            return []
        return self._answer.results if self.with_weak else self.good or self._answer.results

    def counts(self) -> str:
        """Return in words how many results are good and how many weak."""
        if self._answer is None:
            return ""
        good, found = len(self.good), len(self._answer.results)
        weak = found - good
        more = f" of {self._answer.total:,}" if self._answer.total > found else ""
        folded = " (W shows them)" if weak and good and not self.with_weak else ""
        return f"{good:,} good" + (f"  {weak:,} weak{folded}" if weak else "") + more

    def passage(self, hit: SearchHit) -> Snippet:
        """Return the passage of a result that answers, with the places of the query's words in it."""
        known = self._passages.get(hit.id)
        if known is None:
            known = make_snippet(hit.query, hit.memory.content[:_MAX_SCANNED_CHARACTERS])
            self._passages[hit.id] = known
        return known


def _is_good(hit: SearchHit) -> bool:
    return clears_floor(hit.relevance)


def score_bar(relevance: float) -> str:
    """Return a bar for how well a result answers, from 0 to 1."""
    filled = min(_BAR_CELLS, max(0, round(_BAR_CELLS * relevance)))
    return "\N{DARK SHADE}" * filled + "\N{LIGHT SHADE}" * (_BAR_CELLS - filled)


def evidence_line(hit: SearchHit, passage: Snippet, width: int) -> Line:
    """Return the second line of a result: the passage with its hits, then how well it answers, and where it is."""
    project = hit.memory.namespace.rpartition("/")[2]
    tags = [] if width >= WIDE_ROW else [f"#{tag}" for tag in hit.memory.tags]
    place = " ".join([project, *tags])
    place_width = min(cell_len(shown(place)), width // 4) if width >= _NARROW else 0
    room = width - _INDENT - _BAR_CELLS - 2 - (place_width + 2 if place_width else 0)
    pieces: list[tuple[str, str]] = [(" " * _INDENT, "")]
    left = room
    for text, style in _marked(passage):
        safe = shown(text)
        size = cell_len(safe)
        pieces.append((safe if size <= left else cells(safe, left), style))
        left -= min(size, left)
        if not left:
            break
    pieces += [(" " * left, ""), ("  ", "")]
    if place_width:
        pieces += [(cells(place, place_width), "muted"), ("  ", "")]
    return [*pieces, (score_bar(hit.relevance), "good" if _is_good(hit) else "muted")]


def _marked(passage: Snippet) -> Iterator[tuple[str, str]]:
    at = 0
    for start, end in passage.marks:
        yield passage.text[at:start], "muted"
        yield passage.text[start:end], "match"
        at = end
    yield passage.text[at:], "muted"
