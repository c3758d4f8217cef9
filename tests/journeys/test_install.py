"""memento put into hosts by the program itself, and what is in their files run as the hosts run it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from memento_tui.hosts.registry import HOSTS
from tests.journeys.cli_shell import MEMENTO, Console
from tests.journeys.hook_host import UNHURRIED_PATH
from tests.journeys.mcp_agent import NO_ENGINE, Agent
from tests.journeys.tmux_terminal import Screen, needs_tmux
from tests.unit.installing import contents

HOOK = f"""#!/bin/sh
exec '{sys.executable}' -c 'import sys; from memento_tui.hooks.main import main; sys.exit(main())' "$@"
"""
"""The console script, for a checkout that was installed before there was one."""


class House:
    """A home directory of its own, with a data directory whose path holds a space."""

    def __init__(self, root: Path) -> None:
        self.home, data_dir = root / "home", root / "my memory"
        (root / "bin").mkdir()
        hook = root / "bin" / "memento-hook"
        hook.write_text(HOOK)
        hook.chmod(0o755)
        for folder in (self.home, data_dir):
            folder.mkdir(mode=0o700)
        (data_dir / "config.toml").write_text(NO_ENGINE)
        self.shell = Console(data_dir)
        self.shell.environment["HOME"] = str(self.home)
        self.shell.environment["PATH"] += f"{os.pathsep}{root / 'bin'}"
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
            self.shell.environment.pop(name, None)

    def server(self, host: str) -> list[str]:
        """The command that a host's file names."""
        told: Any
        if host == "codex":
            told = tomllib.loads((self.home / ".codex" / "config.toml").read_text())["mcp_servers"]["memento"]
        elif host == "opencode":
            settings = json.loads((self.home / ".config" / "opencode" / "opencode.json").read_text())
            told = {
                "command": settings["mcp"]["memento"]["command"][0],
                "args": settings["mcp"]["memento"]["command"][1:],
            }
        else:
            path = {
                "claude-code": ".claude.json",
                "gemini": ".gemini/settings.json",
                "cursor": ".cursor/mcp.json",
                "claude-desktop": ".config/Claude/claude_desktop_config.json",
            }[host]
            told = json.loads((self.home / path).read_text())["mcpServers"]["memento"]
        return [told["command"], *told["args"]]

    def call_hook(self, line: str, said: dict[str, Any]) -> subprocess.CompletedProcess[bytes]:
        """Run a hook's line as hosts do, without this shell's data directory and PATH."""
        environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "PYTHONPATH": UNHURRIED_PATH}
        return subprocess.run(  # noqa: S603 - a line that memento wrote
            ["/bin/sh", "-c", line],
            input=json.dumps(said).encode(),
            capture_output=True,
            timeout=60,
            check=False,
            env=environment,
            cwd=self.home,
        )


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.parametrize("host", ["claude-code", "codex", "opencode"])
def test_an_agent_remembers_through_the_server_that_its_hosts_file_names(house: House, host: str) -> None:
    house.shell.json("install", host, "--yes")
    command, *arguments = house.server(host)
    server = StdioServerParameters(command=command, args=arguments, env={"HOME": str(house.home)})
    log = house.home.parent / "server.log"
    with start_blocking_portal() as portal, log.open("w") as errors:
        client = Client(stdio_client(server, errlog=errors), read_timeout_seconds=60)
        with portal.wrap_async_context_manager(client):
            Agent(portal, client).call("remember", content="Deploys go through the staging lane first.")
    (found,) = house.shell.json("list")["items"]
    assert found["content"] == "Deploys go through the staging lane first."


