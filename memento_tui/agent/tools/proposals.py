"""Proposals: what became of what an agent asked for."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui.agent.answers import answer
from memento_tui.agent.arguments import UNCHANGED, After, PageSize
from memento_tui.agent.decisions import DECIDED, Asked, asked_by
from memento_tui.agent.fence import fenced, one_line, quoted_id
from memento_tui.agent.labels import moment_text
from memento_tui.agent.seats import Seats
from memento_tui.agent.shapes import Asking, Proposals
from memento_tui.agent.tools.outcomes import more_text
from memento_tui.records.proposal import OPEN_STATES
from memento_tui.records.rules import check_choice
from memento_tui.review.policy import reasons_in_words

__all__ = ["ProposalTools", "asking", "asking_lines"]

_WHICH = {"decided": DECIDED, "waiting": OPEN_STATES}


class ProposalTools:
    """The tool for an agent's own proposals."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

    def proposals(
        self,
        ctx: Context,
        which: Annotated[str, Field(json_schema_extra={"enum": list(_WHICH)})] = "decided",
        after: After = UNCHANGED,
        limit: PageSize = 10,
    ) -> Annotated[CallToolResult, Proposals]:
        """Read what a person decided about your proposals, and why, or what still waits. Never repeat rejected ones."""
        states = _WHICH[check_choice(which, "which", _WHICH)]
        found, following = asked_by(self._seats.of(ctx), states, after, limit)
        shape = Proposals(proposals=[asking(one) for one in found], next=following or "")
        text = asking_lines(shape.proposals) if found else f"Nothing that you proposed is {which}."
        return answer(f"{text}{more_text(following)}", shape)


def asking(asked: Asked) -> Asking:
    """Return a proposal as it is sent."""
    proposal = asked.proposal
    is_open = proposal.state in OPEN_STATES
    return Asking(
        proposal=proposal.id,
        target=proposal.target,
        id=proposal.target_id,
        action=proposal.action,
        state="waiting" if is_open else proposal.state,
        reason=proposal.note,
        about=one_line(asked.about, 120),
        why=reasons_in_words(proposal.reasons) if is_open else [],
        at=moment_text(proposal.decided_at or proposal.created_at),
    )


def asking_lines(found: list[Asking]) -> str:
    """Return proposals in words, fenced, a line for each."""
    return fenced("\n".join(_line(one) for one in found))


def _line(one: Asking) -> str:
    reason = f" - reason: {one_line(one.reason)}" if one.reason else ""
    because = f" - because {'; '.join(one.why)}" if one.why else ""
    about = f" - about: {one.about}" if one.about else ""
    return f"{one.state}: {one.action} {one.target} {quoted_id(one.id)}{reason}{because}{about}"
