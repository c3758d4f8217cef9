"""Proposing that two near duplicates become one memory."""

from __future__ import annotations

from memento_tui.records import Memory, Proposal
from memento_tui.review.gate import Gate
from memento_tui.review.policy import Intent
from memento_tui.store.transaction import Transaction
from memento_tui.upkeep.duplicates import merge_fields, merge_fingerprint

__all__ = ["propose_merge"]


def propose_merge(tx: Transaction, gate: Gate, older: Memory, newer: Memory, likeness: float) -> Proposal:
    """Propose that the older memory says what both say and the newer is superseded by it; both stay meanwhile."""
    verdict = gate.judge(Intent("edit", origin="merge", target_verified=older.stability != "draft"))
    evidence = {
        "other": newer.id,
        "other_version": newer.version,
        "likeness": round(likeness, 3),
        "about": [newer.id],
    }
    return gate.propose(
        tx,
        "merge",
        "memory",
        older.id,
        older.version,
        verdict,
        payload=merge_fields(older, newer),
        evidence=evidence,
        fingerprint=merge_fingerprint(older, newer),
    )
