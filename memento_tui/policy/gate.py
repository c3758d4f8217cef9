"""The gate that every write passes: screen the text, judge the write, propose a change that must wait."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidField
from memento_tui.model import AnyRecord, Memory, Proposal, make_proposal
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.model.validation import account_of, is_made_id
from memento_tui.policy.admission import Admission
from memento_tui.policy.hiding import hides_persons_record
from memento_tui.policy.policy import PolicySettings, Verdict, WriteIntent, judge
from memento_tui.policy.screening import Screened, Screening
from memento_tui.policy.secrets import redact_record, redact_text
from memento_tui.policy.set_rules import SET_REASONS, SetRules, with_findings
from memento_tui.storage.journal import Author, Entry, Origin, origin_of
from memento_tui.storage.store import Store
from memento_tui.storage.tables import record_name
from memento_tui.storage.transaction import EntrySource, Transaction
from memento_tui.text.rewording import plain_letters

__all__ = ["Gate", "ProposalDraft", "Screened", "creation_fingerprint", "fingerprint_of"]


class ProposalDraft(msgspec.Struct, frozen=True):
    """A change that a person is to decide about."""

    action: str
    """``create``, ``edit``, ``delete`` or ``merge``."""
    record: AnyRecord
    """The record that it is about, as it is or as it would be."""
    payload: Mapping[str, Any] = {}
    """The fields that the change would set, as values that JSON can hold or that encode to such."""
    evidence: Mapping[str, Any] = {}
    """The evidence that the person is shown beside the change."""
    fingerprint: str = ""
    """The value that two proposals of the same change share; by default a digest of the change."""
    base_version: int | None = None
    """The version that the change was made from, the record's own by default; 0 for one that is not stored yet."""
    session: str = ""
    """The session that wrote the record, where it waits because of that one and not of the author's."""
    instead: Proposal | None = None
    """The author's own proposal about the record that waits and is rewritten into this one; see `Gate.own_waiting`."""


def _without_secrets(author: Author) -> Author:
    """Return an author with secrets taken out of its names: agents choose their own name and session id.

    One as memento makes them is no text, and spares a program that only reads the rules for secrets.
    """
    if is_made_id(author.session):
        others = _without_secrets(msgspec.structs.replace(author, session=""))
        return msgspec.structs.replace(others, session=author.session)
    return redact_record(author)[0]


