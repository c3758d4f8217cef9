"""Snippets: the passage of a memory that answers a query, and where in it the query's words stand."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memento_tui.search.language import Phrase, Query
from memento_tui.search.text import STOP_WORDS, identifiers, terms, unspaced_pairs

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
    marks = _marks(text, wanted)
    start = _best_start(text, marks, width)
    shortest = next((b for a, b in marks if a >= start), start)
    end = len(text) if len(text) - start <= width else _word_end(text, shortest, start + width)
    before, after = ("... " if start else ""), (" ..." if end < len(text) else "")
    shift = len(before) - start
    shown = tuple((a + shift, b + shift) for a, b in marks if a >= start and b <= end)
    return Snippet(before + text[start:end] + after, shown)


def find_marks(query: Query, text: str) -> list[tuple[int, int]]:
    """Return where the query's words stand in a text, as starts and ends."""
    return _marks(text[:_LONGEST_SCAN], _wanted(query))


def _wanted(query: Query) -> set[str]:
    wanted: set[str] = set()
    for part in query.words:
        if isinstance(part, Phrase) or part.text.lower() not in STOP_WORDS:
            wanted.update(terms(part.text))
            wanted.update(piece for piece in identifiers(part.text).split() if piece.isalnum())
            if not isinstance(part, Phrase) and part.typing:
                wanted.add(f"{part.text.lower()}*")
    return wanted


def _marks(text: str, wanted: set[str]) -> list[tuple[int, int]]:
    marks: list[tuple[int, int]] = []
    known: dict[str, bool] = {}
    for match in _WORD.finditer(text) if wanted else ():
        if pairs := unspaced_pairs(match[0]):
            marks += _marks_of_pairs(match, wanted.intersection(pairs))
        elif _matches(match[0], wanted, known):
            marks.append(match.span())
    return marks


def _marks_of_pairs(match: re.Match[str], wanted: set[str]) -> list[tuple[int, int]]:
    """Return where the wanted pairs stand in a run without spaces, those that overlap as one."""
    marks: list[tuple[int, int]] = []
    for start in range(*match.span()):
        for pair in wanted:
            if match.string.startswith(pair, start, match.end()):
                end = start + len(pair)
                if marks and marks[-1][1] >= start:
                    marks[-1] = (marks[-1][0], end)
                else:
                    marks.append((start, end))
    return marks


def _matches(word: str, wanted: set[str], known: dict[str, bool]) -> bool:
    found = known.get(word)
    if found is None:
        lowered = word.lower()
        found = lowered in wanted or not wanted.isdisjoint([*terms(word), *identifiers(word).split()])
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
    space = text.find(" ", start - 1, best_start)
    if space < 0:  # the word that holds the mark begins before: all of it is shown, unless it is longer than that
        space = text.rfind(" ", max(0, best_start - width // 2), best_start)
    return space + 1 if space >= 0 else best_start


def _word_end(text: str, shortest: int, longest: int) -> int:
    space = text.rfind(" ", shortest, longest + 1)
    return space if space >= 0 else longest
