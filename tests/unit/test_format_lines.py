from __future__ import annotations

import os
from pathlib import Path

import pytest

from memento_tui.formats import source_files
from memento_tui.formats.base import Refused
from memento_tui.formats.source_files import JsonLine, SourceFile, count_lines, read_objects


def read(path: Path, data: bytes) -> tuple[list[object], list[tuple[int, str]]]:
    path.write_bytes(data)
    found = list(read_objects(SourceFile(str(path), path.name), "id"))
    values: list[object] = [one.value["id"] for one in found if isinstance(one, JsonLine)]
    return values, [(one.line, one.reason) for one in found if isinstance(one, Refused)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "global.jsonl"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"garbage", "is not whole JSON: Expecting value at character 1"),
        (b'{"id": "half", "content": "cut o', "is not whole JSON: Unterminated string"),
        (b'{"id": "x", "n": NaN', "is not whole JSON"),
        (b"[1, 2]", "is not an object with fields"),
        (b'"text"', "is not an object with fields"),
        (b'{"id": "x", "content": "\xff"}', "is not UTF-8: byte 0xff cannot stand there"),
        (b'{"id": "x", "content": "\\ud83d"}', "holds a character or a number that no text can carry"),
        (b'{"id": "x", "n": 1e999}', "holds a character or a number that no text can carry"),
        (b'{"id": "x", "n": ' + b"9" * 5000 + b"}x", "holds a number that is too long"),
        (b'{"id": "x", "n": ' + b"[" * 100_000, "is nested too deep"),
        (b"{" * 100_000, "is not whole JSON"),
        (b"\x00\x00\x00", "is not whole JSON"),
    ],
)
def test_a_line_that_is_no_object_is_refused_and_costs_no_other(path: Path, bad: bytes, reason: str) -> None:
    ids, refused = read(path, b'{"id": "before"}\n' + bad + b'\n{"id": "after"}\n')
    assert ids == ["before", "after"]
    assert len(refused) == 1
    assert refused[0][0] == 2
    assert refused[0][1].startswith(reason)


def test_a_missing_last_line_break_costs_nothing(path: Path) -> None:
    assert read(path, b'{"id": "a"}\n{"id": "b"}') == (["a", "b"], [])


def test_empty_lines_and_the_line_breaks_of_windows_are_no_faults(path: Path) -> None:
    assert read(path, b'\r\n{"id": "a"}\r\n  \n\n{"id": "b"}\r\n') == (["a", "b"], [])


def test_a_byte_order_mark_is_no_fault_at_the_start_and_one_elsewhere(path: Path) -> None:
    ids, refused = read(path, b'\xef\xbb\xbf{"id": "a"}\n\xef\xbb\xbf{"id": "b"}\n')
    assert ids == ["a", "b"]
    assert [line for line, _ in refused] == [2]


def test_an_empty_file_holds_nothing(path: Path) -> None:
    assert read(path, b"") == ([], [])


def test_records_that_share_a_line_are_all_read(path: Path) -> None:
    many = b"".join(b'{"id": "%d"}' % number for number in range(500))
    assert read(path, many)[0] == [str(number) for number in range(500)]
    assert read(path, b'{"id": "a"} {"id": "b"}\n') == (["a", "b"], [])


def test_a_half_record_with_a_whole_one_after_it_on_its_line_costs_only_itself(path: Path) -> None:
    ids, refused = read(path, b'{"id": "a", "content": "cut o{"id": "b", "meta": {"x": 1}}\n')
    assert ids == ["b"]
    assert [line for line, _ in refused] == [1]


def test_an_object_inside_a_damaged_record_is_not_taken_for_a_record(path: Path) -> None:
    ids, refused = read(path, b'{"id": "a", "source": {"agent": "x"}, "content": "cut o\n')
    assert ids == []
    assert len(refused) == 1


def test_a_hostile_line_of_openings_ends_soon(path: Path) -> None:
    ids, refused = read(path, b'{"id"' * 200_000 + b'\n{"id": "b"}\n')
    assert ids == ["b"]
    assert len(refused) == 1


def test_a_line_longer_than_any_record_is_refused_without_being_held(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_files, "_LONGEST_LINE", 64)
    long = b'{"id": "long", "content": "' + b"x" * 1000 + b'"}'
    ids, refused = read(path, b'{"id": "a"}\n' + long + b'\n{"id": "b"}\n' + long)
    assert ids == ["a", "b"]
    assert refused == [(2, "is longer than 64 bytes"), (4, "is longer than 64 bytes")]


def test_the_source_of_a_record_is_its_own_bytes(path: Path) -> None:
    path.write_bytes(b'{"id": "a"}{"id": "b"}\n  {"id": "c"}  \n')
    found = [one for one in read_objects(SourceFile(str(path), "x"), "id") if isinstance(one, JsonLine)]
    assert [(one.number, one.nth, one.source) for one in found] == [
        (1, 0, b'{"id": "a"}'),
        (1, 1, b'{"id": "b"}'),
        (2, 0, b'{"id": "c"}'),
    ]


def test_a_file_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    found = list(read_objects(SourceFile(str(tmp_path / "gone.jsonl"), "gone.jsonl"), "id"))
    assert found == [Refused("gone.jsonl", 0, "cannot be read: No such file or directory")]


def test_a_pipe_in_the_place_of_a_file_is_neither_waited_for_nor_refused_without_a_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    found = list(read_objects(SourceFile(str(tmp_path / "a.jsonl"), "a.jsonl"), "id"))
    assert found == [Refused("a.jsonl", 0, "cannot be read: it is no regular file")]


def test_lines_are_counted_across_files_with_and_without_a_last_line_break(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"{}\n{}\n")
    (tmp_path / "b.jsonl").write_bytes(b"{}\n{}")
    (tmp_path / "c.jsonl").write_bytes(b"")
    os.mkfifo(tmp_path / "d.jsonl")
    assert count_lines(tmp_path, ".jsonl") == 4