class Gate:
    """The gate of one author in one store: every change of a record passes it, and nothing else can write."""

    def __init__(self, store: Store, author: Author, rules: PolicySettings) -> None:
        self.rules = rules
        self.author = _without_secrets(author)
        self.origin: Origin = origin_of(author)
        """The origin of the author's texts. It follows from the author alone, and no caller chooses it."""
        self._store = store
        self._screening = Screening()
        self._sets = SetRules(store, author, rules.burst)

    def transaction(
        self,
        action: str,
        *,
        note: str = "",
        names_only: bool = False,
        batch: str = "",
        now: datetime | None = None,
        source: EntrySource | None = None,
    ) -> AbstractContextManager[Transaction]:
        """Begin one write in the author's name, which becomes one journal entry; ``batch`` joins several.

        ``names_only`` says that the note is memento's own words about an id, by which the entry is found again: only
        rules read it then, for learned weights take an id for a password now and then.
        ``source`` says where an entry was written that came from another machine. Every change in it is screened and
        judged when it is put, whoever puts it.
        """
        said, _ = redact_text(note, by_rules_alone=names_only)
        options: dict[str, Any] = {"note": said, "now": now, "source": source} | ({"batch": batch} if batch else {})
        guard = Admission(self._store, self.origin, self.rules, self._screening, self._sets)
        return self._store.transaction(self.author, action, guard=guard, **options)

    def screen(self, record: AnyRecord) -> Screened:
        """Take the secrets out of a record, and score all its texts for orders smuggled in for a model.

        The score of a memory is kept in it; one that it brought along is never lowered.
        """
        return self._screening.screen(record)

    def vouch(self, record: AnyRecord) -> None:
        """Let a record in with the decisions that it states, because this workspace itself signed them."""
        self._screening.vouched[record_name(record), record.id] = record

    def judge(self, intent: WriteIntent, record: AnyRecord | None = None, also: Sequence[AnyRecord] = ()) -> Verdict:
        """Return the policy's verdict on a write; an agent's is judged together with its session's earlier writes.

        ``record`` is the record with its new text, if there is one; ``also`` are written in the same transaction.
        """
        return with_findings(judge(self.rules, intent), self._sets.findings(record, clock.now(), also))

    def require_version_read(self, base_version: int | None) -> None:
        """Raise `InvalidField` for a change by anybody but a person that does not say which version was read."""
        if base_version is None and not self.is_person:
            raise InvalidField(
                "base_version",
                "is missing",
                "Read the record, and name the version that you read (in a shell: --base-version, or ID@VERSION).",
            )

    def hides_persons(self, before: AnyRecord, after: AnyRecord | None) -> bool:
        """Tell whether a change of a record, or without ``after`` its removal, hides a person's text from agents.

        A file takes back what a file brought, though a person edited it since.
        """
        is_made_here = self._store.writes.is_written_by_person
        if self.origin == "file" and not is_made_here(record_name(before), before.id, first=True):
            return False
        return hides_persons_record(self._store, before, after, clock.now())

    @property
    def is_person(self) -> bool:
        """Whether the author is a person, at a channel of their own."""
        return self.origin == "person"

    def refused_before(self, fingerprint: str) -> Proposal | None:
        """Return the rejection that silences a write, or ``None``; a person's own writes are never silenced."""
        found = self._store.proposals.same(fingerprint)
        return found if found is not None and self._is_silenced(found) else None

    def _answers(self, known: Proposal, base_version: int) -> bool:
        """Tell whether a known proposal makes a new one needless: it waits, or is rejected and the author an agent."""
        return _still_fits(known, base_version) or self._is_silenced(known)

    def _is_silenced(self, known: Proposal) -> bool:
        return known.state == "rejected" and not self.is_person

    def admit(
        self, tx: Transaction, memory: Memory, verdict: Verdict, evidence: Mapping[str, Any], fingerprint: str = ""
    ) -> Memory:
        """Store a new memory by the policy's verdict: as it is, or pending with a proposal for a person."""
        if verdict.answer != "propose":
            return tx.put(memory, base=0)
        pending = tx.put(msgspec.structs.replace(memory, status="pending"), base=0)
        print_ = fingerprint or creation_fingerprint(pending)
        self.propose(tx, ProposalDraft("create", pending, evidence=evidence, fingerprint=print_), verdict)
        return pending

    def own_waiting(self, record: AnyRecord, payload: Mapping[str, Any]) -> Proposal | None:
        """Return the author's own waiting proposal that edits a field of ``payload`` in the record's present version.

        It is the same author's where session, agent and channel are the same: a name alone is anybody's. None is
        returned for a change that a person turned down.
        """
        if self.refused_before(fingerprint_of("edit", record_name(record), record.id, _plain(payload))):
            return None
        for known in self._store.proposals.about(record.id, record_name(record)):
            is_open = known.action == "edit" and _still_fits(known, record.version)
            if is_open and not payload.keys().isdisjoint(known.payload):
                first = self._store.journal.history(Proposal, known.id)[-1].entry
                if _writer(first) == _writer(self.author):
                    return known
        return None

    def edit_draft(
        self,
        record: AnyRecord,
        changes: Mapping[str, Any],
        screened: Screened,
        verdict: Verdict,
        *,
        make: Callable[[Mapping[str, Any]], AnyRecord],
        judge: Callable[[Screened], Verdict],
    ) -> tuple[ProposalDraft, Verdict]:
        """Return the proposal of an edit, which takes the place of its author's earlier one, and its verdict.

        So what one author asks of a field is one card, however often it is asked. Other fields of the earlier one are
        asked for with it: ``make`` makes the record of all of them, and ``judge`` judges it.
        """
        values = {name: getattr(screened.record, name) for name in changes}
        mine = self.own_waiting(record, values)
        if mine is None or mine.payload.keys() <= values.keys():
            return ProposalDraft("edit", record, values, screened.evidence, instead=mine), verdict
        joined = {**mine.payload, **changes}
        whole = self.screen(make(joined))
        values = {name: getattr(whole.record, name) for name in joined}
        reasons = (*verdict.reasons, *judge(whole).reasons, *mine.reasons)
        evidence = {**mine.evidence, **screened.evidence, **whole.evidence}
        draft = ProposalDraft("edit", record, values, evidence, instead=mine)
        return draft, Verdict("propose", tuple(dict.fromkeys(reasons)))

    def propose(self, tx: Transaction, draft: ProposalDraft, verdict: Verdict) -> Proposal:
        """Write and return a proposal; one that would do the same and waits, or was rejected, is returned instead."""
        kind, record_id = record_name(draft.record), draft.record.id
        base_version = draft.record.version if draft.base_version is None else draft.base_version
        plain = _plain(draft.payload)
        fingerprint = draft.fingerprint or fingerprint_of(draft.action, kind, record_id, plain)
        known = self._store.proposals.same(fingerprint)
        if known is not None and _is_about(known, record_id) and self._answers(known, base_version):
            return known
        fields = {
            "action": draft.action,
            "target": kind,
            "target_id": record_id,
            "base_version": base_version,
            "payload": plain,
            "evidence": msgspec.json.decode(msgspec.json.encode(self._with_sets(draft, verdict))),
            "fingerprint": fingerprint,
            "reasons": verdict.reasons,
            **self._proposer(draft),
        }
        if (mine := draft.instead) is not None:
            # Who put it off said so of the record; what moved meanwhile does not matter to a change of what it is now.
            state = "later" if mine.state == "later" else "pending"
            return tx.put(msgspec.structs.replace(mine, **fields, state=state), base=mine.version)
        return tx.put(make_proposal(fields), base=0)

    def _proposer(self, draft: ProposalDraft) -> dict[str, str]:
        """Return the proposer and its session; for a record that a person brings back, the agent that wrote it."""
        author, record = self.author, draft.record
        if draft.session and isinstance(record, Memory):
            return {"proposed_by": record.source.agent, "session": draft.session}
        if self.is_person and draft.action == "create" and isinstance(record, Memory) and record.source.agent:
            return {"proposed_by": record.source.agent, "session": record.source.session}
        by = author.agent or (author.channel if self.origin == "file" else author.actor)
        return {"proposed_by": by, "session": author.session}

    def _with_sets(self, draft: ProposalDraft, verdict: Verdict) -> Mapping[str, Any]:
        """Return the evidence of a proposal, with that of the other writes because of which it waits."""
        if not SET_REASONS.intersection(verdict.reasons):
            return draft.evidence
        return {**self._sets.evidence(draft.record), **draft.evidence}


