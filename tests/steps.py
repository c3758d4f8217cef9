"""How much work grows with its input, shown by counting its steps: the same on every machine, however busy.

A step is a line of Python that is run, or a place of a text at which a part of a regular expression is tried. The
latter run in C, where nothing counts: `_Counting` walks the same patterns over the same texts again, in Python, and
checks that it comes to the same result. Work in C besides, such as looking for one text in another, is not counted.
"""

from __future__ import annotations

import copy
import dataclasses
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache, cached_property, partial
from types import FrameType, ModuleType
from typing import Any, cast

import pytest

from memento_tui.text.literals import StartedPattern

__all__ = ["count_steps", "grows_in_proportion"]

# The parser's own tree of a pattern: there is no public one.
_parser: Any = re._parser  # type: ignore[attr-defined]
_compiler: Any = re._compiler  # type: ignore[attr-defined]
_c: Any = re._constants  # type: ignore[attr-defined]
_CHARACTERS = (_c.LITERAL, _c.NOT_LITERAL, _c.ANY, _c.IN)

_MOST_GROWTH = 2.2
"""Times the steps for twice the text; four times is what a square makes of it, and 2.04 the most that is seen."""

_FEW_STEPS = 1_500
"""Steps that do not depend on the text, or stand for a beginning that is dearer than the rest."""

_Next = Callable[[int], "int | None"]
_Part = Callable[[int, _Next], "int | None"]
_Matches = Callable[[str, int, int], "re.Match[str] | None"]


class _Tally:
    """The steps so far."""

    def __init__(self) -> None:
        self.steps = 0


