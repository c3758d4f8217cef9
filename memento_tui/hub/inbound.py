"""Take in the entries of the hub's journal: each passes the gate in the name of the member that wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from memento_tui.api.hub_session import HubMembership, HubSession, decode_record
from memento_tui.api.types import CARD_KEY, HUB_CHANNEL, Author, EntrySource, HubRecord, KnownEntry, Transaction
from memento_tui.errors import Conflict, InvalidField, InvalidInput, MementoError, NotAllowed, NotFound
from memento_tui.hub.entries import SENT_EVIDENCE, HubChange, HubEntry, differing_fields, fault_of, merge
from memento_tui.hub.server import HubMember
from memento_tui.model import (
    AnyRecord,
    Memory,
    Proposal,
    Relation,
    Skip,
    WorkingItem,
    check_memory,
    make_item,
    make_proposal,
    make_relation,
    make_skip,
)
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.model.validation import is_proposal_id, is_short_id, to_plain
from memento_tui.policy.gate import Gate, ProposalDraft
from memento_tui.policy.policy import REASONS, Verdict
from memento_tui.policy.suspicion import SUSPICIOUS_SCORE
from memento_tui.text.agent_names import honest_agent_name

__all__ = ["Inbound", "author_of", "raise_card", "record_if_readable"]

_OWN_ACTIONS = ("purge", "limit history", "undo", "redo", "restore backup", "quarantine", "release")
"""Actions that mean something to the journal in which they stand; from elsewhere they are changes like others."""

_DECIDED = ("approved", "rejected")

_TOO_LARGE = "brings more than 256 MiB, which no machine reads of one entry"

_ODD = (InvalidInput, NotAllowed, NotFound, Conflict, msgspec.MsgspecError, ValueError, OverflowError, RecursionError)
"""The errors of a change that cannot be taken in, such as a number too large or JSON too deep."""


def author_of(entry: HubEntry, member: HubMember) -> Author:
    """Return the author of an entry as this machine names it; an agent's login speaks for agents alone."""
    actor: Any = "agent" if entry.role == "agent" else entry.actor
    who = f"{honest_agent_name(entry.agent)}@{member.name}" if entry.agent and actor == "agent" else member.name
    return Author(actor, HUB_CHANNEL, who, entry.session)


