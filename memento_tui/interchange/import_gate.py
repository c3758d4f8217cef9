"""The gate as an import passes it: secrets are taken out, and what a person should look at first is held back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from memento_tui.records import Memory, make_proposal
from memento_tui.review.gate import Gate, creation_fingerprint
from memento_tui.review.policy import Intent
from memento_tui.review.secrets import redacted
from memento_tui.store.tables import AnyRecord
from memento_tui.store.transaction import Transaction

__all__ = ["ImportGate"]


@dataclass(frozen=True)
class _Waiting:
    """Why a new memory waits for a person."""

    reasons: tuple[str, ...]
    evidence: Mapping[str, Any]


class ImportGate:
    """Looks at every record of one import; ``hold`` lets all new memories wait for a person."""

    def __init__(self, gate: Gate, *, hold: bool) -> None:
        self.held = 0
        """How many new memories wait for a person."""
        self.redacted = 0
        """How many records held a secret."""
        self._gate = gate
        self._hold = hold
        self._waiting: dict[str, _Waiting] = {}
        self._removed: dict[str, Any] = {}

    def clean(self, record: AnyRecord) -> AnyRecord:
        """Return a record of the source without the secrets it holds: neither the store nor the ledger keeps them."""
        clean, removals = redacted(record)
        if removals:
            clean = _without_remnants(record, clean)
            self.redacted += 1
            self._removed[record.id] = msgspec.to_builtins(removals)
        return clean

    def judged(self, memory: Memory) -> Memory:
        """Return a new memory as it may come in: held back where a person is to look at it first."""
        screened = self._gate.screen(memory)
        clean: Memory = screened.record
        removed = self._removed.get(memory.id)
        judged = Intent(
            "create", by_person=True, injection_score=screened.injection_score, secret_found=removed is not None
        )
        rules = ("injection_suspected", "secret_found")
        reasons = [reason for reason in self._gate.judge(judged).reasons if reason in rules]
        if self._hold:
            reasons.append("held_import")
        if memory.status == "pending":
            reasons.append("pending_in_source")
        if not reasons:
            return clean
        evidence = {**screened.evidence, **({} if removed is None else {"removed": removed})}
        self._waiting[memory.id] = _Waiting(tuple(reasons), evidence)
        self.held += 1
        return msgspec.structs.replace(clean, status="pending")

    def injection_score(self, memory: Memory) -> float:
        """Return how much a text reads like orders for a model."""
        return self._gate.screen(memory).injection_score

    def propose(self, tx: Transaction, pending: Iterable[Memory]) -> None:
        """Ask a person about new memories that wait, which `judged` returned and which are stored by now."""
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


def _without_remnants(record: AnyRecord, clean: AnyRecord) -> AnyRecord:
    """Take out of a title what a reader cut from a secret in the text: a part of one is no longer told as one."""
    if not isinstance(record, Memory) or not isinstance(clean, Memory):
        return clean
    words = clean.title.split()
    kept = [word for word in words if word in clean.content or word.rstrip(".") not in record.content]
    return clean if kept == words else msgspec.structs.replace(clean, title=" ".join(kept))
