"""The skip list: what is not to be done or read again, why, and until when."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui.agent.fence import one_line, quoted_id
from memento_tui.agent.labels import moment_text
from memento_tui.agent.protocol.desk import Desk
from memento_tui.agent.protocol.ids import fresh_id
from memento_tui.agent.protocol.texts import entry_name, not_yet, said, skip_hit
from memento_tui.records import Proposal, Skip

__all__ = ["SkipTools"]


class SkipTools:
    """The tools for skips."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def memento_skip_add(
        self,
        ctx: Context,
        item: str,
        reason: str,
        expires: Annotated[str, Field(description="ISO date to come, such as 2027-02-20")],
    ) -> CallToolResult:
        """Note what not to do, read or look into for now, and why. Every skip ends."""
        workspace, place = self._desk.of(ctx)
        make_id = fresh_id(workspace)
        made = workspace.skips.add(item, reason, expires, id=make_id(), namespace=place.namespace)
        if isinstance(made, Proposal):
            return said(not_yet("Not added to skip list", made))
        return said(f'Added to skip list: "{one_line(made.item)}" (expires {moment_text(made.expires_at)})')

    def memento_skip_check(self, ctx: Context, query: str) -> CallToolResult:
        """Ask whether something is to be left alone, before you look into it."""
        workspace, place = self._desk.of(ctx)
        found = workspace.skips.check(query, among=place.holds)
        if not found:
            return said(f'Not on skip list. Proceed with "{one_line(query)}".')
        return said("\n\n".join(map(skip_hit, found)))

    def memento_skip_list(self, ctx: Context) -> CallToolResult:
        """List all skips that hold, with their ids."""
        workspace, place = self._desk.of(ctx)
        held = [skip for skip in workspace.skips.list() if place.holds(skip)]
        if not held:
            return said("Skip list is empty.")
        count = f"{len(held)} skip list entr{'y' if len(held) == 1 else 'ies'}"
        return said(f"{count}:\n\n" + "\n\n".join(_entry(skip) for skip in held))

    def memento_skip_remove(self, ctx: Context, id: str) -> CallToolResult:  # noqa: A002 - the system's name for it
        """End a skip now, by the id that memento_skip_list gives."""
        workspace, place = self._desk.of(ctx)
        skip = place.skip(workspace, id)
        proposal = workspace.skips.remove(skip.id)
        if proposal is not None:
            return said(not_yet(f"Skip entry {quoted_id(skip.id)} is not removed", proposal))
        return said(f"Skip entry {quoted_id(skip.id)} removed.")


def _entry(skip: Skip) -> str:
    item, reason = one_line(skip.item), one_line(skip.reason)
    return f'{entry_name(skip.id)} "{item}"\n  Reason: {reason}\n  Expires: {moment_text(skip.expires_at)}'
