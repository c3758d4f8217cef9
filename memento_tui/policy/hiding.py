"""Tell whether an agent's change would hide or replace a person's text in the contexts of agents."""

from __future__ import annotations

from datetime import datetime

import msgspec

from memento_tui.model import AnyRecord, Memory, Skip, WorkingItem
from memento_tui.model.lists import is_unverified
from memento_tui.storage.store import Store
from memento_tui.storage.tables import record_name

__all__ = ["hides_persons_entry", "hides_persons_record", "hides_persons_text", "is_persons_text"]

_STANDING = "standing_decision"
"""The category of items that hold until further notice; other working items are reworded and completed by agents."""


def hides_persons_record(store: Store, before: AnyRecord, after: AnyRecord | None, now: datetime) -> bool:
    """Tell whether a change or removal of any record hides a person's text from agents."""
    if isinstance(before, Memory) and (after is None or isinstance(after, Memory)):
        gone = msgspec.structs.replace(before, status="deleted")
        return hides_persons_text(store, before, gone if after is None else after, now)
    if isinstance(before, Skip | WorkingItem) and (after is None or isinstance(after, Skip | WorkingItem)):
        return hides_persons_entry(store, before, after)
    return False


def hides_persons_text(store: Store, before: Memory, after: Memory, now: datetime) -> bool:
    """Tell whether a change hides, from all who are told it or from some of them, a memory that a person wrote."""
    return _is_hidden_by(before, after, now) and is_persons_text(store, before)


def hides_persons_entry(store: Store, before: Skip | WorkingItem, after: Skip | WorkingItem | None) -> bool:
    """Tell whether a change or removal of a skip or working item hides a person's text from agents.

    It is told without a label, as what is verified is, so another text in its place is a loss too.
    """
    if not _is_entry_lost(before, after):
        return False
    return not is_unverified(before) or store.writes.is_written_by_person(record_name(before), before.id)


def _is_entry_lost(before: Skip | WorkingItem, after: Skip | WorkingItem | None) -> bool:
    if after is None or after.namespace != before.namespace:
        return True
    if isinstance(before, Skip) and isinstance(after, Skip):
        return (after.item, after.reason) != (before.item, before.reason) or after.expires_at < before.expires_at
    if isinstance(before, WorkingItem) and isinstance(after, WorkingItem) and before.category == _STANDING:
        texts = ("category", "status", "title", "content")
        return any(getattr(before, name) != getattr(after, name) for name in texts)
    return False


def is_persons_text(store: Store, memory: Memory) -> bool:
    """Tell whether a memory is in a person's words, or was before somebody else rewrote it."""
    return memory.source_type == "user" or store.writes.is_written_by_person(record_name(memory), memory.id)


def _is_hidden_by(before: Memory, after: Memory, now: datetime) -> bool:
    is_gone = after.status == "deleted" != before.status
    is_closed = after.sensitivity == "restricted" != before.sensitivity
    # Where it is told, and whether at the start of a session, goes by these two.
    is_elsewhere = (after.namespace, after.kind) != (before.namespace, before.kind)
    is_early = _is_later(after.valid_from, max(now, before.valid_from or now))
    ends = ((after.expires_at, before.expires_at), (after.valid_to, before.valid_to))
    return is_gone or is_closed or is_elsewhere or is_early or any(_ends_sooner(new, old) for new, old in ends)


def _is_later(moment: datetime | None, other: datetime) -> bool:
    return moment is not None and moment > other


def _ends_sooner(new: datetime | None, old: datetime | None) -> bool:
    return new is not None and (old is None or new < old)
