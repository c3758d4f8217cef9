"""Find literals in a text in one pass, and by them which patterns may match it and where each can begin.

What a match cannot do without is read from the pattern itself, so it cannot differ from it. A regular expression that
begins with a choice of words is tried at every place of a text; where the words stand is found much faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]  # the parser of `re` itself has no public name
from typing import Any, NamedTuple

import ahocorasick

__all__ = [
    "Literals",
    "PatternFilter",
    "StartedPattern",
    "Way",
    "find_matches",
    "match_starts",
    "required_by_all",
    "required_literals",
]


class Literals:
    """Literals that are looked for together, such as those that the matches of many rules need.

    Each user adds its own and then asks what a text holds: the users of one text share one pass over it.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._automaton: ahocorasick.Automaton | None = None
        self._last: tuple[str, frozenset[str]] = ("", frozenset())
        self._longest_known: int | None = None

    def add(self, *literals: str) -> frozenset[str]:
        """Let literals be looked for, and return them as a set; none may be empty."""
        added = frozenset(literals)
        self._known |= added
        self._automaton = None
        self._last = ("", frozenset())
        self._longest_known = None
        return added

    def held_in(self, text: str) -> frozenset[str]:
        """Return the literals that stand in a text, letter for letter. Asked again about the same text, it knows.

        At least one literal must have been added.
        """
        last, held = self._last
        if last != text:
            held = frozenset([literal for _end, literal in (self._automaton or self._made()).iter(text)])
            self._last = (text, held)
        return held

    def held_across(self, first: str, second: str) -> frozenset[str]:
        """Return the literals that stand where one text meets another, with a space between; some of each beside them.

        At least one literal must have been added.
        """
        longest = self._longest()
        seam = f"{first[-longest:]} {second[:longest]}"
        return frozenset([literal for _end, literal in (self._automaton or self._made()).iter(seam)])

    def _longest(self) -> int:
        if self._longest_known is None:
            self._longest_known = max(map(len, self._known))
        return self._longest_known

    def places_in(self, text: str) -> dict[str, list[int]]:
        """Return where each literal begins that stands in a text. At least one literal must have been added."""
        places: dict[str, list[int]] = {}
        for end, literal in (self._automaton or self._made()).iter(text):
            places.setdefault(literal, []).append(end + 1 - len(literal))
        return places

    def _made(self) -> ahocorasick.Automaton:
        """Return the automaton of all literals, made anew: a thousand of them take a third of a millisecond."""
        automaton = ahocorasick.Automaton()
        for literal in self._known:
            automaton.add_word(literal, literal)
        automaton.make_automaton()
        self._automaton = automaton
        return automaton


_MAX_STRINGS = 128
"""Strings that one part of a pattern may stand for and is still spelled out."""
_MIN_BYTES = 3
"""UTF-8 bytes of a literal that says something: three letters of English, one sign of Chinese."""
_MAX_CLASS = 8
"""Characters of a class that are spelled out, as in ``[cs]``."""

_Clause = frozenset[str]
"""Literals of which a text holds one."""
Way = tuple[_Clause, ...]
"""One way in which a pattern can match: of each set the text holds a literal. Without a set it can match any text."""
_NOTHING: frozenset[str] = frozenset({""})
_WITHOUT_WIDTH = frozenset({_constants.AT, _constants.ASSERT_NOT})


class _Needs(NamedTuple):
    """The literals that every match of a part of a pattern holds."""

    exact: frozenset[str] | None
    """All strings that the part can match, where they are few."""
    clauses: tuple[_Clause, ...] = ()


_ANYTHING = _Needs(None)


def required_literals(source: str, flags: int) -> list[Way]:
    """Return the ways in which a pattern can match. Of one that is blind to case nothing is known."""
    return [_way([_sequence(items)]) for items in _alternatives(parsed_pattern(source, flags))]


def required_by_all(sources: Iterable[str], flags: int) -> list[Way]:
    """Return the one way in which several patterns can match together."""
    return [_way([_sequence(parsed_pattern(source, flags)) for source in sources])]


@lru_cache(maxsize=1)
def parsed_pattern(source: str, flags: int) -> Sequence[tuple[Any, Any]]:
    """Return the parts of a pattern as the parser of `re` has them; nothing of one that is blind to case.

    It is kept until another is asked for: more than one thing is read from the same pattern.
    """
    parsed = _parser.parse(source, flags)
    return () if parsed.state.flags & re.IGNORECASE else tuple(parsed)


def _way(parts: Iterable[_Needs]) -> Way:
    clauses = (clause for part in parts for clause in _clauses(part))
    return tuple(dict.fromkeys(clauses))


