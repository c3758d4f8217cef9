"""What people decided about an agent's proposals, for that agent to learn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memento_tui.agent.labels import is_readable
from memento_tui.records import Crystal, Memory, Proposal, Skip, WorkingItem
from memento_tui.records.when import utc_now
from memento_tui.workspace import Workspace

__all__ = ["Decided", "recent_decisions"]

_DECIDED = ("approved", "rejected", "expired")
_PAGE = 500


@dataclass(frozen=True)
class Decided:
    """One decided proposal, and what it is about in a line (empty where that cannot be told)."""

    proposal: Proposal
    about: str


def recent_decisions(workspace: Workspace, limit: int = 10) -> list[Decided]:
    """Return what was decided of late about the proposals of the workspace's agent, the newest first."""
    mine = [proposal for proposal in _decided(workspace) if proposal.proposed_by == workspace.author.name]
    mine.sort(key=lambda proposal: proposal.decided_at or proposal.created_at, reverse=True)
    return [Decided(proposal, _about(workspace, proposal)) for proposal in mine[:limit]]


def _decided(workspace: Workspace) -> Iterator[Proposal]:
    after: str | None = None
    while True:
        found, after = workspace.store.proposals.page(_DECIDED, at=utc_now(), after=after, limit=_PAGE)
        yield from found
        if after is None:
            return


def _about(workspace: Workspace, proposal: Proposal) -> str:
    target = workspace.store.find(proposal.target, proposal.target_id)
    match target:
        case Memory() if target.source_type == "external" and not is_readable(target):
            return target.source.url
        case Memory():
            return target.headline
        case Skip():
            return target.item
        case WorkingItem():
            return target.title
        case Crystal():
            return target.content
        case _:
            return str(proposal.payload.get("title") or proposal.payload.get("item") or "")
