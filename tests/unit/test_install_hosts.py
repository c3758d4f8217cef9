"""What each host is given, and what becomes of files that others wrote."""

from __future__ import annotations

import dataclasses
import json
import shlex
import tomllib
from pathlib import Path

import pytest

from memento_tui.errors import InvalidInput
from memento_tui.hosts.plan import apply_changes, plan_installation
from memento_tui.hosts.programs import BARE_PROGRAMS, Programs
from memento_tui.hosts.registry import HOSTS
from tests.unit.installing import PROGRAMS, Home, contents

SERVER = ["/opt/my tools/memento", "--data-dir", "/data/of mine", "mcp"]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def _json(path: Path) -> dict[str, object]:
    read: dict[str, object] = json.loads(path.read_text())
    return read


@pytest.mark.parametrize(
    ("host", "settings", "events", "unit"),
    [
        (
            "claude-code",
            ".claude/settings.json",
            ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop", "SessionEnd"],
            1,
        ),
        (
            "codex",
            ".codex/hooks.json",
            ["SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop", "SessionEnd"],
            1,
        ),
        (
            "gemini",
            ".gemini/settings.json",
            ["SessionStart", "BeforeAgent", "AfterTool", "PreCompress", "AfterAgent", "SessionEnd"],
            1_000,
        ),
    ],
)
def test_hooks_are_groups_of_one_with_the_hosts_own_events_and_unit_of_time(
    home: Home, host: str, settings: str, events: list[str], unit: int
) -> None:
    home.install(host)
    hooks = _json(home.root / settings)["hooks"]
    assert isinstance(hooks, dict)
    assert list(hooks) == events
    for event, groups in hooks.items():
        ((handler,),) = [group["hooks"] for group in groups]
        assert shlex.split(handler["command"]) == [
            *("/opt/my tools/memento-hook", event, "--host", host, "--data-dir", "/data/of mine")
        ]
        assert handler["type"] == "command"
        assert handler.get("timeout", unit) // unit in range(1, 11)


def test_claude_code_looks_at_files_that_are_read_and_sets_no_time_for_its_end(home: Home) -> None:
    home.install("claude-code")
    hooks = json.loads((home.root / ".claude" / "settings.json").read_text())["hooks"]
    assert [hooks["PreToolUse"][0]["matcher"], "timeout" in hooks["SessionEnd"][0]["hooks"][0]] == ["Read", False]


@pytest.mark.parametrize(
    ("host", "settings", "event", "matcher"),
    [
        ("claude-code", ".claude/settings.json", "PostToolUse", "mcp__.*memento.*"),
        ("codex", ".codex/hooks.json", "PostToolUse", "mcp__.*memento.*"),
        ("gemini", ".gemini/settings.json", "AfterTool", "mcp_.*memento.*"),
    ],
)
def test_a_host_calls_after_mementos_own_tools_and_no_others(
    home: Home, host: str, settings: str, event: str, matcher: str
) -> None:
    home.install(host)
    hooks = json.loads((home.root / settings).read_text())["hooks"]
    assert {name: groups[0].get("matcher") for name, groups in hooks.items() if name != "PreToolUse"} == {
        name: matcher if name == event else None for name in hooks if name != "PreToolUse"
    }


def test_nothing_that_is_written_decides_a_permission(home: Home) -> None:
    for host in HOSTS:
        home.install(host)
    assert not [name for name, raw in contents(home.root).items() if b"permission" in raw]


def test_cursor_gets_its_version_and_flat_hooks(home: Home) -> None:
    home.install("cursor")
    read = _json(home.root / ".cursor" / "hooks.json")
    assert list(read) == ["version", "hooks"]
    assert read["version"] == 1
    assert isinstance(read["hooks"], dict)
    assert list(read["hooks"]) == ["sessionStart", "beforeSubmitPrompt", "preCompact", "stop", "sessionEnd"]
    assert set(read["hooks"]["stop"][0]) == {"command", "timeout"}


@pytest.mark.parametrize(
    ("host", "path"),
    [
        ("claude-code", ".claude.json"),
        ("gemini", ".gemini/settings.json"),
        ("cursor", ".cursor/mcp.json"),
        ("claude-desktop", ".config/Claude/claude_desktop_config.json"),
    ],
)
def test_most_hosts_name_a_program_and_its_arguments(home: Home, host: str, path: str) -> None:
    home.install(host)
    servers = _json(home.root / path)["mcpServers"]
    assert isinstance(servers, dict)
    assert [servers["memento"]["command"], *servers["memento"]["args"]] == SERVER


