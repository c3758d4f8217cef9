from __future__ import annotations

import os
from pathlib import Path

import pytest

from memento_tui.errors import InvalidInput
from memento_tui.formats.registry import FORMATS, detect_format, formats_beside, source_name


def put(root: Path, name: str, text: str = "x") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


CORE = '{"id": "a", "content": "x"}\n'
OWN = '{"record": "memory", "content": "x"}\n'


@pytest.mark.parametrize(
    ("files", "place", "expected"),
    [
        ({"memories/global.jsonl": CORE}, "", "memento-core"),
        ({"memories/projects/app.jsonl": CORE}, "memories", "memento-core"),
        ({"global.jsonl": CORE}, "global.jsonl", "memento-core"),
        ({"global.jsonl": "garbage\n" + CORE}, "", "memento-core"),
        ({"export.jsonl": OWN}, "export.jsonl", "memento"),
        ({"data/a.jsonl": '{"record": "header", "format": "memento-jsonl", "version": 1}\n'}, "data", "memento"),
        ({"data/a.jsonl": "half a line\n" + OWN}, "data", "memento"),
        ({"notes/a.md": "x"}, "", "vault"),
        ({"notes/a.md": "x"}, "notes/a.md", "vault"),
        ({".obsidian/app.json": "{}", "a.jsonl": CORE, "b.md": "x"}, "", "vault"),
        ({"vault-identity.json": "{}"}, "", "vault"),
        ({".serena/memories/a.md": "x"}, ".serena/memories", "agents-file"),
        ({".serena/memories/a.md": "x"}, ".serena", "agents-file"),
        ({".serena/memories/a.md": "x", "main.py": "x"}, "", "agents-file"),
        ({"memory-bank/progress.md": "x"}, "memory-bank", "vault"),
        ({"memory/MEMORY.md": "x"}, "memory", "claude"),
        ({"memory/MEMORY.md": "x"}, "memory/MEMORY.md", "claude"),
        ({"memory/MEMORY.md": "x"}, "", "claude"),
        ({"projects/p/memory/MEMORY.md": "x", "history.jsonl": "{}"}, "", "claude"),
        ({"memory/a.md": "x"}, "memory", "vault"),
        ({"CLAUDE.md": "x"}, "", "agents-file"),
        ({"sub/AGENTS.md": "x", "CLAUDE.md": "x", "main.py": "x"}, "", "agents-file"),
        ({"CLAUDE.md": "x", "notes/a.md": "x"}, "", "vault"),
        ({"projects/app/.memento/skip-index.json": "[]"}, "", "protocol-local"),
        ({"projects/app/.memento/skip-index.json": "[]", "a.md": "x"}, "", "vault"),
    ],
)
def test_the_format_of_a_path_is_guessed(tmp_path: Path, files: dict[str, str], place: str, expected: str) -> None:
    for name, text in files.items():
        put(tmp_path, name, text)
    assert detect_format(tmp_path / place) == expected


@pytest.mark.parametrize("files", [[], ["picture.png"], [".hidden/a.md"]])
def test_a_path_that_holds_nothing_to_read_is_an_error(tmp_path: Path, files: list[str]) -> None:
    for name in files:
        put(tmp_path, name)
    with pytest.raises(InvalidInput, match="nothing that memento can read"):
        detect_format(tmp_path)


def test_a_path_with_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nothing at"):
        detect_format(tmp_path / "missing")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every folder")
@pytest.mark.parametrize("locked", ["home", "home/projects", "home/projects/app", "home/projects/app/memory"])
def test_a_folder_that_may_not_be_opened_is_told_of_whatever_it_is_read_as(tmp_path: Path, locked: str) -> None:
    put(tmp_path, "home/projects/app/memory/MEMORY.md")
    (tmp_path / locked).chmod(0)
    try:
        with pytest.raises(InvalidInput):
            detect_format(tmp_path / "home")
        for one in FORMATS.values():
            if not one.is_remote:
                with pytest.raises(InvalidInput, match=r"cannot be opened|There is nothing at"):
                    source_name(one, tmp_path / locked)
    finally:
        (tmp_path / locked).chmod(0o700)


@pytest.mark.parametrize("name", ["a.jsonl", "a.db"])
def test_a_pipe_is_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(InvalidInput):
        detect_format(tmp_path)


def test_every_format_is_in_the_table_under_its_own_name() -> None:
    assert {name: one.name for name, one in FORMATS.items()} == {name: name for name in FORMATS}
    assert all(one.description and "\n" not in one.description for one in FORMATS.values())


def test_rules_that_lie_in_a_part_of_a_project_alone_are_found(tmp_path: Path) -> None:
    put(tmp_path, "web/app/.windsurf/rules/a.md")
    put(tmp_path, "src/a.py")
    assert detect_format(tmp_path) == "agents-file"


def test_rules_of_other_peoples_programs_make_no_project(tmp_path: Path) -> None:
    put(tmp_path, "node_modules/x/.windsurf/rules/a.md")
    with pytest.raises(InvalidInput, match="nothing that memento can read"):
        detect_format(tmp_path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (".windsurf/rules/a.md", ["agents-file"]),
        ("web/.cursor/rules/a.mdc", ["agents-file"]),
        (".serena/memories/a.md", ["agents-file"]),
        (".clinerules", ["agents-file"]),
        ("CLAUDE.md", []),
        ("web/b.md", []),
    ],
)
def test_beside_a_folder_of_notes_only_the_instructions_that_it_does_not_read_are_told(
    tmp_path: Path, name: str, expected: list[str]
) -> None:
    put(tmp_path, "docs/note.md")
    put(tmp_path, name)
    assert detect_format(tmp_path) == "vault"
    assert formats_beside(tmp_path, "vault") == expected


def test_rules_in_a_part_are_told_beside_a_format_that_does_not_read_them(tmp_path: Path) -> None:
    put(tmp_path, ".beads/issues.jsonl", '{"id": "b-1", "title": "t"}\n')
    put(tmp_path, "web/.windsurf/rules/a.md")
    assert formats_beside(tmp_path, "beads") == ["agents-file"]
