"""Tell whether an agent's change would take a person's text from what agents are told."""

from __future__ import annotations

from datetime import datetime

from memento_tui.model import Memory
from memento_tui.storage.store import Store
from memento_tui.storage.tables import record_name

__all__ = ["hides_persons_text", "is_persons_text"]


def hides_persons_text(store: Store, before: Memory, after: Memory, now: datetime) -> bool:
    """Tell whether a change hides, from all who are told it or from some of them, a memory that a person wrote."""
    return _is_hidden_by(before, after, now) and is_persons_text(store, before)


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
