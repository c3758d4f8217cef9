"""Whether something that is about to be done is what a skip speaks of. Imports nothing but Tantivy."""

from __future__ import annotations

import re

from memento_tui.search.text import STOP_WORDS

__all__ = ["skip_matches", "skip_words"]

_WORD = re.compile(r"\w+")


def skip_words(text: str) -> frozenset[str]:
    """Return the words that a skip is compared by: whole ones, since what only looks alike is not to be skipped.

    Words that say nothing by themselves count only where a text holds no others: a skip may be called "IT".
    """
    words = frozenset(word.casefold() for word in _WORD.findall(text))
    return words - STOP_WORDS or words


def skip_matches(asked: frozenset[str], item: frozenset[str]) -> bool:
    """Tell whether all the words of a skip's item stand in what is asked, or all those asked in the item."""
    return bool(asked) and bool(item) and (item <= asked or asked <= item)
