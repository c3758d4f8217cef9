"""memento: see and govern what your AI agent remembers."""

from memento_tui.version import __version__

__all__ = ["__version__", "open"]

TYPE_CHECKING = False  # as in `typing`, whose import would cost memento-hook a third of its time
if TYPE_CHECKING:
    from pathlib import Path

    from memento_tui.api import Workspace
    from memento_tui.api.types import Actor


def open(  # noqa: A001 - `memento_tui.open(path)` is how it reads
    path: "str | Path | None" = None,
    *,
    actor: "Actor | None" = None,
    channel: str = "api",
    agent: str = "",
    session: str = "",
    create: bool = True,
    read_only: bool = False,
) -> "Workspace":
    """Open a data directory: ``path``, else ``MEMENTO_HOME``, else the platform's place for user data.

    ``actor`` is who writes: what an ``agent`` may not do is refused. Left out, it is the agent whose host runs this
    program, by the environment variables that hosts set, such as ``CLAUDECODE``; else the person. ``create`` makes a
    directory that is missing. With ``read_only`` nothing is written there, and every change raises `ReadOnlyMode`.

    Raises:
        DataDirectoryError: the directory is missing (without ``create``), unreadable, damaged or from a newer version.
        InvalidInput: its ``config.toml`` is wrong.

    """
    import os  # noqa: PLC0415 - its name would be part of this package

    from memento_tui.api import Workspace  # noqa: PLC0415 - every submodule imports this package first
    from memento_tui.hosts.registry import running_host  # noqa: PLC0415 - same

    if actor is None:
        host = running_host(os.environ)
        actor = "person" if host is None else "agent"
        if host is not None:
            agent, session = agent or host.name, session or host.session
    return Workspace(
        path, actor=actor, channel=channel, agent=agent, session=session, create=create, read_only=read_only
    )
