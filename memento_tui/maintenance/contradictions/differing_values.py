"""Differences in value: 17 postcards against 25, port 8080 against 9090, Thursday against Friday."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise, takewhile

from memento_tui.maintenance.contradictions.alignment import (
    Difference,
    SentenceInContext,
    SentencePair,
    Span,
    shared_weight,
)
from memento_tui.text.lexicon import CHANGE_CUES, CONDITION_WORDS, OCCASION_WORDS, RUN_OUTCOMES, STATE_CUES
from memento_tui.text.tokens import Token
from memento_tui.text.values import Value, unit_match, values

__all__ = ["VALUE_FEATURES", "differing_values"]

VALUE_FEATURES = (
    "context",  # share of the words around the two values that they have in common
    "shared",  # weight of those words, 1 from 5 up
    "unit",  # whether the same thing is counted
    "names apart",  # names beside each value that the other text does not know
    "state",  # words of a lasting state or a running count beside the values
    "occasion",  # words that tie a value to one day
    "date",  # whether the values are dates
    "same place",  # whether the words right beside the values are the same
    "similarity",  # cosine of the two texts
    "elapsed",  # time between the two texts
)

_ADJACENT_WEIGHT, _DISTANT_WEIGHT = 1.0, 0.5
_WINDOW = 10
_MOST_WORDS_BEFORE_AN_OUTCOME = 2
"""Words between a number and what came of a run: *29 JWT tests passed*."""
_RUN_ITEMS = frozenset({"test", "check", "spec", "case", "assertion"})
"""The stems of what a run counts: *3 failed tests* tells of one, *3 failed logins* of a limit."""
_OBLIGATIONS = frozenset({"must", "should", "shall"})
_SHARED_WEIGHT_SCALE = 5.0
_ROUNDING_TOLERANCE = 0.06
_ROUNDING_WORDS = frozenset(
    {"about", "around", "approximately", "nearly", "almost", "roughly", "over", "than", "least", "~"}
)

_ADDING_WORDS = frozenset({"new", "more", "additional", "another", "further", "extra"})


def differing_values(pair: SentencePair) -> Iterator[Difference]:
    """Yield a difference for every two values of the same dimension that are not equal."""
    ours, theirs = _lasting_values(pair.first), _lasting_values(pair.second)
    if not ours or not theirs or _denies_alone(pair):
        return
    for one in ours:
        for other in theirs:
            unit = unit_match(one, other) or _named_elsewhere(pair, one, other)
            if not unit or _adds(pair.first, one) != _adds(pair.second, other):
                continue
            if not _agree(pair, one, other) and not _is_stated(one, theirs) and not _is_stated(other, ours):
                yield _difference(pair, one, other, unit)


def _lasting_values(side: SentenceInContext) -> tuple[Value, ...]:
    """Return the values of a sentence, but for what came of one run: the next run counts anew."""
    return tuple(value for value in values(side.sentence) if not _counts_a_run(side, value))


def _counts_a_run(side: SentenceInContext, value: Value) -> bool:
    """Tell whether a number is followed by what came of a run: *244 passed*, *29 JWT tests passed*.

    A limit is none: *after 3 failed logins*, *when 5 checks fail*, *4 of the checks must pass*.
    """
    tokens = side.sentence.tokens
    end = value.last + _MOST_WORDS_BEFORE_AN_OUTCOME + 2
    behind = [second for _, second in takewhile(lambda pair: not pair[0].ends, pairwise(tokens[value.last : end]))]
    at = next((at for at, token in enumerate(behind) if token.low in RUN_OUTCOMES), None)
    if at is None or any(token.low in _OBLIGATIONS for token in behind[:at]):
        return False
    if at == 0 and not behind[0].ends:
        counted = tokens[value.last + 2 : value.last + 3]
        if any(token.weight and token.stem not in _RUN_ITEMS for token in counted):
            return False
    before = takewhile(lambda token: not token.ends, reversed(tokens[: value.first]))
    return all(token.low not in CONDITION_WORDS for token in before)


def _adds(side: SentenceInContext, value: Value) -> bool:
    """Tell whether a number counts what comes to the rest and not all there is: *10 new posts*."""
    behind = side.sentence.tokens[value.last + 1 : value.last + 2]
    return any(token.low in _ADDING_WORDS for token in behind) and not side.sentence.tokens[value.last].ends


def _denies_alone(pair: SentencePair) -> bool:
    """Tell whether only one sentence begins with a denial: *never on Fridays* leaves room for *on Mondays*."""
    first, second = (side.sentence.tokens[0].denies for side in (pair.first, pair.second))
    return first != second


def _are_equal(one: Value, other: Value) -> bool:
    if isinstance(one.amount, float) and isinstance(other.amount, float):
        return abs(one.amount - other.amount) <= 1e-6 * max(abs(one.amount), abs(other.amount))
    ours, theirs = str(one.amount), str(other.amount)
    # 2.6 is any 2.6.x; one side only says more.
    both_versions = one.kind == other.kind == "version"
    return ours == theirs or (
        both_versions and f"{ours}.".startswith(f"{theirs}.") | f"{theirs}.".startswith(f"{ours}.")
    )


def _agree(pair: SentencePair, one: Value, other: Value) -> bool:
    """Tell whether two values are equal, or within the tolerance of a rounded one: *about 15* is 14.7."""
    if _are_equal(one, other):
        return True
    if not isinstance(one.amount, float) or not isinstance(other.amount, float):
        return False
    largest = max(abs(one.amount), abs(other.amount))
    near = abs(one.amount - other.amount) <= _ROUNDING_TOLERANCE * largest
    return near and any(_is_rounded(side, value) for side, value in ((pair.first, one), (pair.second, other)))


def _is_rounded(side: SentenceInContext, value: Value) -> bool:
    tokens = side.sentence.tokens[max(value.first - 3, 0) : value.first]
    return any(token.low in _ROUNDING_WORDS for token in tokens)


def _is_stated(value: Value, others: tuple[Value, ...]) -> bool:
    """Tell whether the other sentence states the same value somewhere, of the same thing."""
    return any(_are_equal(value, other) and unit_match(value, other) for other in others)


def _named_elsewhere(pair: SentencePair, one: Value, other: Value) -> float:
    """Return the unit match, 0 to 1, of a number without a unit whose sentence holds the other number's unit."""
    if {one.kind, other.kind} <= {"count"} and one.loose != other.loose:
        bare, named = (pair.first, other) if one.loose else (pair.second, one)
        return 0.6 if named.units & bare.sentence.weights.keys() else 0.0
    # "It is 8080" under one title: on both sides the number belongs to the title's subject.
    bare_both = one.kind == other.kind and not one.units and not other.units
    return 0.5 if bare_both and shared_weight(pair.first.context, pair.second.context) else 0.0


