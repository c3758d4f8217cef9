"""Join two changes of one record field by field, and put one machine's change on top of what the hub has now."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import msgspec

from memento_tui.model import AnyRecord, Memory

__all__ = ["Merged", "differing_fields", "merge", "rebase"]

_PASSING = frozenset(
    (
        "version",
        "updated_at",
        "shown_count",
        "used_count",
        "last_used_at",
        "hits",
        "last_hit_at",
        "injection_score",
        "surprise",
    )
)
"""Fields that each machine counts or computes for itself; no two machines disagree about them."""

MEANING = ("content", "title", "kind", "kind_raw", "namespace", "validity_context", "source_type", "source")
"""The fields of a memory that a verification vouches for."""

_VERIFICATION: dict[str, Any] = {"stability": "draft", "verified_at": None, "verified_by": ""}
"""The fields of a verification, and their values where there is none."""


class Merged(NamedTuple):
    """The outcome of joining two changes of a record."""

    record: Any
    """This machine's record with what the other side changed and this one did not."""
    disputed: tuple[str, ...]
    """The fields that both changed, each in another way: they are as this machine has them."""


def differing_fields(one: AnyRecord, other: AnyRecord) -> list[str]:
    """Return the fields in which two states of a record differ, but for those that each machine computes itself."""
    names = (name for name in one.__struct_fields__ if name not in _PASSING)
    return [name for name in names if getattr(one, name) != getattr(other, name)]


def merge(base: AnyRecord | None, theirs: AnyRecord, mine: AnyRecord) -> Merged:
    """Return this machine's record with the other side's changes since ``base``, the state that both had.

    Without a ``base`` every field that differs is disputed. A deletion and a change of the text do not fit together:
    the status is disputed then. A verification of a text that the other side has changed since is left out, because
    it was given to other words.
    """
    if base is None:
        return Merged(mine, tuple(differing_fields(theirs, mine)))
    changed = differing_fields(base, theirs)
    own = differing_fields(base, mine)
    if getattr(mine, "status", "") == "pending" and getattr(base, "status", "") != "pending" and "status" in own:
        own.remove("status")  # it waits for this person only
        changed = [name for name in changed if name != "status" or getattr(theirs, "status", "") == "deleted"]
    disputed = {name for name in changed if name in own and getattr(theirs, name) != getattr(mine, name)}
    taken = {name for name in changed if name not in own}
    values: dict[str, Any] = {}
    if isinstance(theirs, Memory) and isinstance(mine, Memory):
        if set(own) & set(MEANING):
            taken -= _VERIFICATION.keys()
            disputed -= _VERIFICATION.keys()
            if "status" in taken:
                taken.remove("status")
                disputed.add("status")
        elif set(changed) & set(MEANING) and set(own) & _VERIFICATION.keys():
            values = dict(_VERIFICATION)
        if set(changed) & set(MEANING) and "status" in own and mine.status != theirs.status:
            disputed |= (taken & set(MEANING)) | {"status"}
            taken -= set(MEANING)
    values |= {name: getattr(theirs, name) for name in taken}
    if not values:
        return Merged(mine, tuple(sorted(disputed)))
    if hasattr(theirs, "updated_at") and hasattr(mine, "updated_at"):
        values["updated_at"] = max(theirs.updated_at, mine.updated_at)
    return Merged(msgspec.structs.replace(mine, **values), tuple(sorted(disputed)))


def rebase(
    hub: AnyRecord, before: AnyRecord, after: AnyRecord, *, withheld: Collection[str], decided: Collection[str]
) -> tuple[Any, list[str]]:
    """Return what the hub's record becomes by one change of this machine, and the fields that were left out.

    A field whose value at the hub is neither the one before nor the one after the change was changed by somebody
    else: it is left out, and so are the ``withheld`` ones, about which a person is still to decide. The ``decided``
    ones are given whatever the hub has: a person has seen both.
    """
    values: dict[str, Any] = {}
    left = []
    for name in sorted({*differing_fields(before, after), *decided}):
        value = getattr(after, name)
        if getattr(hub, name) == value:
            continue
        if name in decided or (name not in withheld and getattr(hub, name) == getattr(before, name)):
            values[name] = value
        else:
            left.append(name)
    if isinstance(hub, Memory) and isinstance(before, Memory) and set(values) & set(MEANING):
        is_verified_since = hub.stability != "draft" and hub.verified_at != before.verified_at
        if is_verified_since and not values.keys() & _VERIFICATION.keys():
            values |= _VERIFICATION  # it was given to other words
    if not values:
        return hub, left
    if hasattr(after, "updated_at"):
        values["updated_at"] = after.updated_at
    return msgspec.structs.replace(hub, **values), left
