"""The gate that every write passes: screen the text, judge the write, propose a change that must wait."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from memento_tui.model import AnyRecord, Crystal, Memory, Proposal, Skip, WorkingItem, make_proposal
from memento_tui.model.memory import content_digest
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.policy.policy import PolicySettings, Verdict, WriteIntent, judge
from memento_tui.policy.prompt_injection import suspicion_of
from memento_tui.policy.secrets import redact_record
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store
from memento_tui.storage.tables import record_name
from memento_tui.storage.transaction import Transaction

__all__ = ["Gate", "ProposalDraft", "Screened", "creation_fingerprint", "fingerprint_of"]

ScreenedRecord = TypeVar("ScreenedRecord", bound=Memory | Skip | WorkingItem | Crystal)


class Screened(msgspec.Struct, frozen=True):
    """A record that may be stored, and the findings of its screening."""

    record: Any
    injection_score: float
    secret_found: bool
    evidence: dict[str, Any]
    """The removed secrets and the suspicious passages, for the person who decides."""


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


class Gate:
    """The gate of one author in one store."""

    def __init__(self, store: Store, author: Author, rules: PolicySettings) -> None:
        self.rules = rules
        self.author = author
        self._store = store

    def screen(self, record: ScreenedRecord) -> Screened:
        """Take the secrets out of a record, and score its text for orders smuggled in for a model.

        The score of a memory is kept in it; one that it brought along is never lowered.
        """
        clean, removals = redact_record(record)
        suspicion = suspicion_of(_text_of(clean))
        score = suspicion.score
        if isinstance(clean, Memory):
            score = max(score, clean.injection_score)
            if score != clean.injection_score:
                clean = msgspec.structs.replace(clean, injection_score=score)
        evidence: dict[str, Any] = {}
        if removals:
            evidence["removed"] = msgspec.to_builtins(removals)
        if suspicion.signs:
            evidence["suspicion"] = [{"rule": sign.rule, "quote": sign.quote} for sign in suspicion.signs]
        return Screened(clean, score, bool(removals), evidence)

    def judge(self, intent: WriteIntent) -> Verdict:
        """Return the policy's answer to a write."""
        return judge(self.rules, intent)

    @property
    def is_person(self) -> bool:
        """Whether the author is a person."""
        return self.author.actor == "person"

    def refused_before(self, fingerprint: str) -> Proposal | None:
        """Return the rejection that silences a write, or ``None``; a person's own writes are never silenced."""
        found = self._store.proposals.same(fingerprint)
        return found if found is not None and self._is_silenced(found) else None

    def _answers(self, known: Proposal, base_version: int) -> bool:
        """Tell whether a known proposal makes another needless: it waits for the same, or it silences the author."""
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

    def propose(self, tx: Transaction, draft: ProposalDraft, verdict: Verdict) -> Proposal:
        """Write and return a proposal; one that would do the same and waits, or was rejected, is returned instead."""
        kind, record_id = record_name(draft.record), draft.record.id
        base_version = draft.record.version if draft.base_version is None else draft.base_version
        plain = msgspec.json.decode(msgspec.json.encode(draft.payload))
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
            "evidence": msgspec.json.decode(msgspec.json.encode(draft.evidence)),
            "fingerprint": fingerprint,
            "reasons": verdict.reasons,
            "proposed_by": self.author.name,
            "session": self.author.session,
        }
        return tx.put(make_proposal(fields), base=0)


def _is_about(known: Proposal, record_id: str) -> bool:
    """Tell whether a proposal is about a record. New skips and items are not stored yet: what they say names them."""
    return known.target_id == record_id or (known.action == "create" and known.target in ("skip", "item"))


def _still_fits(known: Proposal, base_version: int) -> bool:
    return known.state in OPEN_PROPOSAL_STATES and known.base_version == base_version


def _text_of(record: Memory | Skip | WorkingItem | Crystal) -> str:
    match record:
        case Memory():
            return f"{record.title}\n{record.content}" if record.title else record.content
        case Skip():
            return f"{record.item}\n{record.reason}"
        case WorkingItem():
            return f"{record.title}\n{record.content}\n{record.next_action}"
        case Crystal():
            return record.content


def fingerprint_of(action: str, record: str, record_id: str, payload: Mapping[str, Any]) -> str:
    """Return a digest of a proposal's change."""
    # What a new record says identifies it; its random id does not, nor moments that are counted from the writing.
    passing = ("id", "created_at", "created_by", "updated_at", "expires_at") if action == "create" else ()
    identifying = {name: value for name, value in payload.items() if name not in passing}
    about = [action, record, "" if action == "create" else record_id, identifying]
    return hashlib.blake2b(msgspec.json.encode(about, order="sorted"), digest_size=16).hexdigest()


def creation_fingerprint(memory: Memory) -> str:
    """Return the fingerprint of a new memory: its text and namespace, whatever its id, case and white space."""
    about = [content_digest(memory.content).hex(), memory.namespace]
    return hashlib.blake2b(msgspec.json.encode(about), digest_size=16).hexdigest()
