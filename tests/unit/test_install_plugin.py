"""Claude Code's plugin: one source with what an installation writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import memento_tui
from memento_tui.cli.main import COMMANDS
from memento_tui.errors import InvalidInput
from memento_tui.hosts.layouts import PLUGIN_FOLDER, claude_events, enables_plugin, plugin_settings, write_plugin
from memento_tui.hosts.programs import BARE_PROGRAMS
from memento_tui.mcp.tools.registry import all_tools
from memento_tui.mcp.workspaces import open_mcp_workspaces
from tests.unit.installing import PROGRAMS, Home, contents


@pytest.mark.parametrize("name", ["hooks/hooks.json", ".mcp.json"])
def test_the_plugin_that_comes_with_memento_says_what_an_installation_writes(name: str) -> None:
    assert (PLUGIN_FOLDER / name).read_text() == plugin_settings(BARE_PROGRAMS)[name]


def test_its_hooks_are_those_of_the_settings(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("claude-code", BARE_PROGRAMS)
    settings = json.loads((tmp_path / ".claude" / "settings.json").read_text())
    assert json.loads((PLUGIN_FOLDER / "hooks" / "hooks.json").read_text())["hooks"] == settings["hooks"]
    assert json.loads((PLUGIN_FOLDER / ".mcp.json").read_text()) == json.loads((tmp_path / ".claude.json").read_text())


def test_its_version_is_that_of_memento() -> None:
    manifest = json.loads((PLUGIN_FOLDER / ".claude-plugin" / "plugin.json").read_text())
    market = json.loads((PLUGIN_FOLDER / ".claude-plugin" / "marketplace.json").read_text())
    assert [manifest["name"], manifest["version"]] == ["memento", memento_tui.__version__]
    assert [(one["name"], one["source"]) for one in market["plugins"]] == [("memento", "./")]


def test_its_texts_name_commands_that_exist_and_have_a_description() -> None:
    texts = sorted(PLUGIN_FOLDER.rglob("*.md"))
    assert [path.relative_to(PLUGIN_FOLDER).as_posix() for path in texts] == [
        *("commands/review.md", "commands/search.md", "commands/store.md", "skills/memento/SKILL.md")
    ]
    for path in texts:
        text = path.read_text()
        assert re.match(r"---\n(?:name: memento\n)?description: \S.{20,1000}\n", text), path
        for command in re.findall(r"`memento ([a-z]+)", text):
            assert command in COMMANDS


def test_a_plugin_for_this_machine_names_its_programs(tmp_path: Path) -> None:
    folder = tmp_path / "plugin"
    files = write_plugin(folder, PROGRAMS)
    assert (
        sorted(contents(folder))
        == sorted(contents(PLUGIN_FOLDER))
        == sorted(str(file.relative_to(folder)) for file in files)
    )
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    assert hooks == {event: [entry] for event, entry in claude_events(PROGRAMS).items()}
    write_plugin(folder, PROGRAMS)


@pytest.mark.parametrize("manifest", ["", "{", "[]", '{"name": "theirs"}'])
def test_a_folder_of_others_is_not_written_into(tmp_path: Path, manifest: str) -> None:
    (tmp_path / ".claude-plugin").mkdir()
    (tmp_path / ".claude-plugin" / "plugin.json").write_text(manifest)
    with pytest.raises(InvalidInput, match="something else"):
        write_plugin(tmp_path, PROGRAMS)
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput):
        write_plugin(tmp_path / "file", PROGRAMS)


@pytest.mark.parametrize(
    ("settings", "on"),
    [
        ({"enabledPlugins": {"memento@memento": True}}, True),
        ({"enabledPlugins": {"memento@elsewhere": True, "x@y": True}}, True),
        ({"enabledPlugins": {"memento@memento": False}}, False),
        ({"enabledPlugins": {"memento-other@memento": True}}, False),
        ({"enabledPlugins": ["memento@memento"]}, False),
        ({}, False),
    ],
)
def test_whether_the_plugin_is_on_is_read_from_the_settings(settings: dict[str, object], on: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert enables_plugin(settings) is on


def test_the_tools_that_its_texts_name_are_served(data_dir: Path) -> None:
    with open_mcp_workspaces(data_dir, "s1") as mcp_workspaces:
        served = {tool.name for tool in all_tools(mcp_workspaces)}
    named = {
        word
        for path in PLUGIN_FOLDER.rglob("*.md")
        for word in re.findall(r"`([a-z_]+)`", path.read_text())
        if word != "memento"
    }
    assert {"context", "search", "remember", "status"} <= named
    assert named <= served
