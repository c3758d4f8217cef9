"""The MCP server: `build` makes it, `main` runs it over standard input and output."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, InputRequiredResult

import memento_tui
from memento_tui.agent.answers import refusal
from memento_tui.agent.profiles import PROFILES
from memento_tui.agent.refusals import UNEXPECTED, sentence_of, unknown_tool
from memento_tui.agent.seats import Seats
from memento_tui.agent.stdin import request_lines
from memento_tui.records.ids import new_id

__all__ = ["build", "main"]

_HOST_GONE = 141
"""The exit status of a program whose reader went away: 128 and the number of SIGPIPE."""

_log = logging.getLogger(__name__)


class _MemoryServer(MCPServer[None]):
    """An MCP server whose every failure is a result that says in a sentence what to do."""

    def __init__(self, instructions: str, tools: list[Tool]) -> None:
        super().__init__("memento", version=memento_tui.__version__, instructions=instructions, tools=tools)
        self._by_name: Mapping[str, Tool] = {tool.name: tool for tool in tools}

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; an argument that is null counts as left out."""
        tool = self._by_name.get(name)
        if tool is None:
            return refusal(unknown_tool(name, list(self._by_name)))
        known = tool.parameters["properties"]
        given = {key: value for key, value in arguments.items() if value is not None or key not in known}
        try:
            return await super().call_tool(name, given, context)
        except ToolError as error:
            cause = error.__cause__ or error
            sentence = sentence_of(cause, name, tool.parameters)
            if sentence is None:
                _log.error("%s failed", name, exc_info=cause)
            return refusal(sentence or UNEXPECTED)

    async def run_stdio_async(self) -> None:
        """Serve standard input and output; what SDK's own way leaves unanswered is answered here."""
        server = self._lowlevel_server
        with request_lines() as lines:
            async with stdio_server(stdin=anyio.wrap_file(lines)) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())


def build(seats: Seats, profile: str = "native") -> MCPServer[None]:
    """Return the server with the tools of a profile (a name in `PROFILES`), in the order in which they are listed."""
    served = PROFILES[profile]
    return _MemoryServer(served.instructions(), served.tools(seats))


def main(data_dir: Path | None, *, session: str = "", profile: str = "native") -> int:
    """Serve one agent over standard input and output until its host closes them; return the exit status.

    ``session`` is what the agent's writes are filed under; a random name if empty.
    """
    # Before the SDK does: it would decorate the lines for a terminal, and hosts keep them in a file.
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    # A thread that waits for a request cannot be interrupted; what was acknowledged is safe however the process ends.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    status = 0
    with Seats(data_dir, session or new_id()) as seats:
        try:
            build(seats, profile).run("stdio")
        except* BrokenPipeError:
            status = _HOST_GONE
    return status
