"""Send this machine's entries to the hub, each rebased on the hub's present records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from memento_tui import clock
from memento_tui.api.hub_session import HubMembership, HubSession, decode_record
from memento_tui.api.types import CARD_KEY, Change, Entry, HubRecord, record_image
from memento_tui.hub.entries import (
    SENT_EVIDENCE,
    SentChange,
    SigningKey,
    as_sent,
    differing_fields,
    rebase,
    without_trust,
)
from memento_tui.model import AnyRecord, Memory, Proposal, Relation, Skip, WorkingItem
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.model.validation import new_id
from memento_tui.moments import format_moment

__all__ = ["Batch", "Outbound"]

_MAX_ENTRIES = 200
"""Entries of the journal that are read for one transaction at the hub."""

_MAX_BYTES = 4_000_000
"""Bytes of images after which a transaction at the hub is full."""

_RECORDS_AN_ENTRY = 500
"""Records in one entry that shares records which existed before their namespace was shared."""

_SHARED_KINDS = ("memory", "skip", "item", "relation")
"""The kinds that are shared as they stand, those that others refer to first. Proposals travel as they are made."""

_Pair = tuple[Change, AnyRecord | None]


class Batch(NamedTuple):
    """The entries that are to be appended in one transaction."""

    entries: list[dict[str, Any]]
    sent: list[tuple[str, int]]
    """The id and number of each entry of this journal among them."""
    reached: int
    """The number of the newest entry of this journal that is done with once they are appended."""
    left: list[HubRecord]
    """The records of which a field was left out: the hub has another value than this machine knew."""
    purged: Sequence[tuple[str, str]] = ()
    """The kind and id of each record whose text is to leave the hub too."""
    notes: Sequence[str] = ()
    """The ids of the entries whose note is to leave the hub too."""


class Outbound:
    """Makes the entries to send in one round. Each counts as the hub's state for the next."""

    def __init__(
        self,
        session: HubSession,
        membership: HubMembership,
        key: SigningKey,
        read_purged: Callable[[], Collection[tuple[str, str]]] = tuple,
    ) -> None:
        """``read_purged`` reads the kinds and ids of which the hub takes no text any more, once something is to go."""
        self._session = session
        self._membership = membership
        self._key = key
        self._read_purged = read_purged
        self._made: dict[tuple[str, str], HubRecord] = {}

    @cached_property
    def _purged(self) -> Collection[tuple[str, str]]:
        return self._read_purged()

    def written(self) -> Batch:
        """Return the next entries of this journal that concern shared records."""
        entries: list[dict[str, Any]] = []
        sent: list[tuple[str, int]] = []
        left: list[HubRecord] = []
        purged: list[tuple[str, str]] = []
        notes: list[str] = []
        reached, size = self._membership.pushed, 0
        found = self._session.state.own_entries_after(reached, _MAX_ENTRIES)
        for entry in found:
            changes = self._changes_of(entry, left)
            reached = entry.seq
            if entry.action == "purge":
                purged += [(change.record, change.record_id) for change in changes]
                notes += self._session.state.purged_notes(entry.seq - 1, entry.seq)
            if changes:
                entries.append(self._signed(_facts_of(entry), changes))
                sent.append((entry.id, entry.seq))
                size += sum(len(change.image or "") for change in changes)
            if size > _MAX_BYTES:
                break
        if len(found) < _MAX_ENTRIES and size <= _MAX_BYTES:
            reached = max(reached, self._session.head() if not found else reached)
        return Batch(entries, sent, reached, left, purged, notes)

    def unshared(self) -> Batch:
        """Return one entry with records of the shared namespaces of which the hub knows nothing, if there are any."""
        changes: list[SentChange] = []
        for kind in _SHARED_KINDS:
            if len(changes) >= _RECORDS_AN_ENTRY or not self._membership.namespaces:
                break
            found = self._session.state.unshared(kind, self._membership.namespaces, _RECORDS_AN_ENTRY - len(changes))
            changes += [self._send(kind, record.id, 0, record) for record in found if self._is_unsent(kind, record)]
        return self._stated("share", changes)

    def _is_unsent(self, kind: str, record: AnyRecord) -> bool:
        return (kind, record.id) not in self._purged and self._may_leave(record)

    def resent(self, records: Sequence[HubRecord]) -> Batch:
        """Return one entry that brings the hub's state of some records to this machine's.

        Others lose what is gone here or may not leave any more; what was purged here is purged there again.
        """
        changes: list[SentChange] = []
        purged: list[tuple[str, str]] = []
        for known in records if self._membership.role in ("reviewer", "owner") else ():
            key = (known.record, known.record_id)
            mine = self._session.find(*key)
            if mine is None:
                if self._session.is_purged(*key):
                    purged.append(key)
                if known.after is not None and self._session.state.was_here(*key):
                    changes.append(self._send(*key, known.version, None))
                continue
            if known.after is None or key in self._purged:
                continue
            if not self._may_leave(mine):
                withdrawn = self._withdrawn(*key, known)
                changes += [] if withdrawn is None else [withdrawn]
                continue
            cards = self._session.state.open_cards(*key)
            withheld = {name for card in cards for name in (card.payload or ("status",))}
            after, _ = rebase(known.after, known.after, _as_shared(mine), withheld=withheld, decided=())
            if after is not known.after:
                changes.append(self._send(*key, known.version, after))
        return self._stated("resend", changes)._replace(purged=purged)

    def _stated(self, action: str, changes: Sequence[SentChange]) -> Batch:
        """Return an entry in this machine's own name, which stands in no journal but the hub's."""
        if not changes:
            return Batch([], [], self._membership.pushed, [])
        made = new_id()
        facts = {
            "id": made,
            "origin": self._membership.member,
            "at": format_moment(clock.now()),
            "actor": "person",
            "agent": "",
            "session": "",
            "channel": "hub",
            "action": action,
            "note": "",
        }
        return Batch([self._signed(facts, changes)], [(made, 0)], self._membership.pushed, [])

    def _signed(self, facts: dict[str, Any], changes: Sequence[SentChange]) -> dict[str, Any]:
        return as_sent(self._membership.workspace, self._membership.member, self._key, facts, changes)

    # One entry of the journal

    def _changes_of(self, entry: Entry, left: list[HubRecord]) -> list[SentChange]:
        if self._membership.role == "agent" and entry.actor == "person":
            return []  # such a login speaks for agents alone; what the person does there stays there
        pairs = self._session.state.changes(entry.seq)
        if not all(self._decision_holds(pair) for pair in pairs):
            return []
        decided = _decided_fields(pairs)
        changes = []
        for change, before in pairs:
            key = (change.record, change.record_id)
            sent = self._change(entry, change, before, decided.pop(key, ()), left)
            if sent is not None:
                changes.append(sent)
        # A card that was turned down leaves this machine's values, which the hub is given.
        for (kind, record_id), fields in decided.items():
            mine = self._session.find(kind, record_id)
            known = self._known(kind, record_id)
            if mine is not None and known is not None and known.after is not None:
                after, _ = rebase(known.after, mine, mine, withheld=(), decided=fields)
                if after is not known.after:
                    changes.append(self._send(kind, record_id, known.version, after))
        return changes

    def _decision_holds(self, pair: _Pair) -> bool:
        """Tell whether a proposal was still open at the hub when it was decided here."""
        change, before = pair
        if change.record != "proposal" or not isinstance(before, Proposal) or before.state not in OPEN_PROPOSAL_STATES:
            return True
        known = self._known("proposal", change.record_id)
        return known is None or not isinstance(known.after, Proposal) or known.after.state in OPEN_PROPOSAL_STATES

    def _change(
        self, entry: Entry, change: Change, before: AnyRecord | None, decided: Iterable[str], left: list[HubRecord]
    ) -> SentChange | None:
        kind, record_id = change.record, change.record_id
        if kind not in (*_SHARED_KINDS, "proposal"):
            return None
        known = self._known(kind, record_id)
        if change.image is None:
            is_gone = known is None or (known.after is None and entry.action != "purge")
            return None if known is None or is_gone else self._send(kind, record_id, known.version, None)
        after = _as_shared(decode_record(kind, change.image))
        now = self._session.find(kind, record_id)
        # An agent's login speaks for agents alone: what a person made first stays on this machine.
        is_persons = known is None and before is not None and self._membership.role == "agent"
        if is_persons or (kind, record_id) in self._purged:
            return None
        is_own = isinstance(after, Proposal) and not self._concerns_all(entry, after)
        if is_own or not self._may_leave(now or after):
            return self._withdrawn(kind, record_id, known)
        if not self._may_leave(after):
            return None  # it was private for a while only, and what it became since follows
        return self._public(
            HubRecord(kind, record_id, 0, None) if known is None else known, (before, after, now), decided, left
        )

    def _public(
        self,
        known: HubRecord,
        states: tuple[AnyRecord | None, AnyRecord, AnyRecord | None],
        decided: Iterable[str],
        left: list[HubRecord],
    ) -> SentChange | None:
        """Return the change to send for a change of a shared record; ``None`` where the hub has it already.

        ``states`` are the record before and after the change, and as it is here now.
        """
        before, after, now = states
        kind, record_id = known.record, known.record_id
        cards = self._session.state.open_cards(kind, record_id)
        if known.after is None:
            if any(card.action == "delete" for card in cards):
                return None  # others removed it, and the person is still to decide whether it goes here too
            return self._send(kind, record_id, known.version, after)
        before = after if before is None else _as_shared(before)
        if not self._may_leave(before):
            before = known.after  # what changed while it was private was not sent
        withheld = {name for card in cards for name in (card.payload or ("status",))}
        withheld |= _settled(known.after, after, now)
        rebased, omitted = rebase(known.after, before, after, withheld=withheld, decided=tuple(decided))
        if isinstance(rebased, Memory) and any("other_member" in card.reasons for card in cards):
            rebased = without_trust(rebased)  # this machine's gate has not let in what the hub has
        sent = None if rebased is known.after else self._send(kind, record_id, known.version, rebased)
        if set(omitted) - withheld:
            left.append(self._known(kind, record_id) or known)
        return sent

    def _withdrawn(self, kind: str, record_id: str, known: HubRecord | None) -> SentChange | None:
        """Return the change by which others lose a record that is shared no longer; its new state is not told.

        What belongs to a namespace that this machine stopped to share stays as others have it.
        """
        if known is None or known.after is None or not self._is_of_shared(known.after):
            return None
        if not isinstance(known.after, Memory):
            return self._send(kind, record_id, known.version, None)
        if known.after.status == "deleted":
            return None
        return self._send(kind, record_id, known.version, msgspec.structs.replace(known.after, status="deleted"))

    def _is_of_shared(self, at_hub: AnyRecord) -> bool:
        """Tell whether this machine shares the namespace in which the hub has a record."""
        match at_hub:
            case Memory() | Skip() | WorkingItem():
                return self._membership.shares(at_hub.namespace)
            case Relation():
                other = self._known("memory", at_hub.src)
            case Proposal():
                other = self._known(at_hub.target, at_hub.target_id)
            case _:
                return False
        return other is None or other.after is None or self._is_of_shared(other.after)

    def _may_leave(self, record: AnyRecord) -> bool:
        """Tell whether a record is shared; restricted memories never leave this machine."""
        match record:
            case Memory():
                return record.sensitivity != "restricted" and self._membership.shares(record.namespace)
            case Skip() | WorkingItem():
                return self._membership.shares(record.namespace)
            case Relation():
                return self._is_shared("memory", record.src) and (
                    record.type in ("file", "item")
                    or self._is_shared("memory", record.dst)
                    or self._session.find("memory", record.dst) is None
                )
            case Proposal():
                if record.action == "create" and record.target in ("skip", "item"):
                    return self._membership.shares(str(record.payload.get("namespace", "global")))
                return self._is_shared(record.target, record.target_id) and self._tells_no_secret(record)
        return False

    def _tells_no_secret(self, proposal: Proposal) -> bool:
        target = self._session.find(proposal.target, proposal.target_id)
        payload = proposal.payload
        stays = payload.get("sensitivity") != "restricted" and getattr(target, "sensitivity", "") != "restricted"
        return stays and self._membership.shares(str(payload.get("namespace", self._membership.namespaces[0])))

    def _concerns_all(self, entry: Entry, proposal: Proposal) -> bool:
        """Tell whether to send a proposal: not one of this machine's own maintenance, nor a card about a conflict."""
        if CARD_KEY in proposal.evidence or proposal.action == "merge":
            return False
        return entry.actor != "system" and (
            proposal.version > 1 or self._known("proposal", proposal.id) is not None or entry.actor == "agent"
        )

    def _is_shared(self, kind: str, record_id: str) -> bool:
        """Tell whether the hub has a record, and it is still one that may leave this machine."""
        known, mine = self._known(kind, record_id), self._session.find(kind, record_id)
        return known is not None and known.after is not None and (mine is None or self._may_leave(mine))

    def _known(self, kind: str, record_id: str) -> HubRecord | None:
        return self._made.get((kind, record_id)) or self._session.state.record(kind, record_id)

    def _send(self, kind: str, record_id: str, base: int, after: AnyRecord | None) -> SentChange:
        image = None
        if after is not None:
            after = msgspec.structs.replace(_as_shared(after), version=base + 1)
            image = record_image(after)
        self._made[kind, record_id] = HubRecord(kind, record_id, base + 1, after)
        return SentChange(kind, record_id, base, after, image)


