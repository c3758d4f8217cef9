"""Take everything that one session of an agent wrote out of effect until a person has looked, and give it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from memento_tui.errors import NotAllowed, NotFound
from memento_tui.model import AnyRecord, Crystal, Memory, Proposal, Relation, make_proposal
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.policy.gate import Gate, creation_fingerprint, fingerprint_of
from memento_tui.policy.policy import AGENT_FIELDS
from memento_tui.storage.journal import Change
from memento_tui.storage.store import Store
from memento_tui.storage.tables import TABLES, record_name
from memento_tui.storage.transaction import Transaction
from memento_tui.storage.write_history import SessionRecord, session_note

__all__ = ["QUARANTINED", "QuarantineOutcome", "quarantine_session", "release_session"]

QUARANTINED = "quarantined"
"""The reason code of the proposals that a quarantine makes."""

_GIVEN_BACK = "Its session was given back."
"""The note on a proposal that a release closes."""

_UNCOMPARED = frozenset(
    ("version", "updated_at", "shown_count", "used_count", "last_used_at", "hits", "last_hit_at", "surprise")
)
"""Fields that change while a record says the same."""


class QuarantineOutcome(msgspec.Struct, frozen=True):
    """The outcome for the records of a session, by kind and id."""

    session: str
    moved: tuple[tuple[str, str], ...] = ()
    """The records that were taken out of effect, or given back."""
    kept: tuple[tuple[str, str], ...] = ()
    """The records that a person stands behind, or that were decided about since; they stay as they are."""


def quarantine_session(store: Store, gate: Gate, session: str) -> QuarantineOutcome:
    """Take a session's unverified records out of effect, as one entry that one undo takes back.

    New memories wait, and so does the identity, whose predecessor holds again. Skips and working items leave their
    lists, each with a proposal to bring it back. A change of a record that others had written is undone into a
    proposal; where somebody changed the record again since, it waits as a whole. Relations are removed.

    Raises:
        NotAllowed: an agent asks.
        NotFound: the session wrote nothing.

    """
    _require_person(gate, "takes a session out of recall")
    writes = store.writes.sessions(1, session)
    records = store.writes.records_of(session)
    if not writes:
        raise NotFound(f"No session {session} wrote anything.", "memento session list shows those that did.")
    moved: list[tuple[str, str]] = []
    kept: list[tuple[str, str]] = []
    with gate.transaction("quarantine", note=session_note(session), names_only=True) as tx:
        tx.leaves_entry = True  # what the session writes next waits, though nothing of it was told
        for proposal in [*store.proposals.waiting_of(session), *_rewritten(store, session, records)]:
            _mark_quarantined(tx, proposal)
        work = _Quarantine(store, gate, tx, session, writes[0].agent)
        for record in records:
            outcome = work.take(record)
            if outcome is not None:
                (moved if outcome else kept).append((record.record, record.record_id))
    return QuarantineOutcome(session, tuple(moved), tuple(kept))


def release_session(store: Store, gate: Gate, session: str) -> QuarantineOutcome:
    """Put a quarantined session's records back into effect, except those that a person decided about meanwhile.

    Raises:
        NotAllowed: an agent asks.
        NotFound: the session is not quarantined.

    """
    _require_person(gate, "gives a session back")
    released = store.writes.entries_noted("release", session_note(session))
    entries = [
        seq for seq in store.writes.entries_noted("quarantine", session_note(session)) if seq > max(released, default=0)
    ]
    if not entries:
        raise NotFound(f"The session {session} is not quarantined.", "memento session list shows those that are.")
    moved: list[tuple[str, str]] = []
    kept: list[tuple[str, str]] = []
    with gate.transaction("release", note=session_note(session), names_only=True) as tx:
        tx.leaves_entry = True
        for seq in entries:
            _release_entry(store, gate, tx, seq, moved, kept)
        rewritten = _rewritten(store, session, store.writes.records_of(session))
        waiting = store.proposals.waiting_of(session, QUARANTINED)
        waiting += [proposal for proposal in rewritten if QUARANTINED in proposal.reasons]
        moved += [(proposal.target, proposal.target_id) for proposal in waiting if _let_in(tx, proposal)]
    return QuarantineOutcome(session, tuple(moved), tuple(kept))


def _rewritten(store: Store, session: str, records: Sequence[SessionRecord]) -> list[Proposal]:
    """Return the proposals about waiting memories of other sessions that a session changed.

    An agent gives itself its name, so that one may rewrite what waits for another of that name.
    """
    changed = [one.record_id for one in records if one.record == "memory" and not one.is_created]
    asked = [proposal for name in changed for proposal in store.proposals.about(name)]
    return [
        proposal
        for proposal in asked
        if proposal.state in OPEN_PROPOSAL_STATES and proposal.action == "create" and proposal.session != session
    ]


def _require_person(gate: Gate, verb: str) -> None:
    if not gate.is_person:
        raise NotAllowed(f"Only a person {verb}.", "Tell the person which session, and why.")


def _mark_quarantined(tx: Transaction, proposal: Proposal) -> None:
    """Add the quarantine to the reasons of a waiting proposal, so that its approval needs a confirmation."""
    if QUARANTINED not in proposal.reasons:
        reasons = (*proposal.reasons, QUARANTINED)
        tx.put(msgspec.structs.replace(proposal, reasons=reasons), base=proposal.version)


class _Quarantine:
    """One quarantine in a running transaction."""

    def __init__(self, store: Store, gate: Gate, tx: Transaction, session: str, agent: str) -> None:
        self._store, self._gate, self._tx = store, gate, tx
        self._session, self._agent = session, agent

    def take(self, record: SessionRecord) -> bool | None:
        """Take one record out of effect; return whether it was, ``None`` where it has no effect anyway."""
        current = self._tx.get_named(record.record, record.record_id)
        match current:
            case None:
                return self._removed(record)
            case Relation():
                return self._relation(record, current)
            case Crystal():
                return self._crystal(record, current)
            case _:
                return self._listed(record, current)

    def _listed(self, record: SessionRecord, current: AnyRecord) -> bool | None:
        """Take a memory, a skip or a working item."""
        if self._is_persons(record, current):
            return False
        if isinstance(current, Memory) and current.status not in RECALLED_STATUSES:
            return self._deleted(record, current)
        before = None if record.is_created else self._image(record, record.first_version - 1)
        if before is not None and self._is_last(record, current):
            return self._undo_change(current, before)
        return self._take_whole(current)

    def _relation(self, record: SessionRecord, current: Relation) -> bool | None:
        if not record.is_created:
            return None
        self._tx.remove(current, base=current.version)
        return True

    def _take_whole(self, current: Any) -> bool:  # noqa: ANN401 - a memory, skip or working item
        evidence: dict[str, Any] = {"session": self._session}
        if isinstance(current, Memory):
            pending = self._put(current, status="pending")
            self._propose("create", pending, {}, evidence, creation_fingerprint(pending), base=pending.version)
            return True
        self._tx.remove(current, base=current.version)
        fields = {name: getattr(current, name) for name in current.__struct_fields__ if name != "version"}
        self._propose("create", current, fields, evidence, "", base=0)
        return True

    def _undo_change(self, current: Any, before: Any) -> bool:  # noqa: ANN401 - a memory, skip or working item
        changed = _differences(before, current)
        if not changed:
            return True
        if isinstance(current, Memory):
            proposed = {name: getattr(current, name) for name in changed if name in AGENT_FIELDS}
        else:
            proposed = {name: getattr(current, name) for name in changed}
        restored = self._put(current, **{name: getattr(before, name) for name in changed})
        if proposed:
            self._propose("edit", restored, proposed, {"session": self._session}, "", base=restored.version)
        return True

    def _deleted(self, record: SessionRecord, current: Memory) -> bool | None:
        """Bring back a memory that the session deleted, and propose the deletion."""
        before = None if record.is_created else self._image(record, record.first_version - 1)
        if current.status != "deleted" or before is None or not self._is_last(record, current):
            return None
        restored = self._put(current, **{name: getattr(before, name) for name in _differences(before, current)})
        self._propose("delete", restored, {}, {"session": self._session}, "", base=restored.version)
        return True

    def _removed(self, record: SessionRecord) -> bool | None:
        """Bring back a skip or a working item that the session removed, and propose to remove it."""
        if record.is_created or record.record == "relation" or not self._is_uninterrupted(record):
            return None
        before = self._image(record, record.first_version - 1)
        if before is None:
            return None
        restored = _put_as_it_is(self._gate, self._tx, before, base=0)
        self._propose("delete", restored, {}, {"session": self._session}, "", base=restored.version)
        return True

    def _crystal(self, record: SessionRecord, current: Crystal) -> bool | None:
        if current.status != "current" or not record.is_created:
            return None
        if self._is_persons(record, current):
            return False
        proposed = self._put(current, status="proposed")
        parent = self._tx.get(Crystal, current.parent) if current.parent else None
        evidence = {"session": self._session}
        if parent is not None and parent.status == "past":
            self._put(parent, status="current")
            evidence["parent"] = parent.id
        self._propose("create", proposed, {}, evidence, "", base=proposed.version)
        return True

    def _put(self, record: Any, **values: Any) -> Any:  # noqa: ANN401 - any record
        return _put_as_it_is(self._gate, self._tx, msgspec.structs.replace(record, **values), base=record.version)

    def _propose(
        self,
        action: str,
        record: AnyRecord,
        payload: Mapping[str, Any],
        evidence: Mapping[str, Any],
        fingerprint: str,
        *,
        base: int,
    ) -> None:
        """Write a proposal in the name of the session's agent, so that this agent can read the decision."""
        kind = record_name(record)
        plain = msgspec.json.decode(msgspec.json.encode(payload))
        fields = {
            "action": action,
            "target": kind,
            "target_id": record.id,
            "base_version": base,
            "payload": plain,
            "evidence": evidence,
            "fingerprint": fingerprint or fingerprint_of(action, kind, record.id, plain),
            "reasons": [QUARANTINED],
            "proposed_by": self._agent,
            "session": self._session,
        }
        self._tx.put(make_proposal(fields, now=self._tx.now), base=0)

    def _image(self, record: SessionRecord, version: int) -> Any:  # noqa: ANN401 - any record
        return self._store.journal.image_named(record.record, record.record_id, version)

    def _is_last(self, record: SessionRecord, current: AnyRecord) -> bool:
        """Tell whether nobody else changed a record since the session first did."""
        last = self._image(record, record.last_version)
        return self._is_uninterrupted(record) and last is not None and not _differences(last, current)

    @staticmethod
    def _is_uninterrupted(record: SessionRecord) -> bool:
        return record.versions == record.last_version - record.first_version + 1

    def _is_persons(self, record: SessionRecord, current: AnyRecord) -> bool:
        """Tell whether a person stands behind a record as it is: it is verified or essential, or they changed it."""
        if isinstance(current, Memory) and (current.stability != "draft" or current.pinned):
            return True
        later = self._store.writes.versions_by_person(record.record, record.record_id, record.last_version)
        images = (self._image(record, version) for version in later)
        last = self._image(record, record.last_version)
        return any(last is None or image is None or _stands_behind(last, image) for image in images)


