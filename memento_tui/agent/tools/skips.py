"""Skips: what is not to be done, why, and until when."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from memento_tui.agent.answers import answer, skip_entry, skip_lines
from memento_tui.agent.arguments import UNCHANGED, Id, Namespace, SkipEnd, given
from memento_tui.agent.briefing import concerns
from memento_tui.agent.seats import Seats
from memento_tui.agent.shapes import SkipList, Written
from memento_tui.agent.tools.outcomes import written
from memento_tui.records import Skip

__all__ = ["SkipTools"]


class SkipTools:
    """The tools for skips."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

    def skip_add(
        self, ctx: Context, item: str, reason: str, expires: SkipEnd, namespace: Namespace = UNCHANGED
    ) -> Annotated[CallToolResult, Written]:
        """Note what not to do or read again, why, and until when (a date to come)."""
        made = self._seats.of(ctx).skips.add(item, reason, expires, **given(namespace=namespace))
        return written(made, "Noted")

    def skip_check(self, ctx: Context, query: str) -> Annotated[CallToolResult, SkipList]:
        """Return the skips that hold for something you are about to do. None: go ahead."""
        found = self._seats.of(ctx).skips.check(query, among=lambda skip: concerns("", skip.namespace))
        return _listed(list(found), "Not on the skip list: go ahead.")

    def skip_list(self, ctx: Context) -> Annotated[CallToolResult, SkipList]:
        """Return all skips that hold now."""
        held = [skip for skip in self._seats.of(ctx).skips.list() if concerns("", skip.namespace)]
        return _listed(held, "The skip list is empty.")

    def skip_remove(self, ctx: Context, id: Id) -> Annotated[CallToolResult, Written]:  # noqa: A002 - the record's name
        """End a skip now."""
        workspace = self._seats.of(ctx)
        skip = workspace.skips.get(id)
        return written(workspace.skips.remove(skip.id) or skip, "Removed")


def _listed(skips: list[Skip], none: str) -> CallToolResult:
    shape = SkipList(skips=[skip_entry(skip) for skip in skips])
    return answer(skip_lines(skips) if skips else none, shape)