def _settled(at_hub: AnyRecord, after: AnyRecord, now: AnyRecord | None) -> set[str]:
    """Return the fields in which this machine and the hub agree now, but not with a change that was made before.

    What was written here and taken back while others wrote the same would undo theirs, at the hub alone.
    """
    if now is None:
        return set()
    now = _as_shared(now)
    return set(differing_fields(after, now)) - set(differing_fields(at_hub, now))


def _facts_of(entry: Entry) -> dict[str, Any]:
    names = ("id", "origin", "at", "actor", "agent", "session", "channel", "action", "note")
    return {name: getattr(entry, name) for name in names}


def _as_shared(record: AnyRecord) -> Any:  # noqa: ANN401 - the same kind of record
    """Return a record without the evidence that may quote records which are not shared."""
    if not isinstance(record, Proposal):
        return record
    evidence = {name: value for name, value in record.evidence.items() if name in (*SENT_EVIDENCE, CARD_KEY)}
    return record if evidence == record.evidence else msgspec.structs.replace(record, evidence=evidence)


def _decided_fields(pairs: Sequence[_Pair]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return, by record, the fields changed on both sides that the person decided about by cards."""
    decided: dict[tuple[str, str], tuple[str, ...]] = {}
    for change, before in pairs:
        if change.record != "proposal" or not isinstance(before, Proposal) or change.image is None:
            continue
        after = decode_record("proposal", change.image)
        if not isinstance(after, Proposal):
            continue
        if "changed_on_both" in before.reasons and after.state in ("approved", "rejected"):
            decided[before.target, before.target_id] = tuple(before.payload) or ("status",)
    return decided
