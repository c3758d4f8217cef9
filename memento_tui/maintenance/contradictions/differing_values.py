"""Read the values that two sentences state, and find those that differ: 8080 against 9090, Thursday against Friday.

Values are counts, money, dates, durations, versions and weekdays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Literal

import msgspec

from memento_tui.maintenance.contradictions.alignment import (
    Difference,
    SentenceInContext,
    SentencePair,
    Span,
    shared_weight,
)
from memento_tui.text.lexicon import (
    CHANGE_CUES,
    CONDITION_WORDS,
    NOUNS_BEFORE_A_NUMBER,
    NUMBERED_NOUNS,
    OCCASION_WORDS,
    RUN_OUTCOMES,
    STATE_CUES,
)
from memento_tui.text.quantities import MONTHS, NUMBER_WORDS, ORDINALS, SCALES, UNITS, WEEKDAYS
from memento_tui.text.tokens import Sentence, Token, stem

__all__ = ["VALUE_FEATURES", "differing_values", "values"]


ValueKind = Literal[
    "count", "money", "percent", "clock", "date", "duration", "size", "times", "version", "weekday", "rate"
]

_Number = float | tuple[float, float]
"""A number, or the lower and upper end of a range."""

_NUMBER = re.compile(r"[$€£¥~≤≥./ ]*+(v?)(\d[\d,]*(?:\.\d+)*)(?:[-\u2013](\d+(?:\.\d+)?))?-?([a-z]*)([%+#]*)$")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?([ap]m)?$")
_HOUR = re.compile(r"(\d{1,2})([ap]m)$")
_ISO_DATE = re.compile(r"\d{4}-\d{1,2}(?:-\d{1,2})?$")
_SLASH_DATE = re.compile(r"(\d{1,2})/(\d{1,2})(?:/\d{2,4})?$")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th)$")
_YEAR = re.compile(r"(?:19|20)\d\d$")

_PERIODS = {"hourly": 1 / 24, "daily": 1, "nightly": 1, "weekly": 7, "monthly": 30, "quarterly": 90, "yearly": 365}
_ONE_OF = {"a", "an", "per", "each", "every"}
_DETERMINERS = {"the", "this", "that", "which", "another", "no", "any", "every", "each", "new", "old", "good", "big"}
_SECONDS_A_DAY = 86_400
_MOST_NOUNS_BEHIND, _MOST_TOKENS_BACK, _LEAST_WEIGHT = 3, 8, 1.0
_MOST_VALUES = 12


class _Value(msgspec.Struct, frozen=True, gc=False):
    """One value, and the numbers of the first and last token that state it."""

    kind: ValueKind
    amount: _Number | str
    """In the dimension's own unit: seconds, bytes, days between two times, minutes after midnight."""
    units: frozenset[str]
    """The stems of the counted nouns or, where none follows, of the words before the value."""
    loose: bool
    """Whether the units are a guess from the words before the value."""
    first: int
    last: int
    head: str = ""
    """The stem of the last counted noun: *goal* in ``5 key goals``; empty where none follows the number."""


def values(sentence: Sentence) -> tuple[_Value, ...]:
    """Return the values that a sentence states, in their order; at most a dozen."""
    return _values_of_tokens(sentence.tokens)


@lru_cache(maxsize=4_096)
def _values_of_tokens(tokens: tuple[Token, ...]) -> tuple[_Value, ...]:
    found: list[_Value] = []
    at = 0
    while at < len(tokens) and len(found) < _MOST_VALUES:
        value = next((value for reader in _VALUE_PARSERS if (value := reader(tokens, at))), None)
        if value is None:
            at += 1
            continue
        if not _is_ago(tokens, value):
            found.append(value)
        at = value.last + 1
    return tuple(found)


def _is_ago(tokens: tuple[Token, ...], value: _Value) -> bool:
    # "three weeks ago" ties a sentence to a day; it claims no duration.
    return value.kind == "duration" and _lowercase_at(tokens, value.last + 1) in ("ago", "later", "earlier", "before")


def _lowercase_at(tokens: tuple[Token, ...], at: int) -> str:
    return tokens[at].low if 0 <= at < len(tokens) else ""


