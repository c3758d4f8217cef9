"""Find the passage of a text that holds most of the query's words, and their places in it.

Imports nothing but the standard library and Tantivy: memento-hook uses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache

from memento_tui.named_tuple import NamedTuple
from memento_tui.text.terms import character_bigrams, identifiers, spaced_pieces, terms, unspaced_characters
from memento_tui.text.words import SOUTHEAST_ASIAN_CHARACTERS

__all__ = ["LONGEST_SCAN", "Snippet", "best_passage", "find_matches"]

_WORD = re.compile(r"(?>(?:[^\W_]++[\u0300-\u036f]*+)+)")
"""A word, with the accents that stand for themselves."""


@cache
def _any_word() -> re.Pattern[str]:
    # Not compiled before its first use, as with `memento_tui.text.terms.character_bigrams`.
    return re.compile(rf"(?>(?:[^\W_]++[\u0300-\u036f]*+|[{SOUTHEAST_ASIAN_CHARACTERS}]++)+)")


LONGEST_SCAN = 20_000
"""Characters of a text that are searched."""

_MAX_KNOWN_WORDS = 4_096
"""Words whose forms are kept: the common ones stand in every text. About a megabyte."""


class Snippet(NamedTuple):
    """One line of text, and start and end of each of the query's words in it."""

    text: str
    marks: tuple[tuple[int, int], ...]


def best_passage(words: AbstractSet[str], content: str, width: int) -> Snippet:
    """Return the passage of at most about ``width`` characters that holds most of the query's words.

    ``words`` are stems and identifiers as the index holds them; one that ends with ``*`` is a prefix.
    """
    text = " ".join(content[:LONGEST_SCAN].split())
    marks = find_matches(text, words)
    start = _best_start(text, marks, width)
    shortest = next((b for a, b in marks if a >= start), start)
    end = len(text) if len(text) - start <= width else _word_end(text, shortest, start + width)
    before, after = ("... " if start else ""), (" ..." if end < len(text) else "")
    shift = len(before) - start
    shown = tuple((a + shift, b + shift) for a, b in marks if a >= start and b <= end)
    return Snippet(before + text[start:end] + after, shown)


def find_matches(text: str, words: AbstractSet[str]) -> list[tuple[int, int]]:
    """Return start and end of each of the query's words in a text."""
    marks: list[tuple[int, int]] = []
    known: dict[str, bool] = {}
    beginnings = tuple(word[:-1] for word in words if word[-1] == "*")
    pattern = _WORD if text.isascii() else _any_word()
    for match in pattern.finditer(text) if words else ():
        if not match[0].isascii() and (pairs := character_bigrams(match[0])):
            marks += _find_bigram_matches(match, words & {*pairs, *unspaced_characters(match[0])})
            pieces = _find_spaced_pieces(match)
            marks += [(a, b) for a, b in pieces if _matches(text[a:b], words, beginnings, known)]
        elif _matches(match[0], words, beginnings, known):
            marks.append(match.span())
    return sorted(marks)


def _find_spaced_pieces(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield start and end of what a word holds besides a script without spaces: a name in Latin letters, a number."""
    end = match.start()
    for piece in filter(None, spaced_pieces(match[0])):
        start = match.string.index(piece, end)
        end = start + len(piece)
        yield start, end


def _find_bigram_matches(match: re.Match[str], words: AbstractSet[str]) -> list[tuple[int, int]]:
    """Return start and end of the query's character pairs in a run without spaces; overlapping pairs are joined."""
    marks: list[tuple[int, int]] = []
    for start in range(*match.span()):
        for pair in words:
            if match.string.startswith(pair, start, match.end()):
                end = start + len(pair)
                if marks and marks[-1][1] >= start:
                    marks[-1] = (marks[-1][0], end)
                else:
                    marks.append((start, end))
    return marks


def _matches(word: str, words: AbstractSet[str], beginnings: tuple[str, ...], known: dict[str, bool]) -> bool:
    found = known.get(word)
    if found is None:
        lowered = word.lower()
        found = lowered in words or lowered.startswith(beginnings) or not words.isdisjoint(_forms(word))
        known[word] = found
    return found


@lru_cache(_MAX_KNOWN_WORDS)
def _forms(word: str) -> frozenset[str]:
    """Return the forms in which the index holds a word."""
    return frozenset([*terms(word), *identifiers(word).split()])


def _best_start(text: str, marks: list[tuple[int, int]], width: int) -> int:
    """Return the start, at a word, of the passage that holds the most different marked words."""
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
    if (
        space < 0
    ):  # the marked word begins before the passage: it is shown in full, unless it is longer than the passage
        space = text.rfind(" ", max(0, best_start - width // 2), best_start)
    return space + 1 if space >= 0 else best_start


def _word_end(text: str, shortest: int, longest: int) -> int:
    space = text.rfind(" ", shortest, longest + 1)
    return space if space >= 0 else longest