class _Walk:
    """One pattern as a function that tries it at a place of a text, counting."""

    def __init__(self, pattern: re.Pattern[str], tally: _Tally) -> None:
        self._tally = tally
        tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        self._state = tree.state
        self._text = ""
        self._end = 0
        self._groups: dict[int, tuple[int, int]] = {}
        begins = len(tree) > 0 and tree[0][0] in _CHARACTERS
        self._first = self._single(tree[0][0], tree[0][1], tree.state.flags) if begins else None
        self._whole = self._sequence(tree, tree.state.flags)

    def span(self, text: str, pos: int, end: int, *, search: bool, whole: bool) -> tuple[int, int] | None:
        """Return where the pattern matches first, or ``None``."""
        self._text, self._end = text, end
        for start in self._starts(pos) if search else (pos,):
            self._groups = {}
            stop = self._whole(start, lambda at: at if not whole or at == end else None)
            if stop is not None:
                return start, stop
        return None

    def _starts(self, pos: int) -> Iterator[int]:
        """Yield where the pattern is tried; where its first character is another one, that is a step and all."""
        if self._first is None:
            yield from range(pos, self._end + 1)
            return
        while found := self._first.search(self._text, pos, self._end):
            self._tally.steps += found.start() - pos
            yield found.start()
            pos = found.end()
        self._tally.steps += max(self._end + 1 - pos, 0)

    def _sequence(self, nodes: Any, flags: int) -> _Part:  # noqa: ANN401 - the parser's
        parts = [self._part_or_place(operation, argument, flags) for operation, argument in nodes]
        count = len(parts)

        def run(pos: int, then: _Next, at: int = 0) -> int | None:
            # Nearly all parts are characters: they need neither a call nor what is to be done after them.
            while at < count:
                self._tally.steps += 1
                part = parts[at]
                if not isinstance(part, tuple):
                    return part(pos, partial(run, then=then, at=at + 1))
                matches, width = part
                at += 1
                if not matches(self._text, pos, self._end):
                    return None
                pos += width
            return then(pos)

        return run

    def _part_or_place(self, operation: Any, argument: Any, flags: int) -> _Part | tuple[_Matches, int]:  # noqa: ANN401 - the parser's
        """Return a part; for a character or a place, what matches it and its width."""
        if operation in _CHARACTERS:
            return self._single(operation, argument, flags).match, 1
        if operation is _c.AT:
            return self._single(operation, argument, flags).match, 0
        return self._part(operation, argument, flags)

    def _part(self, operation: Any, argument: Any, flags: int) -> _Part:  # noqa: ANN401 - one of each
        if operation is _c.BRANCH:
            return self._branches(argument[1], flags)
        if operation is _c.SUBPATTERN:
            number, added, removed, inner = argument
            return self._group(number, self._sequence(inner, (flags | added) & ~removed))
        if operation is _c.ATOMIC_GROUP:
            return _atomic(self._sequence(argument, flags))
        if operation in (_c.MAX_REPEAT, _c.MIN_REPEAT, _c.POSSESSIVE_REPEAT):
            return self._repeat(operation, argument, flags)
        if operation in (_c.ASSERT, _c.ASSERT_NOT):
            return self._look(argument, flags, wanted=operation is _c.ASSERT)
        if operation is _c.GROUPREF:
            return lambda pos, then: self._reference(argument, pos, then)
        raise NotImplementedError(str(operation))

    def _branches(self, branches: list[Any], flags: int) -> _Part:
        parts = [self._sequence(branch, flags) for branch in branches]
        first = [
            self._single(branch[0][0], branch[0][1], flags) if len(branch) and branch[0][0] in _CHARACTERS else None
            for branch in branches
        ]

        @cache
        def may_begin(character: str) -> list[int]:
            return [number for number, single in enumerate(first) if single is None or single.match(character)]

        def run(pos: int, then: _Next) -> int | None:
            at = 0
            # A branch whose first character is another one takes one step, and needs no call.
            for number in may_begin(self._text[pos] if pos < self._end else ""):
                self._tally.steps += number - at
                if (found := parts[number](pos, then)) is not None:
                    return found
                at = number + 1
            self._tally.steps += len(parts) - at
            return None

        return run

    def _single(self, operation: Any, argument: Any, flags: int) -> re.Pattern[str]:  # noqa: ANN401 - the parser's
        node = _parser.SubPattern(self._state, [(operation, argument)])
        was, self._state.flags = self._state.flags, flags
        try:
            return cast("re.Pattern[str]", _compiler.compile(node, flags))
        finally:
            self._state.flags = was

    def _group(self, number: int | None, inner: _Part) -> _Part:
        def run(pos: int, then: _Next) -> int | None:
            def ended(at: int) -> int | None:
                if number is None:
                    return then(at)
                was = self._groups.get(number)
                self._groups[number] = (pos, at)
                result = then(at)
                if result is None:
                    if was is None:
                        del self._groups[number]
                    else:
                        self._groups[number] = was
                return result

            return inner(pos, ended)

        return run

    def _reference(self, number: int, pos: int, then: _Next) -> int | None:
        if number not in self._groups:
            return None
        start, stop = self._groups[number]
        found = self._text[start:stop]
        self._tally.steps += len(found)
        return then(pos + len(found)) if self._text.startswith(found, pos) else None

    def _look(self, argument: Any, flags: int, *, wanted: bool) -> _Part:  # noqa: ANN401 - the parser's
        direction, inner = argument
        part = self._sequence(inner, flags)
        back = inner.getwidth()[0] if direction < 0 else 0

        def run(pos: int, then: _Next) -> int | None:
            is_there = pos >= back and part(pos - back, lambda at: at) is not None
            return then(pos) if is_there == wanted else None

        return run

    def _repeat(self, operation: Any, argument: Any, flags: int) -> _Part:  # noqa: ANN401 - the parser's
        fewest, most, inner = argument
        kind, node = inner[0] if len(inner) == 1 else (None, None)
        if kind in _CHARACTERS:
            run_of_them = self._single(_c.MAX_REPEAT, (0, most, inner), flags)
            return self._run_of_characters(operation, fewest, most, self._single(kind, node, flags), run_of_them)
        part = self._sequence(inner, flags)
        is_lazy = operation is _c.MIN_REPEAT

        def run(pos: int, then: _Next, count: int = 0) -> int | None:
            self._tally.steps += 1
            if is_lazy and count >= fewest and (found := then(pos)) is not None:
                return found
            if count < most:
                found = part(pos, lambda at: run(at, then, count + 1) if at != pos or count < fewest else None)
                if found is not None:
                    return found
            return None if is_lazy or count < fewest else then(pos)

        return _atomic(run) if operation is _c.POSSESSIVE_REPEAT else run

    def _run_of_characters(
        self,
        operation: Any,  # noqa: ANN401 - the parser's
        fewest: int,
        most: int,
        single: re.Pattern[str],
        run_of_them: re.Pattern[str],
    ) -> _Part:
        def lazily(pos: int, then: _Next) -> int | None:
            at = pos
            while at - pos <= most:
                self._tally.steps += 1
                if at - pos >= fewest and (found := then(at)) is not None:
                    return found
                if not single.match(self._text, at, self._end):
                    return None
                at += 1
            return None

        def greedily(pos: int, then: _Next) -> int | None:
            all_of_them = run_of_them.match(self._text, pos, self._end)
            at = all_of_them.end() if all_of_them else pos
            self._tally.steps += at - pos + 1
            if operation is _c.POSSESSIVE_REPEAT:
                return then(at) if at - pos >= fewest else None
            while at - pos >= fewest:
                self._tally.steps += 1
                if (found := then(at)) is not None:
                    return found
                at -= 1
            return None

        return lazily if operation is _c.MIN_REPEAT else greedily