def test_codex_and_opencode_name_the_server_in_their_own_way(home: Home) -> None:
    home.install("codex")
    home.install("opencode")
    codex = tomllib.loads((home.root / ".codex" / "config.toml").read_text())["mcp_servers"]["memento"]
    opencode = json.loads((home.root / ".config" / "opencode" / "opencode.json").read_text())["mcp"]["memento"]
    assert [codex["command"], *codex["args"]] == SERVER
    assert opencode == {"type": "local", "command": SERVER, "enabled": True}


def test_opencodes_plugin_runs_the_hook_with_its_options(home: Home) -> None:
    home.install("opencode")
    plugin = (home.root / ".config" / "opencode" / "plugins" / "memento.ts").read_text()
    assert 'const PROGRAM = "/opt/my tools/memento-hook"' in plugin
    assert 'const OPTIONS = ["--host", "opencode", "--data-dir", "/data/of mine"]' in plugin
    assert "__" not in plugin


def test_without_a_directory_and_with_a_profile_the_command_says_so() -> None:
    assert Programs("/m", "/h", profile="vault").server_command() == ["/m", "mcp", "--profile", "vault"]
    assert BARE_PROGRAMS.hook_command("Stop", "codex") == "memento-hook Stop --host codex"


@pytest.mark.parametrize(
    ("host", "variable", "files"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", [".claude.json", "commands/memento.md", "settings.json"]),
        ("codex", "CODEX_HOME", ["config.toml", "hooks.json"]),
        ("gemini", "GEMINI_CLI_HOME", [".gemini/settings.json"]),
        ("opencode", "XDG_CONFIG_HOME", ["opencode/opencode.json", "opencode/plugins/memento.ts"]),
        ("claude-desktop", "XDG_CONFIG_HOME", ["Claude/claude_desktop_config.json"]),
    ],
)
def test_variables_that_move_a_hosts_settings_are_followed(
    home: Home, host: str, variable: str, files: list[str]
) -> None:
    home.environ[variable] = str(home.root / "moved")
    home.install(host)
    assert sorted(contents(home.root)) == sorted(f"moved/{file}" for file in files)


def test_claude_desktop_of_a_mac_lies_in_its_library(home: Home) -> None:
    home.platform = "darwin"
    home.install("claude-desktop")
    assert list(contents(home.root)) == ["Library/Application Support/Claude/claude_desktop_config.json"]


@pytest.mark.parametrize(
    ("host", "files"),
    [
        ("claude-code", [".claude/settings.local.json", ".mcp.json"]),
        ("codex", [".codex/config.toml", ".codex/hooks.json"]),
        ("gemini", [".gemini/settings.json"]),
        ("cursor", [".cursor/hooks.json", ".cursor/mcp.json"]),
        ("opencode", [".opencode/plugins/memento.ts", "opencode.json"]),
    ],
)
def test_a_project_has_settings_of_its_own(home: Home, host: str, files: list[str]) -> None:
    home.project = home.root / "project"
    home.install(host)
    assert sorted(contents(home.root)) == [f"project/{file}" for file in files]
    home.uninstall(host)
    assert contents(home.root) == {}


def test_opencodes_settings_with_comments_are_used_where_they_are(home: Home) -> None:
    path = home.write(".config/opencode/opencode.jsonc", '{\n  // mine\n  "theme": "dark",\n}\n')
    home.install("opencode")
    assert path.read_text().startswith('{\n  // mine\n  "theme": "dark",\n  "mcp": {\n    "memento": {')
    assert not path.with_suffix(".json").exists()


OTHERS = """\
{
  "permissions": {"allow": ["Bash(npm run *)"], "deny": []},
  "hooks": {
    "SessionStart": [
      {"matcher": "startup", "hooks": [{"type": "command", "command": "~/bin/hello --to 'memento-hook'"}]}
    ],
    "Stop": [],
    "SubagentStop": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "prettier --write"}]}]
  },
  "statusLine": {"type": "command", "command": "git branch"}
}
"""


def test_hooks_of_others_stay_first_and_as_they_are(home: Home) -> None:
    path = home.write(".claude/settings.json", OTHERS)
    home.install("claude-code")
    before, after = json.loads(OTHERS), json.loads(path.read_text())
    assert list(after) == list(before)
    assert after["hooks"]["SessionStart"][0] == before["hooks"]["SessionStart"][0]
    assert len(after["hooks"]["SessionStart"]) == 2
    assert after["hooks"]["SubagentStop"] == before["hooks"]["SubagentStop"]
    assert set(OTHERS.splitlines()) - set(path.read_text().splitlines()) <= {
        '    "Stop": [],',
        OTHERS.splitlines()[4],
        OTHERS.splitlines()[7],
    }


