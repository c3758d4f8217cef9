"""Know the hosts: where each keeps its settings, and what is put there.

Places and formats are those of Claude Code 2.1, Codex 0.169, Gemini CLI 0.61, Cursor 3, OpenCode 1.18 and Claude
Desktop.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memento_tui.errors import InvalidInput
from memento_tui.hosts.codex_toml import TomlServer
from memento_tui.hosts.files import FilePart, InstalledCommand
from memento_tui.hosts.json_entries import HookEntries, ServerEntry
from memento_tui.hosts.programs import Programs, json_quoted

__all__ = ["HOSTS", "Host", "HostFile", "HostPaths", "claude_events"]

_OPENCODE_TEMPLATE = Path(__file__).with_name("opencode_plugin.ts")
_OPENCODE_MARK = "// Written by `memento install opencode`"
_OPENCODE_PROGRAM_LINE = re.compile(r'^const PROGRAM = (".*")$', re.MULTILINE)
_OPENCODE_OPTIONS_LINE = re.compile(r"^const OPTIONS = (\[.*\])$", re.MULTILINE)


@dataclass(frozen=True)
class OpenCodePlugin:
    """The plugin with the hook's command in it."""

    programs: Programs

    def add(self, text: str) -> str:
        """Return the plugin's text."""
        if text.strip() and _OPENCODE_MARK not in text:
            raise InvalidInput(
                "it is somebody else's file.", "Move it away; memento does not replace what it did not write."
            )
        program, _, *options = self.programs.hook_words("", "opencode")
        template = _OPENCODE_TEMPLATE.read_text(encoding="utf-8")
        listed = ", ".join(map(json_quoted, options))
        return template.replace("__PROGRAM__", json_quoted(program)).replace("__OPTIONS__", f"[{listed}]")

    def remove(self, text: str, origin: str | None) -> str:  # noqa: ARG002 - nothing of others is in it
        """Return nothing where the file is memento's."""
        return "" if _OPENCODE_MARK in text else text

    def found(self, text: str) -> list[InstalledCommand]:
        """Return the command that the plugin runs."""
        program, options = _OPENCODE_PROGRAM_LINE.search(text), _OPENCODE_OPTIONS_LINE.search(text)
        if _OPENCODE_MARK not in text or program is None or options is None:
            return []
        try:
            words = [json.loads(program[1]), *json.loads(options[1])]
        except ValueError:
            return []
        return [InstalledCommand("hook", tuple(map(str, words)), "every event")]


JsonEntry = dict[str, object]


@dataclass(frozen=True)
class HostPaths:
    """Where hosts look for their settings."""

    home: Path
    environ: Mapping[str, str]
    """Variables that move a host's settings, such as ``CODEX_HOME``."""
    project: Path | None = None
    """The project whose settings are meant; ``None`` for those of the person, which hold in every project."""
    platform: str = sys.platform

    def named(self, variable: str, otherwise: Path) -> Path:
        """Return the directory that a variable names, else another."""
        given = self.environ.get(variable, "")
        return Path(given) if given else otherwise


@dataclass(frozen=True)
class HostFile:
    """One file of a host, and what is put into it."""

    path: Path
    parts: tuple[FilePart, ...]


@dataclass(frozen=True)
class Host:
    """A program that runs an agent."""

    name: str
    """As the person types it."""
    title: str
    files: Callable[[HostPaths, Programs], Sequence[HostFile]]
    """The files that an installation touches."""
    afterwards: str
    """What the person does next."""
    has_projects: bool = True
    """Whether a project has settings of its own."""


def claude_events(programs: Programs) -> dict[str, JsonEntry]:
    """Return Claude Code's hooks. Times are in seconds.

    SessionEnd has none: the host gives all hooks together 1.5 s and takes no other wish.
    """
    events = {
        "SessionStart": 10,
        "UserPromptSubmit": 10,
        "PreToolUse": 5,
        "PreCompact": 10,
        "Stop": 10,
        "SessionEnd": 0,
    }
    return {
        event: {
            **({"matcher": "Read"} if event == "PreToolUse" else {}),
            "hooks": [_hook_handler(programs, event, "claude-code", seconds)],
        }
        for event, seconds in events.items()
    }


def _hook_handler(programs: Programs, event: str, host: str, timeout: int) -> JsonEntry:
    entry: JsonEntry = {"type": "command", "command": programs.hook_command(event, host)}
    return {**entry, "timeout": timeout} if timeout else entry


def _server_entry(programs: Programs) -> JsonEntry:
    """Return the server as most hosts write one."""
    program, *arguments = programs.server_command()
    return {"command": program, "args": arguments}


