from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.formats import claude, claude_export
from memento_tui.formats.import_export import run_export, run_import
from memento_tui.model import Memory
from tests.clocks import START
from tests.made import note
from tests.unit.format_reading import reading

PROJECT = "-home-me-app"
INDEX = """\
---
a: 1   # kept
---
# App memory
Intro.

- [Testing](feedback_tests.md) — how tests are named
- [Gone](nowhere.md)

## Site
- **Host:** example.org
- **Plan:** free


## Lessons
- Always save the files before you commit them
  and push afterwards
* Never deploy on a Friday evening

## Mixed
Some prose.
- [Deep](topics/deep.md): more
And more prose.

## Empty
| a |
|---|
"""
TOPIC = "---\nname: feedback_tests\ndescription: How tests are named   # c\ntype: feedback\n---\n\nAs sentences.\n"


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "projects" / PROJECT / "memory"
    put(folder / "MEMORY.md", INDEX)
    put(folder / "feedback_tests.md", TOPIC)
    put(folder / "topics" / "deep.md", "# Deep\ntext")
    return tmp_path / "home"


def imported(workspace: Workspace, home: Path) -> dict[str, Memory]:
    run_import(workspace, "claude", home)
    return {memory.title: memory for memory in workspace.list(limit=100).items}


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def index(home: Path) -> str:
    return (home / "projects" / PROJECT / "memory" / "MEMORY.md").read_text(encoding="utf-8")


def test_an_untouched_memory_returns_byte_for_byte(workspace: Workspace, home: Path, tmp_path: Path) -> None:
    imported(workspace, home)
    before = files(home)
    assert run_export(workspace, home, format_name="claude").files == 0
    (tmp_path / "out" / "projects").mkdir(parents=True)
    written = run_export(workspace, tmp_path / "out", format_name="claude")
    assert (written.files, written.refused, written.notices) == (3, (), ())
    assert files(tmp_path / "out") == before
    again = run_import(workspace, "claude", home)
    assert (again.imported, again.updated) == (0, 0)


