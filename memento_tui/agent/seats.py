"""The workspace as each MCP client of the server sees it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context

from memento_tui.agent.callers import Callers
from memento_tui.agent.fence import one_line
from memento_tui.workspace import Workspace

__all__ = ["Seats", "client_name"]

_LONGEST_NAME = 100
_NAMELESS = "agent"


class Seats(Callers):
    """The workspaces of MCP clients. Opens nothing by itself, so that a server starts even where that fails."""

    def __init__(self, data_dir: Path | None, session: str, *, channel: str = "mcp") -> None:
        super().__init__(data_dir, session, channel=channel, nameless=_NAMELESS)

    def of(self, ctx: Context[Any, Any]) -> Workspace:
        """Return the workspace of the client that sent a request. Raises like `Callers.named`."""
        return self.named(client_name(ctx))


def client_name(ctx: Context[Any, Any]) -> str:
    """Return the name of the client that sent a request, made printable and short.

    It is the one that the client gave itself. Over HTTP an older client gives none but its program's, which stands in
    the header ``User-Agent``; where that is missing too the name is ``agent``.
    """
    params = ctx.session.client_params
    given = params.client_info.name if params is not None else _program(ctx.headers or {})
    shown = "".join(character for character in one_line(given, _LONGEST_NAME) if character.isprintable())
    return shown or _NAMELESS


def _program(headers: Mapping[str, str]) -> str:
    """Return the first name in ``User-Agent``, without its version: ``claude-code`` of ``claude-code/2.1 (cli)``."""
    return headers.get("user-agent", "").partition("/")[0].partition(" ")[0]
