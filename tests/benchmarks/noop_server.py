"""memento's own server with one more tool, which does nothing: ``python -m tests.benchmarks.noop_server DIR``."""

from __future__ import annotations

import sys
from pathlib import Path

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations

from memento_tui.agent.seats import Seats
from memento_tui.agent.server import main
from memento_tui.agent.strict_tool import strict_tool
from memento_tui.agent.tools import listing


def nothing(ctx: Context, content: str, tags: list[str]) -> CallToolResult:  # noqa: ARG001 - takes what remember takes
    """Do nothing."""
    return CallToolResult(content=[TextContent(type="text", text="nothing")])


if __name__ == "__main__":
    own_tools = listing.all_tools

    def with_nothing(seats: Seats) -> list[Tool]:
        """Return memento's tools and the one that does nothing."""
        return [*own_tools(seats), strict_tool(nothing, "Nothing", ToolAnnotations(), seats)]

    listing.all_tools = with_nothing
    sys.exit(main(Path(sys.argv[1])))