def _in_same_clause(tokens: tuple[Token, ...], at: int) -> bool:
    """Tell whether the token at ``at`` exists and belongs to the clause of the one before it."""
    return 0 < at < len(tokens) and not tokens[at - 1].ends


def _plain_number(low: str) -> float | None:
    if low in NUMBER_WORDS:
        return float(NUMBER_WORDS[low])
    match = _NUMBER.match(low)
    if match is None or match[1] or match[3] or match[4] or match[2].count(".") > 1:
        return None
    return _float(match[2])


def _float(digits: str) -> float:
    # A float holds fifteen digits.
    return float(digits.replace(",", "")[:15].rstrip(".") or 0)


def _stems_before(tokens: tuple[Token, ...], at: int) -> frozenset[str]:
    return frozenset(
        token.stem for token in tokens[max(at - _MOST_TOKENS_BACK, 0) : at] if token.weight >= _LEAST_WEIGHT
    )


def _value_with_units_before(
    kind: ValueKind, amount: _Number | str, tokens: tuple[Token, ...], first: int, last: int
) -> _Value:
    return _Value(kind, amount, _stems_before(tokens, first), loose=True, first=first, last=last)


def _rate(tokens: tuple[Token, ...], at: int) -> _Value | None:
    low = tokens[at].low
    if low in _PERIODS:
        return _value_with_units_before("rate", 1 / _PERIODS[low], tokens, at, at)
    if low in ("every", "each"):
        number = 2.0 if _lowercase_at(tokens, at + 1) == "other" else _plain_number(_lowercase_at(tokens, at + 1))
        unit = at + (1 if number is None else 2)
        if (days := _days(_lowercase_at(tokens, unit))) and number != 0:
            return _value_with_units_before("rate", round(1 / (days * (number or 1)), 6), tokens, at, unit)
        return None
    once = {"once": 1.0, "twice": 2.0, "thrice": 3.0}.get(low)
    times = at
    if once is None and _lowercase_at(tokens, at + 1) in ("times", "time"):
        once, times = _plain_number(low), at + 1
    if once is None:
        return None
    if _lowercase_at(tokens, times + 1) in _ONE_OF and (days := _days(_lowercase_at(tokens, times + 2))):
        return _value_with_units_before("rate", round(once / days, 6), tokens, at, times + 2)
    return _value_with_units_before("times", once, tokens, at, times)


def _days(low: str) -> float:
    unit = UNITS.get(low)
    return unit.factor / _SECONDS_A_DAY if unit and unit.dimension == "duration" and len(low) > 2 else 0.0  # noqa: PLR2004 - h, d, ms


def _day(tokens: tuple[Token, ...], at: int) -> _Value | None:
    low = tokens[at].low
    if low in WEEKDAYS or low.rstrip("s") in WEEKDAYS:
        return _value_with_units_before("weekday", low.rstrip("s"), tokens, at, at)
    if low in MONTHS and not (low in ("may", "mar") and not tokens[at].name):
        day = _day_number(_lowercase_at(tokens, at + 1))
        return _value_with_units_before("date", f"{MONTHS[low]}-{day}", tokens, at, at + (day > 0))
    if day := _day_number(low):
        month = at + 1 + (_lowercase_at(tokens, at + 1) == "of")
        name = _lowercase_at(tokens, month)
        if name in MONTHS and (name != "may" or tokens[month].name):
            return _value_with_units_before("date", f"{MONTHS[name]}-{day}", tokens, at, month)
    if _ISO_DATE.match(low) or _YEAR.match(low):
        return _value_with_units_before("date", low, tokens, at, at)
    if (slash := _SLASH_DATE.match(low)) and 1 <= int(slash[1]) <= 12:  # noqa: PLR2004 - months
        return _value_with_units_before("date", f"{int(slash[1])}-{int(slash[2])}", tokens, at, at)
    return None


def _day_number(low: str) -> int:
    if match := _ORDINAL.match(low):
        return int(match[1])
    return int(low) if low.isdecimal() and len(low) <= 2 and 1 <= int(low) <= 31 else 0  # noqa: PLR2004 - days


