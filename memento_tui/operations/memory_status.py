"""Say how a memory or proposal stands: its labels, who may see it, why it waits, what was decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from memento_tui.api import Workspace
from memento_tui.errors import NotAllowed
from memento_tui.model import Crystal, Memory, Proposal, Skip, WorkingItem
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.policy.policy import reasons_in_words
from memento_tui.text.fence import one_line

__all__ = [
    "DECIDED_STATES",
    "ProposalSummary",
    "bracketed",
    "caution_labels",
    "check_not_rejected",
    "format_time",
    "is_readable",
    "is_recalled",
    "pending_reasons",
    "pending_sentence",
    "proposal_sentence",
    "proposals_of_agent",
    "rejection_note",
]


def is_readable(memory: Memory) -> bool:
    """Tell whether an agent may read the text by id: not while it waits for a person, nor once it was turned down."""
    return memory.status not in ("pending", "rejected", "deleted")


def is_recalled(memory: Memory) -> bool:
    """Tell whether a search may show the memory to an agent, whatever its query asks for."""
    return memory.status in (*RECALLED_STATUSES, "archived") and memory.sensitivity != "restricted"


def format_time(moment: datetime) -> str:
    """Return a moment in UTC to the second: ``2026-12-31T18:00:00Z``."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def bracketed(labels: Iterable[str]) -> str:
    """Return labels as they stand behind a memory's name, each with a space before it."""
    return "".join(f" [{label}]" for label in labels)


def caution_labels(memory: Memory, now: datetime) -> list[str]:
    """Return the words of caution about a memory, the gravest first."""
    labels = []
    if memory.source_type == "external":
        labels.append("UNTRUSTED")
    if memory.status != "active":
        labels.append(memory.status)
    if memory.sensitivity != "normal":
        labels.append(memory.sensitivity)
    labels.append("unverified" if memory.stability == "draft" else memory.stability)
    if memory.expires_at is not None:
        verb = "expired" if memory.expires_at <= now else "expires"
        labels.append(f"{verb} {memory.expires_at:%Y-%m-%d}")
    if memory.pinned:
        labels.append("essential")
    return labels


def pending_reasons(workspace: Workspace, memory: Memory) -> list[str]:
    """Return why a memory waits for a person, a phrase for each reason; empty where it does not."""
    waiting = workspace.store.proposals.about(memory.id) if memory.status == "pending" else ()
    return reasons_in_words(waiting[0].reasons) if waiting else []


def rejection_note(workspace: Workspace, memory: Memory) -> str:
    """Return what a person said who rejected a memory; empty where nobody said anything."""
    return next((proposal.note for proposal in workspace.store.proposals.about(memory.id) if proposal.note), "")


def pending_sentence(workspace: Workspace, memory: Memory) -> str:
    """Return in a sentence why a memory waits for a person; empty where it does not."""
    return _joined_reasons(pending_reasons(workspace, memory)) if memory.status == "pending" else ""


def proposal_sentence(proposal: Proposal) -> str:
    """Return why a change waits for a person.

    Raises:
        NotAllowed: a person rejected the same change before.

    """
    if proposal.state == "rejected":
        raise _rejection_sentence("change", proposal.note)
    return _joined_reasons(reasons_in_words(proposal.reasons))


def check_not_rejected(workspace: Workspace, memory: Memory) -> Memory:
    """Return what was stored. Raises `NotAllowed` where it was not, because a person rejected the same before."""
    if memory.status == "rejected":
        raise _rejection_sentence("text", rejection_note(workspace, memory))
    return memory


def _joined_reasons(reasons: Sequence[str]) -> str:
    because = f", because {'; '.join(reasons)}" if reasons else ""
    return f"A person decides about it{because}. Do not store it again."


def _rejection_sentence(what: str, note: str) -> NotAllowed:
    because = f": {one_line(note)}" if note else "."
    return NotAllowed(f"Not stored: a person rejected the same {what} before{because}", "Do not store it again.")


DECIDED_STATES = ("approved", "rejected", "expired")
"""The states in which nothing more is to be decided."""


class ProposalSummary(NamedTuple):
    """One proposal, and what it is about in a line (empty where that cannot be told)."""

    proposal: Proposal
    about: str


def proposals_of_agent(
    workspace: Workspace, states: Sequence[str], after: str | None = None, limit: int = 10
) -> tuple[list[ProposalSummary], str | None]:
    """Return the proposals of the workspace's agent in some states, the latest decision first, and the next cursor.

    Raises:
        NotFound: ``after`` is no cursor.

    """
    if after is not None:
        workspace.store.get("proposal", after)
    found, following = workspace.store.proposals.of(workspace.author.name, states, after=after, limit=limit)
    return [ProposalSummary(proposal, _subject_of(workspace, proposal)) for proposal in found], following


def _subject_of(workspace: Workspace, proposal: Proposal) -> str:
    target = workspace.store.find_named(proposal.target, proposal.target_id)
    match target:
        case Memory():
            return _subject_of_memory(target)
        case Skip():
            return target.item
        case WorkingItem():
            return target.title
        case Crystal():
            return target.content
        case _:
            said = (proposal.payload.get(name) for name in ("title", "item", "resolution"))
            return next((str(value) for value in said if value), "")


def _subject_of_memory(memory: Memory) -> str:
    if memory.sensitivity == "restricted":
        return ""  # it is read by its id alone
    if memory.source_type == "external" and not is_readable(memory):
        return memory.source.url
    return memory.headline
