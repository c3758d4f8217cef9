"""memento: see and govern what your AI agent remembers.

`open` gives a workspace, the Python API that the command line, the MCP server and the terminal app use::

    import memento_tui

    with memento_tui.open("~/memories") as workspace:
        workspace.remember("Use /v2/users; /v1 answers 404.", tags=["api"])
        print(workspace.search("users endpoint").results[0].snippet)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memento_tui.version import __version__

if TYPE_CHECKING:
    from memento_tui.store.journal import Actor
    from memento_tui.workspace import Workspace

__all__ = ["__version__", "open"]


def open(  # noqa: A001 - `memento_tui.open(path)` is how it reads
    path: str | Path | None = None,
    *,
    actor: Actor = "person",
    channel: str = "api",
    agent: str = "",
    session: str = "",
    create: bool = True,
) -> Workspace:
    """Open a data directory: ``path``, else ``MEMENTO_HOME``, else the platform's place for user data.

    ``actor`` is who writes: what an ``agent`` may not do is refused. ``create`` makes a directory that is missing.

    Raises:
        DataDirectoryError: the directory is missing (without ``create``), unreadable, damaged or from a newer version.
        InvalidInput: its ``config.toml`` is wrong.

    """
    from memento_tui.workspace import Workspace  # noqa: PLC0415 - every submodule imports this package first

    return Workspace(path, actor=actor, channel=channel, agent=agent, session=session, create=create)
