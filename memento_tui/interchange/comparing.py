"""What a record says, field by field and in ``extra`` name by name, and what two readings of it say differently.

Several hands write into ``extra``, each under a name of its own: every format what a return needs, upkeep when it
demoted a memory. Taken as one field, what one of them did would stand in the way of all others.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from memento_tui.records.rules import check_extra
from memento_tui.store.tables import AnyRecord

__all__ = ["differing", "is_kept", "is_named", "taken_over"]

_UNCOMPARED = frozenset(
    {"version", "created_at", "updated_at", "shown_count", "used_count", "last_used_at", "hits", "last_hit_at", "extra"}
)
"""Fields that say how a record is kept, not what it says; and the one that is looked into."""

_EXTRA = "extra."
_ABSENT = object()


def differing(one: AnyRecord, other: AnyRecord) -> list[str]:
    """Return the names of what two records say differently: a field's, or ``extra.`` and a name in there."""
    these, those = _said(one), _said(other)
    return [name for name in {**these, **those} if these.get(name, _ABSENT) != those.get(name, _ABSENT)]


def _said(record: AnyRecord) -> dict[str, Any]:
    said = {name: getattr(record, name) for name in record.__struct_fields__ if name not in _UNCOMPARED}
    return said | {_EXTRA + name: value for name, value in getattr(record, "extra", {}).items()}


def is_kept(name: str) -> bool:
    """Tell whether `differing` speaks of something beside a record, and not of what the record itself says."""
    return name.startswith(_EXTRA)


def is_named(name: str, fields: dict[str, Any]) -> bool:
    """Tell whether the fields of a source speak of what `differing` calls by this name."""
    if is_kept(name):
        return name.removeprefix(_EXTRA) in fields.get("extra", {})
    return name in fields


def taken_over(record: AnyRecord, names: Collection[str], wanted: AnyRecord) -> AnyRecord:
    """Return a record that says what another one says under these names.

    Raises:
        InvalidField: what both have in ``extra`` is too much for one record.

    """
    said = _said(wanted)
    values = {name: said[name] for name in names if not is_kept(name)}
    inner = [name.removeprefix(_EXTRA) for name in names if is_kept(name)]
    if inner:
        extra = {name: value for name, value in getattr(record, "extra", {}).items() if name not in inner}
        values["extra"] = extra | {name: said[_EXTRA + name] for name in inner if _EXTRA + name in said}
        check_extra(values["extra"])
    return msgspec.structs.replace(record, **values)
