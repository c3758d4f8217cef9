"""The gate of an import: screen each record of a source, and ask a person about what must not come in by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from memento_tui.api.types import Transaction
from memento_tui.branches import is_taken_from_branch
from memento_tui.formats.base import ImportRecord
from memento_tui.formats.reimport import differing_fields
from memento_tui.model import AnyRecord, Crystal, Memory, Relation, Skip, WorkingItem, make_proposal
from memento_tui.model.claims import without_decisions
from memento_tui.policy.gate import Gate, ProposalDraft, creation_fingerprint
from memento_tui.policy.policy import Verdict, WriteIntent
from memento_tui.policy.secrets import redact_record

if TYPE_CHECKING:
    from memento_tui.formats.import_plan import PlannedRecord

__all__ = ["ImportGate"]


@dataclass(frozen=True)
class _HoldReason:
    """Why a new memory waits for a person."""

    reasons: tuple[str, ...]
    evidence: Mapping[str, Any]


class ImportGate:
    """The screening of every record of one import; ``hold`` makes all new memories wait for a person."""

    def __init__(self, gate: Gate, is_signed: Callable[[bytes, str], bool], *, hold: bool) -> None:
        self.held = 0
        """How many new memories wait for a person."""
        self.redacted = 0
        """How many records held a secret."""
        self._gate = gate
        self._hold = hold
        self._is_signed = is_signed
        self._waiting: dict[str, _HoldReason] = {}
        self._removed: dict[str, Any] = {}

    def redact(self, record: AnyRecord) -> AnyRecord:
        """Return a record of the source without the secrets it holds: neither the store nor the ledger keeps them."""
        clean, removed = redact_record(record)
        if not removed:
            return record
        self.redacted += 1
        self._removed[record.id] = msgspec.to_builtins(removed)
        return _strip_secret_remnants(record, clean)

    def is_own(self, incoming: ImportRecord) -> bool:
        """Tell whether this workspace signed a record, and the person does not want to review it all the same."""
        return bool(incoming.signature) and not self._hold and self._is_signed(incoming.signed, incoming.signature)

    def vouch(self, record: AnyRecord) -> None:
        """Let a record in as it is, because this workspace signed it."""
        self._gate.vouch(record)

    def verdict_on(self, action: Literal["create", "edit", "delete"], before: AnyRecord, after: AnyRecord) -> Verdict:
        """Return the policy's answer to a change of a record that exists, or to a new skip, item or identity."""
        intent = self._intent(action, before, after)
        verdict = Verdict("apply") if intent is None else self._gate.judge(intent)
        is_open = isinstance(before, Memory) and before.status == "pending"
        return Verdict("propose", ("held_import", *verdict.reasons)) if self._hold and not is_open else verdict

    def _intent(
        self, action: Literal["create", "edit", "delete"], before: AnyRecord, after: AnyRecord
    ) -> WriteIntent | None:
        if isinstance(after, Relation):
            return None
        score = 0.0 if action == "delete" else self._gate.screen(after).injection_score
        secret_found = action != "delete" and after.id in self._removed
        if isinstance(after, Memory) and isinstance(before, Memory):
            return WriteIntent(
                action,
                external=after.source_type == "external" and after.content != before.content,
                injection_score=score,
                target_verified=before.stability != "draft" or before.pinned,
                secret_found=secret_found,
                leaves_branch=is_taken_from_branch(before.namespace, after.namespace),
            )
        target: Literal["skip", "item", "crystal"]
        target = "skip" if isinstance(after, Skip) else "item" if isinstance(after, WorkingItem) else "crystal"
        return WriteIntent(action, target, injection_score=score, secret_found=secret_found)

    def hold_if_needed(self, memory: Memory) -> Memory:
        """Return a new memory as it may come in: pending where a person is to review it first."""
        screened = self._gate.screen(without_decisions(None, memory))
        clean: Memory = screened.record
        removed = self._removed.get(memory.id)
        intent = WriteIntent(
            "create",
            external=memory.source_type == "external",
            injection_score=screened.injection_score,
            secret_found=removed is not None,
        )
        reasons = list(self._gate.judge(intent).reasons)
        if self._hold:
            reasons.append("held_import")
        if memory.status == "pending":
            reasons.append("pending_in_source")
        if not reasons:
            return clean
        evidence = {**screened.evidence, **({} if removed is None else {"removed": removed})}
        self._waiting[memory.id] = _HoldReason(tuple(reasons), evidence)
        self.held += 1
        return msgspec.structs.replace(clean, status="pending")

    def injection_score(self, memory: Memory) -> float:
        """Return how much a text reads like orders for a model, from 0 to 1."""
        return self._gate.screen(memory).injection_score

    def propose_change(self, tx: Transaction, planned: PlannedRecord) -> AnyRecord | None:
        """Ask a person about a planned change of a record, or about a new skip, item or identity.

        Return the record as it stands meanwhile, ``None`` where nothing is stored before the decision.
        """
        record, current, verdict = planned.record, planned.current, planned.verdict
        evidence: dict[str, Any] = {"file": planned.incoming.file, "line": planned.incoming.line}
        if not isinstance(record, Relation):
            evidence |= self._gate.screen(record).evidence
        if (removed := self._removed.get(record.id)) is not None:
            evidence["removed"] = removed
        if current is None and isinstance(record, Crystal):
            stored = tx.put(msgspec.structs.replace(record, status="proposed"), base=0)
            self._gate.propose(tx, ProposalDraft("create", stored, evidence=evidence), verdict)
            return stored
        if current is None:
            payload = {name: getattr(record, name) for name in record.__struct_fields__ if name != "version"}
            self._gate.propose(tx, ProposalDraft("create", record, payload, evidence, base_version=0), verdict)
        elif planned.action == "delete":
            self._gate.propose(tx, ProposalDraft("delete", current, evidence=evidence), verdict)
        else:
            if isinstance(record, Memory) and isinstance(current, Memory):
                record = without_decisions(current, record)
            changed = (name.partition(".")[0] for name in differing_fields(current, record))
            payload = {name: getattr(record, name) for name in dict.fromkeys(changed)}
            if payload:
                self._gate.propose(tx, ProposalDraft("edit", current, payload, evidence), verdict)
        return current

    def propose(self, tx: Transaction, pending: Iterable[Memory]) -> None:
        """Ask a person about new memories that wait, which `hold_if_needed` returned and which are stored by now."""
        for record in pending:
            waiting = self._waiting.pop(record.id)
            fields = {
                "action": "create",
                "target_id": record.id,
                "base_version": record.version,
                "reasons": waiting.reasons,
                "evidence": waiting.evidence,
                "fingerprint": creation_fingerprint(record),
                "proposed_by": record.source.agent or "import",
            }
            tx.put(make_proposal(fields), base=0)


def _strip_secret_remnants(record: AnyRecord, clean: AnyRecord) -> AnyRecord:
    """Remove from a title the parts of a secret that a reader cut from the text: alone they are not recognised."""
    if not isinstance(record, Memory) or not isinstance(clean, Memory):
        return clean
    words = clean.title.split()
    kept = [word for word in words if word in clean.content or word.rstrip(".") not in record.content]
    return clean if kept == words else msgspec.structs.replace(clean, title=" ".join(kept))