def test_what_has_aged_since_the_import_returns_byte_for_byte(
    workspace: Workspace, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(workspace, home)
    before = files(home)
    monkeypatch.setattr(clock, "now", lambda: START + timedelta(days=200))
    assert {action.action for action in maintain_workspace(workspace).actions} == {"compact", "demote"}
    assert run_export(workspace, home, format_name="claude").files == 0
    assert files(home) == before


def test_an_edited_statement_changes_its_own_lines_only(workspace: Workspace, home: Path) -> None:
    found = imported(workspace, home)
    edits = {
        "Lessons: Always save the files before you commit them": "Save, then commit\nand push",
        "Site": "## Site\n- **Host:** example.net",
    }
    for title, text in edits.items():
        workspace.update(found[title].id, content=text)
    assert run_export(workspace, home, format_name="claude").files == 1
    wanted = INDEX.replace(
        "Always save the files before you commit them\n  and push afterwards", "Save, then commit\n  and push"
    )
    assert index(home) == wanted.replace("- **Host:** example.org\n- **Plan:** free", "- **Host:** example.net")


def test_a_section_around_an_entry_is_written_once(workspace: Workspace, home: Path) -> None:
    found = imported(workspace, home)
    workspace.update(found["Mixed"].id, content="## Mixed\nOther prose.")
    run_export(workspace, home, format_name="claude")
    text = index(home)
    assert text.count("Other prose.") == text.count("[Deep](topics/deep.md)") == 1
    assert "more prose" not in text
    assert text.endswith("## Empty\n| a |\n|---|\n")


def test_what_was_deleted_loses_its_lines(workspace: Workspace, home: Path) -> None:
    found = imported(workspace, home)
    workspace.forget(found["Lessons: Never deploy on a Friday evening"].id)
    workspace.forget(found["How tests are named"].id)
    run_export(workspace, home, format_name="claude")
    assert "Friday" not in index(home)
    assert "feedback_tests" not in index(home)
    assert "## Mixed" in index(home)
    assert "Always save" in index(home)


def test_an_edited_topic_keeps_the_rest_of_its_frontmatter(workspace: Workspace, home: Path) -> None:
    found = imported(workspace, home)
    workspace.update(found["How tests are named"].id, content="\nOtherwise.\n", title="Names", kind="fact")
    run_export(workspace, home, format_name="claude")
    topic = home / "projects" / PROJECT / "memory" / "feedback_tests.md"
    assert topic.read_text() == "---\nname: feedback_tests\ndescription: Names\ntype: reference\n---\n\nOtherwise.\n"


def test_a_memory_that_was_made_here_becomes_a_topic_with_an_entry(workspace: Workspace, home: Path) -> None:
    imported(workspace, home)
    workspace.remember("Use tabs.", title="Tabs [not] spaces", kind="instruction", namespace=f"claude/{PROJECT}")
    workspace.remember("Elsewhere.", title="Elsewhere")
    assert run_export(workspace, home, format_name="claude").files == 2
    assert index(home) == INDEX + "- [Tabs  not  spaces](tabs_not_spaces.md)\n"
    found = reading(claude.read(home)).memories[f"{PROJECT}/tabs_not_spaces.md"]
    assert (found.content, found.kind) == ("Use tabs.", "instruction")


def test_no_topic_has_the_name_of_the_index_on_a_file_system_where_case_is_nothing(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.remember("The port is 8080.", title="Memory", namespace="claude/p")
    run_export(workspace, tmp_path, format_name="claude")
    names = [path.name for path in tmp_path.rglob("*.md")]
    assert len(names) == len({name.casefold() for name in names}) == 2


def test_a_file_that_changed_meanwhile_is_not_replaced(workspace: Workspace, home: Path) -> None:
    found = imported(workspace, home)
    workspace.update(found["Site"].id, content="## Site\nnew")
    put(home / "projects" / PROJECT / "memory" / "MEMORY.md", INDEX + "\nAdded by Claude Code.\n")
    (refused,) = run_export(workspace, home, format_name="claude").refused
    assert "import it first" in refused.reason
    imported(workspace, home)
    assert run_export(workspace, home, format_name="claude").refused == ()
    assert "## Site\nnew" in index(home)
    assert "Added by Claude Code." in index(home)


def test_an_index_that_claude_code_would_cut_is_told(workspace: Workspace, tmp_path: Path) -> None:
    text = "# A\n" + "".join(f"- lesson number {number} was learned\n" for number in range(250))
    put(tmp_path / "memory" / "MEMORY.md", text)
    imported(workspace, tmp_path / "memory")
    shutil.rmtree(tmp_path / "memory")
    (told,) = run_export(workspace, tmp_path / "memory", format_name="claude").notices
    assert "has 251 lines" in told
    assert "first 200 lines" in told
    assert (tmp_path / "memory" / "MEMORY.md").read_text() == text


def test_a_path_that_a_memory_names_never_leads_out_of_the_folder(tmp_path: Path) -> None:
    for kept in (
        {"project": "..", "path": "a.md"},
        {"project": "p", "path": "../../a.md"},
        {"project": "p/q", "path": "a"},
    ):
        claude_export.write([note(namespace="claude/p", extra={"claude": kept})], tmp_path / "out")
    assert {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*")} == {"out"}
    assert all(path.is_relative_to(tmp_path / "out" / "p") for path in (tmp_path / "out").rglob("*"))


@pytest.mark.real_data
def test_the_memory_of_a_real_agent_returns_byte_for_byte(
    real_data: Path, workspace: Workspace, tmp_path: Path
) -> None:
    source = real_data / "0xMal0u+aeon" / "memory"
    run_import(workspace, "claude", source)
    written = run_export(workspace, tmp_path / "memory", format_name="claude")
    assert written.refused == ()
    for name, data in files(tmp_path / "memory").items():
        assert (source / name).read_bytes() == data, name
    assert "MEMORY.md" in files(tmp_path / "memory")
