"""The identity crystal: who the agent is, in prose. There is one for a data directory, whatever the workspace."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from memento_tui.agent.fence import quoted_id
from memento_tui.agent.protocol.desk import Desk
from memento_tui.agent.protocol.texts import said, turned_down, waits
from memento_tui.records.rules import check_text

__all__ = ["IdentityTools"]

_NONE = (
    "No identity crystal was written yet.\n\n"
    "It is prose in the first person: who you are, what you care about, what stays from one session to the next."
    " Write it with memento_identity_update once there is something to say."
)


class IdentityTools:
    """The tools for the identity."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def memento_identity(self, ctx: Context) -> CallToolResult:
        """Read who you are and how you work, as written so far."""
        workspace, _ = self._desk.of(ctx)
        crystal = workspace.crystals.current()
        return said(_NONE if crystal is None else crystal.content)

    def memento_identity_update(self, ctx: Context, crystal: str) -> CallToolResult:
        """Write the whole identity anew, in prose in the first person. Earlier ones are kept."""
        workspace, _ = self._desk.of(ctx)
        made = workspace.crystals.write(check_text(crystal, "crystal"))
        proposals = workspace.store.proposals.about(made.id, "crystal")
        if made.status == "rejected":
            return said(turned_down("Identity crystal not stored", proposals[0].note if proposals else ""))
        stored = f"Identity crystal {quoted_id(made.id)} stored ({len(made.content)} chars)"
        if made.status == "proposed" and proposals:
            return said(f"{stored}{waits(proposals[0])}; until then the present one holds.")
        return said(f"{stored}.")
