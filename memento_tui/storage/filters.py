"""Compile a filter tree to SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memento_tui.model.filters import AllOf, AnyOf, Between, Filter, HasStem, HasTag, Not, OneOf, Under
from memento_tui.model.memory_fields import FIELDS, filter_fields
from memento_tui.model.validation import fold_tag
from memento_tui.moments import format_moment

__all__ = ["filter_sql"]

_COLUMNS = {field.name: field.sql or f"memory.{field.name}" for field in FIELDS if field.filter}
_WORDS, _TEXTS, _FLAGS = filter_fields("word"), filter_fields("words"), filter_fields("flag")
_SHARES = filter_fields("share")
_RANGES = filter_fields("number", "share", "moment")


def filter_sql(tree: Filter) -> tuple[str, list[object]]:  # noqa: PLR0911 - one for each kind of condition
    """Return the condition on the table ``memory`` that a filter means, and its parameters."""
    match tree:
        case OneOf(field, values):
            return _one_of_sql(field, values)
        case HasStem(field, stem):
            return _has_stem_sql(field, stem)
        case HasTag(tag):
            return "memory.number IN (SELECT number FROM memory_tag WHERE tag = ?)", [fold_tag(tag)]
        case Under(namespace):
            low, high = f"{namespace}/", f"{namespace}0"  # "0" is the character after "/"
            return (
                "(memory.namespace = ? OR (memory.namespace >= ? AND memory.namespace < ?))",
                [namespace, low, high],
            )
        case Between(field, low, high):
            return _between_sql(field, low, high)
        case Not(part):
            sql, parameters = filter_sql(part)
            return f"({sql}) IS NOT TRUE", parameters
        case AllOf(parts):
            return _join_sql(parts, " AND ", "1")
        case AnyOf(parts):
            return _join_sql(parts, " OR ", "0")


def _join_sql(parts: Sequence[Filter], word: str, empty: str) -> tuple[str, list[object]]:
    compiled = [filter_sql(part) for part in parts]
    if not compiled:
        return empty, []
    return f"({word.join(sql for sql, _ in compiled)})", [value for _, values in compiled for value in values]


def _one_of_sql(field: str, values: tuple[str, ...]) -> tuple[str, list[object]]:
    marks = ", ".join("?" * len(values))
    if field in _FLAGS:
        return f"{_COLUMNS[field]} IN ({marks})", [int(value) for value in values]
    if field not in _WORDS:
        raise ValueError(field)
    return f"{_COLUMNS[field]} IN ({marks})", list(values)


def _has_stem_sql(field: str, stem: str) -> tuple[str, list[object]]:
    if field not in _TEXTS:
        raise ValueError(field)
    # Most memories have no such text, and none of those is read word by word.
    return f"({_COLUMNS[field]} <> '' AND has_stem({_COLUMNS[field]}, ?))", [stem]


def _between_sql(field: str, low: datetime | int | None, high: datetime | int | None) -> tuple[str, list[object]]:
    if field not in _RANGES:
        raise ValueError(field)
    column = _COLUMNS[field]
    if field in _SHARES:
        column = f"CAST({column} * 100 + 0.5 AS INTEGER)"
    parts = [f"{column} IS NOT NULL"]
    parameters: list[object] = []
    for sign, bound in ((">=", low), ("<", high)):
        if bound is not None:
            parts.append(f"{column} {sign} ?")
            parameters.append(format_moment(bound) if isinstance(bound, datetime) else bound)
    return f"({' AND '.join(parts)})", parameters