class Inbound:
    """Takes entries of the hub in, one after the other."""

    def __init__(self, session: HubSession, membership: HubMembership, members: Mapping[str, HubMember]) -> None:
        self._session = session
        self._membership = membership
        self._members = members
        self.notes: list[str] = []
        """Notices for the person, a sentence each."""
        self.cards = 0
        """How many changes wait for a person."""

    def take(self, entry: HubEntry) -> None:
        """Take one entry in: its records, their state at the hub, and its number, in one transaction."""
        member = self._members.get(entry.member)
        key = None if member is None else member.public_key
        fault = _TOO_LARGE if entry.is_cut else fault_of(self._membership.workspace, entry, key)
        if fault or member is None:
            name = entry.member if member is None else member.name
            self.notes.append(f"Entry {entry.seq} of the hub, in the name of {name}, {fault}. It was left out.")
            self._pass_over(entry, has_images=False)
        elif entry.member == self._membership.member and self._session.state.is_in_journal(entry.id):
            self._pass_over(entry, has_images=True)
        else:
            self._take_change_back(entry, member)
            left: dict[tuple[str, str], str] = {}
            while (odd := self._apply(entry, member, left)) is not None:
                change, why = odd
                if (change.record, change.record_id) in left:
                    raise MementoError(
                        f"Entry {entry.seq} of the hub, by {member.name}, cannot be taken in: {why}",
                        "Nothing of it was stored. Update memento: pip install --upgrade memento-tui.",
                    )
                left[change.record, change.record_id] = why

    def _pass_over(self, entry: HubEntry, *, has_images: bool) -> None:
        """Record the hub's state after an entry, without changing a record here."""
        state = self._session.state
        with self._session.gate(Author("system", HUB_CHANNEL)).transaction("hub") as tx:
            rows = []
            for change in entry.changes:
                known = state.record(change.record, change.record_id)
                is_here = self._session.find(change.record, change.record_id) is not None
                if known is None and not has_images and not is_here:
                    continue
                if known is None or known.version < change.version:
                    after = record_if_readable(change) if has_images else None if known is None else known.after
                    rows.append(HubRecord(change.record, change.record_id, change.version, after))
            state.put(tx, rows)
            state.take(tx, KnownEntry(entry.id, entry.seq, entry.hash))

    def _take_change_back(self, entry: HubEntry, member: HubMember) -> None:
        """Undo this machine's decisions on proposals that the entry decides: the hub's decision came first."""
        for change in entry.changes:
            if change.record != "proposal" or author_of(entry, member).actor != "person":
                continue
            theirs, mine = record_if_readable(change), self._session.find("proposal", change.record_id)
            known = self._session.state.record("proposal", change.record_id)
            if not isinstance(theirs, Proposal) or not isinstance(mine, Proposal) or known is None:
                continue
            was_open = isinstance(known.after, Proposal) and known.after.state in OPEN_PROPOSAL_STATES
            if not (was_open and theirs.state in _DECIDED and mine.state in _DECIDED):
                continue
            said = f"The proposal {mine.id} was {theirs.state} on {member.name} first"
            try:
                self._session.take_decision_back(mine, member.name)
                self.notes.append(f"{said}; your decision ({mine.state}) was taken back.")
            except Conflict:
                self.notes.append(f"{said}; what you changed since your decision ({mine.state}) stands.")

    def _apply(
        self, entry: HubEntry, member: HubMember, left: Mapping[tuple[str, str], str]
    ) -> tuple[HubChange, str] | None:
        """Take an entry in but for the changes in ``left``; where another one is odd, store nothing and return that."""
        gate = self._session.gate(author_of(entry, member))
        action = f"hub {entry.action}" if entry.action in _OWN_ACTIONS else entry.action
        source = EntrySource(entry.id, entry.origin)
        notes: list[str] = []
        try:
            with gate.transaction(action, note=entry.note, source=source) as tx:
                one = _EntryApplied(self._session, self._membership, gate, tx, member.name)
                for change in entry.changes:
                    why = left.get((change.record, change.record_id))
                    if why is not None:
                        one.leave(change, why)
                        continue
                    if entry.action == "purge" and tx.get_named(change.record, change.record_id) is not None:
                        notes.append(_purge_note(change, member))
                    try:
                        one.take(change)
                    except _ODD as error:
                        raise _OddChange(change, str(error)[:200]) from error
                self._session.state.put(tx, one.rows)
                self._session.state.take(tx, KnownEntry(entry.id, entry.seq, entry.hash))
        except _OddChange as odd:
            return odd.change, odd.why
        self.notes += notes + one.notes
        self.cards += one.cards
        return None


class _OddChange(Exception):
    """A change that cannot be taken in; raising it rolls its transaction back."""

    def __init__(self, change: HubChange, why: str) -> None:
        super().__init__(why)
        self.change = change
        self.why = why


def record_if_readable(change: HubChange) -> AnyRecord | None:
    """Return the record that a change states, ``None`` where it cannot be read either."""
    try:
        return stated_record(change)
    except InvalidField:
        return None


def _purge_note(change: HubChange, member: HubMember) -> str:
    kind = "" if change.record == "memory" else f" --kind {change.record}"
    return (
        f"{member.name} purged the {change.record} {change.record_id}: it is gone from the lists here, and its text"
        f" still stands in this journal. To remove that too: memento purge {change.record_id}{kind} --reason WHY."
    )


