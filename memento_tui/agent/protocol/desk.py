"""Where a tool of this profile works: the workspace of the client that calls it, and the place in it."""

from __future__ import annotations

import os
from pathlib import Path

from mcp.server.mcpserver import Context

from memento_tui.agent.protocol.place import Place, find_place
from memento_tui.agent.seats import Seats
from memento_tui.errors import NotAllowed
from memento_tui.workspace import Workspace

__all__ = ["Desk"]


class Desk:
    """What every tool is given."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats
        self._directory = _started_in()

    def of(self, ctx: Context) -> tuple[Workspace, Place]:
        """Return the workspace of the client that sent a request, and its place.

        Raises:
            DataDirectoryError: the data directory cannot be used.
            InvalidInput: its ``config.toml`` is wrong, or the name of the workspace is.

        """
        place = find_place(self._directory, os.environ)
        return self._seats.of(ctx), place

    def project(self, workspace: Workspace) -> Path:
        """Return where the host started the server: the project that its agent works in.

        Raises:
            NotAllowed: the agent asks over HTTP, so that it may be on another machine.

        """
        if workspace.author.channel == "http":
            raise NotAllowed("No file is read for an agent that asks over HTTP.", "Describe the picture in words.")
        return self._directory


def _started_in() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # it was removed: there is no project then
        return Path(os.sep)
