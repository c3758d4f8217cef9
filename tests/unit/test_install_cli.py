"""``memento install``, ``uninstall`` and ``status`` as a person or a script calls them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from memento_tui.cli.hosts import commands
from memento_tui.hooks.fallback import USAGE
from memento_tui.hooks.host_events import moment_of
from memento_tui.hosts import layouts
from memento_tui.hosts.registry import HOSTS
from tests.unit.cli_program import Program
from tests.unit.installing import contents

DATA = "[engine]\nenabled = false\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory beside programs that are installed, and nothing of the shell's own."""
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("python", "memento", "memento-hook"):
        _program(tmp_path / "bin" / name, "exit 0")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    return home


def _program(path: Path, script: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def program(root: Path) -> Program:
    data = root.parent / "data"
    data.mkdir()
    (data / "config.toml").write_text(DATA)
    return Program(data)


def test_the_hosts_that_the_help_names_are_those_that_there_are() -> None:
    for name in ("install", "uninstall"):
        (choice,) = [parameter.type for parameter in commands[name].params if parameter.name == "host"]
        assert tuple(HOSTS) == tuple(getattr(choice, "choices", ()))
    told = commands["install"].help or ""
    assert [name for name in HOSTS if name not in told] == []
    assert [name for name, host in HOSTS.items() if host.events and name not in USAGE] == []


def test_every_host_has_a_layout_and_events_that_the_hook_knows() -> None:
    for host in HOSTS.values():
        assert callable(getattr(layouts, host.layout))
        assert [event.name for event in host.events if moment_of(event.name) != event.moment] == []


def test_a_dry_run_shows_the_difference_and_writes_nothing(program: Program, root: Path) -> None:
    ended = program.run("install", "gemini", "--dry-run")
    assert (ended.code, ended.err) == (0, "")
    assert f"+++ {root}/.gemini/settings.json" in ended.out
    assert "memento-hook BeforeAgent --host gemini" in ended.out
    told = program.json("install", "gemini", "--dry-run")
    assert [told["written"], [change["action"] for change in told["changes"]]] == [False, ["create"]]
    assert contents(root) == {}


def test_without_a_terminal_it_asks_for_yes(program: Program, root: Path) -> None:
    ended = program.run("install", "cursor")
    assert ended.code == 2
    assert "--yes" in ended.err
    assert program.run("install", "cursor", "--json").error["code"] == "invalid_input"
    assert contents(root) == {}


@pytest.mark.parametrize("host", HOSTS)
def test_it_comes_goes_and_does_nothing_twice(program: Program, root: Path, host: str) -> None:
    first = program.json("install", host, "--yes")
    assert first["written"]
    made = contents(root)
    assert sorted(made) == sorted(str(Path(change["path"]).relative_to(root)) for change in first["changes"])
    again = program.run("install", host, "--yes")
    assert "has memento already" in again.out
    assert contents(root) == made
    assert program.json("uninstall", host, "--yes")["written"]
    assert contents(root) == {}
    assert "does not have memento" in program.run("uninstall", host, "--yes").out


def test_the_commands_are_absolute_and_carry_the_directory_that_was_named(program: Program, root: Path) -> None:
    program.json("install", "claude-code", "--yes", "--profile", "vault")
    server = json.loads((root / ".claude.json").read_text())["mcpServers"]["memento"]
    assert [server["command"], *server["args"]] == [
        str(root.parent / "bin" / "memento"),
        *("--data-dir", str(program.data_dir), "mcp", "--profile", "vault"),
    ]


def test_a_project_is_the_directory_that_one_is_in(
    program: Program, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "project").mkdir()
    monkeypatch.chdir(root / "project")
    program.json("install", "claude-code", "--project", "--yes")
    assert sorted(contents(root)) == ["project/.claude/settings.local.json", "project/.mcp.json"]
    assert program.json("status", "--project")["hosts"][0]["state"] == "installed"
    program.json("uninstall", "claude-code", "--project", "--yes")
    program.json("install", "claude-code", "--yes")
    ended = program.run("install", "claude-code", "--project", "--yes", "--json")
    assert "in your own settings already" in ended.error["message"]
    ended = program.run("install", "claude-desktop", "--project", "--yes", "--json")
    assert "no settings of a project" in ended.error["message"]


def test_programs_that_are_missing_are_told_and_uninstalling_needs_none(
    program: Program, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.json("install", "codex", "--yes")
    monkeypatch.setenv("PATH", "/nowhere")
    (root.parent / "bin" / "memento-hook").unlink()
    ended = program.run("install", "codex", "--yes", "--json")
    assert "memento-hook is neither beside" in ended.error["message"]
    told = program.json("status")
    assert [told["hook"]["answers"], told["hosts"][1]["state"]] == [False, "differs"]
    assert any("memento-hook is not there" in problem for problem in told["hosts"][1]["problems"])
    program.json("uninstall", "codex", "--yes")
    assert contents(root) == {}


def test_hostile_text_of_a_file_is_made_safe_to_show(program: Program, root: Path) -> None:
    (root / ".cursor").mkdir()
    (root / ".cursor" / "mcp.json").write_text(
        json.dumps({"mcpServers": {"x": {"command": "\x1b]52;c;aGk=\x07\u202e"}}}, ensure_ascii=False).replace(
            "\\u001b", "\x7f"
        )
    )
    ended = program.run("install", "cursor", "--dry-run")
    assert ended.code == 0
    assert not {"\x7f", "\x1b", "\u202e"} & set(ended.out)


def test_the_plugin_and_the_settings_do_not_come_together(program: Program, root: Path) -> None:
    folder = root / "plugin"
    told = program.json("install", "claude-code", "--plugin", str(folder), "--yes")
    assert told["next"] == [f"/plugin marketplace add {folder}", "/plugin install memento@memento"]
    settings = root / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"enabledPlugins": {"memento@memento": true}}')
    assert "as a plugin already" in program.run("install", "claude-code", "--yes", "--json").error["message"]
    assert "It has the plugin" in program.run("uninstall", "claude-code", "--yes").out
    host = program.json("status")["hosts"][0]
    assert [host["state"], host["plugin"], host["problems"]] == ["not installed", True, []]
    settings.write_text("{}")
    program.json("install", "claude-code", "--yes")
    ended = program.run("install", "claude-code", "--plugin", str(folder), "--yes", "--json")
    assert "in its settings already" in ended.error["message"]
    settings.write_text(settings.read_text().replace("{", '{"enabledPlugins": {"memento@memento": true},', 1))
    assert any("answered twice" in problem for problem in program.json("status")["hosts"][0]["problems"])


def test_a_plugin_is_for_claude_code_only(program: Program, root: Path) -> None:
    for arguments in (["codex"], ["claude-code", "--project"], ["claude-code", "--dry-run"]):
        ended = program.run("install", *arguments, "--plugin", str(root / "plugin"), "--yes", "--json")
        assert ended.error["code"] == "usage"
    assert contents(root) == {}


def test_status_tells_of_each_host_what_it_runs_and_what_is_wrong(program: Program, root: Path) -> None:
    for host in ("claude-code", "codex", "gemini"):
        program.json("install", host, "--yes")
    settings = root / ".gemini" / "settings.json"
    settings.write_text(settings.read_text().replace(str(root.parent / "bin"), "/gone"))
    (root / ".codex" / "hooks.json").unlink()
    (root / ".cursor").mkdir()
    (root / ".cursor" / "mcp.json").write_text("{")
    hosts = {one["host"]: one for one in program.json("status")["hosts"]}
    assert {name: one["state"] for name, one in hosts.items()} == {
        **dict.fromkeys(HOSTS, "not installed"),
        "claude-code": "installed",
        "codex": "incomplete",
        "gemini": "differs",
        "cursor": "unreadable",
    }
    assert hosts["gemini"]["problems"][0].startswith("/gone/memento is not there")
    assert "not JSON" in hosts["cursor"]["problems"][0]
    command = hosts["claude-code"]["files"][0]["commands"][0]
    assert [command["kind"], command["data_dir"], command["exists"]] == ["server", str(program.data_dir), True]
    ended = program.run("status")
    assert ended.code == 0
    assert "! Cursor: " in ended.out


def test_a_directory_or_profile_of_ones_own_is_no_difference(program: Program, root: Path) -> None:
    program.json("install", "claude-code", "--yes", "--profile", "bank", "--data-dir", str(root / "elsewhere"))
    assert program.json("status")["hosts"][0]["state"] == "installed"


def test_status_tells_how_the_memory_stands(program: Program) -> None:
    memory = program.json("status")["memory"]
    assert [memory["exists"], memory["engine"], memory["problem"]] == [False, "off", ""]
    assert "nothing is remembered yet" in program.run("status").out
    program.add("The API lives at /v2.")
    memory = program.json("status")["memory"]
    assert [memory["exists"], memory["amounts"]["memories"], memory["waiting"], memory["last_injection"]] == [
        *(True, 1, 0, None)
    ]
    assert "1 memory, 0 working items, 0 skips" in program.run("status").out
    (program.data_dir / "config.toml").write_text("[engine")
    assert "not TOML" in program.json("status")["memory"]["problem"]


@pytest.mark.parametrize(
    ("script", "said"),
    [("exit 0", ""), ("echo it broke >&2; exit 3", "ended with 3: it broke"), ("kill -9 $$", "ended with -9")],
)
def test_status_hears_whether_the_hook_answers(program: Program, root: Path, script: str, said: str) -> None:
    _program(root.parent / "bin" / "memento-hook", script)
    hook = program.json("status")["hook"]
    assert hook["answers"] is (not said)
    assert said in hook["problem"]


def test_status_runs_nothing_that_a_file_names(program: Program, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(root / "memento-hook", f"touch {root}/ran")
    (root / ".claude").mkdir()
    handler = {"type": "command", "command": f"{root}/memento-hook Stop --help"}
    (root / ".claude" / "settings.local.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}}))
    monkeypatch.chdir(root)
    assert program.json("status", "--project")["hosts"][0]["state"] == "incomplete"
    assert not (root / "ran").exists()


@pytest.mark.parametrize("project", ["", "--project"])
def test_a_server_of_others_that_goes_before_mementos_in_a_project_is_named_and_nothing_is_written(
    program: Program, root: Path, monkeypatch: pytest.MonkeyPatch, project: str
) -> None:
    here = root / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    own = {"projects": {str(here): {"mcpServers": {"memento": {"type": "http", "url": "http://x/mcp"}}}}}
    (root / ".claude.json").write_text(json.dumps(own))
    before = contents(root)
    options = [project] if project else []
    ended = program.run("install", "claude-code", *options, "--yes", "--json")
    assert str(root / ".claude.json") in ended.error["message"]
    assert f"{here}: it has another MCP server called memento already: http://x/mcp." in ended.error["message"]
    assert contents(root) == before
    (claude,) = [one for one in program.json("status", *options)["hosts"] if one["host"] == "claude-code"]
    assert claude["problems"] == [ended.error["message"]]


def test_a_server_of_others_that_a_project_shares_is_named_where_one_is_in_it(
    program: Program, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "here").mkdir()
    shared = root / "here" / ".mcp.json"
    shared.write_text('{"mcpServers": {"memento": {"command": "npx", "args": ["-y", "other"]}}}')
    assert program.json("install", "claude-code", "--dry-run")["changes"]
    monkeypatch.chdir(root / "here")
    ended = program.run("install", "claude-code", "--yes", "--json")
    assert ended.error["message"] == f"{shared}: it has another MCP server called memento already: npx -y other."
    assert f"! Claude Code: {shared}" in program.run("status").out


def test_status_names_what_stands_in_mementos_place(program: Program, root: Path) -> None:
    (root / ".claude.json").write_text('{"mcpServers": {"memento": {"command": "npx"}}}')
    (claude,) = [one for one in program.json("status")["hosts"] if one["host"] == "claude-code"]
    assert (claude["state"], len(claude["problems"])) == ("not installed", 1)
    assert "another MCP server called memento already: npx" in claude["problems"][0]
