"""The sessions of agents that wrote: list them, take the memories of one out of recall, and give them back."""

from __future__ import annotations

from datetime import datetime

import msgspec

from memento_tui.errors import AmbiguousId, NotFound
from memento_tui.model import Crystal, Memory, Skip, WorkingItem
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.policy.gate import Gate
from memento_tui.policy.quarantine import QUARANTINED, QuarantineOutcome, quarantine_session, release_session
from memento_tui.storage.store import Store
from memento_tui.storage.write_history import SessionWrites

__all__ = ["WrittenSession", "WrittenSessions"]


class WrittenSession(msgspec.Struct, frozen=True):
    """A session that wrote, with the counts of its records that are in effect now."""

    session: str
    agent: str
    first_at: datetime
    last_at: datetime
    entries: int
    records: int
    """How many different memories, skips, working items and crystals it wrote."""
    in_effect: int
    """How many of those can be shown to an agent now."""
    waiting: int
    """How many proposals of its quarantine wait; 0 where it is not quarantined."""
    quarantined: bool
    """Whether its memories are out of recall and its writes wait, until a person releases it."""


class WrittenSessions:
    """The sessions of agents that wrote into one workspace."""

    def __init__(self, store: Store, gate: Gate) -> None:
        self._store = store
        self._gate = gate

    def list(self, limit: int = 50) -> list[WrittenSession]:
        """Return the sessions that wrote, the one that wrote last first."""
        return [self._described(writes) for writes in self._store.writes.sessions(limit)]

    def get(self, session: str) -> WrittenSession:
        """Return one session by its name or a unique beginning of it. Raises `NotFound` or `AmbiguousId`."""
        return self._described(self._find(session))

    def quarantine(self, session: str) -> QuarantineOutcome:
        """Take a session's memories out of recall; see `memento_tui.policy.quarantine.quarantine_session`.

        Raises:
            NotAllowed: an agent asks.
            NotFound, AmbiguousId: no session, or several, are called so.

        """
        return quarantine_session(self._store, self._gate, self._find(session).session)

    def release(self, session: str) -> QuarantineOutcome:
        """Return the memories of a quarantined session to recall. Raises like `quarantine`."""
        return release_session(self._store, self._gate, self._find(session).session)

    def _find(self, name: str) -> SessionWrites:
        found = self._store.writes.sessions(1, name) if name else []
        if found:
            return found[0]
        fitting = self._store.writes.session_names(name) if name else []
        if not fitting:
            raise NotFound(f"No session {name} wrote anything.", "memento session list shows those that did.")
        if len(fitting) > 1:
            raise AmbiguousId(name, fitting, what="session")
        return self._store.writes.sessions(1, fitting[0])[0]

    def _described(self, writes: SessionWrites) -> WrittenSession:
        waiting = len(self._store.proposals.waiting_of(writes.session, QUARANTINED))
        values = msgspec.structs.asdict(writes)
        quarantined = self._store.writes.is_quarantined(writes.session)
        in_effect = self._in_effect(writes.session)
        return WrittenSession(**values, in_effect=in_effect, waiting=waiting, quarantined=quarantined)

    def _in_effect(self, session: str) -> int:
        written = self._store.writes.records_of(session)
        memories = self._store.memories.get_many([one.record_id for one in written if one.record == "memory"])
        others = (self._store.find_named(one.record, one.record_id) for one in written if one.record != "memory")
        listed = [found for found in others if _has_effect(found)]
        return sum(memory.status in RECALLED_STATUSES for memory in memories.values()) + len(listed)


def _has_effect(record: object) -> bool:
    if isinstance(record, Crystal):
        return record.status == "current"
    return isinstance(record, Skip | WorkingItem | Memory)
