"""Looking around in a home for what could be imported."""

from __future__ import annotations

import os
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.formats.discovery import ImportSource, find_sources, import_command
from memento_tui.formats.import_export import run_export, run_import
from tests.unit.cli_program import Program, without_engine
from tests.unit.protocol_sources import database


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def _write(path: Path, text: str = "Some text.\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _furnish(home: Path, workspace: Workspace) -> None:
    """Put one of everything into a home."""
    _write(home / ".claude/projects/-work-api/memory/MEMORY.md", "# Rules\n\n- keep the cache warm all night\n")
    _write(home / ".claude/projects/-work-api/memory/cache.md")
    _write(home / ".claude/projects/-work-web/memory/MEMORY.md")
    _write(home / ".claude/projects/-work-web/session.jsonl", "{}\n")
    _write(home / ".memento/memories/projects/api.jsonl", '{"id":"a","content":"x"}\n{"id":"b","content":"y"}')
    (home / "Documents/My notes/.obsidian").mkdir(parents=True)
    _write(home / "Documents/My notes/one.md")
    _write(home / "Documents/My notes/deep/two.MD")
    _write(home / "Documents/My notes/.trash/gone.md")
    _write(home / "agent/memento.yml")
    _write(home / "agent/notes/rule.md")
    _write(home / "work/api/.memento/working-memory.md", "# Working Memory\n\n## Active Work\n\nSearch.\n")
    _write(home / "work/api/.memento/memories/a1b2c3d4.json", '{"id": "a1b2c3d4", "content": "Use port 3001."}')
    workspace.remember("A memory.")
    run_export(workspace, home / "backup.jsonl")


def _seen(found: tuple[ImportSource, ...], home: Path) -> set[tuple[str, str, str]]:
    return {(one.format, str(one.path.relative_to(home)), one.amount) for one in found}


def test_it_finds_what_every_tool_keeps_where_it_keeps_it(home: Path, workspace: Workspace) -> None:
    _furnish(home, workspace)
    findings = find_sources(workspace.paths.root)
    assert _seen(findings.candidates, home) == {
        ("claude", ".claude", "3 files"),
        ("memento-core", ".memento", "2 lines"),
        ("vault", "Documents/My notes", "2 notes"),
        ("vault", "agent", "1 note"),
        ("memento", "backup.jsonl", "2 lines"),
        ("protocol-local", "work/api/.memento", "2 files"),
    }
    assert (findings.unreadable, findings.complete) == (0, True)


def test_everything_that_is_found_can_be_imported_as_it_says(home: Path, workspace: Workspace, tmp_path: Path) -> None:
    _furnish(home, workspace)
    with memento_tui.open(without_engine(tmp_path / "other")) as other:
        for one in find_sources(other.paths.root).candidates:
            assert run_import(other, one.format, one.path).imported > 0


def test_the_command_that_it_tells_imports(home: Path, workspace: Workspace, tmp_path: Path) -> None:
    _furnish(home, workspace)
    memento = Program(without_engine(tmp_path / "other"))
    told = memento.json("import", "--find")
    assert len({one["format"] for one in told["candidates"]}) == 5
    text = memento.run("import", "--find").out
    for one in told["candidates"]:
        assert one["command"] in text
        program, *arguments = shlex.split(one["command"])
        assert program == "memento"
        assert memento.json(*arguments)["imported"] > 0
    assert memento.run("import", "--find", "vault", "--json").code == 2
    assert memento.run("import", "vault", "--json").error["message"].startswith("Name a PATH")


def test_the_command_names_the_data_directory_that_was_asked_for() -> None:
    one = ImportSource(format="vault", path=Path("/n/it's"), count=1, unit="note", about=False, changed=None)
    line = import_command(one, Path("/d d"))
    assert shlex.split(line) == ["memento", "--data-dir", "/d d", "import", "vault", "/n/it's"]


def test_it_tells_when_the_newest_note_changed(home: Path, workspace: Workspace) -> None:
    (home / "vault").mkdir()
    for day in (3, 9, 5):
        moment = datetime(2026, 1, day, tzinfo=UTC)
        os.utime(_write(home / f"vault/{day}.md"), (moment.timestamp(), moment.timestamp()))
    (one,) = find_sources(workspace.paths.root).candidates
    assert one.changed == datetime(2026, 1, 9, tzinfo=UTC)


def test_an_empty_home_holds_nothing(home: Path, workspace: Workspace, tmp_path: Path) -> None:
    (home / "vault").mkdir()
    _write(home / "notes/plain.md")
    _write(home / "data.jsonl", '{"record":"memory"}\n')
    assert find_sources(workspace.paths.root).candidates == ()
    assert find_sources(workspace.paths.root, tmp_path / "no home").candidates == ()
    assert "Nothing was found." in Program(workspace.paths.root).run("import", "--find").out


def test_links_are_not_followed(home: Path, workspace: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / ".obsidian").mkdir(parents=True)
    _write(outside / "secret.md")
    _write(outside / "memory/MEMORY.md")
    _write(outside / "memories/a.jsonl")
    (home / ".claude/projects").mkdir(parents=True)
    for name in ("vault", ".memento", ".claude/projects/-work", "loop"):
        (home / name).symlink_to(home if name == "loop" else outside)
    (home / ".claude/projects/-api").mkdir()
    (home / ".claude/projects/-api/memory").symlink_to(outside / "memory")
    assert find_sources(workspace.paths.root).candidates == ()


def test_hidden_folders_source_code_and_memento_itself_are_passed_over(home: Path, workspace: Workspace) -> None:
    for place in (".cache/v", "code/repo/docs", "node_modules/x", "work/data/notes"):
        (home / place / ".obsidian").mkdir(parents=True)
        _write(home / place / "a.md")
    (home / "code/repo/.git").mkdir()
    _write(home / "work/data/memento.db")
    (home / "a/b/c/d/.obsidian").mkdir(parents=True)
    _write(home / "a/b/c/d/too-deep.md")
    assert find_sources(workspace.paths.root).candidates == ()


def test_files_of_memento_core_in_the_data_directory_itself_are_found(home: Path, workspace: Workspace) -> None:
    _write(workspace.paths.root / "memories/global.jsonl", '{"id":"a","content":"x"}\n')
    assert [one.path for one in find_sources(workspace.paths.root, home).candidates] == [workspace.paths.root]


def test_what_cannot_be_opened_is_counted_and_told(
    home: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(home / "vault/a.md")
    (home / "locked").mkdir()
    really = os.scandir

    def scandir(folder: Path) -> object:
        if folder == home / "locked":
            raise PermissionError(13, "Permission denied")
        return really(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    findings = find_sources(workspace.paths.root)
    assert (len(findings.candidates), findings.unreadable) == (1, 1)
    assert "1 folder or file could not be opened." in Program(workspace.paths.root).run("import", "--find").out


def test_it_stops_when_its_time_is_up_or_it_is_told_to(home: Path, workspace: Workspace) -> None:
    _furnish(home, workspace)
    for findings in (
        find_sources(workspace.paths.root, seconds=-1),
        find_sources(workspace.paths.root, stopped=lambda: True),
    ):
        assert (findings.candidates, findings.complete) == ((), False)


def test_the_lines_of_a_long_file_are_estimated(home: Path, workspace: Workspace) -> None:
    line = '{"id":"a","content":"' + "x" * 977 + '"}\n'
    _write(home / ".memento/memories/a.jsonl", line * 3000)
    (one,) = find_sources(workspace.paths.root).candidates
    assert one.about
    assert abs(one.count - 3000) < 10
    assert one.amount.startswith("about ")


def test_it_finds_the_reference_servers_lines_and_the_databases_of_memento_protocol(
    home: Path, workspace: Workspace
) -> None:
    entity = '{"type":"entity","name":"Ann","entityType":"person","observations":["Likes tea."]}\n'
    _write(home / "mcp/memory.jsonl", entity + '{"type":"relation","from":"Ann","to":"Ann","relationType":"is"}\n')
    _write(home / "mcp/other.jsonl", '["Ann"]\n')
    _write(home / "mcp/broken.jsonl", '{"name":')
    database(home / "server/data/default.db", memories=[{"id": "a1b2c3d4", "content": "Use port 3001."}])
    _write(home / "server/data/text.db", "no database")
    findings = find_sources(workspace.paths.root)
    assert _seen(findings.candidates, home) == {
        ("mcp-reference", "mcp/memory.jsonl", "2 lines"),
        ("protocol-sqlite", "server/data/default.db", "1 file"),
    }
    for found in findings.candidates:
        report = run_import(workspace, found.format, found.path)
        assert (report.imported > 0, report.refused) == (True, [])