def _atomic(part: _Part) -> _Part:
    def run(pos: int, then: _Next) -> int | None:
        at = part(pos, lambda stop: stop)
        return None if at is None else then(at)

    return run


class _Counting:
    """A pattern that counts: it answers as the pattern does, after a walk that must come to the same."""

    def __init__(self, pattern: re.Pattern[str], tally: _Tally) -> None:
        self._pattern = pattern
        self._tally = tally

    @cached_property
    def _walk(self) -> _Walk:
        return _Walk(self._pattern, self._tally)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the pattern's own
        return getattr(self._pattern, name)

    def match(self, text: str, pos: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._checked(self._pattern.match(text, pos, end), text, pos, end)

    def fullmatch(self, text: str, pos: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._checked(self._pattern.fullmatch(text, pos, end), text, pos, end, whole=True)

    def search(self, text: str, pos: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._checked(self._pattern.search(text, pos, end), text, pos, end, search=True)

    def finditer(self, text: str, pos: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        at = pos
        for found in self._pattern.finditer(text, pos, end):
            self._walk.span(text, at, min(len(text), end), search=True, whole=False)
            yield found
            at = found.end() + (found.start() == found.end())
        if at <= min(len(text), end):
            self._walk.span(text, at, min(len(text), end), search=True, whole=False)

    def findall(self, text: str) -> list[Any]:
        list(self.finditer(text))
        return self._pattern.findall(text)

    def split(self, text: str, maxsplit: int = 0) -> list[Any]:
        self._walk_all(text, maxsplit)
        return self._pattern.split(text, maxsplit)

    def sub(self, by: Any, text: str, count: int = 0) -> str:  # noqa: ANN401 - a text or a function
        self._walk_all(text, count)
        return self._pattern.sub(by, text, count)

    def subn(self, by: Any, text: str, count: int = 0) -> tuple[str, int]:  # noqa: ANN401 - a text or a function
        self._walk_all(text, count)
        return self._pattern.subn(by, text, count)

    def _walk_all(self, text: str, most: int) -> None:
        for number, _ in enumerate(self.finditer(text), 1):
            if number == most:
                return

    def _checked(
        self,
        found: re.Match[str] | None,
        text: str,
        pos: int,
        end: int,
        *,
        search: bool = False,
        whole: bool = False,
    ) -> re.Match[str] | None:
        span = self._walk.span(text, pos, min(len(text), end), search=search, whole=whole)
        assert span == (found and found.span()), (self._pattern.pattern, span, found)
        return found


def _replaced(value: Any, tally: _Tally, depth: int = 3) -> Any:  # noqa: ANN401, C901, PLR0911 - whatever a module holds
    """Return a value with the patterns in it counting, and those that a cached function makes; else the very value."""
    if isinstance(value, re.Pattern):
        return _Counting(value, tally) if isinstance(value.pattern, str) else value
    if isinstance(value, StartedPattern):
        return StartedPattern(_replaced(value.pattern, tally))
    if hasattr(value, "cache_clear") and value.__annotations__.get("return") in ("re.Pattern[str]", "StartedPattern"):
        return cache(lambda *told: _replaced(value(*told), tally))
    if isinstance(owner := getattr(value, "__self__", None), re.Pattern):
        return getattr(_replaced(owner, tally), value.__name__)
    if not depth:
        return value
    if isinstance(value, dict):
        made = {name: _replaced(item, tally, depth - 1) for name, item in value.items()}
        return made if any(made[name] is not item for name, item in value.items()) else value
    if isinstance(value, (tuple, list)):
        items = [_replaced(item, tally, depth - 1) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        made = _replaced(fields, tally, depth - 1)
        if made is fields:
            return value
        value = copy.copy(value)
        for name, item in made.items():
            object.__setattr__(value, name, item)
    return value


_TALLY = _Tally()


@cache
def _counting_values(module: ModuleType) -> dict[str, Any]:
    """Return the values of a module that hold patterns, with these counting in `_TALLY`."""
    values = {name: value for name, value in vars(module).items() if not name.startswith("__")}
    made = {name: _replaced(value, _TALLY) for name, value in values.items()}
    return {name: value for name, value in made.items() if value is not values[name]}


def _count_tried(work: Callable[[], object]) -> int:
    """Return how often a part of a pattern of memento's, or of Markdown's, is tried while something is done."""
    before = _TALLY.steps
    limit = sys.getrecursionlimit()
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in ("memento_tui", "markdown_it"):
                for variable, made in _counting_values(module).items():
                    patch.setattr(module, variable, made)
        sys.setrecursionlimit(1_000_000)
        try:
            work()
        finally:
            sys.setrecursionlimit(limit)
    return _TALLY.steps - before


def _count_lines(work: Callable[[], object]) -> int:
    """Return how many lines of Python are run while something is done."""
    tally = _Tally()

    def trace(_frame: FrameType, event: str, _argument: object) -> Any:  # noqa: ANN401 - itself
        if event == "line":
            tally.steps += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return tally.steps


def count_steps(work: Callable[[], object], before: Callable[[], object] = lambda: None) -> tuple[int, int]:
    """Return the lines of Python that are run, and the parts of patterns that are tried.

    Nothing is remembered from earlier calls but of ``before``, which is not counted.
    """
    counts = []
    for count in (_count_lines, _count_tried):
        for name, module in list(sys.modules.items()):
            if name.startswith("memento_tui."):
                for kept in _caches(module):
                    kept.cache_clear()
        before()
        counts.append(count(work))
    return counts[0], counts[1]


@cache
def _caches(module: ModuleType) -> list[Any]:
    """Return the caches of a module that hold a few results; one without a limit holds what was loaded once."""
    values = (value for value in vars(module).values() if hasattr(value, "cache_clear"))
    return [value for value in values if value.cache_parameters()["maxsize"] is not None]


def grows_in_proportion(work: Callable[[int], object], size: int) -> None:
    """Check that ``size`` takes about twice the steps of half of it. ``work`` does it all for a size."""
    # What is imported or read the first time is no part of it.
    few, many = (count_steps(partial(work, part), partial(work, size // 4)) for part in (size // 2, size))
    for once, twice in zip(few, many, strict=True):
        assert twice <= _MOST_GROWTH * once + _FEW_STEPS, (few, many)
