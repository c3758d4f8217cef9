"""Part texts into statements, and tell which of them another text makes too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from memento_tui.text.lexicon import count_negations
from memento_tui.text.sentences import sentences
from memento_tui.text.terms import STOP_WORDS, terms

__all__ = ["TextStatement", "missing_statements", "statements"]

_MOST_CHARACTERS = 20_000
"""Characters of a text that are read; a longer one is read up to there."""

_EXACT = re.compile(r"[\w./:-]*(?:\d|\w[._/]\w)[\w./:-]*")
"""A number, version, path or name with a mark in it: `terms` parts them, and a part of a path is another path."""

_WORDS = re.compile(r"\w")


class TextStatement(msgspec.Struct, frozen=True):
    """A sentence of a text, or a line outside its prose: a heading, a command, a row of a table."""

    text: str
    words: frozenset[str]
    """The stems of its words, without the words of grammar."""
    exact: frozenset[str]
    """Its numbers, versions, paths and names with marks in them, as they are written."""
    negations: int

    def is_made_by(self, other: TextStatement) -> bool:
        """Tell whether another statement says all that this one says."""
        return (
            bool(self.words or self.exact)
            and self.words <= other.words
            and self.exact <= other.exact
            and self.negations == other.negations
        )


@lru_cache(maxsize=512)
def statements(text: str) -> tuple[TextStatement, ...]:
    """Return the statements of a text in their order."""
    return tuple(map(_statement, _parts(text[:_MOST_CHARACTERS])))


def _parts(text: str) -> Iterator[str]:
    reached = 0
    for start, end in [*sentences(text), (len(text), len(text))]:
        for line in text[reached:start].splitlines():
            # What stands between two sentences is mostly the marks of a list.
            if len(_WORDS.findall(line)) > 1:
                yield line.strip()
        if text[start:end].strip():
            yield text[start:end]
        reached = max(reached, end)


def _statement(text: str) -> TextStatement:
    words = frozenset(stem for stem in terms(text) if stem not in STOP_WORDS)
    return TextStatement(
        text, words, frozenset(found.strip("./:-") for found in _EXACT.findall(text.casefold())), count_negations(text)
    )


def missing_statements(text: str, other: str) -> Sequence[TextStatement]:
    """Return the statements of a text that another text does not make."""
    there = statements(other)
    return [one for one in statements(text) if not any(one.is_made_by(candidate) for candidate in there)]
