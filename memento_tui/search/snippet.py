"""Snippets: the passage of a memory that answers a query, and where in it the query's words stand."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memento_tui.search.language import Phrase, Query
from memento_tui.search.text import STOP_WORDS, identifiers, terms

__all__ = ["Snippet", "find_marks", "make_snippet"]

_WORD = re.compile(r"[^\W_]+")
_LONGEST_SCAN = 20_000


@dataclass(frozen=True)
class Snippet:
    """``text`` is one line; ``marks`` are start and end of each word of the query in it."""

    text: str
    marks: tuple[tuple[int, int], ...]


def make_snippet(query: Query, content: str, *, width: int = 200) -> Snippet:
    """Return the passage of at most about ``width`` characters that holds most of the query's words."""
    wanted = _wanted(query)
    text = " ".join(content[:_LONGEST_SCAN].split())
    spans = [match.span() for match in _WORD.finditer(text)] if wanted else []
    known: dict[str, bool] = {}
    marks = [(a, b) for a, b in spans if _matches(text[a:b], wanted, known)]
    start = _best_start(text, marks, width)
    end = len(text) if len(text) - start <= width else _word_end(text, start + width)
    before, after = ("... " if start else ""), (" ..." if end < len(text) else "")
    shift = len(before) - start
    shown = tuple((a + shift, b + shift) for a, b in marks if a >= start and b <= end)
    return Snippet(before + text[start:end] + after, shown)


def find_marks(query: Query, text: str) -> list[tuple[int, int]]:
    """Return where the query's words stand in a text, as starts and ends."""
    wanted = _wanted(query)
    if not wanted:
        return []
    known: dict[str, bool] = {}
    return [m.span() for m in _WORD.finditer(text[:_LONGEST_SCAN]) if _matches(m[0], wanted, known)]


def _wanted(query: Query) -> set[str]:
    wanted: set[str] = set()
    for part in query.words:
        if isinstance(part, Phrase) or part.text.lower() not in STOP_WORDS:
            wanted.update(terms(part.text))
            wanted.update(piece for piece in identifiers(part.text).split() if piece.isalnum())
            if not isinstance(part, Phrase) and part.typing:
                wanted.add(f"{part.text.lower()}*")
    return wanted


def _matches(word: str, wanted: set[str], known: dict[str, bool]) -> bool:
    found = known.get(word)
    if found is None:
        lowered = word.lower()
        found = lowered in wanted or not wanted.isdisjoint(terms(word))
        found = found or any(w[-1] == "*" and lowered.startswith(w[:-1]) for w in wanted)
        known[word] = found
    return found


def _best_start(text: str, marks: list[tuple[int, int]], width: int) -> int:
    """Return where the passage begins that holds the most different marked words, not cutting a word."""
    if len(text) <= width or not marks:
        return 0
    best, best_start = 0, 0
    for index, (first, _) in enumerate(marks):
        inside = {text[a:b].lower() for a, b in marks[index:] if b <= first + width}
        if len(inside) > best:
            best, best_start = len(inside), first
    start = max(0, best_start - width // 5)
    if start == 0:
        return 0
    space = text.find(" ", start)
    return space + 1 if 0 <= space < best_start else best_start


def _word_end(text: str, end: int) -> int:
    space = text.rfind(" ", end - 30, end)
    return space if space > 0 else end
