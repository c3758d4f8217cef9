"""Tell whether a change gives a record what only a person's decision gives."""

from __future__ import annotations

from memento_tui.model import AnyRecord
from memento_tui.model.claims import DECIDED_FIELDS, without_decisions
from memento_tui.model.lists import UNVERIFIED_KEY, Crystal, Skip, WorkingItem
from memento_tui.model.memory import RECALLED_STATUSES, Memory
from memento_tui.model.memory_fields import SENSITIVITIES
from memento_tui.model.review import OPEN_PROPOSAL_STATES, Contradiction, Proposal

__all__ = ["gives_trust"]


def gives_trust(before: AnyRecord, after: AnyRecord) -> bool:
    """Tell whether a record is trusted, told or decided after a change, in any way in which it was not before."""
    if isinstance(before, Memory) and isinstance(after, Memory):
        return _memory_gains(before, after)
    if isinstance(before, Proposal) and isinstance(after, Proposal):
        return before.state in OPEN_PROPOSAL_STATES and after.state not in OPEN_PROPOSAL_STATES
    if isinstance(before, Contradiction) and isinstance(after, Contradiction):
        return before.status == "open" and after.status != "open"
    if isinstance(before, Crystal) and isinstance(after, Crystal) and before.status != after.status == "current":
        return True
    if isinstance(before, Skip | WorkingItem | Crystal) and isinstance(after, Skip | WorkingItem | Crystal):
        return UNVERIFIED_KEY in before.extra and UNVERIFIED_KEY not in after.extra
    return False


def _memory_gains(before: Memory, after: Memory) -> bool:
    without = without_decisions(before, after)
    return (
        any(getattr(without, name) != getattr(after, name) for name in DECIDED_FIELDS)
        or (after.status in RECALLED_STATUSES and before.status not in RECALLED_STATUSES)
        or SENSITIVITIES.index(after.sensitivity) < SENSITIVITIES.index(before.sensitivity)
    )
