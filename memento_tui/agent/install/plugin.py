"""Claude Code's plugin: hooks, server, a skill and slash commands in one folder, which is a marketplace of one too.

The folder that comes with memento finds its programs on PATH. `write_plugin` makes one for this machine, whose commands
are those that `memento install claude-code` would write into the settings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from memento_tui.agent.install.files import read, write
from memento_tui.agent.install.hosts import claude_events
from memento_tui.agent.install.programs import Programs
from memento_tui.agent.install.server_entry import NAME
from memento_tui.errors import InvalidInput

__all__ = ["FOLDER", "is_enabled", "plugin_settings", "write_plugin"]

FOLDER = Path(__file__).parents[1] / "plugin"
"""The plugin that comes with memento."""

_MANIFEST = Path(".claude-plugin") / "plugin.json"
_READABLE = 0o644


def plugin_settings(programs: Programs) -> dict[str, str]:
    """Return the files of the plugin that name programs, by their path in the folder."""
    program, *arguments = programs.server_command()
    told: dict[str, object] = {
        "hooks/hooks.json": {
            "description": "Tells the agent what memento remembers, and hands finished sessions to memento.",
            "hooks": {event: [entry] for event, entry in claude_events(programs).items()},
        },
        ".mcp.json": {"mcpServers": {NAME: {"type": "stdio", "command": program, "args": arguments}}},
    }
    return {path: json.dumps(value, indent=2, ensure_ascii=False) + "\n" for path, value in told.items()}


def write_plugin(folder: Path, programs: Programs) -> list[Path]:
    """Write the plugin for this machine into a folder that is new, empty, or holds one; return its files.

    Raises:
        InvalidInput: the folder holds something else, or cannot be written.

    """
    _check(folder)
    texts = {
        str(path.relative_to(FOLDER)): path.read_text(encoding="utf-8")
        for path in sorted(FOLDER.rglob("*"))
        if path.suffix in (".json", ".md")
    }
    texts.update(plugin_settings(programs))
    for name, text in texts.items():
        write(folder / name, text.encode(), _READABLE)
    return [folder / name for name in texts]


def _check(folder: Path) -> None:
    try:
        is_free = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be read: {error.strerror}.", "Name another folder.") from error
    if not is_free and (read(folder / _MANIFEST).raw is None or _name(folder) != NAME):
        raise InvalidInput(
            f"{folder} holds something else than memento's plugin.", "Name a folder that is new or empty."
        )


def _name(folder: Path) -> object:
    try:
        manifest = json.loads(read(folder / _MANIFEST).text)
    except ValueError:
        return None
    return manifest.get("name") if isinstance(manifest, dict) else None


def is_enabled(settings: Mapping[str, object]) -> bool:
    """Tell whether Claude Code's settings switch the plugin on, from whichever marketplace."""
    plugins = settings.get("enabledPlugins")
    return isinstance(plugins, dict) and any(
        str(name).partition("@")[0] == NAME and on is True for name, on in plugins.items()
    )