def _put_as_it_is(gate: Gate, tx: Transaction, record: Any, *, base: int) -> Any:  # noqa: ANN401 - any record
    """Write a record as it stood: neither a quarantine nor its end makes a person stand behind a text."""
    gate.vouch(record)
    return tx.put(record, base=base)


def _stands_behind(before: Any, after: Any) -> bool:  # noqa: ANN401 - any record
    """Tell whether a person's change edits a record, rather than rejecting or replacing it."""
    lost = {"status", "certainty"} if getattr(after, "status", "") == "superseded" else {"status"}
    return not lost.issuperset(_differences(before, after))


def _differences(one: Any, other: Any) -> list[str]:  # noqa: ANN401 - any record
    names = (name for name in one.__struct_fields__ if name not in _UNCOMPARED)
    return [name for name in names if getattr(one, name) != getattr(other, name)]


def _release_entry(
    store: Store, gate: Gate, tx: Transaction, seq: int, moved: list[tuple[str, str]], kept: list[tuple[str, str]]
) -> None:
    """Undo the changes of one quarantine, the last change first."""
    changes = store.journal.changes(seq)
    decided = _close_proposals(tx, changes)
    for change in reversed(changes):
        key = (change.record, change.record_id)
        if change.record == "proposal":
            continue
        if key in decided:
            kept.append(key)
        elif _give_back(store, gate, tx, change):
            moved.append(key)


