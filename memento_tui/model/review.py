"""The records that a person decides about: proposals, and contradictions between two memories."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, get_args

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidField
from memento_tui.model.validation import (
    check_encodable,
    check_extra,
    check_id,
    check_json,
    check_line,
    convert_fields,
    new_id,
    new_proposal_id,
)

__all__ = [
    "INBOX_KINDS",
    "OPEN_PROPOSAL_STATES",
    "PROPOSAL_STATES",
    "RESOLUTIONS",
    "RISKY_KINDS",
    "RISK_REASONS",
    "Contradiction",
    "Proposal",
    "make_contradiction",
    "make_proposal",
    "risk_of",
]

ProposalAction = Literal["create", "edit", "delete", "merge"]
ProposalTarget = Literal["memory", "skip", "item", "crystal", "contradiction"]
ProposalState = Literal["pending", "later", "needs_review", "approved", "rejected", "expired"]
PROPOSAL_ACTIONS: tuple[str, ...] = get_args(ProposalAction)
PROPOSAL_TARGETS: tuple[str, ...] = get_args(ProposalTarget)
PROPOSAL_STATES: tuple[str, ...] = get_args(ProposalState)

OPEN_PROPOSAL_STATES: tuple[str, ...] = ("pending", "needs_review", "later")
"""The states in which a decision is still to be made."""


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A change that waits for a person's decision, with the reasons why."""

    id: str
    action: ProposalAction
    target: ProposalTarget = "memory"
    target_id: str
    base_version: int = 0
    """The version of the target that the change was made from; 0 where the target does not exist yet."""
    payload: dict[str, Any] = {}
    """The fields of the new record, or those that an edit changes."""
    reasons: tuple[str, ...] = ()
    """Codes such as ``external_source``; `memento_tui.policy.policy.REASONS` has a sentence for each."""
    evidence: dict[str, Any] = {}
    """The evidence for the decision. ``about`` lists the other records whose text it holds or that it would change."""
    fingerprint: str = ""
    """A digest of the change: a rejected proposal silences later ones that have the same."""
    state: ProposalState = "pending"
    proposed_by: str = ""
    session: str = ""
    created_at: datetime
    later_until: datetime | None = None
    decided_by: str = ""
    decided_at: datetime | None = None
    note: str = ""
    """The person's comment on the decision; the agent can read it."""
    version: int = 1


_PROPOSAL_FIELDS = {
    "action": f"one of {', '.join(PROPOSAL_ACTIONS)}",
    "target": f"one of {', '.join(PROPOSAL_TARGETS)}",
    "target_id": "an id",
    "base_version": "a whole number",
    "payload": "an object",
    "evidence": "an object",
    "reasons": "a list of codes",
    "state": f"one of {', '.join(PROPOSAL_STATES)}",
}
_PROPOSAL_MOMENTS = ("created_at", "later_until", "decided_at")


def make_proposal(fields: Mapping[str, Any], *, now: datetime | None = None) -> Proposal:
    """Make a proposal of plain values. Raises `InvalidField`."""
    values = {"id": new_proposal_id(), "created_at": now or clock.now(), **fields}
    proposal = convert_fields(values, Proposal, expected=_PROPOSAL_FIELDS, moments=_PROPOSAL_MOMENTS)
    check_id(proposal.id)
    check_id(proposal.target_id, "target_id")
    check_line(proposal.note, "note")
    check_encodable(proposal.proposed_by, "proposed_by")
    check_encodable(proposal.session, "session")
    check_json(proposal.payload, "payload")
    check_extra(proposal.evidence, "evidence")
    if proposal.action != "create" and proposal.base_version < 1:
        raise InvalidField("base_version", "is missing", "A change names the version that it was made from.")
    if proposal.action in ("edit", "merge") and not proposal.payload:
        raise InvalidField("payload", "is empty", "An edit changes at least one field.")
    if proposal.action == "merge" and "other" not in proposal.evidence:
        raise InvalidField("evidence", "does not name the other memory", "A merge joins two.")
    return proposal


