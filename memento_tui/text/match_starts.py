"""Find the matches of a pattern by trying it only where one can begin.

A regular expression that begins with a choice of words is tried at every place of a text. Where the words stand is
found much faster. They are read from the pattern itself, so they cannot differ from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from re import _constants  # type: ignore[attr-defined]  # the parser of `re` itself has no public name
from typing import Any, NamedTuple

from memento_tui.text.literals import Literals, parsed_pattern, small_class

__all__ = ["StartedPattern", "find_matches", "match_starts"]

_MAX_STARTS = 64
"""Starts of one pattern."""
_MOST_SINGLE = 1
"""Starts of one character among them: such a one stands in nearly every word."""

_NOTHING: frozenset[str] = frozenset({""})
_NO_STRINGS: frozenset[str] = frozenset()
_WITHOUT_WIDTH = frozenset({_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT})


class _Heads(NamedTuple):
    """The texts that match a part of a pattern, or the beginnings of such texts."""

    whole: frozenset[str]
    """Matches that are spelled out to their end."""
    begun: frozenset[str]
    """The beginnings of all other matches."""


_ANYTHING = _Heads(_NO_STRINGS, _NOTHING)


def match_starts(source: str, flags: int) -> tuple[str, ...]:
    """Return strings with one of which each match begins, so that none of them begins another.

    There are none where they are not known, or too many.
    """
    heads = _sequence(parsed_pattern(source, flags))
    starts: list[str] = []
    for start in sorted(heads.whole | heads.begun, key=len):
        if not start.startswith(tuple(starts)):
            starts.append(start)
    return () if "" in starts or sum(len(start) == 1 for start in starts) > _MOST_SINGLE else tuple(starts)


def _sequence(items: Iterable[tuple[Any, Any]]) -> _Heads:
    whole, begun = _NOTHING, _NO_STRINGS
    for code, value in items:
        if code in _WITHOUT_WIDTH:
            continue
        next_whole, next_begun = _part(code, value)
        if len(whole) * (len(next_whole) + len(next_begun)) + len(begun) > _MAX_STARTS:
            return _Heads(_NO_STRINGS, begun | (_shortened(next_whole | next_begun) if whole == _NOTHING else whole))
        begun |= frozenset([before + after for before in whole for after in next_begun])
        whole = frozenset([before + after for before in whole for after in next_whole])
        if not whole:
            break
    return _Heads(whole, begun)


def _shortened(strings: frozenset[str]) -> frozenset[str]:
    """Return what the strings begin with, in as many characters as leave few enough of them."""
    length = max(map(len, strings))
    while len(strings) > _MAX_STARTS and length:
        length -= 1
        strings = frozenset([string[:length] for string in strings])
    return strings


def _part(code: Any, value: Any) -> _Heads:  # noqa: ANN401, PLR0911 - the parser's own tree; a line for each kind
    match code:
        case _constants.LITERAL:
            return _Heads(frozenset({chr(value)}), _NO_STRINGS)
        case _constants.IN:
            members = small_class(value)
            return _ANYTHING if members is None else _Heads(members, _NO_STRINGS)
        case _constants.SUBPATTERN:
            return _ANYTHING if value[1] & re.IGNORECASE else _sequence(value[3])
        case _constants.ATOMIC_GROUP:
            return _sequence(value)
        case _constants.BRANCH:
            ways = [_sequence(branch) for branch in value[1]]
            return _Heads(
                _NO_STRINGS.union(*(way.whole for way in ways)), _NO_STRINGS.union(*(way.begun for way in ways))
            )
        case _constants.MAX_REPEAT | _constants.MIN_REPEAT | _constants.POSSESSIVE_REPEAT:
            return _repeat(*value)
        case _:
            return _ANYTHING


def _repeat(least: int, most: int, items: Iterable[tuple[Any, Any]]) -> _Heads:
    once = _sequence(items)
    if most == 1:
        return once if least else _Heads(once.whole | _NOTHING, once.begun)
    return _Heads(_NO_STRINGS if least else _NOTHING, once.whole | once.begun)


def find_matches(
    pattern: re.Pattern[str], starts: Sequence[str], text: str, places: Mapping[str, Sequence[int]]
) -> Iterator[re.Match[str]]:
    """Yield what ``finditer`` of a pattern yields for a text, trying it only where one of its starts stands.

    ``places`` says where each of them stands that the text holds. A pattern without starts is tried everywhere.
    """
    if not starts:
        yield from pattern.finditer(text)
        return
    end = 0
    for place in sorted([place for start in starts if start in places for place in places[start]]):
        if place >= end and (match := pattern.match(text, place)) is not None:
            yield match
            end = match.end()


class StartedPattern:
    """A pattern that is tried only where its matches can begin; what they begin with is read at the first use."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """The strings that matches begin with, in lower case if the pattern is blind to case.

        There is nothing where it may be anything, or always a sign, which the regular expressions' engine looks for as
        fast.
        """
        blind = self.pattern.flags & re.IGNORECASE
        starts = match_starts(self.pattern.pattern, self.pattern.flags & ~re.IGNORECASE)
        if not any(start[0].isalpha() for start in starts):
            return ()
        return tuple({start.lower() for start in starts}) if blind else starts

    @cached_property
    def _sought(self) -> Literals:
        sought = Literals()
        sought.add(*self.starts)
        return sought

    def finditer(self, text: str, read: str | None = None) -> Iterator[re.Match[str]]:
        """Yield what ``finditer`` of the pattern yields for a text.

        A pattern that is blind to case needs ``read``, the text in lower case, as long as the text.
        """
        places = self._sought.places_in(text if read is None else read) if self.starts else {}
        return find_matches(self.pattern, self.starts, text, places)
