"""Why a memory that an agent stored waits for a person, or was turned down by one, in words."""

from __future__ import annotations

from memento_tui.agent.fence import one_line
from memento_tui.errors import NotAllowed
from memento_tui.records import Memory, Proposal
from memento_tui.review.policy import REASONS
from memento_tui.workspace import Workspace

__all__ = ["check_not_rejected", "why_it_waits", "why_proposed"]


def why_it_waits(workspace: Workspace, memory: Memory) -> str:
    """Return why a memory waits for a person; empty where it does not."""
    if memory.status != "pending":
        return ""
    waiting = workspace.store.proposals.about(memory.id)
    return _told(waiting[0].reasons if waiting else ())


def why_proposed(proposal: Proposal) -> str:
    """Return why a change waits for a person.

    Raises:
        NotAllowed: a person rejected the same change before.

    """
    if proposal.state == "rejected":
        raise _rejected("change", proposal.note)
    return _told(proposal.reasons)


def check_not_rejected(workspace: Workspace, memory: Memory) -> Memory:
    """Return what was stored. Raises `NotAllowed` where it was not, because a person rejected the same before."""
    if memory.status == "rejected":
        notes = [proposal.note for proposal in workspace.store.proposals.about(memory.id) if proposal.note]
        raise _rejected("text", notes[0] if notes else "")
    return memory


def _told(codes: tuple[str, ...]) -> str:
    because = f", because {'; '.join(REASONS.get(code, code) for code in codes)}" if codes else ""
    return f"A person decides about it{because}. Do not store it again."


def _rejected(what: str, note: str) -> NotAllowed:
    because = f": {one_line(note)}" if note else "."
    return NotAllowed(f"Not stored: a person rejected the same {what} before{because}", "Do not store it again.")