class _EntryApplied:
    """The changes of one entry, put into one transaction."""

    def __init__(
        self, session: HubSession, membership: HubMembership, gate: Gate, tx: Transaction, member: str
    ) -> None:
        self._session = session
        self._membership = membership
        self._gate = gate
        self._tx = tx
        self._member = member
        self.rows: list[HubRecord] = []
        self.notes: list[str] = []
        self.cards = 0

    def take(self, change: HubChange) -> None:
        """Apply one change, or let it wait for a person."""
        kind, record_id = change.record, change.record_id
        known = self._session.state.record(kind, record_id)
        if known is not None and change.version <= known.version:
            return
        try:
            theirs = stated_record(change)
        except InvalidField as error:
            self.leave(change, str(error))
            return
        if theirs is None and not change.removed:
            # Its text was purged at the hub. What is here was taken in before, and its removal is an entry of its own.
            if known is not None or self._session.find(kind, record_id) is not None:
                self.rows.append(HubRecord(kind, record_id, change.version, None if known is None else known.after))
            return
        if known is None and (theirs is None or not self._is_shared(theirs)):
            return
        self.rows.append(HubRecord(kind, record_id, change.version, theirs))
        mine = self._tx.get_named(kind, record_id)
        if theirs is None:
            self._remove(known, mine)
        elif mine is not None:
            self._join(known, theirs, mine, change.version)
        elif not self._session.is_purged(kind, record_id):
            if self._gate.author.actor != "person":
                self._check_id(kind, record_id)
            self._add(self._arrived(theirs) if isinstance(theirs, Proposal) else theirs)

    def _check_id(self, kind: str, record_id: str) -> None:
        """Raise `InvalidField` for the id of a new record that a person may type for another one, now or later."""
        if kind == "proposal" and not is_proposal_id(record_id):
            raise InvalidField("id", f"is none that memento gives a proposal: {record_id:.80}")
        if is_short_id(record_id):
            raise InvalidField("id", f"is a beginning that the id of another record may have: {record_id:.80}")
        if other := self._session.begins_another(record_id):
            # Typed as the beginning of that one, it would lead the person to this one.
            raise InvalidField("id", f"begins the id of another {other}: {record_id:.80}")

    def leave(self, change: HubChange, why: str) -> None:
        """Leave a change out, and record its version, which later changes from here must follow."""
        kind, record_id = change.record, change.record_id
        self.notes.append(f"The {kind} {record_id:.80} of {self._member} was left out: {why}")
        known = self._session.state.record(kind, record_id)
        if known is not None or self._session.find(kind, record_id) is not None:
            self.rows.append(HubRecord(kind, record_id, change.version, None if known is None else known.after))

    def _is_shared(self, record: AnyRecord) -> bool:
        match record:
            case Memory() | Skip() | WorkingItem():
                return self._membership.shares(record.namespace)
            case Relation():
                return self._is_known("memory", record.src)
            case Proposal():
                named = record.payload.get("namespace", "global")
                return self._is_known(record.target, record.target_id) or (
                    record.action == "create" and record.target != "memory" and self._membership.shares(str(named))
                )
        return False

    def _is_known(self, kind: str, record_id: str) -> bool:
        here = any((row.record, row.record_id) == (kind, record_id) for row in self.rows)
        return here or self._session.state.record(kind, record_id) is not None

    def _arrived(self, theirs: Proposal) -> Proposal:
        """Return another member's proposal with this machine's own findings as evidence, and its true author."""
        author = self._gate.author
        screened = self._gate.screen(theirs)
        found = ["injection_suspected"] if screened.injection_score >= SUSPICIOUS_SCORE else []
        found += ["secret_found"] if screened.secret_found else []
        stated = [code for code in theirs.reasons if code in REASONS and code not in (*found, "changed_on_both")]
        evidence = {name: value for name, value in theirs.evidence.items() if name in SENT_EVIDENCE}
        clean: Proposal = msgspec.structs.replace(
            screened.record, reasons=(*found, *stated), evidence={**evidence, **screened.evidence}
        )
        if author.actor == "person":
            return clean
        return msgspec.structs.replace(clean, proposed_by=author.agent or author.actor, session=author.session)

    def _proposal(self, theirs: Proposal, mine: Proposal) -> Proposal:
        """Return an arrived proposal merged into the one that waits here. Raises `NotAllowed` where another made it."""
        author = self._gate.author
        if CARD_KEY in mine.evidence or (author.actor == "agent" and author.agent != mine.proposed_by):
            raise NotAllowed("It waits here, and another made it.", "Nothing was changed.")
        arrived = self._arrived(theirs)
        return msgspec.structs.replace(
            arrived,
            reasons=tuple(dict.fromkeys((*arrived.reasons, *mine.reasons))),
            evidence={**arrived.evidence, **mine.evidence},
            proposed_by=mine.proposed_by,
            session=mine.session,
        )

    def _check_not_held(self, *records: AnyRecord) -> None:
        """Raise `NotAllowed` where the person wants to decide about other members' writes in the namespace."""
        for record in records:
            if isinstance(record, Memory | Skip | WorkingItem) and self._membership.holds(record.namespace):
                raise NotAllowed(f"What other members write in {record.namespace} waits.", "Decide about it in Review.")

    def _add(self, theirs: AnyRecord) -> None:
        try:
            self._check_not_held(theirs)
            self._tx.put(theirs, base=0)
        except NotAllowed as refused:
            self._hold_new(theirs, refused)

    def _hold_new(self, theirs: AnyRecord, refused: NotAllowed) -> None:
        """Propose a new record that the gate or the person refused, so that it waits in Review."""
        screened = self._gate.screen(theirs) if isinstance(theirs, Memory | Skip | WorkingItem) else None
        if screened is None:
            self.notes.append(f"A {type(theirs).__name__.lower()} of {self._member} was left out: {refused.message}")
            return
        evidence = {**screened.evidence, **self._evidence(0)}
        verdict = self._verdict(screened.injection_score)
        self.cards += 1
        if isinstance(screened.record, Memory):
            self._gate.admit(self._tx, screened.record, verdict, evidence)
            return
        payload = {name: value for name, value in to_plain(screened.record).items() if name != "version"}
        self._gate.propose(
            self._tx, ProposalDraft("create", screened.record, payload, evidence, base_version=0), verdict
        )

    def _remove(self, known: HubRecord | None, mine: AnyRecord | None) -> None:
        if mine is None or known is None:
            return
        is_as_known = known.after is not None and not differing_fields(known.after, mine)
        if is_as_known or not isinstance(mine, Skip | WorkingItem | Memory):
            try:
                self._check_not_held(mine)
                self._tx.remove(mine, base=mine.version)
            except NotAllowed:
                self._card("delete", mine, {}, known.version + 1, "other_member")
        elif not isinstance(mine, Memory) or mine.status in RECALLED_STATUSES:
            self._card("delete", mine, {}, known.version + 1, "changed_on_both")

    def _join(self, known: HubRecord | None, theirs: AnyRecord, mine: AnyRecord, version: int) -> None:
        """Merge the changes of both sides; conflicting fields wait for a person."""
        if isinstance(theirs, Proposal) and isinstance(mine, Proposal):
            if mine.state in OPEN_PROPOSAL_STATES:
                self._tx.put(self._proposal(theirs, mine), base=mine.version)
            return
        merged = merge(known.after if known is not None else None, theirs, mine)
        standing = mine
        if merged.record is not mine:
            try:
                self._check_not_held(mine, theirs)
                standing = self._tx.put(merged.record, base=mine.version)
            except NotAllowed:
                changed = differing_fields(merged.record, mine)
                self._card_about(theirs, mine, changed, version, "other_member")
        if merged.conflicting:
            self._card_about(theirs, standing, merged.conflicting, version, "changed_on_both")

    def _card_about(
        self, theirs: AnyRecord, mine: AnyRecord, fields: list[str] | tuple[str, ...], version: int, reason: str
    ) -> None:
        draft = _card_for(theirs, mine, fields, self._evidence(version))
        if draft is None:
            self.notes.append(
                f"The {type(mine).__name__.lower()} {mine.id} is not the same here and on {self._member}; yours stands."
            )
            return
        screened = self._gate.screen(theirs) if isinstance(theirs, Memory | Skip | WorkingItem) else None
        score = 0.0 if screened is None else screened.injection_score
        self.cards += 1
        verdict = self._verdict(score, reason)
        self._gate.propose(
            self._tx, msgspec.structs.replace(draft, fingerprint=f"hub {mine.id} {version} {reason}"), verdict
        )

    def _card(self, action: str, mine: AnyRecord, payload: Mapping[str, Any], version: int, reason: str) -> None:
        self.cards += 1
        draft = ProposalDraft(action, mine, payload, self._evidence(version), f"hub {mine.id} {version} {reason}")
        self._gate.propose(self._tx, draft, self._verdict(0.0, reason))

    def _evidence(self, version: int) -> dict[str, Any]:
        return {CARD_KEY: {"member": self._member, "version": version}}

    @staticmethod
    def _verdict(injection_score: float, reason: str = "other_member") -> Verdict:
        suspicious = ("injection_suspected",) if injection_score >= SUSPICIOUS_SCORE else ()
        return Verdict("propose", (*suspicious, reason))


