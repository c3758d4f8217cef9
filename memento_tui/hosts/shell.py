"""Tell who runs a shell: an agent's host, by the environment variables that it sets, or whoever sits at a terminal.

It is evidence, not proof: a program of the same user account can change its variables and open a terminal of its own.
SECURITY.md says what that leaves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

from memento_tui.hosts.registry import HOSTS, OTHER_AGENTS, Host, ShellAgent

__all__ = ["RunningHost", "has_terminal", "running_host"]


class RunningHost(NamedTuple):
    """A program that runs the present shell for its agent."""

    name: str
    """The agent's name as the author of what it writes."""
    title: str
    variable: str
    """The environment variable that says so."""
    session: str
    """The agent's session, where the host names it; else empty."""


def running_host(environ: Mapping[str, str]) -> RunningHost | None:
    """Return the host whose agent runs the present shell, or ``None`` where no variable says so."""
    agents: tuple[Host | ShellAgent, ...] = (*HOSTS.values(), *OTHER_AGENTS)
    for agent in agents:
        for variable in agent.shell_variables:
            name, _, value = variable.partition("=")
            given = environ.get(name, "")
            if given and value in ("", given):
                return RunningHost(agent.name, agent.title, name, environ.get(agent.session_variable, ""))
    return None


def has_terminal() -> bool:
    """Tell whether a person may sit at this shell: standard input is a terminal, or the session has one."""
    try:
        if sys.stdin is not None and sys.stdin.isatty():
            return True
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except (OSError, ValueError):  # there is none, or standard input is closed
        return False
    return True
