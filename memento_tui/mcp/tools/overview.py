"""Tools that look at everything at once: the context of a message, and the status of the memory."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context as RequestContext
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui import clock
from memento_tui.mcp.results import (
    item_entry,
    item_lines,
    search_result,
    search_result_lines,
    skip_entry,
    skip_lines,
    tool_result,
)
from memento_tui.mcp.schemas import ContextResult, StatusResult
from memento_tui.mcp.tool import UNCHANGED, Namespace, Session
from memento_tui.mcp.workspaces import McpWorkspaces
from memento_tui.model.filters import OneOf
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.operations.contradictions import contradiction_section, contradictions_among, labels_of
from memento_tui.operations.memories import code_labels, list_labels
from memento_tui.operations.recall import MAX_HITS
from memento_tui.operations.sessions import Briefing, brief, optional_handle
from memento_tui.text.fence import fenced, quoted_id
from memento_tui.text.labels import bracketed

__all__ = ["OverviewTools"]


class OverviewTools:
    """The tools that look at everything at once."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces

    def context(
        self,
        ctx: RequestContext,
        message: Annotated[str, Field(description="the task or message at hand")],
        namespace: Namespace = UNCHANGED,
        limit: Annotated[int, Field(ge=1, le=MAX_HITS)] = 5,
        session: Session = UNCHANGED,
    ) -> Annotated[CallToolResult, ContextResult]:
        """Call first for a new task: identity, active working items, skips that match, relevant memories."""
        workspace = self._mcp_workspaces.of(ctx)
        briefing = brief(workspace, message, namespace or "", limit, optional_handle(session))
        now = clock.now()
        memories = [hit.memory for hit in briefing.hits]
        of_code = code_labels(workspace, memories)
        contradictions = contradictions_among(workspace, [memory.id for memory in memories], now)
        labels = labels_of(memories, now, contradictions, quoted=False)
        result = ContextResult(
            identity=briefing.identity.content if briefing.identity is not None else "",
            identity_labels=[] if briefing.identity is None else list_labels(briefing.identity),
            items=[item_entry(item) for item in briefing.items],
            skips=[skip_entry(skip) for skip in briefing.skips],
            memories=[search_result(hit, [*labels[hit.id], *of_code.get(hit.id, ())]) for hit in briefing.hits],
            semantic=briefing.semantic,
            contradictions=contradictions,
        )
        return tool_result(_briefing_text(briefing, result), result)

    def status(self, ctx: RequestContext) -> Annotated[CallToolResult, StatusResult]:
        """Return how many memories (of each kind), working items, skips, open questions there are; your name here."""
        workspace = self._mcp_workspaces.of(ctx)
        result = StatusResult(
            agent=workspace.author.name,
            memories=workspace.count(OneOf("status", RECALLED_STATUSES)),
            kinds=workspace.statistics.facets().kinds,
            working_items=len(workspace.items.list(status="active")),
            skips=len(workspace.skips.list()),
            contradictions=workspace.contradictions.count(),
            waiting=workspace.review.count(),
        )
        return tool_result(_status_text(result), result)


def _briefing_text(briefing: Briefing, result: ContextResult) -> str:
    parts = []
    if result.identity:
        parts.append(f"Identity{bracketed(result.identity_labels)}:\n{fenced(result.identity)}")
    if briefing.items:
        parts.append(f"Working items:\n{item_lines(briefing.items)}")
    if briefing.skips:
        parts.append(f"Skips that match:\n{skip_lines(briefing.skips)}")
    if result.memories:
        parts.append(f"Memories (full text: get):\n{search_result_lines(result.memories)}")
    if result.contradictions:
        parts.append(contradiction_section(result.contradictions))
    if not parts:
        return "Nothing is known about this yet."
    return "\n\n".join(parts)


def _status_text(status: StatusResult) -> str:
    kinds = f" ({', '.join(f'{kind} {count}' for kind, count in status.kinds.items())})" if status.kinds else ""
    return (
        f"You are {quoted_id(status.agent)} here. Memories: {status.memories}{kinds}. Active working items:"
        f" {status.working_items}. Skips: {status.skips}. Contradictions: {status.contradictions}. Proposals that wait"
        f" for a person: {status.waiting}; what became of yours: proposals."
    )
