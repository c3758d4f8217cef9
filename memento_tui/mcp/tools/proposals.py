"""Tools for an agent's own proposals and for contradictions that a person has to decide."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui import clock
from memento_tui.mcp.results import next_page_text, proposal_result, tool_result
from memento_tui.mcp.schemas import ChangeResult, ContradictionPage, ProposalEntry, ProposalPage
from memento_tui.mcp.tool import UNCHANGED, After, Id, PageSize, given_arguments
from memento_tui.mcp.workspaces import McpWorkspaces
from memento_tui.model import Proposal
from memento_tui.model.review import OPEN_PROPOSAL_STATES, RESOLUTIONS
from memento_tui.model.validation import check_choice
from memento_tui.operations.memories import format_time
from memento_tui.operations.outcome import DECIDED_STATES, ProposalSummary, proposals_of_agent
from memento_tui.operations.relations import contradiction_section, open_contradictions, visible_contradiction
from memento_tui.policy.policy import reasons_in_words
from memento_tui.text.fence import fenced, one_line, quoted_id

__all__ = ["ContradictionTools", "ProposalTools", "proposal_entry", "proposal_lines"]

_STATES_BY_CHOICE = {"decided": DECIDED_STATES, "waiting": OPEN_PROPOSAL_STATES}


class ProposalTools:
    """The tool for an agent's own proposals."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces

    def proposals(
        self,
        ctx: Context,
        which: Annotated[str, Field(json_schema_extra={"enum": list(_STATES_BY_CHOICE)})] = "decided",
        after: After = UNCHANGED,
        limit: PageSize = 10,
    ) -> Annotated[CallToolResult, ProposalPage]:
        """Read what a person decided about your proposals, and why, or what still waits. Never repeat rejected ones."""
        states = _STATES_BY_CHOICE[check_choice(which, "which", _STATES_BY_CHOICE)]
        summaries, next_cursor = proposals_of_agent(self._mcp_workspaces.of(ctx), states, after, limit)
        page = ProposalPage(proposals=[proposal_entry(summary) for summary in summaries], next=next_cursor or "")
        text = proposal_lines(page.proposals) if summaries else f"Nothing that you proposed is {which}."
        return tool_result(f"{text}{next_page_text(next_cursor)}", page)


def proposal_entry(summary: ProposalSummary) -> ProposalEntry:
    """Return a proposal as it is sent."""
    proposal = summary.proposal
    is_open = proposal.state in OPEN_PROPOSAL_STATES
    return ProposalEntry(
        proposal=proposal.id,
        target=proposal.target,
        id=proposal.target_id,
        action=proposal.action,
        state="waiting" if is_open else proposal.state,
        reason=proposal.note,
        about=one_line(summary.about, 120),
        why=reasons_in_words(proposal.reasons) if is_open else [],
        at=format_time(proposal.decided_at or proposal.created_at),
    )


def proposal_lines(entries: list[ProposalEntry]) -> str:
    """Return proposals in words, fenced, a line for each."""
    return fenced("\n".join(_proposal_line(entry) for entry in entries))


def _proposal_line(entry: ProposalEntry) -> str:
    reason = f" - reason: {one_line(entry.reason)}" if entry.reason else ""
    because = f" - because {'; '.join(entry.why)}" if entry.why else ""
    about = f" - about: {entry.about}" if entry.about else ""
    return f"{entry.state}: {entry.action} {entry.target} {quoted_id(entry.id)}{reason}{because}{about}"


Resolution = Annotated[str, Field(json_schema_extra={"enum": list(RESOLUTIONS)})]


class ContradictionTools:
    """The tools for contradictions."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces

    def contradictions(
        self, ctx: Context, after: After = UNCHANGED, limit: PageSize = 10
    ) -> Annotated[CallToolResult, ContradictionPage]:
        """List pairs of memories that contradict each other and that no person has resolved, surest first."""
        entries, next_cursor = open_contradictions(self._mcp_workspaces.of(ctx), clock.now(), after, limit)
        page = ContradictionPage(contradictions=entries, next=next_cursor or "")
        text = contradiction_section(entries) or "No contradiction is open."
        return tool_result(f"{text}{next_page_text(next_cursor)}", page)

    def contradiction_suggest(
        self,
        ctx: Context,
        id: Id,  # noqa: A002 - the record's name for it
        resolution: Resolution,
        *,
        older_context: Annotated[str, Field(description="both_valid: when the older applies")] = UNCHANGED,
        newer_context: Annotated[str, Field(description="both_valid: when the newer applies")] = UNCHANGED,
        content: Annotated[str, Field(description="merged: one text for both")] = UNCHANGED,
    ) -> Annotated[CallToolResult, ChangeResult]:
        """Suggest how to resolve a contradiction, once you have checked which side holds. A person decides."""
        workspace = self._mcp_workspaces.of(ctx)
        contradiction = visible_contradiction(workspace.contradictions.get(id), clock.now())
        details = given_arguments(older_context=older_context, newer_context=newer_context, content=content)
        outcome = workspace.contradictions.resolve(contradiction.id, resolution, **details)
        if not isinstance(outcome, Proposal):  # the gate never lets an agent resolve one itself
            raise TypeError(f"an agent's answer to {contradiction.id} was carried out")
        return proposal_result(outcome)
