"""List the tool profiles an agent may be served: memento's own, and one for each system it stands in for.

All profiles write through the same workspace and the same gate. This module imports none of them, so that the command
line can name them without the SDK.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

__all__ = ["PROFILES"]

if TYPE_CHECKING:
    from mcp.server.mcpserver.tools import Tool
    from mcp_types import CallToolResult

    from memento_tui.mcp.workspaces import McpWorkspaces


class Profile(NamedTuple):
    """One set of tools."""

    title: str
    """The system's name, as people know it."""
    module: str
    """The module that holds ``INSTRUCTIONS`` (about the server, for the model) and ``all_tools``."""

    def instructions(self) -> str:
        """Return the instructions about the server that a host gives to its model."""
        instructions: str = importlib.import_module(self.module).INSTRUCTIONS
        return instructions

    def tools(self, mcp_workspaces: McpWorkspaces) -> list[Tool]:
        """Return the tools in the order in which they are listed, each running in its caller's workspace."""
        all_tools: Callable[[McpWorkspaces], list[Tool]] = importlib.import_module(self.module).all_tools
        return all_tools(mcp_workspaces)

    def refusal(self) -> Callable[[str], CallToolResult]:
        """Return the function that makes an error result of a sentence: this system's own or memento's."""
        from memento_tui.mcp import results  # noqa: PLC0415 - see above

        refusal: Callable[[str], CallToolResult] = vars(importlib.import_module(self.module)).get(
            "refusal", results.refusal
        )
        return refusal


PROFILES: dict[str, Profile] = {
    "native": Profile("memento", "memento_tui.mcp.tools.registry"),
    "protocol": Profile("Memento Protocol", "memento_tui.compat.protocol.registry"),
    "vault": Profile("Memento Vault", "memento_tui.compat.vault.registry"),
    "core": Profile("memento-core", "memento_tui.compat.core"),
    "bank": Profile("agent-memory", "memento_tui.compat.bank"),
}
"""The profiles by the names that ``--profile`` takes."""