def _let_in(tx: Transaction, proposal: Proposal) -> bool:
    """Make a memory active that waits for its session's quarantine alone; tell whether it did. Others go on waiting."""
    rest = tuple(reason for reason in proposal.reasons if reason != QUARANTINED)
    memory = tx.get(Memory, proposal.target_id) if proposal.target == "memory" else None
    if rest or proposal.action != "create" or memory is None or memory.status != "pending":
        tx.put(msgspec.structs.replace(proposal, reasons=rest or ("asked_to_wait",)), base=proposal.version)
        return False
    tx.put(msgspec.structs.replace(memory, status="active"), base=memory.version)
    closed = {"state": "expired", "decided_at": tx.now, "note": _GIVEN_BACK}
    tx.put(msgspec.structs.replace(proposal, **closed), base=proposal.version)
    return True


def _close_proposals(tx: Transaction, changes: Sequence[Change]) -> set[tuple[str, str]]:
    """Close the open proposals of a quarantine; return the records about which a person decided."""
    decided: set[tuple[str, str]] = set()
    for change in changes:
        # One that waited before has another version: it only loses the reason again.
        is_own = change.record == "proposal" and change.version == 1
        proposal = tx.get(Proposal, change.record_id) if is_own else None
        if proposal is None:
            continue
        if proposal.state in OPEN_PROPOSAL_STATES:
            closed = {"state": "expired", "decided_at": tx.now, "note": _GIVEN_BACK}
            tx.put(msgspec.structs.replace(proposal, **closed), base=proposal.version)
        elif proposal.state != "expired":
            decided.add((proposal.target, proposal.target_id))
    return decided


