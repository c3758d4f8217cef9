"""A proposal: a write that waits for a person's decision."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, get_args

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidField
from memento_tui.records.ids import check_id, new_id
from memento_tui.records.rules import check_extra, check_line, convert, encodable

__all__ = ["ACTIONS", "OPEN_STATES", "PROPOSAL_STATES", "TARGETS", "Proposal", "make_proposal"]

Action = Literal["create", "edit", "delete", "merge"]
Target = Literal["memory", "skip", "item", "crystal", "contradiction"]
State = Literal["pending", "later", "needs_review", "approved", "rejected", "expired"]
ACTIONS: tuple[str, ...] = get_args(Action)
TARGETS: tuple[str, ...] = get_args(Target)
PROPOSAL_STATES: tuple[str, ...] = get_args(State)

OPEN_STATES: tuple[str, ...] = ("pending", "needs_review", "later")
"""The states in which a decision is still to be made."""


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What would change, and why a person is asked."""

    id: str
    action: Action
    target: Target = "memory"
    target_id: str
    base_version: int = 0
    """The version of the target that the change was made from; 0 where the target does not exist yet."""
    payload: dict[str, Any] = {}
    """The fields of the new record, or those that an edit changes."""
    reasons: tuple[str, ...] = ()
    """Codes such as ``external_source``; `review.policy` says each in words."""
    evidence: dict[str, Any] = {}
    """What the decision rests on. ``about`` lists the other records whose text it holds or whose fate it decides."""
    fingerprint: str = ""
    """A digest of what would change: a rejected proposal silences those that have the same."""
    state: State = "pending"
    proposed_by: str = ""
    session: str = ""
    created_at: datetime
    later_until: datetime | None = None
    decided_by: str = ""
    decided_at: datetime | None = None
    note: str = ""
    """What the person said when deciding; the agent can read it."""
    version: int = 1


_EXPECTED = {
    "action": f"one of {', '.join(ACTIONS)}",
    "target": f"one of {', '.join(TARGETS)}",
    "target_id": "an id",
    "base_version": "a whole number",
    "payload": "an object",
    "evidence": "an object",
    "reasons": "a list of codes",
    "state": f"one of {', '.join(PROPOSAL_STATES)}",
}
_MOMENTS = ("created_at", "later_until", "decided_at")


def make_proposal(fields: Mapping[str, Any], *, now: datetime | None = None) -> Proposal:
    """Make a proposal of plain values. Raises `InvalidField`."""
    values = {"id": new_id(), "created_at": now or clock.now(), **fields}
    proposal = convert(values, Proposal, expected=_EXPECTED, moments=_MOMENTS)
    check_id(proposal.id)
    check_id(proposal.target_id, "target_id")
    check_line(proposal.note, "note")
    encodable(proposal.proposed_by, "proposed_by")
    encodable(proposal.session, "session")
    check_extra(proposal.evidence, "evidence")
    if proposal.action != "create" and proposal.base_version < 1:
        raise InvalidField("base_version", "is missing", "A change names the version that it was made from.")
    if proposal.action in ("edit", "merge") and not proposal.payload:
        raise InvalidField("payload", "is empty", "An edit changes at least one field.")
    if proposal.action == "merge" and "other" not in proposal.evidence:
        raise InvalidField("evidence", "does not name the other memory", "A merge joins two.")
    return proposal
