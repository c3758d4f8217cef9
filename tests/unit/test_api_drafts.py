from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memento_tui.api.drafts import EditorFile, editor_command
from memento_tui.errors import DataDirectoryError, InvalidInput
from memento_tui.paths import DataPaths


@pytest.fixture(autouse=True)
def _database(tmp_path: Path) -> None:
    DataPaths(tmp_path).database.touch()


def test_a_draft_is_private_and_its_text_returns_as_it_was(tmp_path: Path) -> None:
    text = "one\r\ntwo\n\ttabs é\x1b[2J"
    draft = EditorFile(DataPaths(tmp_path), "an/odd id..", text)
    assert draft.path.parent == DataPaths(tmp_path).drafts
    assert draft.path.name.startswith("an-odd-id-")
    assert (draft.path.stat().st_mode & 0o777, draft.path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert draft.read(text) == text
    draft.discard()
    draft.discard()
    assert not draft.path.exists()


@pytest.mark.parametrize(
    ("before", "saved", "read"),
    [
        ("one", b"one\n", "one"),
        ("one", b"one\r\n", "one"),
        ("one\n", b"one\n", "one\n"),
        ("one", b"\xef\xbb\xbfone\n", "one"),
        ("one", b"", ""),
        ("one", b"one\n\n", "one\n"),
    ],
)
def test_the_line_feed_that_an_editor_adds_is_taken_off(tmp_path: Path, before: str, saved: bytes, read: str) -> None:
    draft = EditorFile(DataPaths(tmp_path), "a", before)
    draft.path.write_bytes(saved)
    assert draft.read(before) == read


def test_what_an_editor_spoilt_is_told_and_the_file_stays(tmp_path: Path) -> None:
    draft = EditorFile(DataPaths(tmp_path), "a", "text")
    draft.path.write_bytes(b"text \xff")
    with pytest.raises(InvalidInput, match=r"not UTF-8 \(at byte 5\)"):
        draft.read("text")
    assert draft.path.exists()
    draft.path.unlink()
    with pytest.raises(InvalidInput, match="cannot be read"):
        draft.read("text")


def test_two_drafts_of_one_memory_are_two_files(tmp_path: Path) -> None:
    first, second = EditorFile(DataPaths(tmp_path), "a", "one"), EditorFile(DataPaths(tmp_path), "a", "two")
    assert (first.read(""), second.read("")) == ("one", "two")


def test_a_draft_that_cannot_be_written_is_told_of(tmp_path: Path) -> None:
    DataPaths(tmp_path).drafts.write_text("in the way")
    with pytest.raises(DataDirectoryError, match=r"The draft .* cannot be written"):
        EditorFile(DataPaths(tmp_path), "a", "one")


def test_without_an_editor_of_ones_own_the_first_that_is_installed_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    installed = {"vim", "vi"}
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if name in installed else None)
    assert editor_command()[0] == "vim"
    installed.clear()
    with pytest.raises(InvalidInput, match=r"'nano' was not found.*Set VISUAL or EDITOR"):
        editor_command()


def test_the_editor_is_the_persons_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "none-such-editor")
    monkeypatch.setenv("VISUAL", f"'{sys.executable}' --wait")
    assert editor_command() == [sys.executable, "--wait"]
    monkeypatch.delenv("VISUAL")
    with pytest.raises(InvalidInput, match="The editor 'none-such-editor' was not found"):
        editor_command()
    monkeypatch.setenv("EDITOR", "an 'unclosed quote")
    with pytest.raises(InvalidInput, match="cannot be understood"):
        editor_command()


@pytest.mark.parametrize("name", ["vim", "vim.basic", "nvim", "gvim"])
def test_vim_is_told_to_obey_no_options_that_a_text_holds_under_whatever_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, called = tmp_path / name, tmp_path / "vi"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    called.symlink_to(program)
    monkeypatch.delenv("VISUAL", raising=False)
    for one in (program, called):
        monkeypatch.setenv("EDITOR", f"{one} -n")
        assert editor_command()[:3] == [str(one), "--cmd", "set nomodeline"]
        assert editor_command()[-1] == "-n"


@pytest.mark.parametrize("name", ["emacs", "emacs-nox", "emacs-29.4"])
def test_emacs_is_told_to_obey_no_variables_that_a_text_holds(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, called = tmp_path / name, tmp_path / "editor"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    called.symlink_to(program)
    for one in (program, called):
        monkeypatch.setenv("VISUAL", f"{one} -nw")
        words = editor_command()
        assert words[:3] == [str(one), "-nw", "--eval"], "what stands behind it is opened after it"
        for variable in ("enable-local-variables", "enable-local-eval", "set-auto-coding-function"):
            assert f"{variable} nil" in words[3]


def test_emacsclient_is_given_nothing_that_it_would_take_for_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "emacsclient.emacs"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("VISUAL", f"{program} -t")
    assert editor_command() == [str(program), "-t"]


@pytest.mark.skipif(shutil.which("vim") is None, reason="needs Vim")
def test_vim_obeys_no_options_in_a_text_where_a_vimrc_turns_them_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, rules, said = tmp_path / "text.md", tmp_path / "vimrc", tmp_path / "said"
    text.write_text("The port is 8080.\nvim: set tabstop=37:\n")
    rules.write_text("set modeline\n")
    monkeypatch.setenv("VISUAL", "vim")
    asked = [f"redir! > {said}", "set tabstop?", "quitall!"]
    options = ["-u", str(rules), "-es", str(text), *(word for one in asked for word in ("-c", one))]
    subprocess.run([*editor_command(), *options], check=False, timeout=60)  # noqa: S603 - fixed words
    assert "tabstop=8" in said.read_text()
