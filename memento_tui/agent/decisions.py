"""What became of an agent's proposals, for that agent to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memento_tui.agent.labels import is_readable
from memento_tui.records import Crystal, Memory, Proposal, Skip, WorkingItem
from memento_tui.workspace import Workspace

__all__ = ["DECIDED", "Asked", "asked_by"]

DECIDED = ("approved", "rejected", "expired")
"""The states in which nothing more is to be decided."""


class Asked(NamedTuple):
    """One proposal, and what it is about in a line (empty where that cannot be told)."""

    proposal: Proposal
    about: str


def asked_by(
    workspace: Workspace, states: Sequence[str], after: str | None = None, limit: int = 10
) -> tuple[list[Asked], str | None]:
    """Return the proposals of the workspace's agent in some states, the latest decision first, and the next cursor.

    Raises:
        NotFound: ``after`` is no cursor.

    """
    if after is not None:
        workspace.store.get("proposal", after)
    found, following = workspace.store.proposals.of(workspace.author.name, states, after=after, limit=limit)
    return [Asked(proposal, _about(workspace, proposal)) for proposal in found], following


def _about(workspace: Workspace, proposal: Proposal) -> str:
    target = workspace.store.find(proposal.target, proposal.target_id)
    match target:
        case Memory():
            return _about_memory(target)
        case Skip():
            return target.item
        case WorkingItem():
            return target.title
        case Crystal():
            return target.content
        case _:
            said = (proposal.payload.get(name) for name in ("title", "item", "resolution"))
            return next((str(value) for value in said if value), "")


def _about_memory(memory: Memory) -> str:
    if memory.sensitivity == "restricted":
        return ""  # it is read by its id alone
    if memory.source_type == "external" and not is_readable(memory):
        return memory.source.url
    return memory.headline
