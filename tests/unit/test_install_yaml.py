"""The server in a host's YAML: every line of the person stays, and what cannot be added to is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from memento_tui.errors import InvalidInput
from memento_tui.hosts.programs import Programs
from memento_tui.hosts.toml_and_yaml_entries import YamlServer
from tests.unit.installing import Home, contents

SERVER = YamlServer("mcp_servers", {"command": "/opt/memento", "args": ["--data-dir", "/data", "mcp"]})
OLD = YamlServer("mcp_servers", {"command": "/old/memento", "args": ["mcp"]})


def _read(text: str) -> object:
    return YAML(typ="safe", pure=True).load(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "model: x # mine\n",
        "model: x",
        "mcp_servers:\n",
        "mcp_servers: {} # none yet\nmodel: x\n",
        "model: x\nmcp_servers: {}",
        "model: x\nmcp_servers:",
        "mcp_servers:\n    # the files\n    files:\n        command: npx\n\nmodel: |\n  mcp_servers:\n    memento:\n",
        "model: x\r\nmcp_servers:\r\n  files:\r\n    command: npx\r\n",
    ],
)
def test_the_server_comes_and_goes_and_every_other_line_stays(text: str) -> None:
    added = SERVER.add(text)
    assert SERVER.add(added) == added
    assert [one.words for one in SERVER.find_commands(added)] == [("/opt/memento", "--data-dir", "/data", "mcp")]
    assert set(text.split()) - {"{}"} <= set(added.split())
    assert _read(SERVER.remove(added, text)) == _read(text)
    assert SERVER.remove(text, None) == text


@pytest.mark.parametrize(
    "before", ["mcp_servers: {}\nmodel: x\n", "mcp_servers:\n  files:\n    command: npx\nmodel: x\n"]
)
def test_where_no_server_is_left_the_host_still_finds_a_list_of_them(before: str) -> None:
    alone = SERVER.add("mcp_servers: {} # mine\nmodel: y\n")
    assert SERVER.remove(alone, before) == "mcp_servers: {} # mine\nmodel: y\n"


def test_a_server_of_before_gets_the_present_command_and_keeps_what_a_person_added() -> None:
    text = OLD.add("model: x\n").replace("args:", "timeout: 9\n    args:")
    assert _read(SERVER.add(text)) == {
        "model": "x",
        "mcp_servers": {"memento": {"command": "/opt/memento", "args": ["--data-dir", "/data", "mcp"], "timeout": 9}},
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mcp_servers: {files: {command: npx}}\n", "cannot add to"),
        ("mcp_servers: [files]\n", "not a list of keys"),
        ("- a\n- b\n", "not a list of keys and values"),
        ("a: [\n", "not YAML"),
        ("---\nmodel: x\n...\n", "written in a way that memento cannot change"),
        ("mcp_servers:\n  memento:\n    command: other\n", "another MCP server called memento"),
    ],
)
def test_what_cannot_be_added_to_is_left_alone_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        SERVER.add(text)


@pytest.mark.parametrize(
    ("host", "file", "entry"),
    [
        (
            "goose",
            ".config/goose/config.yaml",
            {
                "extensions": {
                    "memento": {
                        "enabled": True,
                        "type": "stdio",
                        "name": "memento",
                        "cmd": "/opt/my tools/memento",
                        "args": ["--data-dir", "/data/of mine", "mcp"],
                        "timeout": 300,
                    }
                }
            },
        ),
        (
            "hermes",
            ".hermes/config.yaml",
            {
                "mcp_servers": {
                    "memento": {"command": "/opt/my tools/memento", "args": ["--data-dir", "/data/of mine", "mcp"]}
                }
            },
        ),
    ],
)
def test_goose_and_hermes_get_the_server_as_they_read_it(tmp_path: Path, host: str, file: str, entry: object) -> None:
    home = Home(tmp_path)
    home.install(host)
    assert _read((tmp_path / file).read_text()) == entry
    home.uninstall(host)
    assert contents(tmp_path) == {}
    before = home.write(file, "# mine\nextensions:\n  developer:\n    enabled: true\n").read_bytes()
    home.install(host)
    home.install(host, Programs("/new/memento", "/new/memento-hook", None))
    assert b"/new/memento" in (tmp_path / file).read_bytes()
    home.uninstall(host)
    assert (tmp_path / file).read_bytes() == before
