"""Every text that a record holds, read from the record's own declaration, so that no field is ever forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, Literal, get_args, get_origin

import msgspec

__all__ = ["text_fields", "text_of", "texts_image"]

_IDENTIFIERS = frozenset({"id", "target_id", "parent", "src", "older", "newer", "fingerprint"})
"""Fields that name a record. Nobody but memento and a person chooses them."""

_LEADING = ("title", "item", "content", "reason")
"""The fields that are read first; the others follow in their declared order."""


@cache
def text_fields(record: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields of a record type that may hold any text: no identifiers, closed vocabularies or numbers."""
    found = [
        field.name
        for field in msgspec.structs.fields(record)
        if field.name not in _IDENTIFIERS and _may_hold_text(field.type)
    ]
    return tuple(sorted(found, key=lambda name: _LEADING.index(name) if name in _LEADING else len(_LEADING)))


def _may_hold_text(hint: Any) -> bool:  # noqa: ANN401 - a type
    if hint is str or hint is Any:
        return True
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return bool(text_fields(hint))
    return get_origin(hint) is not Literal and any(map(_may_hold_text, get_args(hint)))


@cache
def _values_getter(record: type[msgspec.Struct]) -> Callable[[Any], tuple[Any, ...]]:
    names = text_fields(record)
    if len(names) == 1:
        only = attrgetter(names[0])
        return lambda value: (only(value),)
    return attrgetter(*names)


def texts_image(record: msgspec.Struct) -> bytes:
    """Return the JSON of the fields that hold text: equal where two records of one type hold the same texts."""
    return msgspec.json.encode(_values_getter(type(record))(record))


def text_of(record: msgspec.Struct) -> str:
    """Return all texts of a record, one after the other: nested ones, and the names in its objects, among them."""
    parts: list[str] = []
    _collect(_values_getter(type(record))(record), parts)
    return "\n".join(parts)


def _collect(values: Iterable[Any], parts: list[str]) -> None:
    for value in values:
        if not value:
            continue
        if isinstance(value, str):
            parts.append(value)
        elif isinstance(value, Mapping):
            _collect(value, parts)
            _collect(value.values(), parts)
        elif isinstance(value, list | tuple):
            _collect(value, parts)
        elif isinstance(value, msgspec.Struct) and text_fields(type(value)):
            _collect(_values_getter(type(value))(value), parts)
