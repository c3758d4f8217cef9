"""Find the passage of a text that holds most of the wanted words, and where they stand in it.

Imports nothing but the standard library and Tantivy: memento-hook uses it.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from memento_tui.text.terms import character_bigrams, identifiers, terms

__all__ = ["LONGEST_SCAN", "Snippet", "best_passage", "find_matches"]

_WORD = re.compile(r"[^\W_]+")
LONGEST_SCAN = 20_000
"""Characters of a text that are looked through."""


class Snippet(NamedTuple):
    """``text`` is one line; ``marks`` are start and end of each wanted word in it."""

    text: str
    marks: tuple[tuple[int, int], ...]


def best_passage(wanted: AbstractSet[str], content: str, width: int) -> Snippet:
    """Return the passage of at most about ``width`` characters that holds most of the wanted words.

    ``wanted`` holds stems and identifiers as the index has them; one that ends with ``*`` is a beginning.
    """
    text = " ".join(content[:LONGEST_SCAN].split())
    marks = find_matches(text, wanted)
    start = _best_start(text, marks, width)
    shortest = next((b for a, b in marks if a >= start), start)
    end = len(text) if len(text) - start <= width else _word_end(text, shortest, start + width)
    before, after = ("... " if start else ""), (" ..." if end < len(text) else "")
    shift = len(before) - start
    shown = tuple((a + shift, b + shift) for a, b in marks if a >= start and b <= end)
    return Snippet(before + text[start:end] + after, shown)


def find_matches(text: str, wanted: AbstractSet[str]) -> list[tuple[int, int]]:
    """Return where the wanted words stand in a text, as starts and ends."""
    marks: list[tuple[int, int]] = []
    known: dict[str, bool] = {}
    for match in _WORD.finditer(text) if wanted else ():
        if pairs := character_bigrams(match[0]):
            marks += _find_bigram_matches(match, wanted & set(pairs))
        elif _matches(match[0], wanted, known):
            marks.append(match.span())
    return marks


def _find_bigram_matches(match: re.Match[str], wanted: AbstractSet[str]) -> list[tuple[int, int]]:
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


def _matches(word: str, wanted: AbstractSet[str], known: dict[str, bool]) -> bool:
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
