"""Tools for the identity crystal and for the state of the memory."""

from __future__ import annotations

from collections.abc import Iterator

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.compat.protocol.formatting import pending_text, rejected_text, text_result
from memento_tui.compat.protocol.workspaces import ToolContext, WorkspaceScope
from memento_tui.formats.protocol.vocabulary import section_of
from memento_tui.model.validation import check_text
from memento_tui.operations.memories import count_memories, format_time, identity_text
from memento_tui.operations.outcome import DECIDED_STATES, ProposalSummary, proposals_of_agent, write_identity
from memento_tui.policy.policy import reasons_in_words
from memento_tui.text.fence import one_line, quoted_id

__all__ = ["HealthTools", "IdentityTools"]

_NO_IDENTITY = (
    "No identity crystal was written yet.\n\n"
    "It is prose in the first person: who you are, what you care about, what stays from one session to the next."
    " Write it with memento_identity_update once there is something to say."
)


class IdentityTools:
    """The tools for the identity."""

    def __init__(self, tool_context: ToolContext) -> None:
        self._tool_context = tool_context

    def memento_identity(self, ctx: Context) -> CallToolResult:
        """Read who you are and how you work, as written so far."""
        workspace, _ = self._tool_context.of(ctx)
        crystal = workspace.crystals.current()
        return text_result(_NO_IDENTITY if crystal is None else identity_text(crystal))

    def memento_identity_update(self, ctx: Context, crystal: str) -> CallToolResult:
        """Write the whole identity anew, in prose in the first person. Earlier ones are kept."""
        workspace, _ = self._tool_context.of(ctx)
        written, proposal = write_identity(workspace, check_text(crystal, "crystal"))
        stored = f"Identity crystal {quoted_id(written.id)} stored ({len(written.content)} chars)"
        if proposal is None:
            return text_result(f"{stored}.")
        if proposal.state == "rejected":
            return text_result(rejected_text("Identity crystal not stored", proposal.note))
        reasons = reasons_in_words(proposal.reasons)
        return text_result(f"{stored}{pending_text(reasons)}; until then the present one holds.")


class HealthTools:
    """The tool for the state of things."""

    def __init__(self, tool_context: ToolContext) -> None:
        self._tool_context = tool_context

    def memento_health(self, ctx: Context) -> CallToolResult:
        """Call first in a session: what there is, what waits for a person, and what was decided about your proposals.

        Then memento_item_list, then memento_recall for the task at hand. Do not repeat what was rejected.
        """
        workspace, scope = self._tool_context.of(ctx)
        return text_result("\n".join(_health_lines(workspace, scope)))


def _health_lines(workspace: Workspace, scope: WorkspaceScope) -> Iterator[str]:
    yield from ("**Memento Health Report**", f"Workspace: {scope.name}", "")
    items = [item for item in workspace.items.list() if scope.holds(item)]
    sections = [item for item in items if section_of(item)]
    active = sum(item.status == "active" for item in items if not section_of(item))
    yield "**Working Memory**"
    yield f"  Sections: {len(sections)}"
    yield f"  Items: {len(items) - len(sections)} ({active} active)"
    updated = max((item.updated_at for item in items), default=None)
    yield f"  Last updated: {'never' if updated is None else format_time(updated)}"
    yield from ("", "**Stored Memories**", f"  Total: {_memory_counts_text(workspace, scope)}")
    now = clock.now()
    skips = [skip for skip in workspace.skips.list(ended=True) if scope.holds(skip)]
    still_active = sum(skip.expires_at > now for skip in skips)
    yield from (
        "",
        "**Skip List**",
        f"  Total: {len(skips)} ({still_active} active, {len(skips) - still_active} expired)",
    )
    yield from ("", "**Review**", f"  Waiting for a person, in all workspaces: {workspace.review.count()}")
    decided, _ = proposals_of_agent(workspace, DECIDED_STATES)
    if decided:
        yield "  Decided about what you proposed, the newest first:"
        yield from (f"  - {_decision_line(summary)}" for summary in decided)


def _memory_counts_text(workspace: Workspace, scope: WorkspaceScope) -> str:
    active, expired, consolidated, _ = count_memories(workspace, scope.namespace)
    return f"{active + expired + consolidated} ({active} active, {expired} expired, {consolidated} consolidated)"


def _decision_line(summary: ProposalSummary) -> str:
    proposal = summary.proposal
    about = f' "{one_line(summary.about, 120)}"' if summary.about else ""
    reason = f", because: {one_line(proposal.note)}" if proposal.note else ""
    return f"{proposal.state}: {proposal.action} {proposal.target} {quoted_id(proposal.target_id)}{about}{reason}"
