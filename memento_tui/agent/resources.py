"""What a host may read without a tool: the identity, the two lists, the start of a session, and a memory by its id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import CallToolResult, Resource, ResourceTemplate, TextContent

from memento_tui.agent.fence import one_line
from memento_tui.agent.seats import Seats
from memento_tui.agent.tools.identity import IdentityTools
from memento_tui.agent.tools.items import ItemTools
from memento_tui.agent.tools.memories import MemoryTools
from memento_tui.agent.tools.sessions import SessionTools
from memento_tui.agent.tools.skips import SkipTools
from memento_tui.errors import MementoError, NotFound

__all__ = ["Resources"]

_MEMORY = "memento://memory/"
_PLAIN = "text/plain"


class Resources:
    """The resources. Each says what the tool of its subject says, behind the same fence."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats
        self._memories = MemoryTools(seats)
        self._fixed: dict[str, tuple[str, str, Callable[[Context], CallToolResult]]] = {
            "memento://context": (
                "context",
                "What every session begins with: identity, essentials, open work, skips.",
                SessionTools(seats).session_open,
            ),
            "memento://identity": ("identity", "Who the agent is.", IdentityTools(seats).identity_read),
            "memento://items": ("items", "Active working items.", ItemTools(seats).item_list),
            "memento://skips": ("skips", "What is not to be done now.", SkipTools(seats).skip_list),
        }

    def listed(self) -> list[Resource]:
        """Return the resources that have an address of their own."""
        return [
            Resource(uri=uri, name=name, description=description, mime_type=_PLAIN)
            for uri, (name, description, _) in self._fixed.items()
        ]

    def templates(self) -> list[ResourceTemplate]:
        """Return the pattern of the memories' addresses."""
        return [
            ResourceTemplate(
                uri_template=_MEMORY + "{id}", name="memory", description="A memory in full.", mime_type=_PLAIN
            )
        ]

    async def read(self, uri: str, ctx: Context[Any, Any]) -> str:
        """Return what a resource says.

        Raises:
            ResourceNotFoundError: there is none at this address.
            ResourceError: it cannot be read now.

        """
        try:
            answered = await self._seats.run(self._read, uri, ctx)
        except MementoError as error:
            kind = ResourceNotFoundError if isinstance(error, NotFound) else ResourceError
            raise kind(str(error)) from error
        return "\n".join(block.text for block in answered.content if isinstance(block, TextContent))

    def _read(self, uri: str, ctx: Context[Any, Any]) -> CallToolResult:
        if uri.startswith(_MEMORY):
            return self._memories.get(ctx, [unquote(uri.removeprefix(_MEMORY))])
        if uri not in self._fixed:
            raise NotFound(
                f"There is no resource {one_line(uri, 100)!r}.",
                f"The resources are {', '.join(self._fixed)} and {_MEMORY}ID.",
            )
        return self._fixed[uri][2](ctx)
