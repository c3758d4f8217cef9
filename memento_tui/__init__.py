"""memento: see and govern what your AI agent remembers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memento_tui.version import __version__

__all__ = ["__version__", "open"]

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.api.types import Actor


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
    from memento_tui.api import Workspace  # noqa: PLC0415 - every submodule imports this package first

    return Workspace(path, actor=actor, channel=channel, agent=agent, session=session, create=create)
