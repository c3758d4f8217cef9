"""Why a memory that an agent stored waits for a person, or was turned down by one, in words."""

from __future__ import annotations

from collections.abc import Sequence

from memento_tui.agent.fence import one_line
from memento_tui.errors import NotAllowed
from memento_tui.records import Memory, Proposal
from memento_tui.review.policy import reasons_in_words
from memento_tui.workspace import Workspace

__all__ = ["check_not_rejected", "reasons_of", "rejection_note", "why_it_waits", "why_proposed"]


def reasons_of(workspace: Workspace, memory: Memory) -> list[str]:
    """Return why a memory waits for a person, a phrase for each reason; empty where it does not."""
    waiting = workspace.store.proposals.about(memory.id) if memory.status == "pending" else ()
    return reasons_in_words(waiting[0].reasons) if waiting else []


def rejection_note(workspace: Workspace, memory: Memory) -> str:
    """Return what a person said who rejected a memory; empty where nobody said anything."""
    return next((proposal.note for proposal in workspace.store.proposals.about(memory.id) if proposal.note), "")


def why_it_waits(workspace: Workspace, memory: Memory) -> str:
    """Return in a sentence why a memory waits for a person; empty where it does not."""
    return _told(reasons_of(workspace, memory)) if memory.status == "pending" else ""


def why_proposed(proposal: Proposal) -> str:
    """Return why a change waits for a person.

    Raises:
        NotAllowed: a person rejected the same change before.

    """
    if proposal.state == "rejected":
        raise _rejected("change", proposal.note)
    return _told(reasons_in_words(proposal.reasons))


def check_not_rejected(workspace: Workspace, memory: Memory) -> Memory:
    """Return what was stored. Raises `NotAllowed` where it was not, because a person rejected the same before."""
    if memory.status == "rejected":
        raise _rejected("text", rejection_note(workspace, memory))
    return memory


def _told(reasons: Sequence[str]) -> str:
    because = f", because {'; '.join(reasons)}" if reasons else ""
    return f"A person decides about it{because}. Do not store it again."


def _rejected(what: str, note: str) -> NotAllowed:
    because = f": {one_line(note)}" if note else "."
    return NotAllowed(f"Not stored: a person rejected the same {what} before{because}", "Do not store it again.")