def raise_card(session: HubSession, known: HubRecord) -> bool:
    """Ask the person about a record of which a change could not be sent; return whether there is anything to decide.

    The hub has another value of a field than this machine knew when it changed it, and no card says so yet.
    """
    with session.gate(Author("system", HUB_CHANNEL)).transaction("hub") as tx:
        mine = tx.get_named(known.record, known.record_id)
        if mine is None or known.after is None:
            return False
        asked = {name for card in session.state.open_cards(known.record, known.record_id) for name in card.payload}
        fields = [name for name in differing_fields(known.after, mine) if name not in asked]
        evidence = {CARD_KEY: {"member": "another machine", "version": known.version}}
        draft = _card_for(known.after, mine, fields, evidence)
        if draft is None:
            return False
        told = msgspec.structs.replace(draft, fingerprint=f"hub {mine.id} {known.version} sent")
        session.gate(Author("system", HUB_CHANNEL)).propose(tx, told, Verdict("propose", ("changed_on_both",)))
        return True


_UNDECIDABLE = frozenset(
    ("id", "created_at", "created_by", "version", "status", "stability", "verified_at", "verified_by")
)
"""The fields that no card asks about: those that identify a record, and those that a decision sets."""


def _card_for(
    theirs: AnyRecord, mine: AnyRecord, fields: list[str] | tuple[str, ...], evidence: Mapping[str, Any]
) -> ProposalDraft | None:
    """Return the proposal to take the other side's values of some fields; ``None`` where there is nothing to decide."""
    if not isinstance(mine, Memory | Skip | WorkingItem):
        return None
    if "status" in fields and isinstance(theirs, Memory) and theirs.status == "deleted":
        return ProposalDraft("delete", mine, {}, evidence)
    plain = to_plain(theirs)
    usable = [
        name for name in fields if name not in _UNDECIDABLE or (name == "status" and isinstance(mine, WorkingItem))
    ]
    payload = {name: plain[name] for name in usable}
    return ProposalDraft("edit", mine, payload, evidence) if payload else None


def stated_record(change: HubChange) -> AnyRecord | None:
    """Return the record that a change states, checked by every rule of a new one; ``None`` where it was removed.

    Raises `InvalidField`, whatever is wrong with it.
    """
    if change.image is None:
        return None
    try:
        checked = _checked(change.record, change.image)
    except InvalidField:
        raise
    except (KeyError, TypeError, *_ODD) as error:
        raise InvalidField("image", f"cannot be read: {error}"[:200]) from error
    if checked.id != change.record_id:
        raise InvalidField("id", f"is {checked.id:.80}, not {change.record_id:.80}")
    return checked


def _checked(kind: str, image: str) -> AnyRecord:
    record = decode_record(kind, image)
    match record:
        case Memory():
            return check_memory(record)
        case Skip():
            return make_skip(to_plain(record), stored=True)
        case WorkingItem():
            return make_item(to_plain(record))
        case Relation():
            return make_relation(to_plain(record))
        case Proposal():
            return make_proposal(to_plain(record))
        case _:
            raise InvalidField("record", "is of a kind that is not shared")
