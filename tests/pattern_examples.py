"""Short texts that lead to each place of a pattern at which it repeats something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests import steps

__all__ = ["beginnings_of_repeats"]

_c, _parser = steps._c, steps._parser
_REPEATS = (_c.MAX_REPEAT, _c.MIN_REPEAT, _c.POSSESSIVE_REPEAT)


def beginnings_of_repeats(pattern: re.Pattern[str]) -> set[str]:
    """Return for each repeat of a pattern a text that leads to it."""
    return set(_beginnings(_parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)))


def _example(nodes: Any) -> str:  # noqa: ANN401 - the parser's
    """Return a short text that a part of a pattern matches, but for its assertions."""
    return "".join(_example_of(operation, argument) for operation, argument in nodes)


def _example_of(operation: Any, argument: Any) -> str:  # noqa: ANN401, PLR0911 - the parser's, one of each
    if operation is _c.SUBPATTERN:
        return _example(argument[3])
    if operation is _c.ATOMIC_GROUP:
        return _example(argument)
    if operation is _c.BRANCH:
        return _example(argument[1][0])
    if operation in _REPEATS:
        return _example(argument[2]) * int(argument[0])
    if operation not in steps._CHARACTERS:
        return ""
    if operation is _c.LITERAL:
        return chr(argument)
    if operation is not _c.IN:
        return "a"
    named = [chr(one if kind is _c.LITERAL else one[0]) for kind, one in argument if kind in (_c.LITERAL, _c.RANGE)]
    state = _parser.State()
    state.flags = 0
    matches = steps._compiler.compile(_parser.SubPattern(state, [(operation, argument)]), 0).match
    fitting: str = next(char for char in (*" a1-.é", *named) if matches(char))
    return fitting


def _beginnings(nodes: Any, before: str = "") -> Iterator[str]:  # noqa: ANN401 - the parser's
    """Yield for each repeat of a pattern a text that leads to it."""
    for operation, argument in nodes:
        if operation in _REPEATS:
            if argument[1] > 1:
                yield before
            yield from _beginnings(argument[2], before)
        elif operation is _c.SUBPATTERN:
            yield from _beginnings(argument[3], before)
        elif operation is _c.BRANCH:
            for branch in argument[1]:
                yield from _beginnings(branch, before)
        before += _example_of(operation, argument)