def _clock(tokens: tuple[Token, ...], at: int) -> _Value | None:
    low, after = tokens[at].low, _lowercase_at(tokens, at + 1)
    half = after if after in ("am", "pm") and _in_same_clause(tokens, at + 1) else ""
    match = _CLOCK.match(low)
    if match:
        parts = (int(match[1]), int(match[2]), int(match[3] or 0))
        half = match[4] or half
    elif hour := _HOUR.match(low):
        parts, half = (int(hour[1]), 0, 0), hour[2]
    elif half and low.isdecimal() and len(low) <= 2:  # noqa: PLR2004 - hours
        parts = (int(low), 0, 0)
    else:
        return None
    minutes = parts[0] * 60 + parts[1] + parts[2] / 60 + (720 if half == "pm" and parts[0] != 12 else 0)  # noqa: PLR2004
    return _value_with_units_before("clock", minutes, tokens, at, at + (after in ("am", "pm") and half == after))


def _number(tokens: tuple[Token, ...], at: int) -> _Value | None:
    token, before = tokens[at], _lowercase_at(tokens, at - 1)
    if before in NUMBERED_NOUNS:
        return None
    if not token.number:
        return _single_unit(tokens, at)
    if token.low in NUMBER_WORDS:
        # "Which one" and "the new one" count nothing.
        pronoun = token.low == "one" and (before in _DETERMINERS or not _noun_after(tokens, at))
        return None if pronoun else _count_with_unit(tokens, at, float(NUMBER_WORDS[token.low]), "")
    match = _NUMBER.match(token.low)
    return _numeral(tokens, at, match) if match else None


def _numeral(tokens: tuple[Token, ...], at: int, match: re.Match[str]) -> _Value | None:
    """Return the value of a number that is written in digits."""
    version, digits, upper, suffix, sign = match.groups()
    if len(suffix) == 1 and at and tokens[at - 1].name and not tokens[at - 1].ends:
        return None  # The letter is a model's name, no unit: Canon EOS 80D.
    if version or digits.count(".") > 1:
        return _version(tokens, at, digits)
    amount: _Number = (_float(digits), _float(upper)) if upper else _float(digits)
    if tokens[at].low[0] in "$€£¥":
        return _money(tokens, at, amount, suffix)
    if sign.startswith("%"):
        return _value_with_units_before("percent", amount, tokens, at, at)
    return _count_with_unit(tokens, at, amount, suffix)


def _single_unit(tokens: tuple[Token, ...], at: int) -> _Value | None:
    # "an hour each day" is one hour.
    if tokens[at].low in ("a", "an") and (days := _days(_lowercase_at(tokens, at + 1))):
        return _value_with_units_before("duration", days * _SECONDS_A_DAY, tokens, at, at + 1)
    return None


def _noun_after(tokens: tuple[Token, ...], at: int) -> bool:
    return _in_same_clause(tokens, at + 1) and tokens[at + 1].weight > 0


def _money(tokens: tuple[Token, ...], at: int, amount: _Number, suffix: str) -> _Value:
    after = _lowercase_at(tokens, at + 1)
    scale = SCALES.get(suffix) or SCALES.get(after, 1.0)
    last = at + (not suffix and after in SCALES)
    return _value_with_units_before("money", _scaled(amount, scale), tokens, at, last)


def _scaled(amount: _Number, scale: float) -> _Number:
    return (amount[0] * scale, amount[1] * scale) if isinstance(amount, tuple) else amount * scale


def _version(tokens: tuple[Token, ...], at: int, digits: str) -> _Value:
    before = tokens[at - 1] if at else None
    units = frozenset({before.stem}) if before and before.weight and not before.ends else frozenset()
    return _Value("version", digits, units or _stems_before(tokens, at), loose=not units, first=at, last=at)