def _difference(pair: SentencePair, one: Value, other: Value, unit: float) -> Difference:
    here, there = _context(pair.first, one), _context(pair.second, other)
    shared = shared_weight(here, there)
    least = min(sum(here.values()), sum(there.values()))
    names = min(_names_apart(pair.first, one, pair.second), _names_apart(pair.second, other, pair.first))
    sides = ((pair.first, one), (pair.second, other))
    features = (
        shared / least if least else 0.0,
        min(shared / _SHARED_WEIGHT_SCALE, 1.0),
        unit,
        min(names / 2, 1.0),
        sum(_has_cue(side, value, STATE_CUES) for side, value in sides) / 2,
        sum(_names_an_occasion(side, value) for side, value in sides) / 2,
        float(one.kind == "date"),
        _equal_neighbours_share(pair, one, other),
        pair.similarity,
        pair.elapsed,
    )
    spans = [((_tokens(side, value)[0].start, _tokens(side, value)[-1].end),) for side, value in sides]
    return Difference(
        "value",
        features,
        spans[0],
        spans[1],
        (_quoted(pair.first, one), _quoted(pair.second, other)),
        change=any(_has_cue(side, value, CHANGE_CUES) for side, value in sides),
        counts=True,
    )


def _tokens(side: SentenceInContext, value: Value) -> tuple[Token, ...]:
    return side.sentence.tokens[value.first : value.last + 1]


def _around(side: SentenceInContext, value: Value, width: int = _WINDOW) -> tuple[Token, ...]:
    return side.sentence.tokens[max(value.first - width, 0) : value.last + width + 1]


def _context(side: SentenceInContext, value: Value) -> Mapping[str, float]:
    """Return the weights of the words around a value: near ones in full, distant ones in part."""
    near = {token.stem for token in _around(side, value)}
    return {
        word: weight * (_ADJACENT_WEIGHT if word in near else _DISTANT_WEIGHT) for word, weight in side.context.items()
    }


def _names_apart(side: SentenceInContext, value: Value, other: SentenceInContext) -> float:
    names = {token.stem for token in _around(side, value) if token.name and token.weight}
    return float(len(names - other.reading.stems))


def _has_cue(side: SentenceInContext, value: Value, cues: frozenset[str]) -> bool:
    return any(token.low in cues for token in _around(side, value, 8))


def _names_an_occasion(side: SentenceInContext, value: Value) -> bool:
    tokens = _around(side, value)
    last = any(
        token.low == "last" and after.low in ("week", "weekend", "month", "year", "night")
        for token, after in pairwise(tokens)
    )
    return last or any(token.low in OCCASION_WORDS for token in tokens)


def _equal_neighbours_share(pair: SentencePair, one: Value, other: Value) -> float:
    """Return the share, from 0 to 1, of equal words directly before and after the two values."""
    ours, theirs = pair.first.sentence.tokens, pair.second.sentence.tokens
    same = 0
    for step in (-2, -1):
        if one.first + step >= 0 and other.first + step >= 0:
            same += ours[one.first + step].stem == theirs[other.first + step].stem
    for step in (1, 2):
        if one.last + step < len(ours) and other.last + step < len(theirs):
            same += ours[one.last + step].stem == theirs[other.last + step].stem
    return same / 4


def _quoted(side: SentenceInContext, value: Value) -> Span:
    """Return start and end of the value with the word before or after it that names its unit."""
    tokens = side.sentence.tokens
    first, last = value.first, value.last
    if first and tokens[first - 1].stem in value.units and not tokens[first - 1].ends and not value.loose:
        first -= 1
    elif value.kind == "count" and not tokens[last].ends:
        named = [at for at in range(last + 1, min(last + 3, len(tokens))) if tokens[at].stem in value.units]
        last = named[-1] if named else last
    return tokens[first].start, tokens[last].end
