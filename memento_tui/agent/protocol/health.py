"""How the memory is: what there is, what waits for a person, and what was decided about this agent's proposals."""

from __future__ import annotations

from collections.abc import Iterator

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from memento_tui import clock
from memento_tui.agent.decisions import DECIDED, Asked, asked_by
from memento_tui.agent.fence import one_line, quoted_id
from memento_tui.agent.labels import moment_text
from memento_tui.agent.protocol.desk import Desk
from memento_tui.agent.protocol.place import Place
from memento_tui.agent.protocol.texts import said
from memento_tui.interchange.protocol_model import section_of
from memento_tui.records.memory import RECALLED
from memento_tui.store.filters import AllOf, Between, Filter, NotThat, OneOf, Under
from memento_tui.workspace import Workspace

__all__ = ["HealthTools"]


class HealthTools:
    """The tool for the state of things."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def memento_health(self, ctx: Context) -> CallToolResult:
        """Call first in a session: what there is, what waits for a person, and what was decided about your proposals.

        Then memento_item_list, then memento_recall for the task at hand. Do not repeat what was rejected.
        """
        workspace, place = self._desk.of(ctx)
        return said("\n".join(_lines(workspace, place)))


def _lines(workspace: Workspace, place: Place) -> Iterator[str]:
    yield from ("**Memento Health Report**", f"Workspace: {place.name}", "")
    items = [item for item in workspace.items.list() if place.holds(item)]
    sections = [item for item in items if section_of(item)]
    active = sum(item.status == "active" for item in items if not section_of(item))
    yield "**Working Memory**"
    yield f"  Sections: {len(sections)}"
    yield f"  Items: {len(items) - len(sections)} ({active} active)"
    updated = max((item.updated_at for item in items), default=None)
    yield f"  Last updated: {'never' if updated is None else moment_text(updated)}"
    yield from ("", "**Stored Memories**", f"  Total: {_memories(workspace, place)}")
    now = clock.now()
    skips = [skip for skip in workspace.skips.list(ended=True) if place.holds(skip)]
    held = sum(skip.expires_at > now for skip in skips)
    yield from ("", "**Skip List**", f"  Total: {len(skips)} ({held} active, {len(skips) - held} expired)")
    yield from ("", "**Review**", f"  Waiting for a person, in all workspaces: {workspace.review.count()}")
    decided, _ = asked_by(workspace, DECIDED)
    if decided:
        yield "  Decided about what you proposed, the newest first:"
        yield from (f"  - {_decision(one)}" for one in decided)


def _memories(workspace: Workspace, place: Place) -> str:
    def count(*parts: Filter) -> int:
        return workspace.store.count(AllOf((Under(place.namespace), *parts)))

    ended = Between("expires_at", None, clock.now())
    held = OneOf("status", tuple(status for status in RECALLED if status != "consolidated"))
    consolidated = count(OneOf("status", ("consolidated",)))
    expired = count(held, ended)
    active = count(held, NotThat(ended))
    return f"{active + expired + consolidated} ({active} active, {expired} expired, {consolidated} consolidated)"


def _decision(decided: Asked) -> str:
    proposal = decided.proposal
    about = f' "{one_line(decided.about, 120)}"' if decided.about else ""
    reason = f", because: {one_line(proposal.note)}" if proposal.note else ""
    return f"{proposal.state}: {proposal.action} {proposal.target} {quoted_id(proposal.target_id)}{about}{reason}"
