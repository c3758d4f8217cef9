"""Compile a filter into the condition of a LanceDB query; `memento_tui.storage.filters` has the one for SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from memento_tui.model.filters import AllOf, AnyOf, Between, Filter, HasStem, HasTag, Not, OneOf, Under
from memento_tui.model.memory_fields import filter_fields, hundredths
from memento_tui.model.validation import fold_tag

__all__ = ["column_number", "compile_lance_filter", "microseconds", "one_of", "quoted"]

_WORDS = filter_fields("word", indexed=True)
_TEXTS = filter_fields("words", indexed=True)
_RANGES = filter_fields("number", "share", "moment", indexed=True)
_FLAGS = {name: name for name in filter_fields("flag", indexed=True)} | {
    # It has no column of its own: it follows from the list of tags.
    "tagged": "(coalesce(array_length(tags), 0) > 0)"
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(moment: datetime) -> int:
    """Return a moment as whole microseconds since 1970 in UTC."""
    return (moment.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)


def column_number(value: datetime | float) -> int:
    """Return the number that a column holds for a value: microseconds of a moment, hundredths of a share."""
    if isinstance(value, datetime):
        return microseconds(value)
    return hundredths(value) if isinstance(value, float) else value


def quoted(text: str) -> str:
    """Return a text as a literal, in which only the quote itself has a meaning."""
    return "'" + text.replace("'", "''") + "'"


def one_of(column: str, values: Iterable[str]) -> str:
    """Return the condition that a text column holds one of the values."""
    listed = ", ".join(quoted(value) for value in values)
    return f"{column} IN ({listed})" if listed else "false"


def compile_lance_filter(tree: Filter) -> str:  # noqa: PLR0911 - one for each kind of condition
    """Return the condition of a filter.

    Raises:
        ValueError: the filter names a field that no memory is filtered by.

    """
    match tree:
        case OneOf(field, values):
            return _one_of(field, values)
        case HasStem(field, stem):
            if field not in _TEXTS:
                raise ValueError(field)
            return f"array_has({field}, {quoted(stem)})"
        case HasTag(tag):
            return f"array_has(tags, {quoted(fold_tag(tag))})"
        case Under(namespace):
            low, high = quoted(f"{namespace}/"), quoted(f"{namespace}0")  # "0" is the character after "/"
            return f"(namespace = {quoted(namespace)} OR (namespace >= {low} AND namespace < {high}))"
        case Between(field, low_end, high_end):
            return _between(field, low_end, high_end)
        case Not(part):
            # Null is neither true nor false, so NOT would lose the memories whose agent is unknown.
            return f"(({compile_lance_filter(part)}) IS NOT TRUE)"
        case AllOf(parts):
            return _joined(parts, " AND ", "true")
        case AnyOf(parts):
            return _joined(parts, " OR ", "false")


def _joined(parts: Sequence[Filter], word: str, empty: str) -> str:
    return f"({word.join(map(compile_lance_filter, parts))})" if parts else empty


def _one_of(field: str, values: tuple[str, ...]) -> str:
    if field in _FLAGS:
        listed = ", ".join("true" if int(value) else "false" for value in values)
        return f"{_FLAGS[field]} IN ({listed})" if values else "false"
    if field not in _WORDS:
        raise ValueError(field)
    return one_of(field, values)


def _between(field: str, low: datetime | int | None, high: datetime | int | None) -> str:
    if field not in _RANGES:
        raise ValueError(field)
    parts = [f"{field} IS NOT NULL"]
    for sign, bound in ((">=", low), ("<", high)):
        if bound is not None:
            number = microseconds(bound) if isinstance(bound, datetime) else int(bound)
            parts.append(f"{field} {sign} {number}")
    return f"({' AND '.join(parts)})"