def _claude_code(places: HostPaths, programs: Programs) -> list[HostFile]:
    # The variable moves the settings, and the file beside them into their folder.
    moved = places.environ.get("CLAUDE_CONFIG_DIR", "")
    folder = Path(moved) if moved else places.home / ".claude"
    servers = folder / ".claude.json" if moved else places.home / ".claude.json"
    settings = folder / "settings.json"
    if places.project is not None:
        # The local settings are not shared by git: the commands are those of this machine.
        servers, settings = places.project / ".mcp.json", places.project / ".claude" / "settings.local.json"
    server: JsonEntry = {"type": "stdio", **_server_entry(programs)}
    return [
        HostFile(servers, (ServerEntry(("mcpServers",), server),)),
        HostFile(settings, (HookEntries(claude_events(programs)),)),
    ]


def _codex(places: HostPaths, programs: Programs) -> list[HostFile]:
    folder = places.named("CODEX_HOME", places.home / ".codex")
    if places.project is not None:
        folder = places.project / ".codex"
    # It reads files through its shell, so there is no reading tool to wait for; it cuts SessionEnd off after 3 s.
    events = {"SessionStart": 10, "UserPromptSubmit": 10, "PreCompact": 10, "Stop": 10, "SessionEnd": 3}
    hooks: dict[str, JsonEntry] = {
        event: {"hooks": [_hook_handler(programs, event, "codex", seconds)]} for event, seconds in events.items()
    }
    return [
        HostFile(folder / "config.toml", (TomlServer(programs.server_command()),)),
        HostFile(folder / "hooks.json", (HookEntries(hooks),)),
    ]


def _gemini(places: HostPaths, programs: Programs) -> list[HostFile]:
    root = places.project or places.named("GEMINI_CLI_HOME", places.home)
    # Its times are in milliseconds, and it tells hooks apart by name.
    hooks: dict[str, JsonEntry] = {
        event: {"hooks": [{"name": "memento", **_hook_handler(programs, event, "gemini", milliseconds)}]}
        for event, milliseconds in {
            "SessionStart": 10_000,
            "BeforeAgent": 10_000,
            "PreCompress": 10_000,
            "AfterAgent": 10_000,
            "SessionEnd": 3_000,
        }.items()
    }
    parts = (ServerEntry(("mcpServers",), _server_entry(programs)), HookEntries(hooks))
    return [HostFile(root / ".gemini" / "settings.json", parts)]


def _cursor(places: HostPaths, programs: Programs) -> list[HostFile]:
    folder = (places.project or places.home) / ".cursor"
    events = {"sessionStart": 10, "beforeSubmitPrompt": 10, "preCompact": 10, "stop": 10, "sessionEnd": 3}
    hooks: dict[str, JsonEntry] = {
        event: {"command": programs.hook_command(event, "cursor"), "timeout": seconds}
        for event, seconds in events.items()
    }
    return [
        HostFile(folder / "mcp.json", (ServerEntry(("mcpServers",), _server_entry(programs)),)),
        HostFile(folder / "hooks.json", (HookEntries(hooks, {"version": 1}),)),
    ]


def _opencode(places: HostPaths, programs: Programs) -> list[HostFile]:
    folder = places.named("XDG_CONFIG_HOME", places.home / ".config") / "opencode"
    settings, plugins = folder, folder / "plugins"
    if places.project is not None:
        settings, plugins = places.project, places.project / ".opencode" / "plugins"
    # It reads both; the person's own choice is kept.
    name = "opencode.jsonc" if (settings / "opencode.jsonc").exists() else "opencode.json"
    server: JsonEntry = {"type": "local", "command": programs.server_command(), "enabled": True}
    return [
        HostFile(settings / name, (ServerEntry(("mcp",), server),)),
        HostFile(plugins / "memento.ts", (OpenCodePlugin(programs),)),
    ]


def _claude_desktop(places: HostPaths, programs: Programs) -> list[HostFile]:
    if places.platform == "darwin":
        folder = places.home / "Library" / "Application Support" / "Claude"
    else:
        folder = places.named("XDG_CONFIG_HOME", places.home / ".config") / "Claude"
    part = ServerEntry(("mcpServers",), _server_entry(programs))
    return [HostFile(folder / "claude_desktop_config.json", (part,))]


HOSTS = {
    host.name: host
    for host in (
        Host("claude-code", "Claude Code", _claude_code, "Begin a new session; /mcp and /hooks list what is there."),
        Host("codex", "Codex", _codex, "Begin a new session, open /hooks and trust memento's: Codex runs none before."),
        Host("gemini", "Gemini CLI", _gemini, "Begin a new session; /mcp and /hooks list what is there."),
        Host("cursor", "Cursor", _cursor, "Start Cursor anew and switch memento on under Settings, MCP."),
        Host("opencode", "OpenCode", _opencode, "Start OpenCode anew; `opencode mcp list` names the server."),
        Host("claude-desktop", "Claude Desktop", _claude_desktop, "Start Claude Desktop anew.", has_projects=False),
    )
}
"""The hosts by the names that a person types."""
