"""What is in focus in the review: the thing that waits, and the other records that the decision is about."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from memento_tui.records import Crystal, Memory
from memento_tui.workspace import Workspace
from memento_tui.workspace.contradictions import Dispute
from memento_tui.workspace.deciding import decided_name
from memento_tui.workspace.queue import Pending

__all__ = ["Focus", "focus_on"]

_MOST_OTHERS = 12


class Focus(msgspec.Struct, frozen=True):
    """One thing that waits, with all that its evidence shows. Two that are equal look the same."""

    kind: str
    item: Pending | Dispute
    others: Mapping[str, Memory] = {}
    """The memories that would be merged into it, or that it would stand for, by id."""
    identity: Crystal | None = None
    """The present identity, where another one is proposed."""
    about: Dispute | None = None
    """The contradiction that an answer was suggested to."""

    @property
    def name(self) -> str:
        """Its name in the queue."""
        if isinstance(self.item, Dispute):
            return decided_name("contradiction", self.item.contradiction.id)
        return self.item.proposal.id

    @property
    def record(self) -> str:
        """``proposal`` or ``contradiction``."""
        return "contradiction" if isinstance(self.item, Dispute) else "proposal"

    @property
    def version(self) -> int:
        """The version that is looked at."""
        item = self.item
        return item.contradiction.version if isinstance(item, Dispute) else item.proposal.version

    @property
    def dispute(self) -> Dispute | None:
        """The contradiction that is decided about, with both sides."""
        return self.item if isinstance(self.item, Dispute) else self.about

    @property
    def is_contradiction(self) -> bool:
        """Whether it is answered by saying which side holds: a contradiction, or an answer suggested to one."""
        return isinstance(self.item, Dispute) or self.item.proposal.target == "contradiction"


def focus_on(workspace: Workspace, kind: str, name: str) -> Focus:
    """Read one thing that waits: a few look-ups by id. Raises `NotFound` where it is gone."""
    item = workspace.waiting.get(name)
    if isinstance(item, Dispute):
        return Focus(kind, item)
    evidence = item.proposal.evidence
    wanted = [str(evidence["other"])] if "other" in evidence else list(evidence.get("sources", ()))
    others = workspace.store.memories(wanted[:_MOST_OTHERS]) if wanted else {}
    identity = workspace.crystals.current() if item.proposal.target == "crystal" else None
    about = workspace.contradictions.get(item.proposal.target_id) if _is_answer(item) else None
    return Focus(kind, item, others, identity, about)


def _is_answer(item: Pending) -> bool:
    return item.proposal.target == "contradiction" and item.target is not None