def test_a_program_that_moved_is_written_anew_in_its_place_and_a_persons_own_keys_stay(home: Home) -> None:
    home.install("claude-code")
    path = home.root / ".claude.json"
    read = json.loads(path.read_text())
    read["mcpServers"]["memento"]["env"] = {"MEMENTO_DEBUG": "1"}
    read["mcpServers"]["other"] = {"command": "npx"}
    path.write_text(json.dumps(read))
    home.install("claude-code", Programs("/new/memento", "/new/memento-hook"))
    servers = json.loads(path.read_text())["mcpServers"]
    assert list(servers) == ["memento", "other"]
    assert servers["memento"] == {
        "type": "stdio",
        "command": "/new/memento",
        "args": ["mcp"],
        "env": {"MEMENTO_DEBUG": "1"},
    }
    hooks = json.loads((home.root / ".claude" / "settings.json").read_text())["hooks"]
    assert {len(groups) for groups in hooks.values()} == {1}
    assert hooks["Stop"][0]["hooks"][0]["command"] == "/new/memento-hook Stop --host claude-code"


def test_codex_keeps_what_a_person_added_to_the_servers_table(home: Home) -> None:
    home.write(
        ".codex/config.toml",
        '[mcp_servers.memento] # mine\ncommand = "/old/memento"\nargs = [\n  "mcp",\n]\nstartup_timeout_sec = 20\n\n'
        '[mcp_servers.memento.env]\nA = "1"\n\n# theirs\n[tui]\nx = 1\n',
    )
    home.install("codex")
    assert (home.root / ".codex" / "config.toml").read_text() == (
        '[mcp_servers.memento] # mine\ncommand = "/opt/my tools/memento"\n'
        'args = ["--data-dir", "/data/of mine", "mcp"]\nstartup_timeout_sec = 20\n\n'
        '[mcp_servers.memento.env]\nA = "1"\n\n# theirs\n[tui]\nx = 1\n'
    )
    home.uninstall("codex")
    assert (home.root / ".codex" / "config.toml").read_text() == "\n# theirs\n[tui]\nx = 1\n"


def test_a_hook_that_a_person_moved_into_a_group_of_their_own_is_found_there(home: Home) -> None:
    home.install("claude-code")
    path = home.root / ".claude" / "settings.json"
    read = json.loads(path.read_text())
    read["hooks"]["Stop"] = [
        {"hooks": [{"type": "command", "command": "say done"}, *read["hooks"]["Stop"][0]["hooks"]]}
    ]
    path.write_text(json.dumps(read, indent=2))
    home.uninstall("claude-code")
    assert json.loads(path.read_text()) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}
    }


def test_a_hook_behind_variables_of_a_person_is_known(home: Home) -> None:
    path = home.write(
        ".cursor/hooks.json", '{"version": 1, "hooks": {"stop": [{"command": "MEMENTO_HOME=/x memento-hook stop"}]}}'
    )
    home.install("cursor")
    assert len(json.loads(path.read_text())["hooks"]["stop"]) == 1
    home.uninstall("cursor")
    assert json.loads(path.read_text()) == {"version": 1}


@pytest.mark.parametrize(
    ("host", "path", "text", "said"),
    [
        ("claude-code", ".claude.json", '{"mcpServers": {"memento": {"command": "npx", "args": ["x"]}}}', "npx x"),
        ("claude-code", ".claude.json", '{"mcpServers": {"memento": {"url": "http://x/mcp?key=k"}}}', "http://x/mcp."),
        ("claude-code", ".claude.json", '{"mcpServers": {"memento": {"type": "http"}}}', "no command"),
        (
            "codex",
            ".codex/config.toml",
            '[mcp_servers.memento]\ncommand = "npx"\n',
            "another MCP server called memento",
        ),
        ("opencode", ".config/opencode/plugins/memento.ts", "export const Mine = 1\n", "somebody else's file"),
    ],
)
def test_what_others_called_memento_is_not_replaced(home: Home, host: str, path: str, text: str, said: str) -> None:
    home.write(path, text)
    before = contents(home.root)
    with pytest.raises(InvalidInput, match=said) as caught:
        home.install(host)
    assert str(home.root / path) in caught.value.message
    assert caught.value.hint
    assert contents(home.root) == before
    home.uninstall(host)
    assert contents(home.root) == before


