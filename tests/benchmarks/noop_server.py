"""memento's own server with one more tool, which does nothing: ``python -m tests.benchmarks.noop_server DIR``."""

from __future__ import annotations

import sys
from pathlib import Path

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations

from memento_tui.mcp.server import main
from memento_tui.mcp.tool import strict_tool
from memento_tui.mcp.tools import registry
from memento_tui.mcp.workspaces import McpWorkspaces


def nothing(ctx: Context, content: str, tags: list[str]) -> CallToolResult:  # noqa: ARG001 - takes what remember takes
    """Do nothing."""
    return CallToolResult(content=[TextContent(type="text", text="nothing")])


if __name__ == "__main__":
    own_tools = registry.all_tools

    def with_nothing(mcp_workspaces: McpWorkspaces) -> list[Tool]:
        """Return memento's tools and the one that does nothing."""
        return [*own_tools(mcp_workspaces), strict_tool(nothing, "Nothing", ToolAnnotations(), mcp_workspaces)]

    registry.all_tools = with_nothing
    sys.exit(main(Path(sys.argv[1])))
