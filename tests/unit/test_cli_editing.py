from __future__ import annotations

import shlex
import stat
import sys
from pathlib import Path

import pytest

from memento_tui.paths import DataPaths
from tests.unit.cli_program import Program, without_engine


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "data"))


class Editor:
    """A program in the editor's place: it runs one statement of Python, in which ``path`` is the file to edit."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._script = folder / "editor.py"
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", f"{shlex.quote(sys.executable)} -S {shlex.quote(str(self._script))} --wait")

    def does(self, statement: str) -> None:
        lines = ["import sys, pathlib", "assert sys.argv[1] == '--wait'", "path = pathlib.Path(sys.argv[2])", statement]
        self._script.write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    return Editor(tmp_path, monkeypatch)


def _drafts(memento: Program) -> list[Path]:
    return sorted(DataPaths(memento.data_dir).drafts.glob("*"))


def test_edit_changes_the_fields_that_are_named_and_no_others(memento: Program) -> None:
    given = memento.add("text", "--tag", "a,B", "--agent", "claude", "--session", "s1", "--expires", "7d")
    edited = memento.json("edit", given, "--tag", "c", "--untag", "b", "--session", "s2", "--expires", "never", "--pin")
    assert edited["tags"] == ["a", "c"]
    assert edited["source"] == {"agent": "claude", "session": "s2"}
    assert (edited["expires_at"], edited["pinned"], edited["content"]) == (None, True, "text")
    assert (edited["outcome"], edited["version"]) == ("applied", 2)


@pytest.mark.parametrize("kind", [(), ("item",), ("skip",)])
def test_an_edit_names_the_version_that_was_read_behind_the_id_too(memento: Program, kind: tuple[str, ...]) -> None:
    made = {
        (): ("add", "text"),
        ("item",): ("item", "add", "Move to /v3"),
        ("skip",): ("skip", "add", "vendor/", "--reason", "not ours", "--until", "7d"),
    }
    given = memento.json(*made[kind])["id"]
    field = "--reason" if kind == ("skip",) else "--title"
    assert memento.json(*kind, "edit", f"{given}@1", field, "second")["version"] == 2
    assert memento.run(*kind, "edit", f"{given}@1", field, "third", "--json").code == 4


def test_an_edit_that_changes_nothing_makes_no_version(memento: Program) -> None:
    given = memento.add("text")
    assert memento.run("edit", given, "--title", "").out == f"{given}  not changed\n"
    assert memento.json("show", given)["version"] == 1


def test_an_edit_that_gives_a_secret_again_says_that_it_was_removed_again(memento: Program) -> None:
    given = memento.json("add", "The demo account is open.")["id"]
    text = "The password of the demo account is hunter2blue."
    assert memento.run("edit", given, "--content", text).out.endswith("; removed before it was stored: password\n")
    again = memento.run("edit", given, "--content", text).out
    assert again == f"{given}  not changed; removed before it was stored: password\n"


def test_the_editor_gets_the_content_and_its_text_is_stored(memento: Program, editor: Editor) -> None:
    given = memento.add("first")
    editor.does("path.write_text(path.read_text() + ' and second\\n')")
    edited = memento.json("edit", given)
    assert (edited["content"], edited["version"]) == ("first and second", 2)
    assert _drafts(memento) == []


def test_a_text_left_as_it_was_changes_nothing(memento: Program, editor: Editor) -> None:
    given = memento.add("first")
    editor.does("path.write_text(path.read_text() + '\\n')")
    assert memento.run("edit", given).out == f"{given}  not changed\n"
    assert _drafts(memento) == []


def test_a_draft_is_private(memento: Program, editor: Editor, tmp_path: Path) -> None:
    given = memento.add("first", "--id", "../../escape")
    editor.does(f"pathlib.Path({str(tmp_path / 'seen')!r}).write_text(f'{{path}} {{path.stat().st_mode}}')")
    memento.json("edit", given)
    path, mode = (tmp_path / "seen").read_text().rsplit(" ", 1)
    assert Path(path).parent == DataPaths(memento.data_dir).drafts
    assert stat.S_IMODE(int(mode)) == 0o600


def test_two_editors_of_one_memory_lose_neither_text(memento: Program, editor: Editor) -> None:
    given = memento.add("first")
    command = [sys.executable, "-m", "memento_tui", "edit", given, "--content", "theirs"]
    editor.does(f"import subprocess; path.write_text('mine'); subprocess.run({command!r}, check=True)")
    ended = memento.run("edit", given, "--json")
    assert (ended.code, ended.error["code"]) == (4, "conflict")
    assert ended.error["current"]["content"] == "theirs"
    (draft,) = _drafts(memento)
    assert draft.read_text() == "mine"
    assert str(draft) in ended.error["hint"]
    assert memento.json("edit", given, "--content", "-", stdin=draft.read_bytes())["content"] == "mine"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("path.write_text('mine'); sys.exit(3)", "ended with status 3"),
        ("path.write_bytes(b'mine \\xff')", "not UTF-8 (at byte 5)"),
        ("path.write_text(' ')", "content: is empty"),
    ],
)
def test_what_the_editor_leaves_is_kept_where_it_cannot_be_stored(
    memento: Program, editor: Editor, statement: str, said: str
) -> None:
    given = memento.add("first")
    editor.does(statement)
    ended = memento.run("edit", given, "--json")
    assert ended.code == 2
    assert said in ended.error["message"]
    (draft,) = _drafts(memento)
    assert str(draft) in ended.error["hint"]
    assert memento.json("show", given)["content"] == "first"


@pytest.mark.parametrize("named", ["no-such-editor-here", "'unbalanced"])
def test_an_editor_that_does_not_exist_is_said(memento: Program, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    given = memento.add("first")
    monkeypatch.setenv("VISUAL", named)
    ended = memento.run("edit", given, "--json")
    assert ended.code == 2
    assert "VISUAL" in ended.error["hint"]
    assert _drafts(memento) == []
