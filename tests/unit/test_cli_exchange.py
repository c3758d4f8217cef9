from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli_program import Program, without_engine


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "data"))


def _notes(folder: Path, *names: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / f"{name}.md").write_text(f"---\ntags: [note]\n---\nThe text of {name}.\n")
    return folder


def test_an_import_reports_what_became_of_every_file(memento: Program, tmp_path: Path) -> None:
    notes = _notes(tmp_path / "notes", "one", "two")
    (notes / "three.md").write_bytes(b"caf\xe9")
    report = memento.json("import", "vault", str(notes))
    assert (report["format"], report["imported"], report["updated"], report["unchanged"]) == ("vault", 2, 0, 0)
    assert [refused["file"] for refused in report["refused"]] == ["three.md"]
    assert report["refused"][0]["reason"]
    (notes / "one.md").write_text("---\ntags: [note]\n---\nAnother text.\n")
    again = memento.json("import", "vault", str(notes))
    assert (again["imported"], again["updated"], again["unchanged"]) == (0, 1, 1)


def test_a_dry_run_changes_nothing(memento: Program, tmp_path: Path) -> None:
    notes = _notes(tmp_path / "notes", "one")
    ended = memento.run("import", "vault", str(notes), "--dry-run")
    assert ended.out == "1 imported, 0 updated, 0 unchanged, 0 refused (nothing was written)\n"
    assert memento.json("list")["items"] == []


def test_held_memories_wait_for_review(memento: Program, tmp_path: Path) -> None:
    notes = str(_notes(tmp_path / "notes", "one"))
    ended = memento.run("import", "vault", notes, "--hold", "--dry-run")
    assert "1 of the imported would wait in memento review." in ended.out
    assert memento.json("import", "vault", notes, "--hold")["held"] == 1
    assert memento.json("list")["items"] == []
    assert len(memento.json("review")["items"]) == 1


def test_auto_finds_the_format_out(memento: Program, tmp_path: Path) -> None:
    notes = str(_notes(tmp_path / "notes", "one"))
    assert memento.run("import", "auto", notes, "--dry-run").out.startswith("Folder of notes: 1 imported")
    assert memento.json("import", "auto", notes)["format"] == "vault"
    (tmp_path / "empty").mkdir()
    assert memento.run("import", "auto", str(tmp_path / "empty"), "--json").error["code"] == "invalid_input"


def test_auto_names_what_else_a_project_holds_and_how_it_is_imported(memento: Program, tmp_path: Path) -> None:
    project = tmp_path / "site"
    (project / ".beads").mkdir(parents=True)
    issue = {"id": "be-1", "title": "Parents are overridden", "status": "open", "issue_type": "bug"}
    (project / ".beads" / "issues.jsonl").write_text(json.dumps(issue) + "\n")
    assert memento.json("import", "auto", str(project))["also"] == []
    (project / "CLAUDE.md").write_text("# Rules\n\nNever push to main.\n")
    assert memento.json("import", "auto", str(project))["also"] == ["agents-file"]
    told = memento.run("import", "auto", str(project)).out
    assert f"Also there: Instructions for agents: memento import agents-file {project}" in told
    assert memento.json("import", "beads", str(project))["also"] == []


def test_a_missing_path_is_an_error(memento: Program, tmp_path: Path) -> None:
    ended = memento.run("import", "vault", str(tmp_path / "none"), "--json")
    assert (ended.code, ended.error["code"]) == (2, "usage")


def test_many_refusals_are_counted_for_a_person_and_listed_in_json(memento: Program, tmp_path: Path) -> None:
    source = tmp_path / "bad.jsonl"
    source.write_text(
        '{"record":"header","format":"memento-jsonl","version":1}\n' + '{"record":"memory", broken\n' * 30
    )
    ended = memento.run("import", "memento", str(source), "--json")
    assert (len(json.loads(ended.out)["refused"]), ended.code) == (30, 2)
    lines = memento.run("import", "memento", str(source)).out.splitlines()
    assert lines[0] == "0 imported, 0 updated, 0 unchanged, 30 refused"
    assert lines[-1] == "... and 10 more; --json lists all."


def test_a_block_of_instructions_goes_to_standard_output_and_a_folder_does_not(
    memento: Program, tmp_path: Path
) -> None:
    memento.run("add", "Deploy with make ship.", "--kind", "instruction", "--stability", "verified")
    block = memento.run("export", "-", "--format", "agents-block").out
    assert "Deploy with make ship." in block
    memento.run("export", str(tmp_path / "AGENTS.md"), "--format", "agents-block")
    assert (tmp_path / "AGENTS.md").read_text() == block
    assert memento.run("export", "-", "--format", "vault").code == 2


def test_an_export_to_standard_output_is_what_a_file_would_hold(memento: Program, tmp_path: Path) -> None:
    memento.add("größer\x1b")
    whole = memento.run("export", "-").out
    memento.json("export", str(tmp_path / "backup.jsonl"))
    assert (tmp_path / "backup.jsonl").read_text() == whole
    assert [json.loads(line)["record"] for line in whole.splitlines()] == ["header", "memory"]


def test_an_export_as_a_vault_is_a_folder(memento: Program, tmp_path: Path) -> None:
    memento.add("text", "--title", "Name")
    written = memento.json("export", str(tmp_path / "notes"), "--format", "vault")
    assert (written["exported"], written["files"]) == (1, 1)
    assert len(list((tmp_path / "notes").rglob("*.md"))) == 1
    assert memento.run("export", "-", "--format", "vault", "--json").code == 2
    assert memento.run("export", str(tmp_path / "notes" / "x"), "--format", "protocol-rest", "--json").code == 2


def test_an_export_never_writes_over_a_file(memento: Program, tmp_path: Path) -> None:
    memento.add("text")
    (tmp_path / "mine").write_text("mine")
    assert memento.run("export", str(tmp_path / "mine"), "--json").code == 2
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_path_alone_is_imported_in_the_format_that_it_is_in(memento: Program, tmp_path: Path) -> None:
    notes = str(_notes(tmp_path / "notes", "one"))
    assert memento.run("import", notes, "--dry-run").out.startswith("Folder of notes: 1 imported")
    assert memento.json("import", notes)["format"] == "vault"


def test_a_path_where_nothing_is_or_before_its_format_is_told(memento: Program, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")
    assert f"there is nothing at '{nowhere}'." in memento.run("import", nowhere, "--json").error["message"]
    notes = str(_notes(tmp_path / "notes", "one"))
    swapped = memento.run("import", notes, notes, "--json").error["message"]
    assert swapped == f"The format comes before the path: memento import auto {notes}"
