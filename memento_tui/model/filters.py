"""Conditions on memories, as a tree that knows nothing of any database; storage and search compile it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from memento_tui.model.memory import RECALLED_STATUSES

__all__ = [
    "AllOf",
    "AnyOf",
    "Between",
    "Filter",
    "HasStem",
    "HasTag",
    "Not",
    "OneOf",
    "Under",
    "filters_on",
    "valid_at",
    "with_default_statuses",
]


class OneOf(msgspec.Struct, frozen=True):
    """The field equals one of the values."""

    field: str
    values: tuple[str, ...]


class HasStem(msgspec.Struct, frozen=True):
    """The text of the field holds a word of this stem, one of `memento_tui.text.terms.different_stems`."""

    field: str
    stem: str


class HasTag(msgspec.Struct, frozen=True):
    """The memory has the tag, in whatever case, and however its accents are written."""

    tag: str


class Under(msgspec.Struct, frozen=True):
    """The memory lies in the namespace or in one below it."""

    namespace: str


class Between(msgspec.Struct, frozen=True):
    """``low <= field < high``; an end that is ``None`` is open. A field without a value is never between."""

    field: str
    low: datetime | int | None = None
    high: datetime | int | None = None


class Not(msgspec.Struct, frozen=True):
    """The part does not hold."""

    part: Filter


class AllOf(msgspec.Struct, frozen=True):
    """Every part holds; none at all is always true."""

    parts: tuple[Filter, ...] = ()


class AnyOf(msgspec.Struct, frozen=True):
    """At least one part holds."""

    parts: tuple[Filter, ...]


Filter = OneOf | HasStem | HasTag | Under | Between | Not | AllOf | AnyOf


def valid_at(moment: datetime) -> Filter:
    """Return the filter for memories that hold at a moment, as far as they say from when and until when."""
    after = moment + timedelta(microseconds=1)
    begun = AnyOf((Not(Between("valid_from")), Between("valid_from", None, after)))
    return AllOf((begun, AnyOf((Not(Between("valid_to")), Between("valid_to", after, None)))))


def with_default_statuses(tree: Filter) -> Filter:
    """Return the filter, restricted to recalled memories unless it has a condition on the status itself."""
    return tree if filters_on(tree, "status") else AllOf((OneOf("status", RECALLED_STATUSES), tree))


def filters_on(tree: Filter, field: str) -> bool:
    """Tell whether any condition of the tree asks for values of ``field``; to be without some asks for none."""
    if getattr(tree, "field", None) == field:
        return True
    parts: Iterable[Filter] = getattr(tree, "parts", ())
    return any(filters_on(part, field) for part in parts)
