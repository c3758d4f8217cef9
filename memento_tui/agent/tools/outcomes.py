"""What the tools say about a change: that it is done, or that a person is asked, and why."""

from __future__ import annotations

from mcp_types import CallToolResult

from memento_tui.agent.answers import answer
from memento_tui.agent.fence import one_line, quoted_id
from memento_tui.agent.shapes import Written
from memento_tui.records import Proposal, Skip, WorkingItem
from memento_tui.review.policy import REASONS

__all__ = ["applied", "proposed", "reasons", "written"]


def reasons(proposal: Proposal) -> list[str]:
    """Return in words why a proposal waits for a person."""
    return [REASONS.get(code, code) for code in proposal.reasons]


def applied(record_id: str, version: int, verb: str) -> CallToolResult:
    """Return the result of a change that is done."""
    text = f"{verb} {quoted_id(record_id)}, version {version}."
    return answer(text, Written(id=record_id, outcome="applied", version=version))


def proposed(proposal: Proposal) -> CallToolResult:
    """Return the result of a change that waits for a person."""
    if proposal.state == "rejected":
        return _turned_down(proposal)
    why = reasons(proposal)
    text = (
        f"Proposed: a person decides about {quoted_id(proposal.target_id)}, because {'; '.join(why)}."
        " Until then nothing changes. Do not propose it again; status tells the decision."
    )
    return answer(text, Written(id=proposal.target_id, outcome="proposed", why=why))


def _turned_down(proposal: Proposal) -> CallToolResult:
    because = f": {one_line(proposal.note)}" if proposal.note else "."
    text = (
        f"Not proposed again: a person rejected the same about {quoted_id(proposal.target_id)} before{because}"
        " Nothing changed."
    )
    return answer(
        text, Written(id=proposal.target_id, outcome="rejected", why=[proposal.note] if proposal.note else [])
    )


def written(made: Skip | WorkingItem | Proposal, verb: str) -> CallToolResult:
    """Return the result of a change to a skip or working item, whichever of the two it came to."""
    return proposed(made) if isinstance(made, Proposal) else applied(made.id, made.version, verb)