def _alternatives(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield the alternatives of a pattern, each with the common beginning that the parser put before the choice."""
    if items and items[-1][0] is _constants.BRANCH:
        for branch in items[-1][1][1]:
            yield [*items[:-1], *branch]
    else:
        yield items


def _clauses(needs: _Needs) -> Sequence[_Clause]:
    return needs.clauses if needs.exact is None else _as_clauses(needs.exact)


def _sequence(items: Iterable[tuple[Any, Any]]) -> _Needs:
    """Return the needs of a sequence of parts; strings that follow each other are joined."""
    clauses: list[_Clause] = []
    strings, run, is_exact = _NOTHING, "", True
    for code, value in items:
        if code is _constants.LITERAL:
            run += chr(value)
            continue
        if code in _WITHOUT_WIDTH:
            continue
        if run:
            strings, run = frozenset([before + run for before in strings]), ""
        needs = _part(code, value)
        if (
            needs.exact is not None
            and len(strings) * len(needs.exact) <= _MAX_STRINGS
            and code is not _constants.ASSERT
        ):
            strings = frozenset([before + after for before in strings for after in needs.exact])
            continue
        is_exact = False
        clauses += (*_as_clauses(strings), *needs.clauses)
        strings = _NOTHING if needs.exact is None else needs.exact
    if run:
        strings = frozenset([before + run for before in strings])
    return _Needs(strings) if is_exact else _Needs(None, (*clauses, *_as_clauses(strings)))


def _part(code: Any, value: Any) -> _Needs:  # noqa: ANN401, PLR0911 - the parser's own tree; a line for each kind
    match code:
        case _constants.IN:
            return _Needs(small_class(value))
        case _constants.SUBPATTERN:
            return _ANYTHING if value[1] & re.IGNORECASE else _sequence(value[3])
        case _constants.ATOMIC_GROUP:
            return _sequence(value)
        case _constants.BRANCH:
            return _branch([_sequence(branch) for branch in value[1]])
        case _constants.MAX_REPEAT | _constants.MIN_REPEAT | _constants.POSSESSIVE_REPEAT:
            return _repeat(*value)
        case _constants.ASSERT:
            # What stands before is in the text, and what follows is joined to it.
            return _sequence(value[1]) if value[0] < 0 else _Needs(_NOTHING)
        case _:
            return _ANYTHING


def small_class(members: Sequence[tuple[Any, Any]]) -> frozenset[str] | None:
    """Return the characters of a class of the parser's tree, ``None`` where they are too many to spell out."""
    chars: set[str] = set()
    for code, value in members:
        if code is _constants.LITERAL:
            chars.add(chr(value))
        elif code is _constants.RANGE and value[1] - value[0] < _MAX_CLASS:
            chars.update(map(chr, range(value[0], value[1] + 1)))
        else:
            return None
    return frozenset(chars) if len(chars) <= _MAX_CLASS else None


def _repeat(least: int, most: int, items: Iterable[tuple[Any, Any]]) -> _Needs:
    needs = _sequence(items)
    if needs.exact is None:
        return needs if least else _ANYTHING
    if least == most == 1:
        return needs
    if most == 1:
        return _Needs(needs.exact | _NOTHING)
    return _Needs(None, tuple(_as_clauses(needs.exact))) if least else _ANYTHING


def _branch(ways: list[_Needs]) -> _Needs:
    exact: set[str] = set()
    for way in ways:
        if way.exact is None or len(exact) > _MAX_STRINGS:
            break
        exact |= way.exact
    else:
        return _Needs(frozenset(exact))
    best = [max(_clauses(way), key=_worth, default=None) for way in ways]
    if any(clause is None for clause in best):
        return _ANYTHING
    return _Needs(None, tuple(_as_clauses(frozenset().union(*(clause for clause in best if clause is not None)))))


def _as_clauses(strings: frozenset[str]) -> list[_Clause]:
    """Return the set that says as much with the fewest strings; none where one of them says too little."""
    if min(len(string.encode("utf-8", "surrogatepass")) for string in strings) < _MIN_BYTES:
        return []
    kept: list[str] = []
    for string in sorted(strings, key=len):
        if not any(shorter in string for shorter in kept):
            kept.append(string)
    return [frozenset(kept)]


def _worth(clause: _Clause) -> tuple[int, int]:
    return min(len(string.encode("utf-8", "surrogatepass")) for string in clause), -len(clause)


class PatternFilter:
    """Finds the patterns, by their number, that may match a text: of one of their ways it holds all that it needs."""

    def __init__(self, patterns: Iterable[Iterable[Way]], literals: Literals) -> None:
        """Add what the patterns need to ``literals``, which are looked for in each text."""
        self._always: list[int] = []
        self._clauses_of: dict[str, int] = {}
        self._ways_of: dict[str, list[tuple[int, int]]] = {}
        bits: dict[_Clause, int] = {}
        for number, ways in enumerate(patterns):
            for clauses in ways:
                if not clauses:
                    self._always.append(number)
                    continue
                mask = 0
                for clause in clauses:
                    mask |= bits.setdefault(clause, 1 << len(bits))
                for literal in max(clauses, key=_worth):
                    self._ways_of.setdefault(literal, []).append((number, mask))
        for clause, bit in bits.items():
            for literal in clause:
                self._clauses_of[literal] = self._clauses_of.get(literal, 0) | bit
        literals.add(*self._clauses_of)

    def candidates(self, held: Iterable[str]) -> list[int]:
        """Return the numbers of the patterns that may match a text which holds these of the literals, in order."""
        ours = [literal for literal in held if literal in self._clauses_of]
        met = 0
        for literal in ours:
            met |= self._clauses_of[literal]
        found = set(self._always)
        for literal in ours:
            found.update(number for number, mask in self._ways_of.get(literal, ()) if met & mask == mask)
        return sorted(found)


_MAX_STARTS = 64
"""Starts of one pattern."""
_MOST_SINGLE = 1
"""Starts of one character among them: such a one stands in nearly every word."""

_EMPTY_HEAD: frozenset[str] = frozenset({""})
_NO_STRINGS: frozenset[str] = frozenset()
_WITHOUT_HEAD = frozenset({_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT})


class _Heads(NamedTuple):
    """The texts that match a part of a pattern, or the beginnings of such texts."""

    whole: frozenset[str]
    """Matches that are spelled out to their end."""
    begun: frozenset[str]
    """The beginnings of all other matches."""


_ANY_HEAD = _Heads(_NO_STRINGS, _EMPTY_HEAD)


def match_starts(source: str, flags: int) -> tuple[str, ...]:
    """Return strings with one of which each match begins, so that none of them begins another.

    There are none where they are not known, or too many.
    """
    heads = _heads_of_sequence(parsed_pattern(source, flags))
    starts: list[str] = []
    for start in sorted(heads.whole | heads.begun, key=len):
        if not start.startswith(tuple(starts)):
            starts.append(start)
    return () if "" in starts or sum(len(start) == 1 for start in starts) > _MOST_SINGLE else tuple(starts)


def _heads_of_sequence(items: Iterable[tuple[Any, Any]]) -> _Heads:
    whole, begun = _EMPTY_HEAD, _NO_STRINGS
    for code, value in items:
        if code in _WITHOUT_HEAD:
            continue
        next_whole, next_begun = _heads_of_part(code, value)
        if len(whole) * (len(next_whole) + len(next_begun)) + len(begun) > _MAX_STARTS:
            return _Heads(_NO_STRINGS, begun | (_shortened(next_whole | next_begun) if whole == _EMPTY_HEAD else whole))
        begun |= frozenset([before + after for before in whole for after in next_begun])
        whole = frozenset([before + after for before in whole for after in next_whole])
        if not whole:
            break
    return _Heads(whole, begun)


def _shortened(strings: frozenset[str]) -> frozenset[str]:
    """Return the beginnings of the strings, cut to as many characters as leave few enough of them."""
    length = max(map(len, strings))
    while len(strings) > _MAX_STARTS and length:
        length -= 1
        strings = frozenset([string[:length] for string in strings])
    return strings


def _heads_of_part(code: Any, value: Any) -> _Heads:  # noqa: ANN401, PLR0911 - the parser's own tree; a line for each kind
    match code:
        case _constants.LITERAL:
            return _Heads(frozenset({chr(value)}), _NO_STRINGS)
        case _constants.IN:
            members = small_class(value)
            return _ANY_HEAD if members is None else _Heads(members, _NO_STRINGS)
        case _constants.SUBPATTERN:
            return _ANY_HEAD if value[1] & re.IGNORECASE else _heads_of_sequence(value[3])
        case _constants.ATOMIC_GROUP:
            return _heads_of_sequence(value)
        case _constants.BRANCH:
            ways = [_heads_of_sequence(branch) for branch in value[1]]
            return _Heads(
                _NO_STRINGS.union(*(way.whole for way in ways)), _NO_STRINGS.union(*(way.begun for way in ways))
            )
        case _constants.MAX_REPEAT | _constants.MIN_REPEAT | _constants.POSSESSIVE_REPEAT:
            return _heads_of_repeat(*value)
        case _:
            return _ANY_HEAD


def _heads_of_repeat(least: int, most: int, items: Iterable[tuple[Any, Any]]) -> _Heads:
    once = _heads_of_sequence(items)
    if most == 1:
        return once if least else _Heads(once.whole | _EMPTY_HEAD, once.begun)
    return _Heads(_NO_STRINGS if least else _EMPTY_HEAD, once.whole | once.begun)


def find_matches(
    pattern: re.Pattern[str], starts: Sequence[str], text: str, places: Mapping[str, Sequence[int]]
) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern in a text as ``finditer`` does, trying it only where one of its starts stands.

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
    """A pattern that is tried only where its matches can begin; those starts are read at its first use."""

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
        """Yield the matches of the pattern in a text as ``finditer`` does.

        A pattern that is blind to case needs ``read``, the text in lower case, as long as the text.
        """
        places = self._sought.places_in(text if read is None else read) if self.starts else {}
        return find_matches(self.pattern, self.starts, text, places)