def _give_back(store: Store, gate: Gate, tx: Transaction, change: Change) -> bool:
    """Put one record back as it was before a quarantine; return whether it still was as the quarantine left it."""
    before = store.journal.image_named(change.record, change.record_id, change.version - 1)
    after = None if change.image is None else TABLES[change.record].image.decode(change.image)
    current = tx.get_named(change.record, change.record_id)
    if change.removed:
        if current is not None or before is None:
            return False
        _put_as_it_is(gate, tx, before, base=0)
        return True
    if current is None or after is None or _differences(after, current):
        return False
    if before is None:
        tx.remove(current, base=current.version)
        return True
    if isinstance(current, Crystal) and isinstance(before, Crystal):
        return _give_back_crystal(gate, tx, current, before)
    values = {name: getattr(before, name) for name in _differences(before, current)}
    _put_as_it_is(gate, tx, msgspec.structs.replace(current, **values), base=current.version)
    return True


def _give_back_crystal(gate: Gate, tx: Transaction, current: Crystal, before: Crystal) -> bool:
    """Put an identity back; where a person has written another one since, it becomes part of the past."""
    others = [crystal for crystal in tx.with_status(Crystal, "current") if crystal.id != current.id]
    status = "past" if before.status == "current" and others else before.status
    _put_as_it_is(gate, tx, msgspec.structs.replace(current, status=status), base=current.version)
    return True
