"""Whether something that is about to be done is what a skip speaks of. Imports nothing but Tantivy."""

from __future__ import annotations

import re

from memento_tui.search.text import STOP_WORDS, unspaced_pairs

__all__ = ["skip_matches", "skip_words"]

_WORD = re.compile(r"\w+")
_SPACED = re.compile(r"[^\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")


def skip_words(text: str) -> frozenset[str]:
    """Return the words that a skip is compared by: whole ones, since what only looks alike is not to be skipped.

    Of a script that is written without spaces, pairs of characters are compared. Words that say nothing by themselves
    count only where a text holds no others: a skip may be called "IT".
    """
    words = frozenset(part for word in _WORD.findall(text.casefold()) for part in _parts(word))
    return words - STOP_WORDS or words


def _parts(word: str) -> list[str]:
    pairs = unspaced_pairs(word)
    return [*pairs, *_SPACED.findall(word)] if pairs else [word]


def skip_matches(asked: frozenset[str], item: frozenset[str], *, in_passing: bool = False) -> bool:
    """Tell whether all the words of a skip's item stand in what is asked, or all those asked in the item.

    What is said ``in_passing``, as "continue" is, asks for nothing: only a skip that it names in full is meant.
    """
    return bool(asked) and bool(item) and (item <= asked or (not in_passing and asked <= item))