def _count_with_unit(tokens: tuple[Token, ...], at: int, amount: _Number, suffix: str) -> _Value:
    last, unit = at, suffix
    after = _lowercase_at(tokens, at + 1) if _in_same_clause(tokens, at + 1) else ""
    if not suffix and after in SCALES and len(after) > 1:
        amount, last = _scaled(amount, SCALES[after]), at + 1
        after = _lowercase_at(tokens, at + 2)
    if suffix in ("k", "m", "bn") and after not in UNITS:
        amount, unit = _scaled(amount, SCALES[suffix]), ""
    elif not suffix and after in UNITS and (len(after) > 1 or after in "sh"):
        unit, last = after, last + 1
    if measure := UNITS.get(unit):
        return _value_with_units_before(measure.dimension, _scaled(amount, measure.factor), tokens, at, last)
    before = tokens[at - 1] if _in_same_clause(tokens, at) else None
    if before and before.low in NOUNS_BEFORE_A_NUMBER and "." not in tokens[at].low:
        return _Value("count", amount, frozenset({before.stem}), loose=False, first=at, last=last)
    if before and (before.low in NOUNS_BEFORE_A_NUMBER or (before.name and _is_version(tokens[at].low))):
        return _Value("version", tokens[at].low, frozenset({before.stem}), loose=False, first=at, last=last)
    units, head = _counted_nouns(tokens, last, unit)
    return _Value("count", amount, units or _stems_before(tokens, at), loose=not units, first=at, last=last, head=head)


def _is_version(low: str) -> bool:
    return low[:1].isdigit() and low.replace(".", "").isdecimal()


def _counted_nouns(tokens: tuple[Token, ...], last: int, unit: str) -> tuple[frozenset[str], str]:
    """Return the stems of the counted nouns and of the last of them: postcard in ``25 new postcards``.

    It is ``*`` alone in ``17 new ones``.
    """
    run: list[Token] = []
    for at in range(last + 1, min(last + 1 + _MOST_NOUNS_BEHIND, len(tokens))):
        if not _in_same_clause(tokens, at) or not (tokens[at].weight or tokens[at].low == "ones"):
            break
        run.append(tokens[at])
    found = {token.stem for token in run if token.weight >= _LEAST_WEIGHT}
    if run and not found:
        found = {"*"} if run[-1].low == "ones" or run[-1].low in ORDINALS else {run[-1].stem}
    head = next((token.stem for token in reversed(run) if token.stem in found), "")
    return frozenset(found | ({stem(unit)} if unit else set())), head


_VALUE_PARSERS = (_rate, _clock, _day, _number)
_COUNTS = {"count", "times"}


def _unit_match(one: _Value, other: _Value) -> float:
    """Return, from 0 to 1, how likely two values count the same thing; 0 where they cannot be compared."""
    if one.kind != other.kind and not {one.kind, other.kind} <= _COUNTS:
        return 0.0
    shared = one.units & other.units
    if not one.loose and not other.loose:
        if one.head and other.head and shared and shared.isdisjoint((one.head, other.head)):
            return 0.0  # "5 key goals" and "6 key risks" share what they are like, not what they are
        return 1.0 if shared else 0.5 if "*" in one.units | other.units else 0.0
    if one.kind in ("count", "version"):
        return 0.7 if shared else 0.0
    return 0.8 if shared else 0.5


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
"""Words between a number and the result of a run: *29 JWT tests passed*."""
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
            unit = _unit_match(one, other) or _named_elsewhere(pair, one, other)
            if not unit or _adds(pair.first, one) != _adds(pair.second, other):
                continue
            if not _agree(pair, one, other) and not _is_stated(one, theirs) and not _is_stated(other, ours):
                yield _difference(pair, one, other, unit)


def _lasting_values(side: SentenceInContext) -> tuple[_Value, ...]:
    """Return the values of a sentence without the results of a single run, which the next run counts anew."""
    return tuple(value for value in values(side.sentence) if not _counts_a_run(side, value))


