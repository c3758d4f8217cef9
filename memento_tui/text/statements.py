"""Part texts into statements, and tell which of them another text makes too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from memento_tui.text.lexicon import count_negations
from memento_tui.text.markdown import code_spans
from memento_tui.text.sentences import sentences
from memento_tui.text.terms import STOP_WORDS, compared_terms

__all__ = ["TextStatement", "missing_statements", "statements"]

_MOST_CHARACTERS = 20_000
"""Characters of a text that are read; a longer one is read up to there."""

_MARKED_WORD = re.compile(r"[\w./:-]+")
_EXACT = re.compile(r"\d|\w[._/]\w")
"""What makes a word exact: a number, version, path or name with a mark in it. `terms` parts them, and a part of a path
is another path."""

_WORDS = re.compile(r"\w")
_UNMARKED = re.compile(r"[^\s`]+")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_BEFORE_A_COMMAND = re.compile(r"^[^\w$./~-]+")
"""The signs before the words of a line of code: spaces, and the lines that draw a tree."""


class TextStatement(msgspec.Struct, frozen=True):
    """A sentence of a text, or a line outside its prose: a heading, a command, a row of a table."""

    text: str
    words: frozenset[str]
    """The stems of its words, without the words of grammar."""
    exact: frozenset[str]
    """Its numbers, versions, paths and names with marks in them, as they are written."""
    negations: int
    commands: frozenset[str] = frozenset()
    """Its pieces of code of several words. *just test* and *make test* differ in a word of grammar alone."""
    is_code: bool = False
    """Whether it is a line of fenced code, which with more words is another command."""

    def is_made_by(self, other: TextStatement) -> bool:
        """Tell whether another statement says all that this one, which has words, says."""
        return (
            self.words <= other.words
            and self.exact <= other.exact
            and self.negations == other.negations
            and self._commands_stand_in(other)
        )

    def _commands_stand_in(self, other: TextStatement) -> bool:
        if self.is_code:
            return self.commands <= other.commands
        return not self.commands or all(f" {command} " in other.plain for command in self.commands)

    @property
    def plain(self) -> str:
        """The words and the marks in them, between single spaces, without the marks of code."""
        return f" {' '.join(_UNMARKED.findall(self.text))} "


@lru_cache(maxsize=512)
def statements(text: str) -> tuple[TextStatement, ...]:
    """Return the statements of a text in their order."""
    return tuple(_statement(part, is_code=is_code) for part, is_code in _parts(text[:_MOST_CHARACTERS]))


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each part of a text, and whether it is a line of fenced code."""
    reached, fenced = 0, False
    for start, end in [*sentences(text), (len(text), len(text))]:
        for line in text[reached:start].splitlines():
            if _FENCE.match(line):
                fenced = not fenced
            # What stands between two sentences is mostly the marks of a list.
            if len(_WORDS.findall(line)) > 1:
                yield line.strip(), fenced and not line.lstrip().startswith("#")
        if text[start:end].strip():
            yield text[start:end], False
        reached = max(reached, end)


def _statement(text: str, *, is_code: bool = False) -> TextStatement:
    words = frozenset(stem for stem in compared_terms(text) if stem not in STOP_WORDS)
    marked = _MARKED_WORD.findall(text.casefold())
    exact = frozenset(word.strip("./:-") for word in marked if _EXACT.search(word))
    return TextStatement(
        text, words, exact, count_negations(text), frozenset(_commands(text, is_code=is_code)), is_code
    )


def _commands(text: str, *, is_code: bool) -> Iterator[str]:
    if is_code:
        yield " ".join(_BEFORE_A_COMMAND.sub("", text).split())
        return
    for start, end in code_spans(text, 0, len(text)) if "`" in text else ():
        command = " ".join(_UNMARKED.findall(text[start:end]))
        if " " in command:
            yield command


class _Made:
    """The statements of a text, by what they say."""

    def __init__(self, text: str) -> None:
        self._plain: set[str] = set()
        self._by_part: dict[str, list[TextStatement]] = {}
        for one in statements(text):
            self._plain.add(one.plain)
            for part in one.words | one.exact:
                self._by_part.setdefault(part, []).append(one)

    def holds(self, statement: TextStatement) -> bool:
        """Tell whether one of them says all of a statement; only those with its rarest word are looked at."""
        parts = [self._by_part.get(part, []) for part in statement.words | statement.exact]
        if not parts:  # words of grammar alone
            return statement.plain in self._plain
        return any(statement.is_made_by(one) for one in min(parts, key=len))


def missing_statements(text: str, other: str) -> Sequence[TextStatement]:
    """Return the statements of a text that another text does not make, and the lines of its unread end not in there."""
    made = _Made(other)
    missing = [one for one in statements(text) if not made.holds(one)]
    if len(text) > _MOST_CHARACTERS:
        lines = {line.strip() for line in other.splitlines()}
        end = text[text.rfind("\n", 0, _MOST_CHARACTERS) + 1 :].splitlines()
        missing += [_statement(line.strip()) for line in end if _WORDS.search(line) and line.strip() not in lines]
    return missing