def risk_of(proposal: Proposal) -> str:
    """Return the one of `RISKY_KINDS` that a proposal is of, empty for none."""
    return next((kind for kind, codes in RISK_REASONS.items() if not set(codes).isdisjoint(proposal.reasons)), "")


ContradictionKind = Literal["temporal", "scoped", "genuine"]
ContradictionStatus = Literal["open", "later", "resolved"]
Resolution = Literal["", "newer_supersedes", "older_stands", "both_valid", "merged", "not_a_contradiction"]
CONTRADICTION_KINDS: tuple[str, ...] = get_args(ContradictionKind)
RESOLUTIONS: tuple[str, ...] = get_args(Resolution)[1:]


class Contradiction(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories by their ids, and the words that differ: each span is a start and an end in its content."""

    id: str
    older: str
    newer: str
    kind: ContradictionKind = "genuine"
    older_spans: tuple[tuple[int, int], ...] = ()
    newer_spans: tuple[tuple[int, int], ...] = ()
    why: str = ""
    score: float = 0.0
    """From 0 to 1: how sure the finder is."""
    status: ContradictionStatus = "open"
    resolution: Resolution = ""
    resolved_by: str = ""
    resolved_at: datetime | None = None
    later_until: datetime | None = None
    lowered: tuple[str, ...] = ()
    """The ids of sides that lost a grade of certainty when it was found, and get it back; none do any more."""
    created_at: datetime
    version: int = 1


_CONTRADICTION_FIELDS = {
    "older": "an id",
    "newer": "an id",
    "kind": f"one of {', '.join(CONTRADICTION_KINDS)}",
    "older_spans": "a list of pairs of whole numbers",
    "newer_spans": "a list of pairs of whole numbers",
    "score": "a number from 0 to 1",
    "status": "one of open, later, resolved",
    "resolution": f"one of {', '.join(RESOLUTIONS)}",
}


def make_contradiction(fields: Mapping[str, Any], *, now: datetime | None = None) -> Contradiction:
    """Make a contradiction of plain values. Raises `InvalidField`."""
    values = {"id": new_id(), "created_at": now or clock.now(), **fields}
    found = convert_fields(
        values, Contradiction, expected=_CONTRADICTION_FIELDS, moments=("created_at", "resolved_at", "later_until")
    )
    check_id(found.id)
    check_id(found.older, "older")
    check_id(found.newer, "newer")
    check_line(found.why, "why")
    if found.older == found.newer:
        raise InvalidField("newer", "is the same memory as older; a contradiction has two sides")
    if not 0 <= found.score <= 1:
        raise InvalidField("score", f"must be a number from 0 to 1; not {found.score}")
    if (found.status == "resolved") != bool(found.resolution):
        raise InvalidField("resolution", "belongs to a contradiction that is resolved, and to no other")
    return found


RISK_REASONS: Mapping[str, tuple[str, ...]] = {
    "orders": ("injection_suspected", "joined_orders"),
    "secret": ("secret_found",),
    "quarantined": ("quarantined",),
    "burst": ("burst",),
}
"""The reasons by which a proposal is of each kind that could do harm, the riskiest first."""

RISKY_KINDS = tuple(RISK_REASONS)
"""The kinds of items that could do harm; they are shown in red, and an approval asks twice."""

INBOX_KINDS: tuple[str, ...] = (
    "orders",
    "secret",
    "quarantined",
    "burst",
    "contradiction",
    "suggestion",
    "identity",
    "deletion",
    "change",
    "merge",
    "code",
    "consolidation",
    "learned",
    "promotion",
    "expiring",
    "skip",
    "item",
    "new",
)
"""The kinds of inbox entries, the riskiest first: a merge that held a secret is a ``secret``."""
