"""Make the snippet of a memory that answers a query, with the positions of the query's words."""

from __future__ import annotations

from memento_tui.search.query_language import Phrase, Query
from memento_tui.text.passages import LONGEST_SCAN, Snippet, best_passage, find_matches
from memento_tui.text.terms import STOP_WORDS, character_bigrams, identifiers, terms

__all__ = ["find_query_matches", "make_snippet"]


def make_snippet(query: Query, content: str, *, width: int = 200) -> Snippet:
    """Return the passage of at most about ``width`` characters that holds most of the query's words."""
    return best_passage(_query_terms(query), content, width)


def find_query_matches(query: Query, text: str) -> list[tuple[int, int]]:
    """Return the start and end of each of the query's words in a text."""
    return find_matches(text[:LONGEST_SCAN], _query_terms(query))


def _query_terms(query: Query) -> set[str]:
    found: set[str] = set()
    for part in query.words:
        if isinstance(part, Phrase) or part.text.lower() not in STOP_WORDS:
            found.update(terms(part.text))
            # A sign of a script without spaces is none of the letters that Python knows.
            pieces = identifiers(part.text).split()
            found.update(piece for piece in pieces if piece.isalnum() or character_bigrams(piece))
            if not isinstance(part, Phrase) and part.typing:
                found.add(f"{part.text.lower()}*")
    return found