def test_a_prompt_is_told_what_is_remembered_by_the_hook_that_the_settings_name(house: House) -> None:
    house.shell.json("add", "Deploys of the billing service go through the staging lane first.", "--tag", "deploy")
    house.shell.json("install", "claude-code", "--yes")
    hooks = json.loads((house.home / ".claude" / "settings.json").read_text())["hooks"]
    said = {"session_id": "s1", "cwd": str(house.home), "transcript_path": "", "permission_mode": "default"}
    for event, groups in hooks.items():
        ended = house.call_hook(
            groups[0]["hooks"][0]["command"],
            {**said, "hook_event_name": event, "prompt": "How do deploys of the billing service go?"},
        )
        assert (ended.returncode, ended.stderr) == (0, b""), event
        if event == "UserPromptSubmit":
            told = json.loads(ended.stdout)["hookSpecificOutput"]
            assert "staging lane" in told["additionalContext"]
            assert set(told) == {"hookEventName", "additionalContext"}
    status = house.shell.json("status")
    assert status["hook"]["answers"]
    assert status["memory"]["last_injection"]["session"] == "s1"


OTHERS = {
    ".claude.json": '{\n  "numStartups": 3,\n  "mcpServers": {"docs": {"command": "npx", "args": ["-y", "docs"]}}\n}',
    ".claude/settings.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}\n',
    ".codex/config.toml": '# mine\nmodel = "gpt-5"\n\n[mcp_servers.docs]\ncommand = "npx" # theirs\n',
    ".codex/hooks.json": '{\n\t"hooks": {}\n}\n',
    ".gemini/settings.json": '{\r\n    // theirs\r\n    "theme": "GitHub",\r\n    "mcpServers": {}\r\n}\r\n',
    ".cursor/mcp.json": '{ "mcpServers": { "docs": { "url": "https://example.org/mcp" } } }',
    ".config/opencode/opencode.json": '{\n  "autoupdate": false,\n  "plugin": ["theirs"],\n}\n',
    ".config/Claude/claude_desktop_config.json": "{}",
}


def test_every_host_comes_and_goes_among_other_peoples_entries(house: House) -> None:
    for name, text in OTHERS.items():
        path = house.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    before = contents(house.home)
    for host in HOSTS:
        assert house.shell.json("install", host, "--yes")["written"]
        assert not house.shell.json("install", host, "--yes")["written"]
    assert {one["state"] for one in house.shell.json("status")["hosts"]} == {"installed"}
    for host in HOSTS:
        assert house.shell.json("uninstall", host, "--yes")["written"]
    assert contents(house.home) == before


@needs_tmux
@pytest.mark.parametrize("answer", ["y", "n"])
def test_a_person_sees_the_difference_and_is_asked(house: House, answer: str) -> None:
    screen = Screen((160, 40))
    names = ("HOME", "PATH", "MEMENTO_HOME")
    screen.start(*(f"{name}={house.shell.environment[name]}" for name in names), *MEMENTO, "install", "claude-desktop")
    try:
        screen.shows("--- /dev/null", '+      "args": [', "Write this file? [y/N]")
        assert contents(house.home) == {}
        screen.press(answer, "Enter")
        screen.until(screen.has_ended, "the program ends")
        assert ("Start Claude Desktop anew." in screen.text) == (answer == "y")
        assert ("Nothing was written." in screen.text) == (answer == "n")
        assert len(contents(house.home)) == (answer == "y")
    finally:
        screen.close()


@pytest.mark.parametrize(
    ("host", "command"),
    [
        ("claude-code", "claude mcp get memento"),
        ("codex", "codex mcp get memento"),
        ("gemini", "gemini mcp list"),
        ("opencode", "opencode mcp list"),
    ],
)
def test_a_host_that_is_installed_here_reads_what_was_written(house: House, host: str, command: str) -> None:
    words = shlex.split(command)
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    house.shell.json("install", host, "--yes")
    ended = subprocess.run(  # noqa: S603 - one of three hosts
        words, env=house.shell.environment, cwd=house.home, capture_output=True, timeout=100, check=True
    )
    assert house.server(host)[0].encode() in ended.stdout + ended.stderr
