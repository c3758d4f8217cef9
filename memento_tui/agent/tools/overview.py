"""What concerns a message, and how things stand."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context as RequestContext
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui import clock
from memento_tui.agent.answers import answer, found_lines, found_memory, item_entry, item_lines, skip_entry, skip_lines
from memento_tui.agent.arguments import UNCHANGED, Namespace, Session
from memento_tui.agent.briefing import Briefing, brief
from memento_tui.agent.disputes import disagreements, dispute_section
from memento_tui.agent.fence import fenced, quoted_id
from memento_tui.agent.recall import MOST_HITS
from memento_tui.agent.seats import Seats
from memento_tui.agent.sessions import handle_of
from memento_tui.agent.shapes import Context, Status
from memento_tui.records.memory import RECALLED
from memento_tui.store.filters import OneOf

__all__ = ["OverviewTools"]


class OverviewTools:
    """The tools that look at everything at once."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

    def context(
        self,
        ctx: RequestContext,
        message: Annotated[str, Field(description="the task or message at hand")],
        namespace: Namespace = UNCHANGED,
        limit: Annotated[int, Field(ge=1, le=MOST_HITS)] = 5,
        session: Session = UNCHANGED,
    ) -> Annotated[CallToolResult, Context]:
        """Call first for a new task: identity, active working items, skips that match, relevant memories."""
        workspace = self._seats.of(ctx)
        briefing = brief(workspace, message, namespace or "", limit, handle_of(session))
        now = clock.now()
        shape = Context(
            identity=briefing.identity.content if briefing.identity is not None else "",
            items=[item_entry(item) for item in briefing.items],
            skips=[skip_entry(skip) for skip in briefing.skips],
            memories=[found_memory(hit, now) for hit in briefing.hits],
            semantic=briefing.semantic,
            contradictions=disagreements(workspace, [hit.id for hit in briefing.hits], now),
        )
        return answer(_briefing_text(briefing, shape), shape)

    def status(self, ctx: RequestContext) -> Annotated[CallToolResult, Status]:
        """Return how many memories, working items, skips and open questions there are, and your name here."""
        workspace = self._seats.of(ctx)
        shape = Status(
            agent=workspace.author.name,
            memories=workspace.store.count(OneOf("status", RECALLED)),
            working_items=len(workspace.items.list(status="active")),
            skips=len(workspace.skips.list()),
            contradictions=workspace.contradictions.count(),
            waiting=workspace.review.count(),
        )
        return answer(_status_text(shape), shape)


def _briefing_text(briefing: Briefing, shape: Context) -> str:
    parts = []
    if shape.identity:
        parts.append(f"Identity:\n{fenced(shape.identity)}")
    if briefing.items:
        parts.append(f"Working items:\n{item_lines(briefing.items)}")
    if briefing.skips:
        parts.append(f"Skips that match:\n{skip_lines(briefing.skips)}")
    if shape.memories:
        parts.append(f"Memories (full text: get):\n{found_lines(shape.memories)}")
    if shape.contradictions:
        parts.append(dispute_section(shape.contradictions))
    if not parts:
        return "Nothing is known about this yet."
    return "\n\n".join(parts)


def _status_text(status: Status) -> str:
    return (
        f"You are {quoted_id(status.agent)} here. Memories: {status.memories}. Active working items:"
        f" {status.working_items}. Skips: {status.skips}. Contradictions: {status.contradictions}. Proposals that wait"
        f" for a person: {status.waiting}; what became of yours: proposals."
    )
