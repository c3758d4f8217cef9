"""Join two changes of one record field by field, and put one machine's change on top of what the hub has now."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import msgspec

from memento_tui.model import AnyRecord, Memory
from memento_tui.model.claims import HIGHEST_CLAIMED_CERTAINTY

__all__ = ["Merged", "differing_fields", "merge", "rebase", "without_trust"]

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
"""The fields of a memory that a person's trust in it vouches for."""

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
    if isinstance(base, Memory) and isinstance(theirs, Memory) and isinstance(mine, Memory):
        values = _apart(base, theirs, mine, own, taken, disputed)
    values |= {name: getattr(theirs, name) for name in taken}
    if not values:
        return Merged(mine, tuple(sorted(disputed)))
    if hasattr(theirs, "updated_at") and hasattr(mine, "updated_at"):
        values["updated_at"] = max(theirs.updated_at, mine.updated_at)
    return Merged(msgspec.structs.replace(mine, **values), tuple(sorted(disputed)))


def _apart(
    base: Memory, theirs: Memory, mine: Memory, own: list[str], taken: set[str], disputed: set[str]
) -> dict[str, Any]:
    """Keep each side's trust from the other side's words, in both sets of names; return the fields to reset here."""
    values: dict[str, Any] = {}
    is_reworded = any(getattr(theirs, name) != getattr(base, name) for name in MEANING)
    reworded = taken & set(MEANING)
    if is_reworded and "status" in own and mine.status != theirs.status:
        taken.difference_update(reworded)
        disputed.update(reworded, ["status"])
    elif reworded and _raised(base, mine) - _VERIFICATION.keys():
        taken.difference_update(reworded)
        disputed.update(reworded)  # other words were marked as essential here, or as certain
    elif reworded and set(own) & _VERIFICATION.keys():
        values = dict(_VERIFICATION)
    if any(getattr(mine, name) != getattr(theirs, name) for name in MEANING if name not in taken):
        raised = (_raised(base, theirs) & taken) - _VERIFICATION.keys()
        taken.difference_update(_VERIFICATION, raised)
        disputed.difference_update(_VERIFICATION)
        disputed.update(raised)
        if "status" in taken:
            taken.remove("status")
            disputed.add("status")
    return values


def _raised(before: Memory, after: Memory) -> set[str]:
    """Return the fields in which a memory is trusted more than before, or verified anew."""
    raised = set()
    if after.stability != "draft" or after.verified_at is not None or after.verified_by:
        raised = {name for name in _VERIFICATION if getattr(after, name) != getattr(before, name)}
    raised |= {name for name in ("pinned", "confidence") if getattr(after, name) > getattr(before, name)}
    if after.certainty > max(before.certainty, HIGHEST_CLAIMED_CERTAINTY):
        raised.add("certainty")
    if after.tier == "shared" != before.tier:
        raised.add("tier")
    return raised


def rebase(
    hub: AnyRecord, before: AnyRecord, after: AnyRecord, *, withheld: Collection[str], decided: Collection[str]
) -> tuple[Any, list[str]]:
    """Return what the hub's record becomes by one change of this machine, and the fields that were left out.

    A field whose value at the hub is neither the one before nor the one after the change was changed by somebody
    else: it is left out, and so are the ``withheld`` ones, about which a person is still to decide. The ``decided``
    ones are given whatever the hub has: a person has seen both. Trust that the change adds to a memory is left out
    too unless the hub's memory then says what the person had before them, and never outlives a change of the words.
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
    if isinstance(hub, Memory) and isinstance(before, Memory) and isinstance(after, Memory):
        words = {name: values.get(name, getattr(hub, name)) for name in MEANING}
        if any(words[name] != getattr(after, name) for name in MEANING):
            unheld = (_raised(before, after) | _raised(hub, after)) & values.keys()
            left += sorted(unheld)  # the person looked at other words than the hub has
            values = {name: value for name, value in values.items() if name not in unheld}
        if values.keys() & set(MEANING):
            # What the hub's words were trusted for since was not these words.
            values = {name: getattr(before, name) for name in _raised(before, hub)} | values
    if not values:
        return hub, left
    if hasattr(after, "updated_at"):
        values["updated_at"] = after.updated_at
    return msgspec.structs.replace(hub, **values), left


def without_trust(memory: Memory) -> Memory:
    """Return a memory without what only a person's decision gives it; the same one where it has nothing of it."""
    if memory.stability == "draft" and not memory.pinned and not memory.verified_by and memory.verified_at is None:
        return memory
    return msgspec.structs.replace(memory, pinned=False, **_VERIFICATION)