def _counts_a_run(side: SentenceInContext, value: _Value) -> bool:
    """Tell whether a number counts the results of a run: *244 passed*, *29 JWT tests passed*.

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


def _adds(side: SentenceInContext, value: _Value) -> bool:
    """Tell whether a number counts additions, not the total: *10 new posts*."""
    behind = side.sentence.tokens[value.last + 1 : value.last + 2]
    return any(token.low in _ADDING_WORDS for token in behind) and not side.sentence.tokens[value.last].ends


def _denies_alone(pair: SentencePair) -> bool:
    """Tell whether only one sentence begins with a denial: *never on Fridays* leaves room for *on Mondays*."""
    first, second = (side.sentence.tokens[0].denies for side in (pair.first, pair.second))
    return first != second


def _are_equal(one: _Value, other: _Value) -> bool:
    if isinstance(one.amount, float) and isinstance(other.amount, float):
        return abs(one.amount - other.amount) <= 1e-6 * max(abs(one.amount), abs(other.amount))
    ours, theirs = str(one.amount), str(other.amount)
    # 2.6 is any 2.6.x; one side only says more.
    both_versions = one.kind == other.kind == "version"
    return ours == theirs or (
        both_versions and f"{ours}.".startswith(f"{theirs}.") | f"{theirs}.".startswith(f"{ours}.")
    )


def _agree(pair: SentencePair, one: _Value, other: _Value) -> bool:
    """Tell whether two values are equal, or within the tolerance of a rounded one: *about 15* is 14.7."""
    if _are_equal(one, other):
        return True
    if not isinstance(one.amount, float) or not isinstance(other.amount, float):
        return False
    largest = max(abs(one.amount), abs(other.amount))
    near = abs(one.amount - other.amount) <= _ROUNDING_TOLERANCE * largest
    return near and any(_is_rounded(side, value) for side, value in ((pair.first, one), (pair.second, other)))


def _is_rounded(side: SentenceInContext, value: _Value) -> bool:
    tokens = side.sentence.tokens[max(value.first - 3, 0) : value.first]
    return any(token.low in _ROUNDING_WORDS for token in tokens)


def _is_stated(value: _Value, others: tuple[_Value, ...]) -> bool:
    """Tell whether the other sentence states the same value somewhere, of the same thing."""
    return any(_are_equal(value, other) and _unit_match(value, other) for other in others)


def _named_elsewhere(pair: SentencePair, one: _Value, other: _Value) -> float:
    """Return the unit match, 0 to 1, of a number without a unit whose sentence holds the other number's unit."""
    if {one.kind, other.kind} <= {"count"} and one.loose != other.loose:
        bare, named = (pair.first, other) if one.loose else (pair.second, one)
        return 0.6 if named.units & bare.sentence.weights.keys() else 0.0
    # "It is 8080" under one title: on both sides the number belongs to the title's subject.
    bare_both = one.kind == other.kind and not one.units and not other.units
    return 0.5 if bare_both and shared_weight(pair.first.context, pair.second.context) else 0.0


def _difference(pair: SentencePair, one: _Value, other: _Value, unit: float) -> Difference:
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


def _tokens(side: SentenceInContext, value: _Value) -> tuple[Token, ...]:
    return side.sentence.tokens[value.first : value.last + 1]


def _around(side: SentenceInContext, value: _Value, width: int = _WINDOW) -> tuple[Token, ...]:
    return side.sentence.tokens[max(value.first - width, 0) : value.last + width + 1]


def _context(side: SentenceInContext, value: _Value) -> Mapping[str, float]:
    """Return the weights of the words around a value: near ones in full, distant ones in part."""
    near = {token.stem for token in _around(side, value)}
    return {
        word: weight * (_ADJACENT_WEIGHT if word in near else _DISTANT_WEIGHT) for word, weight in side.context.items()
    }


def _names_apart(side: SentenceInContext, value: _Value, other: SentenceInContext) -> float:
    names = {token.stem for token in _around(side, value) if token.name and token.weight}
    return float(len(names - other.reading.stems))


def _has_cue(side: SentenceInContext, value: _Value, cues: frozenset[str]) -> bool:
    return any(token.low in cues for token in _around(side, value, 8))


def _names_an_occasion(side: SentenceInContext, value: _Value) -> bool:
    tokens = _around(side, value)
    last = any(
        token.low == "last" and after.low in ("week", "weekend", "month", "year", "night")
        for token, after in pairwise(tokens)
    )
    return last or any(token.low in OCCASION_WORDS for token in tokens)


def _equal_neighbours_share(pair: SentencePair, one: _Value, other: _Value) -> float:
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


def _quoted(side: SentenceInContext, value: _Value) -> Span:
    """Return start and end of the value with the word before or after it that names its unit."""
    tokens = side.sentence.tokens
    first, last = value.first, value.last
    if first and tokens[first - 1].stem in value.units and not tokens[first - 1].ends and not value.loose:
        first -= 1
    elif value.kind == "count" and not tokens[last].ends:
        named = [at for at in range(last + 1, min(last + 3, len(tokens))) if tokens[at].stem in value.units]
        last = named[-1] if named else last
    return tokens[first].start, tokens[last].end