@pytest.mark.parametrize(
    ("host", "path", "text", "said"),
    [
        ("claude-code", ".claude.json", '{"a": ', "not JSON"),
        ("claude-code", ".claude.json", '{"mcpServers": []}', "mcpServers is not an object"),
        ("claude-code", ".claude.json", '{"mcpServers": {"memento": 1}}', "mcpServers.memento is not an object"),
        ("claude-code", ".claude/settings.json", '{"hooks": []}', "hooks is not an object"),
        ("claude-code", ".claude/settings.json", '{"hooks": {"Stop": {}}}', "hooks.Stop is not a list"),
        ("gemini", ".gemini/settings.json", b'{"a": "\xff"}', "not UTF-8"),
        ("codex", ".codex/config.toml", "a = ", "not TOML"),
        ("codex", ".codex/config.toml", "mcp_servers = 1\n", "not a table"),
        ("codex", ".codex/config.toml", "[mcp_servers]\nmemento = 1\n", "not a table"),
        ("codex", ".codex/config.toml", 'mcp_servers = { a = { command = "x" } }\n', "does not change"),
    ],
)
def test_a_file_that_is_not_as_the_host_reads_it_is_named_and_left(
    home: Home, host: str, path: str, text: str | bytes, said: str
) -> None:
    home.write(path, text)
    before = contents(home.root)
    with pytest.raises(InvalidInput, match=said) as caught:
        home.install(host)
    assert str(home.root / path) in caught.value.message
    assert caught.value.hint
    assert contents(home.root) == before


def test_other_settings_among_the_hooks_are_left_alone(home: Home) -> None:
    path = home.write(".gemini/settings.json", '{"hooks": {"enabled": true, "disabled": ["theirs"]}}')
    apply_changes(plan_installation(home.files("gemini", PROGRAMS)))
    hooks = json.loads(path.read_text())["hooks"]
    assert [hooks["enabled"], hooks["disabled"], len(hooks)] == [True, ["theirs"], 8]


_ALLOWING = dataclasses.replace(PROGRAMS, may_run_unasked=True)


def test_tools_are_allowed_only_where_the_person_asks_for_it_and_stay_so_when_it_is_installed_again(home: Home) -> None:
    path = home.write(".claude/settings.json", '{"permissions": {"allow": ["Bash(ls)"], "deny": ["Read(.env)"]}}')
    home.install("claude-code")
    assert _json(path)["permissions"] == {"allow": ["Bash(ls)"], "deny": ["Read(.env)"]}
    home.install("claude-code", _ALLOWING)
    assert _json(path)["permissions"] == {"allow": ["Bash(ls)", "mcp__memento"], "deny": ["Read(.env)"]}
    assert home.install("claude-code", _ALLOWING) == home.install("claude-code") == []


@pytest.mark.parametrize(
    "before", ["", "{}", '{"permissions": {"allow": []}}', '{"permissions": {"allow": ["mcp__memento", "Bash(ls)"]}}']
)
def test_taking_memento_out_takes_back_what_it_allowed_and_nothing_else(home: Home, before: str) -> None:
    if before:
        home.write(".claude/settings.json", before)
    was = contents(home.root)
    home.install("claude-code", _ALLOWING)
    home.uninstall("claude-code")
    assert contents(home.root) == was


def test_permissions_that_are_no_list_are_left_alone_with_a_sentence(home: Home) -> None:
    path = home.write(".claude/settings.json", '{"permissions": {"allow": "all"}}')
    with pytest.raises(InvalidInput, match="not a list in square brackets"):
        home.install("claude-code", _ALLOWING)
    assert path.read_text() == '{"permissions": {"allow": "all"}}'


@pytest.mark.parametrize("odd", ["null", "[]", '"all"', '{"allow": null}'])
def test_permissions_of_another_form_are_no_obstacle_where_nothing_is_to_be_allowed(home: Home, odd: str) -> None:
    home.write(".claude/settings.json", f'{{"permissions": {odd}}}')
    was = contents(home.root)
    home.install("claude-code")
    home.uninstall("claude-code")
    assert contents(home.root) == was


@pytest.mark.parametrize(
    ("host", "file", "path", "extra"),
    [
        ("copilot", ".copilot/mcp-config.json", "mcpServers", {"type": "local", "tools": ["*"]}),
        ("vscode", ".config/Code/User/mcp.json", "servers", {"type": "stdio"}),
        ("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers", {}),
        ("zed", ".config/zed/settings.json", "context_servers", {}),
    ],
)
def test_the_server_stands_where_the_host_reads_it_and_nothing_is_left_of_it(
    home: Home, host: str, file: str, path: str, extra: dict[str, object]
) -> None:
    home.install(host)
    assert _json(home.root / file) == {path: {"memento": {**extra, "command": SERVER[0], "args": SERVER[1:]}}}
    home.uninstall(host)
    assert list(home.root.rglob("*")) == []


def test_a_project_has_a_server_of_its_own_in_copilot_and_vs_code(home: Home, tmp_path: Path) -> None:
    project = dataclasses.replace(home, project=tmp_path / "project")
    for host, file in (("copilot", ".github/mcp.json"), ("vscode", ".vscode/mcp.json")):
        assert [one.path for one in project.files(host)] == [tmp_path / "project" / file]
