"""Snippets: the passage of a memory that answers a query, and where in it the query's words stand."""

from __future__ import annotations

from memento_tui.search.language import Phrase, Query
from memento_tui.search.passage import LONGEST_SCAN, Snippet, marks_of, passage_of
from memento_tui.search.text import STOP_WORDS, identifiers, terms

__all__ = ["find_marks", "make_snippet"]


def make_snippet(query: Query, content: str, *, width: int = 200) -> Snippet:
    """Return the passage of at most about ``width`` characters that holds most of the query's words."""
    return passage_of(_wanted(query), content, width)


def find_marks(query: Query, text: str) -> list[tuple[int, int]]:
    """Return where the query's words stand in a text, as starts and ends."""
    return marks_of(text[:LONGEST_SCAN], _wanted(query))


def _wanted(query: Query) -> set[str]:
    wanted: set[str] = set()
    for part in query.words:
        if isinstance(part, Phrase) or part.text.lower() not in STOP_WORDS:
            wanted.update(terms(part.text))
            wanted.update(piece for piece in identifiers(part.text).split() if piece.isalnum())
            if not isinstance(part, Phrase) and part.typing:
                wanted.add(f"{part.text.lower()}*")
    return wanted
