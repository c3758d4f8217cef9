"""List the hosts of agents, by name, events and the files that memento edits; tell which one runs the present shell.

A new host is one entry of `HOSTS`, and a function in `memento_tui.hosts.layouts` for its files. Events are those of
Claude Code 2.1, Codex 0.169, Gemini CLI 0.61, Cursor 3, OpenCode 1.18 and Claude Desktop; what memento-hook makes of
them, and how it answers each host, stands in `memento_tui.hosts.moments`.

Which host runs a shell is told by the environment variables that it sets. That is evidence, not proof: a program of the
same user account can change its variables and open a terminal of its own. SECURITY.md says what that leaves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memento_tui.hosts.moments import MOMENT_OF_EVENT

__all__ = [
    "HOSTS",
    "OTHER_AGENTS",
    "Host",
    "HostFile",
    "HostPaths",
    "ShellAgent",
    "has_terminal",
    "running_host",
]

if TYPE_CHECKING:
    from collections.abc import Callable

    from memento_tui.hosts.files import FilePart
    from memento_tui.hosts.moments import HookMoment
    from memento_tui.hosts.programs import Programs


class HostEvent(NamedTuple):
    """One event at which a host calls `memento-hook`."""

    name: str
    """As the host writes it."""
    seconds: int | None = None
    """The time limit that an installation sets; 0 sets none; ``None`` installs nothing for the event."""

    @property
    def moment(self) -> HookMoment:
        """The moment of a session that it marks."""
        return MOMENT_OF_EVENT[self.name.lower()]


class HostPaths(NamedTuple):
    """The folders in which hosts look for their settings."""

    home: Path
    environ: Mapping[str, str]
    """Variables that move a host's settings, such as ``CODEX_HOME``."""
    project: Path | None = None
    """The project whose settings are meant; ``None`` for those of the person, which hold in every project."""
    platform: str = sys.platform

    def from_variable(self, name: str, default: Path) -> Path:
        """Return the directory that an environment variable names, else the default."""
        value = self.environ.get(name, "")
        return Path(value) if value else default


class HostFile(NamedTuple):
    """One file of a host, and the entries that are put into it."""

    path: Path
    parts: tuple[FilePart, ...]


class Host(NamedTuple):
    """A program that runs an agent."""

    name: str
    """As the person types it."""
    title: str
    next_step: str
    """The sentence with the person's next step after an installation."""
    layout: str
    """The name of the function of `memento_tui.hosts.layouts` that returns the files."""
    events: tuple[HostEvent, ...] = ()
    has_projects: bool = True
    """Whether a project has settings of its own."""
    shell_variables: tuple[str, ...] = ()
    """The environment variables, as ``NAME`` or ``NAME=value``, that it sets for the commands which its agent runs.
    None that a person may have set, or that an editor also sets in the person's own terminals."""
    session_variable: str = ""
    """The environment variable in which those commands find the agent's session."""

    def files(self, paths: HostPaths, programs: Programs) -> Sequence[HostFile]:
        """Return the files that an installation touches."""
        from memento_tui.hosts import layouts  # noqa: PLC0415 - hooks need the table alone

        layout: Callable[[Host, HostPaths, Programs], Sequence[HostFile]] = getattr(layouts, self.layout)
        return layout(self, paths, programs)

    def installed_events(self) -> dict[str, int]:
        """Return the events that an installation writes into the host's files, with their time limits in seconds."""
        return {event.name: event.seconds for event in self.events if event.seconds is not None}


_CLAUDE_CODE = Host(
    "claude-code",
    "Claude Code",
    "Begin a new session; /mcp and /hooks list what is there.",
    "claude_code",
    (
        HostEvent("SessionStart", 10),
        HostEvent("UserPromptSubmit", 10),
        HostEvent("PreToolUse", 5),
        HostEvent("PostToolUse", 5),
        HostEvent("PreCompact", 10),
        HostEvent("Stop", 10),
        # The host gives all hooks together 1.5 s and takes no other limit.
        HostEvent("SessionEnd", 0),
    ),
    shell_variables=("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"),
    session_variable="CLAUDE_CODE_SESSION_ID",
)

_CODEX = Host(
    "codex",
    "Codex",
    "Begin a new session, open /hooks and trust memento's: Codex runs none before.",
    "codex",
    (
        # It reads files through its shell, so there is no reading tool to wait for.
        HostEvent("SessionStart", 10),
        HostEvent("UserPromptSubmit", 10),
        HostEvent("PostToolUse", 5),
        HostEvent("PreCompact", 10),
        HostEvent("Stop", 10),
        # It cuts this one off after 3 s.
        HostEvent("SessionEnd", 3),
    ),
    shell_variables=("CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_CI"),
    session_variable="CODEX_THREAD_ID",
)

