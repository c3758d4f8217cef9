from __future__ import annotations

import os
from pathlib import Path

import pytest

from memento_tui.errors import InvalidInput
from memento_tui.formats.base import Refused
from memento_tui.formats.source_files import LoadedFile, SourceFile, count_files, decode_text, load_file, walk_files


def names(root: Path, *, hidden: bool = False) -> list[str]:
    return [found.name for found in walk_files(root, ".md", hidden=hidden) if isinstance(found, SourceFile)]


def refusals(root: Path) -> list[Refused]:
    return [found for found in walk_files(root, ".md") if isinstance(found, Refused)]


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_files_come_in_order_folder_by_folder_and_other_endings_are_passed_over(tmp_path: Path) -> None:
    for name in ("b.md", "a.MD", "picture.png", "z/c.md", "c/d/e.md", "c/a.md"):
        write(tmp_path / name)
    assert names(tmp_path) == ["a.MD", "b.md", "c/a.md", "c/d/e.md", "z/c.md"]
    assert count_files(tmp_path, ".md") == 5


def test_hidden_names_are_passed_over_below_the_root_but_not_as_the_root(tmp_path: Path) -> None:
    root = tmp_path / ".serena" / "memories"
    for name in ("a.md", ".obsidian/b.md", ".trash/c.md", ".git/d.md", ".hidden.md"):
        write(root / name)
    assert names(root) == ["a.md"]
    assert names(root, hidden=True) == [".hidden.md", "a.md", ".git/d.md", ".obsidian/b.md", ".trash/c.md"]


def test_a_file_as_root_is_the_only_one(tmp_path: Path) -> None:
    write(tmp_path / "other.md")
    assert names(write(tmp_path / "note.txt")) == ["note.txt"]


def test_a_root_that_is_a_link_is_read_because_the_person_named_it(tmp_path: Path) -> None:
    write(tmp_path / "vault" / "a.md")
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    assert names(tmp_path / "link") == ["a.md"]


def test_nothing_at_the_root_is_an_error_and_not_an_empty_source(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nothing at"):
        names(tmp_path / "missing")


def test_links_that_lead_out_are_refused_by_file_and_by_folder(tmp_path: Path) -> None:
    secret = write(tmp_path / "outside" / "secret.md")
    root = tmp_path / "vault"
    write(root / "a.md")
    (root / "stolen.md").symlink_to(secret)
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "picture.png").symlink_to(secret)
    assert names(root) == ["a.md"]
    assert [(one.file, one.line) for one in refusals(root)] == [("folder", 0), ("stolen.md", 0)]
    assert all("leads out" in one.reason for one in refusals(root))


def test_a_folder_whose_name_begins_with_the_roots_name_is_outside(tmp_path: Path) -> None:
    write(tmp_path / "vault-private" / "secret.md")
    root = tmp_path / "vault"
    root.mkdir()
    (root / "a.md").symlink_to(tmp_path / "vault-private" / "secret.md")
    assert [one.file for one in refusals(root)] == ["a.md"]


def test_links_that_stay_inside_are_not_followed_because_their_target_is_read_where_it_lies(tmp_path: Path) -> None:
    write(tmp_path / "real" / "a.md")
    (tmp_path / "again.md").symlink_to(tmp_path / "real" / "a.md")
    (tmp_path / "again").symlink_to(tmp_path / "real")
    assert names(tmp_path) == ["real/a.md"]
    assert refusals(tmp_path) == []


def test_loops_of_links_end(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "a.md")
    (tmp_path / "deep" / "up").symlink_to(tmp_path)
    (tmp_path / "self.md").symlink_to(tmp_path / "self.md")
    (tmp_path / "one.md").symlink_to(tmp_path / "two.md")
    (tmp_path / "two.md").symlink_to(tmp_path / "one.md")
    assert names(tmp_path) == ["deep/a.md"]
    assert sorted(one.file for one in refusals(tmp_path)) == ["one.md", "self.md", "two.md"]
    assert all("leads nowhere" in one.reason for one in refusals(tmp_path))


def test_a_pipe_with_a_notes_name_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert [one.reason for one in refusals(tmp_path)] == ["is not a regular file"]
    assert load_file(SourceFile(str(tmp_path / "pipe.md"), "pipe.md"), 10) == Refused(
        "pipe.md", 0, "cannot be read: it is no regular file"
    )


def test_a_file_that_became_a_link_after_it_was_found_is_not_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.md")
    found = next(walk_files(tmp_path, ".md"))
    assert isinstance(found, SourceFile)
    path.unlink()
    path.symlink_to("/etc/hostname")
    assert isinstance(load_file(found, 1000), Refused)


def test_a_file_that_vanished_is_refused(tmp_path: Path) -> None:
    refused = load_file(SourceFile(str(tmp_path / "gone.md"), "gone.md"), 10)
    assert refused == Refused("gone.md", 0, "cannot be read: No such file or directory")


def test_a_name_that_is_not_utf8_is_refused_in_letters_that_can_be_shown(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff.md", "wb"):  # noqa: PTH123 - a Path cannot spell the name
        pass
    assert refusals(tmp_path) == [Refused("\\udcff.md", 0, "has a name that is not UTF-8")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every folder")
def test_a_folder_that_may_not_be_opened_costs_no_other(tmp_path: Path) -> None:
    write(tmp_path / "locked" / "a.md")
    write(tmp_path / "open" / "b.md")
    (tmp_path / "locked").chmod(0)
    try:
        assert names(tmp_path) == ["open/b.md"]
        assert [one.file for one in refusals(tmp_path)] == ["locked"]
    finally:
        (tmp_path / "locked").chmod(0o700)


def test_a_file_over_the_limit_is_refused_with_both_sizes(tmp_path: Path) -> None:
    path = write(tmp_path / "big.md", "x" * 1_048_576)
    refused = load_file(SourceFile(str(path), "big.md"), 1000)
    assert refused == Refused("big.md", 0, "is 1,048,576 bytes long; the limit is 1,000")


def test_a_time_of_change_beyond_the_calendar_is_brought_into_it(tmp_path: Path) -> None:
    path = write(tmp_path / "old.md")
    os.utime(path, (-(10**9), -(10**9)))
    loaded = load_file(SourceFile(str(path), "old.md"), 1000)
    assert isinstance(loaded, LoadedFile)
    assert loaded.modified.year == 1970


def test_bytes_that_are_not_utf8_are_refused_with_their_line() -> None:
    assert decode_text(b"one\ntwo\nthr\xffee\n", "a.md") == Refused(
        "a.md", 3, "is not UTF-8: byte 0xff cannot stand there"
    )
    assert decode_text("\x00".encode("utf-16"), "a.md") == Refused(
        "a.md", 1, "is not UTF-8: byte 0xff cannot stand there"
    )


def test_a_nul_is_refused_with_its_line() -> None:
    refused = decode_text(b"one\nt\x00wo", "a.md")
    assert isinstance(refused, Refused)
    assert refused.line == 2
