"""Offer MCP resources: the identity, items and skips, the start of a session, and a memory by its id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import CallToolResult, Resource, ResourceTemplate, TextContent

from memento_tui.errors import MementoError, NotFound
from memento_tui.mcp.tools.memories import MemoryTools
from memento_tui.mcp.tools.sessions import SessionTools
from memento_tui.mcp.tools.working_memory import IdentityTools, ItemTools, SkipTools
from memento_tui.mcp.workspaces import McpWorkspaces
from memento_tui.text.fence import one_line

__all__ = ["Resources"]

_MEMORY_URI_PREFIX = "memento://memory/"
_TEXT_TYPE = "text/plain"


class Resources:
    """The resources. Each gives the text of the tool of its subject, behind the same fence."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces
        self._memories = MemoryTools(mcp_workspaces)
        self._fixed: dict[str, tuple[str, str, Callable[[Context], CallToolResult]]] = {
            "memento://context": (
                "context",
                "What every session begins with: identity, essentials, open work, skips.",
                SessionTools(mcp_workspaces).session_open,
            ),
            "memento://identity": ("identity", "Who the agent is.", IdentityTools(mcp_workspaces).identity_read),
            "memento://items": ("items", "Active working items.", ItemTools(mcp_workspaces).item_list),
            "memento://skips": ("skips", "What is not to be done now.", SkipTools(mcp_workspaces).skip_list),
        }

    def listed(self) -> list[Resource]:
        """Return the resources that have an address of their own."""
        return [
            Resource(uri=uri, name=name, description=description, mime_type=_TEXT_TYPE)
            for uri, (name, description, _) in self._fixed.items()
        ]

    def templates(self) -> list[ResourceTemplate]:
        """Return the pattern of the memories' addresses."""
        return [
            ResourceTemplate(
                uri_template=_MEMORY_URI_PREFIX + "{id}",
                name="memory",
                description="A memory in full.",
                mime_type=_TEXT_TYPE,
            )
        ]

    async def read(self, uri: str, ctx: Context[Any, Any]) -> str:
        """Return the text of a resource.

        Raises:
            ResourceNotFoundError: there is none at this address.
            ResourceError: it cannot be read now.

        """
        try:
            result = await self._mcp_workspaces.run(self._read, uri, ctx)
        except MementoError as error:
            kind = ResourceNotFoundError if isinstance(error, NotFound) else ResourceError
            raise kind(str(error)) from error
        return "\n".join(block.text for block in result.content if isinstance(block, TextContent))

    def _read(self, uri: str, ctx: Context[Any, Any]) -> CallToolResult:
        if uri.startswith(_MEMORY_URI_PREFIX):
            return self._memories.get(ctx, [unquote(uri.removeprefix(_MEMORY_URI_PREFIX))])
        if uri not in self._fixed:
            raise NotFound(
                f"There is no resource {one_line(uri, 100)!r}.",
                f"The resources are {', '.join(self._fixed)} and {_MEMORY_URI_PREFIX}ID.",
            )
        return self._fixed[uri][2](ctx)
