"""Files of hosts in every state that a disk can leave them in."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from memento_tui.errors import Conflict, InvalidInput
from memento_tui.hosts.layouts import ClaudeCommand
from memento_tui.hosts.plan import apply_changes, plan_installation, plan_removal
from memento_tui.hosts.programs import BARE_PROGRAMS, Programs
from memento_tui.hosts.registry import HOSTS
from tests.unit.installing import PROGRAMS, Home, contents

MINE = '{\n  "theme": "dark"\n}\n'
SETTINGS = ".gemini/settings.json"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_copy_of_what_was_there_is_kept_beside_it_with_its_mode(home: Home) -> None:
    path = home.write(SETTINGS, MINE)
    path.chmod(0o640)
    (copy,) = home.install("gemini")
    assert copy == path.with_name("settings.json.before-memento-1")
    assert copy.read_text() == MINE
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, copy)] == [0o640, 0o640]


def _queue_command(data_dir: str) -> str:
    programs = Programs("/bin/memento", "/bin/memento-hook", Path(data_dir))
    return ClaudeCommand(programs).add("")


def test_the_command_that_shows_the_queue_may_run_that_and_nothing_behind_it() -> None:
    text = _queue_command("/home/me/data")
    (rule,) = _frontmatter(text)["allowed-tools"]
    command = "/bin/memento --data-dir /home/me/data review list --fenced --limit 20"
    assert rule == f"Bash({command})"
    assert f"!`{command}`" in text


@pytest.mark.parametrize("name", ["it's: a #dir", 'a "quoted", one', "a b", "{x}", "- x", "\N{SNOWMAN}"])
def test_whatever_the_data_directory_is_called_its_command_is_what_may_run(name: str) -> None:
    text = _queue_command(f"/home/{name}")
    (rule,) = _frontmatter(text)["allowed-tools"]
    (found,) = ClaudeCommand(BARE_PROGRAMS).find_commands(text)
    assert found.words[2] == f"/home/{name}"
    assert rule == f"Bash({shlex.join(found.words)})"


def test_a_name_that_a_rule_cannot_hold_is_asked_about_and_one_that_a_command_cannot_is_refused() -> None:
    assert "allowed-tools" not in _frontmatter(_queue_command("/home/a (copy)"))
    assert "allowed-tools" not in _frontmatter(_queue_command("/home/*"))
    for name in ("a`id`", "$1", "a\nb"):
        with pytest.raises(InvalidInput, match="cannot hold the path"):
            _queue_command(f"/home/{name}")


def _frontmatter(text: str) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = YAML(typ="safe").load(text.split("---\n")[1])
    return fields


def test_going_back_leaves_no_copy_and_no_file_that_was_not_there(home: Home) -> None:
    home.write(SETTINGS, MINE)
    before = contents(home.root)
    for host in ("claude-code", "gemini", "codex", "cursor", "opencode", "claude-desktop"):
        home.install(host)
    for host in ("claude-code", "gemini", "codex", "cursor", "opencode", "claude-desktop"):
        home.uninstall(host)
    assert contents(home.root) == before


def test_a_copy_that_says_something_else_than_the_file_stays(home: Home) -> None:
    path = home.write(SETTINGS, MINE)
    home.install("gemini")
    path.write_text(path.read_text().replace("dark", "light"))
    home.uninstall("gemini")
    assert path.read_text() == MINE.replace("dark", "light")
    assert path.with_name("settings.json.before-memento-1").read_text() == MINE
    assert home.install("gemini") == [path.with_name("settings.json.before-memento-2")]
    home.uninstall("gemini")
    assert sorted(contents(home.root)) == [SETTINGS, f"{SETTINGS}.before-memento-1"]


def test_what_was_empty_before_memento_stays_when_others_wrote_meanwhile(home: Home) -> None:
    path = home.write(SETTINGS, '{"hooks": {"BeforeAgent": []}, "mcpServers": {}}')
    home.install("gemini")
    path.write_text(path.read_text().replace("{", '{"theme": 1, ', 1))
    home.uninstall("gemini")
    assert path.read_text() == '{"theme": 1, "hooks": {"BeforeAgent": []}, "mcpServers": {}}'


def test_a_file_of_memento_that_somebody_adds_to_stays_with_that(home: Home) -> None:
    home.install("cursor")
    path = home.root / ".cursor" / "hooks.json"
    path.write_text(path.read_text().replace('"version": 1', '"version": 1, "mine": true'))
    home.uninstall("cursor")
    assert list(contents(home.root)) == [".cursor/hooks.json"]
    assert path.read_text() == '{\n  "version": 1, "mine": true\n}\n'


def test_a_link_stays_a_link_and_its_target_is_written(home: Home) -> None:
    target = home.write("dotfiles/gemini.json", MINE)
    link = home.root / SETTINGS
    link.parent.mkdir()
    link.symlink_to("../dotfiles/gemini.json")
    home.install("gemini")
    assert link.is_symlink()
    assert "memento" in target.read_text()
    home.uninstall("gemini")
    assert link.is_symlink()
    assert target.read_text() == MINE


def test_a_link_to_nothing_is_written_through_and_stays(home: Home) -> None:
    link = home.root / SETTINGS
    link.parent.mkdir()
    link.symlink_to("../dotfiles/gemini.json")
    home.install("gemini")
    assert "memento" in (home.root / "dotfiles" / "gemini.json").read_text()
    home.uninstall("gemini")
    assert [link.is_symlink(), link.exists()] == [True, False]


def test_new_files_are_for_the_person_alone(home: Home) -> None:
    home.install("codex")
    assert {stat.S_IMODE((home.root / ".codex" / name).stat().st_mode) for name in ("config.toml", "hooks.json")} == {
        0o600
    }


def test_a_byte_order_mark_and_an_empty_file_come_back(home: Home) -> None:
    marked = home.write(SETTINGS, b"\xef\xbb\xbf" + MINE.encode())
    empty = home.write(".cursor/mcp.json", b"")
    home.install("gemini")
    home.install("cursor")
    assert marked.read_bytes().startswith(b"\xef\xbb\xbf{")
    assert b"memento" in empty.read_bytes()
    home.uninstall("gemini")
    home.uninstall("cursor")
    assert [marked.read_bytes(), empty.read_bytes()] == [b"\xef\xbb\xbf" + MINE.encode(), b""]


def test_a_file_that_changed_since_the_difference_was_shown_is_not_written_and_no_other_is(home: Home) -> None:
    home.write(".cursor/mcp.json", "{}")
    hooks = home.write(".cursor/hooks.json", "{}")
    changes = plan_installation(home.files("cursor", PROGRAMS))
    hooks.write_text('{"version": 1}')
    before = contents(home.root)
    with pytest.raises(Conflict, match="changed while you were looking"):
        apply_changes(changes)
    assert contents(home.root) == before


def test_a_file_that_came_or_went_since_is_a_change_too(home: Home) -> None:
    changes = plan_installation(home.files("claude-desktop", PROGRAMS))
    path = home.write(".config/Claude/claude_desktop_config.json", "{}")
    with pytest.raises(Conflict):
        apply_changes(changes)
    home.install("claude-desktop")
    leaving = plan_removal(home.files("claude-desktop"))
    path.unlink()
    with pytest.raises(Conflict):
        apply_changes(leaving)


def test_a_file_without_permission_to_write_is_left_to_root_too(home: Home) -> None:
    path = home.write(SETTINGS, MINE)
    path.chmod(0o444)
    with pytest.raises(InvalidInput, match="may not be written"):
        home.install("gemini")
    assert contents(home.root) == {SETTINGS: MINE.encode()}


def test_what_is_no_ordinary_file_is_refused(home: Home) -> None:
    (home.root / SETTINGS).mkdir(parents=True)
    os.mkfifo(home.root / ".claude.json")
    looping = home.root / ".config" / "Claude" / "claude_desktop_config.json"
    looping.parent.mkdir(parents=True)
    looping.symlink_to(looping.name)
    for host, said in (
        ("gemini", "not an ordinary file"),
        ("claude-code", "not an ordinary file"),
        ("claude-desktop", "cannot be read"),
    ):
        with pytest.raises(InvalidInput, match=said):
            home.install(host)


def test_a_folder_that_is_a_file_is_told(home: Home) -> None:
    home.write(".gemini", "a file")
    with pytest.raises(InvalidInput, match=r"\.gemini"):
        home.install("gemini")


def test_a_difference_in_one_long_line_shows_the_stretch_that_differs(home: Home) -> None:
    home.write(
        ".cursor/mcp.json", '{"mcpServers": {"one": {"env": {"KEY": "%s"}}, "two": {"url": "u"}}}' % ("x" * 4000)
    )
    servers, _ = plan_installation(home.files("cursor", PROGRAMS))
    difference = servers.difference()
    assert '"/opt/my tools/memento"' in difference
    assert len(difference) < 600
    assert servers.action == "change"


def test_a_difference_names_files_that_come_and_go(home: Home) -> None:
    (made,) = plan_installation(home.files("claude-desktop", PROGRAMS))
    assert made.difference().startswith("--- /dev/null\n+++ ")
    apply_changes([made])
    (gone,) = plan_removal(home.files("claude-desktop"))
    assert "\n+++ /dev/null\n" in gone.difference()
    assert [made.action, gone.action] == ["create", "delete"]


def test_no_folder_stays_that_the_installation_made(home: Home) -> None:
    for host in HOSTS:
        home.install(host)
    for host in HOSTS:
        home.uninstall(host)
    assert list(home.root.rglob("*")) == []


def test_a_folder_stays_that_was_there_before_or_that_others_use_by_now(home: Home) -> None:
    (home.root / ".codex").mkdir()
    home.install("codex")
    home.install("zed")
    other = home.write(".config/other/settings", "mine")
    home.uninstall("codex")
    home.uninstall("zed")
    assert sorted(home.root.rglob("*")) == [
        *(home.root / name for name in (".codex", ".config", ".config/other")),
        other,
    ]


def test_a_file_that_is_not_utf8_is_named_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    file = home.write(".gemini/settings.json", "{}")
    file.write_bytes(b'{"a": "caf\xe9"}')
    with pytest.raises(InvalidInput) as refused:
        home.install("gemini")
    assert refused.value.message == f"{file} is not UTF-8 (at byte 10)."