_GEMINI = Host(
    "gemini",
    "Gemini CLI",
    "Begin a new session; /mcp and /hooks list what is there.",
    "gemini",
    (
        HostEvent("SessionStart", 10),
        HostEvent("BeforeAgent", 10),
        HostEvent("BeforeTool"),
        HostEvent("AfterTool", 5),
        HostEvent("PreCompress", 10),
        HostEvent("AfterAgent", 10),
        HostEvent("SessionEnd", 3),
    ),
    shell_variables=("GEMINI_CLI",),
)

_CURSOR = Host(
    "cursor",
    "Cursor",
    "Start Cursor anew and switch memento on under Settings, MCP.",
    "cursor",
    (
        HostEvent("sessionStart", 10),
        HostEvent("beforeSubmitPrompt", 10),
        HostEvent("beforeReadFile"),
        HostEvent("preCompact", 10),
        HostEvent("stop", 10),
        HostEvent("sessionEnd", 3),
    ),
    # CURSOR_TRACE_ID is set in the person's own terminals in Cursor too.
    shell_variables=("CURSOR_AGENT", "CURSOR_EXTENSION_HOST_ROLE=agent-exec"),
)

_OPENCODE = Host(
    "opencode",
    "OpenCode",
    "Start OpenCode anew; `opencode mcp list` names the server.",
    "opencode",
    # Its plugin calls the hook, and sets the limits itself.
    (HostEvent("SessionStart"), HostEvent("UserPromptSubmit"), HostEvent("Stop")),
    shell_variables=("OPENCODE", "OPENCODE_CLIENT", "OPENCODE_CALLER"),
)

_CLAUDE_DESKTOP = Host(
    "claude-desktop", "Claude Desktop", "Start Claude Desktop anew.", "claude_desktop", has_projects=False
)

# The hosts from here on have the server alone. The hooks of Copilot's command line ignore what a hook says at a prompt,
# those of Windsurf can only refuse one, and no transcript of theirs is named to a hook.
_COPILOT = Host(
    "copilot",
    "GitHub Copilot CLI",
    "Start Copilot anew; /mcp show names the server.",
    "copilot",
    shell_variables=("COPILOT_CLI",),
)

_VS_CODE = Host("vscode", "VS Code", "Start the server once: MCP: List Servers in the command palette.", "vs_code")

_WINDSURF = Host(
    "windsurf", "Windsurf", "Press the refresh button in Cascade's list of MCP servers.", "windsurf", has_projects=False
)

_ZED = Host("zed", "Zed", "Open the agent panel's settings; memento's dot is green.", "zed", has_projects=False)

_GOOSE = Host(
    "goose",
    "Goose",
    "Begin a new session; `goose configure` lists the extension.",
    "goose",
    has_projects=False,
    shell_variables=("AGENT=goose", "GOOSE_TERMINAL"),
)

_HERMES = Host("hermes", "Hermes", "Begin a new session, or /reload-mcp in this one.", "hermes", has_projects=False)

_ALL_HOSTS = (
    *(_CLAUDE_CODE, _CODEX, _GEMINI, _CURSOR, _OPENCODE, _CLAUDE_DESKTOP),
    *(_COPILOT, _VS_CODE, _WINDSURF, _ZED, _GOOSE, _HERMES),
)
HOSTS = {host.name: host for host in _ALL_HOSTS}
"""The hosts by the names that a person types."""


class ShellAgent(NamedTuple):
    """A program that runs an agent but in which memento cannot be installed; its fields are as a host's."""

    name: str
    title: str
    shell_variables: tuple[str, ...]
    session_variable: str = ""


OTHER_AGENTS = (
    ShellAgent("amp", "Amp", ("AGENT=amp", "AMP_CURRENT_THREAD_ID"), "AMP_CURRENT_THREAD_ID"),
    ShellAgent("cline", "Cline", ("CLINE_ACTIVE",)),
    ShellAgent("augment", "Augment", ("AUGMENT_AGENT",)),
    ShellAgent("antigravity", "Antigravity", ("ANTIGRAVITY_AGENT",)),
    ShellAgent("trae", "TRAE", ("TRAE_AI_SHELL_ID",)),
    # The two names that are proposed for all of them, https://github.com/agentsmd/agents.md/issues/136.
    ShellAgent("agent", "An agent's host", ("AI_AGENT", "AGENT=1", "AGENT=true")),
)
"""Agents that are known by the variables they set for their commands alone. Aider sets none."""


class _RunningHost(NamedTuple):
    """A program that runs the present shell for its agent."""

    name: str
    """The agent's name as an author."""
    title: str
    variable: str
    """The environment variable that says so."""
    session: str
    """The agent's session, where the host names it; else empty."""


def running_host(environ: Mapping[str, str]) -> _RunningHost | None:
    """Return the host whose agent runs the present shell, or ``None`` where no variable says so."""
    agents: tuple[Host | ShellAgent, ...] = (*HOSTS.values(), *OTHER_AGENTS)
    for agent in agents:
        for variable in agent.shell_variables:
            name, _, value = variable.partition("=")
            given = environ.get(name, "")
            if given and value in ("", given):
                return _RunningHost(agent.name, agent.title, name, environ.get(agent.session_variable, ""))
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