def _is_about(known: Proposal, record_id: str) -> bool:
    """Tell whether a proposal is about a record; one of a new skip or item is found by its content."""
    return known.target_id == record_id or (known.action == "create" and known.target in ("skip", "item"))


def _plain(payload: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(payload))
    return plain


def _writer(author: Author | Entry) -> tuple[str, str, str, str]:
    return author.actor, author.channel, author.agent, author.session


def _still_fits(known: Proposal, base_version: int) -> bool:
    return known.state in OPEN_PROPOSAL_STATES and known.base_version == base_version


def fingerprint_of(action: str, record: str, record_id: str, payload: Mapping[str, Any]) -> str:
    """Return a digest of a proposal's change."""
    # What a new record says identifies it; its random id does not, nor moments that are counted from the writing.
    passing = ("id", "created_at", "created_by", "updated_at", "expires_at") if action == "create" else ()
    identifying = {name: value for name, value in payload.items() if name not in passing}
    about = [action, record, "" if action == "create" else record_id, identifying]
    return hashlib.blake2b(msgspec.json.encode(about, order="sorted"), digest_size=16).hexdigest()


def creation_fingerprint(memory: Memory) -> str:
    """Return the fingerprint of a new memory: its letters and digits and its account.

    Another namespace, case, spacing or punctuation makes it no other text, and neither do letters of other alphabets
    that look like its own: what a person turned down stays so.
    """
    about = [
        hashlib.blake2b(plain_letters(memory.content).encode(), digest_size=16).hexdigest(),
        account_of(memory.namespace),
    ]
    return hashlib.blake2b(msgspec.json.encode(about), digest_size=16).hexdigest()
