"""The identity crystal: who the agent is, in prose."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui.agent.answers import answer
from memento_tui.agent.arguments import UNCHANGED
from memento_tui.agent.fence import fenced, quoted_id
from memento_tui.agent.labels import moment_text
from memento_tui.agent.seats import Seats
from memento_tui.agent.shapes import Identity, Written
from memento_tui.agent.tools.outcomes import applied, proposed

__all__ = ["IdentityTools"]


class IdentityTools:
    """The tools for the identity."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

    def identity_read(self, ctx: Context) -> Annotated[CallToolResult, Identity]:
        """Read who you are and how you work, as written so far."""
        crystal = self._seats.of(ctx).crystals.current()
        if crystal is None:
            return answer("No identity has been written yet.", Identity())
        shape = Identity(
            id=crystal.id, content=crystal.content, author=crystal.author, created_at=moment_text(crystal.created_at)
        )
        return answer(f"Identity {quoted_id(crystal.id)}\n{fenced(crystal.content)}", shape)

    def identity_write(
        self,
        ctx: Context,
        content: str,
        base_id: Annotated[str, Field(description="id of the identity you read")] = UNCHANGED,
    ) -> Annotated[CallToolResult, Written]:
        """Write the whole identity anew, in prose. Earlier ones are kept; a person may be asked first."""
        workspace = self._seats.of(ctx)
        crystal = workspace.crystals.write(content, base_id=base_id)
        if crystal.status in ("proposed", "rejected"):
            return proposed(workspace.store.proposals.about(crystal.id, "crystal")[0])
        return applied(crystal.id, crystal.version, "Wrote the identity")
