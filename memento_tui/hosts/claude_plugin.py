"""Write Claude Code's plugin: hooks, server, skill and slash commands in one folder.

The folder that comes with memento finds its programs on PATH. `write_plugin` makes one for this machine, whose commands
are those that `memento install claude-code` would write into the settings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from memento_tui.errors import InvalidInput
from memento_tui.hosts.files import read_host_file, write_host_file
from memento_tui.hosts.json_entries import SERVER_NAME
from memento_tui.hosts.layouts import claude_events
from memento_tui.hosts.programs import Programs

__all__ = ["PLUGIN_FOLDER", "enables_plugin", "plugin_settings", "write_plugin"]

PLUGIN_FOLDER = Path(__file__).with_name("plugin")
"""The plugin that comes with memento."""

_MANIFEST_PATH = Path(".claude-plugin") / "plugin.json"
_READABLE_MODE = 0o644


def plugin_settings(programs: Programs) -> dict[str, str]:
    """Return the texts of the plugin's files that name programs, by their path in the folder."""
    program, *arguments = programs.server_command()
    values: dict[str, object] = {
        "hooks/hooks.json": {
            "description": "Tells the agent what memento remembers, and hands finished sessions to memento.",
            "hooks": {event: [entry] for event, entry in claude_events(programs).items()},
        },
        ".mcp.json": {"mcpServers": {SERVER_NAME: {"type": "stdio", "command": program, "args": arguments}}},
    }
    return {path: json.dumps(value, indent=2, ensure_ascii=False) + "\n" for path, value in values.items()}


def write_plugin(folder: Path, programs: Programs) -> list[Path]:
    """Write the plugin for this machine into a folder that is new, empty, or holds one; return its files.

    Raises:
        InvalidInput: the folder holds something else, or cannot be written.

    """
    _check_folder(folder)
    texts = {
        str(path.relative_to(PLUGIN_FOLDER)): path.read_text(encoding="utf-8")
        for path in sorted(PLUGIN_FOLDER.rglob("*"))
        if path.suffix in (".json", ".md")
    }
    texts.update(plugin_settings(programs))
    for name, text in texts.items():
        write_host_file(folder / name, text.encode(), _READABLE_MODE)
    return [folder / name for name in texts]


def _check_folder(folder: Path) -> None:
    try:
        is_free = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be read: {error.strerror}.", "Name another folder.") from error
    if not is_free and (read_host_file(folder / _MANIFEST_PATH).raw is None or _plugin_name(folder) != SERVER_NAME):
        raise InvalidInput(
            f"{folder} holds something else than memento's plugin.", "Name a folder that is new or empty."
        )


def _plugin_name(folder: Path) -> object:
    try:
        manifest = json.loads(read_host_file(folder / _MANIFEST_PATH).text)
    except ValueError:
        return None
    return manifest.get("name") if isinstance(manifest, dict) else None


def enables_plugin(settings: Mapping[str, object]) -> bool:
    """Tell whether Claude Code's settings enable the plugin, from any marketplace."""
    plugins = settings.get("enabledPlugins")
    return isinstance(plugins, dict) and any(
        str(name).partition("@")[0] == SERVER_NAME and on is True for name, on in plugins.items()
    )
