"""Contradictions: which are open, and what an agent thinks the answer is."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui import clock
from memento_tui.agent.answers import answer
from memento_tui.agent.arguments import UNCHANGED, After, Id, PageSize, given
from memento_tui.agent.disputes import dispute_section, open_disagreements, visible
from memento_tui.agent.seats import Seats
from memento_tui.agent.shapes import Disagreements, Written
from memento_tui.agent.tools.outcomes import more_text, proposed
from memento_tui.records import Proposal
from memento_tui.records.contradiction import RESOLUTIONS

__all__ = ["DisputeTools"]

Resolution = Annotated[str, Field(json_schema_extra={"enum": list(RESOLUTIONS)})]


class DisputeTools:
    """The tools for contradictions."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

    def contradictions(
        self, ctx: Context, after: After = UNCHANGED, limit: PageSize = 10
    ) -> Annotated[CallToolResult, Disagreements]:
        """List pairs of memories that contradict each other and that no person has resolved, surest first."""
        found, following = open_disagreements(self._seats.of(ctx), clock.now(), after, limit)
        shape = Disagreements(contradictions=found, next=following or "")
        text = dispute_section(found) or "No contradiction is open."
        return answer(f"{text}{more_text(following)}", shape)

    def contradiction_suggest(
        self,
        ctx: Context,
        id: Id,  # noqa: A002 - the record's name for it
        resolution: Resolution,
        *,
        older_context: Annotated[str, Field(description="both_valid: when the older applies")] = UNCHANGED,
        newer_context: Annotated[str, Field(description="both_valid: when the newer applies")] = UNCHANGED,
        content: Annotated[str, Field(description="merged: one text for both")] = UNCHANGED,
    ) -> Annotated[CallToolResult, Written]:
        """Suggest how to resolve a contradiction, once you have checked which side holds. A person decides."""
        workspace = self._seats.of(ctx)
        found = visible(workspace.contradictions.get(id), clock.now())
        details = given(older_context=older_context, newer_context=newer_context, content=content)
        made = workspace.contradictions.resolve(found.id, resolution, **details)
        if not isinstance(made, Proposal):  # the gate never lets an agent resolve one itself
            raise TypeError(f"an agent's answer to {found.id} was carried out")
        return proposed(made)
