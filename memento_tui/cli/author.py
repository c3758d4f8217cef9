"""Decide in whose name a command runs: the person's where one sits at the terminal or gave a token, else an agent's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple

from memento_tui.errors import NotAllowed
from memento_tui.hosts.registry import has_terminal, running_host
from memento_tui.paths import DataPaths

__all__ = ["TOKEN_VARIABLE", "CommandAuthor", "command_author", "is_own_terminal", "require_own_terminal"]

if TYPE_CHECKING:
    from collections.abc import Mapping

TOKEN_VARIABLE = "MEMENTO_TOKEN"  # noqa: S105 - the name of a variable
"""The environment variable in which a script of the person's gives its token."""

_SCRIPT = "script"
"""The author's name for a command without a terminal and without a known agent's host."""

_ADVICE = (
    "Do it in a terminal of your own, or in the app. A script of yours needs a token: memento token make NAME, in a"
    f" terminal, then {TOKEN_VARIABLE} for that script alone."
)


class CommandAuthor(NamedTuple):
    """The author that a command writes as, and the reason where that is not the person."""

    actor: Literal["person", "agent"]
    agent: str = ""
    session: str = ""
    reason: str = ""
    """Why the command does not count as a person's, as the end of a sentence."""

    @property
    def is_person(self) -> bool:
        """Whether it is the person."""
        return self.actor == "person"

    def require_person(self, command: str) -> None:
        """Raise `NotAllowed` for a command that decides something, where it does not run in the person's name."""
        if not self.is_person:
            raise NotAllowed(f"`{command}` is for a person to decide, and {self.reason}.", _ADVICE)

    def refuse_agents_host(self, command: str) -> None:
        """Raise `NotAllowed` for a command that needs nobody at a terminal, where an agent's host runs this shell."""
        if self.agent not in ("", _SCRIPT):
            self.require_person(command)

    def explain(self, error: NotAllowed) -> None:
        """Add to a refusal the reason why this command does not count as a person's."""
        if not self.is_person and _ADVICE not in error.hint:
            error.hint = f"{error.hint} This runs as an agent's command, because {self.reason}. {_ADVICE}".strip()


def command_author(paths: DataPaths, environ: Mapping[str, str] = os.environ) -> CommandAuthor:
    """Return in whose name a command on a data directory runs.

    A token of the person's decides it. Else it is the agent whose host runs this shell; else the person, where there is
    a terminal, and where there is none a script of nobody's.

    Raises `DataDirectoryError` where there is a token to compare and the file of tokens cannot be read.
    """
    token, refused = environ.get(TOKEN_VARIABLE, ""), ""
    if token:
        from memento_tui.api.tokens import ScriptTokens  # noqa: PLC0415 - most commands have none

        if ScriptTokens(paths).accepts(token):
            return CommandAuthor("person")
        refused = f", and the token in {TOKEN_VARIABLE} is none of this data directory's"
    host = running_host(environ)
    if host is not None:
        reason = f"{host.title} runs this shell for its agent ({host.variable} is set){refused}"
        return CommandAuthor("agent", host.name, host.session, reason)
    if not has_terminal():
        return CommandAuthor("agent", _SCRIPT, "", f"nobody sits at this shell: it has no terminal{refused}")
    return CommandAuthor("person")


def is_own_terminal(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether a command runs in the person's own terminal, whatever token it has."""
    return running_host(environ) is None and has_terminal()


def require_own_terminal(what: str, environ: Mapping[str, str] = os.environ) -> None:
    """Raise `NotAllowed` unless the command runs in the person's own terminal, for which no token stands in."""
    host = running_host(environ)
    if host is not None:
        raise NotAllowed(
            f"{what} needs a terminal of your own, and {host.title} runs this shell for its agent"
            f" ({host.variable} is set).",
            "Open another terminal.",
        )
    if not has_terminal():
        raise NotAllowed(f"{what} needs a terminal, and this shell has none.", "Open a terminal, and do it there.")
