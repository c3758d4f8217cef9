"""The sets of tools that an agent may be served: memento's own, and those of each system it stands in for.

All profiles write through the same workspace and the same gate. This module imports none of them, so that the command
line can name them without the SDK.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mcp.server.mcpserver.tools import Tool
    from mcp_types import CallToolResult

    from memento_tui.agent.seats import Seats

__all__ = ["PROFILES", "Profile"]


class Profile(NamedTuple):
    """One set of tools."""

    title: str
    """What people call the system."""
    module: str
    """The module that holds ``INSTRUCTIONS`` (what a host tells its model about the server) and ``all_tools``."""

    def instructions(self) -> str:
        """Return what a host tells its model about the server."""
        told: str = importlib.import_module(self.module).INSTRUCTIONS
        return told

    def tools(self, seats: Seats) -> list[Tool]:
        """Return the tools in the order in which they are listed, each running in its caller's workspace."""
        all_tools: Callable[[Seats], list[Tool]] = importlib.import_module(self.module).all_tools
        return all_tools(seats)

    def refusal(self) -> Callable[[str], CallToolResult]:
        """Return what puts a sentence into the shape of this system's errors: its own ``refusal`` or memento's."""
        from memento_tui.agent import answers  # noqa: PLC0415 - see above

        made: Callable[[str], CallToolResult] = vars(importlib.import_module(self.module)).get(
            "refusal", answers.refusal
        )
        return made


PROFILES: dict[str, Profile] = {
    "native": Profile("memento", "memento_tui.agent.tools.listing"),
    "protocol": Profile("Memento Protocol", "memento_tui.agent.protocol.listing"),
    "vault": Profile("Memento Vault", "memento_tui.agent.vault.listing"),
    "core": Profile("memento-core", "memento_tui.agent.core.listing"),
    "bank": Profile("agent-memory", "memento_tui.agent.bank.listing"),
}
"""The profiles by the names that ``--profile`` takes."""
