from __future__ import annotations

import json
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from memento_tui.errors import InvalidField, InvalidInput
from memento_tui.formats import memento_jsonl
from memento_tui.formats.base import ExportRecord
from memento_tui.model import make_crystal, make_item, make_memory, make_relation, make_skip
from tests.unit.format_reading import Reading, reading


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "export.jsonl"


def read(path: Path, text: str | None = None) -> Reading:
    if text is not None:
        path.write_text(text, encoding="utf-8")
    return reading(memento_jsonl.read(path))


def one_of_each() -> list[ExportRecord]:
    return [
        make_memory(
            {
                "id": "m1",
                "content": "Zwölf Boxkämpfer 🥊\nline two",
                "title": "T",
                "tags": ["a"],
                "expires_at": "2030-01-01T10:00Z",
                "pinned": True,
                "surprise": 0.25,
                "source": {"agent": "codex", "url": "https://example.org"},
                "extra": {"vault": {"head": "---\n"}, "n": [1, None, 2.5]},
                "shown_count": 3,
            }
        ),
        make_memory({"id": "m2", "content": "gone", "status": "deleted"}),
        make_skip({"id": "s1", "item": "x", "reason": "y", "expires_at": "30d"}),
        make_item({"id": "i1", "title": "Do it", "priority": 3}),
        make_crystal({"id": "c1", "content": "I am.", "status": "past"}),
        make_relation({"id": "r1", "src": "m1", "dst": "m2", "type": "supersedes", "label": "because"}),
    ]


MAKERS: dict[str, Callable[[Mapping[str, Any]], ExportRecord]] = {
    "memory": make_memory,
    "skip": make_skip,
    "item": make_item,
    "crystal": make_crystal,
    "relation": make_relation,
}


def test_an_export_comes_back_as_the_same_records(path: Path) -> None:
    records = one_of_each()
    written = memento_jsonl.write(records, path)
    assert (written.records, written.files, written.left_out) == (6, 1, 0)
    found = read(path)
    assert found.refused == []
    assert [MAKERS[one.record](one.fields) for one in found.taken] == records
    assert found.keys == ["m1", "m2", "s1", "i1", "c1", "r1"]
    assert [one.line for one in found.taken] == [2, 3, 4, 5, 6, 7]
    assert memento_jsonl.count(path) == 7


def test_an_export_is_lines_that_a_person_can_read(path: Path) -> None:
    memento_jsonl.write([make_memory({"id": "a", "content": "ünïcode", "created_at": "2026-01-02T03:04:05Z"})], path)
    assert path.read_bytes().decode() == (
        '{"record":"header","format":"memento-jsonl","version":1}\n'
        '{"record":"memory","id":"a","content":"ünïcode","created_at":"2026-01-02T03:04:05Z",'
        '"updated_at":"2026-01-02T03:04:05Z","version":1}\n'
    )


def test_an_export_is_for_its_owner_and_replaces_nothing(path: Path) -> None:
    memento_jsonl.write([], path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(InvalidInput, match="is there already"):
        memento_jsonl.write([], path)


def test_an_export_that_breaks_off_leaves_nothing_behind(path: Path) -> None:
    def broken() -> list[ExportRecord]:
        raise InvalidInput("The database went away.")

    with pytest.raises(InvalidInput, match="went away"):
        memento_jsonl.write((record for _ in range(1) for record in broken()), path)
    assert list(path.parent.iterdir()) == []


def test_an_export_to_no_place_is_an_error_with_the_path(path: Path) -> None:
    path.write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput, match="cannot be written"):
        memento_jsonl.write([], path / "below.jsonl")


def test_lines_written_by_hand_need_no_more_than_a_text(path: Path) -> None:
    found = read(path, '{"record": "memory", "content": "We use pnpm.", "title": "Package manager"}\n')
    memory = make_memory({"id": found.only.key, **found.only.fields})
    assert (memory.title, memory.content) == ("Package manager", "We use pnpm.")
    assert "id" not in found.only.fields


def test_a_line_without_an_id_is_known_by_its_title_wherever_it_stands_and_whatever_it_says(path: Path) -> None:
    key = read(path, '{"record": "memory", "title": "A", "content": "one"}\n').only.key
    moved = read(path, '\n\n{"record": "memory", "content": "two", "title": "A"}')
    assert moved.only.key == key
    other = read(path, '{"record": "memory", "title": "A", "content": "one", "namespace": "n"}\n')
    assert other.only.key != key


@pytest.mark.parametrize(
    "line",
    [
        '{"record": "memory", "content": "text"}',
        '{"record": "skip", "item": "x", "reason": "y", "expires_at": "9d"}',
        '{"record": "item", "title": "x"}',
        '{"record": "crystal", "content": "I am."}',
        '{"record": "relation", "src": "a", "dst": "b"}',
    ],
)
def test_every_record_can_go_without_an_id_and_its_key_can_be_one(path: Path, line: str) -> None:
    incoming = read(path, line).only
    MAKERS[incoming.record]({"id": incoming.key, **incoming.fields})
    assert incoming.key.startswith(f"{incoming.record}-")


def test_unknown_fields_go_into_extra_and_what_is_there_already_wins(path: Path) -> None:
    text = '{"record": "memory", "content": "a", "author": "me", "mood": 1, "extra": {"mood": 2}}'
    assert read(path, text).only.fields["extra"] == {"author": "me", "mood": 2}


def test_a_field_of_the_wrong_shape_is_left_for_the_record_to_refuse(path: Path) -> None:
    found = read(path, '{"record": "memory", "content": "a", "extra": "text", "author": "me"}')
    with pytest.raises(InvalidField, match="extra"):
        make_memory(found.only.fields)


def test_a_tombstone_written_by_hand_is_a_deletion(path: Path) -> None:
    assert read(path, '{"record": "memory", "id": "a", "deleted": true}').only.deleted
    assert not read(path, '{"record": "memory", "id": "a", "content": "x", "status": "deleted"}').only.deleted


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"content": "a"}', "has no record that is one of memory, skip, item, crystal, relation"),
        ('{"record": "dream", "content": "a"}', "has no record"),
        ('{"record": ["memory"], "content": "a"}', "has no record"),
        ('{"record": "memory", "tags": ["a"]}', "has neither an id nor a text"),
        ('{"record": "memory", "id": 5, "title": ""}', "has neither an id nor a text"),
        ('{"record": "relation"}', "has neither an id nor a text"),
        ('{"record": "memory", "content": "cut', "is not whole JSON"),
        ("[]", "is not an object"),
    ],
)
def test_a_line_that_is_no_record_is_refused_and_costs_no_other(path: Path, line: str, reason: str) -> None:
    found = read(path, f'{line}\n{{"record": "memory", "content": "b"}}\n')
    assert len(found.taken) == 1
    assert [(one.file, one.line) for one in found.refused] == [("export.jsonl", 1)]
    assert found.refused[0].reason.startswith(reason)


def test_a_second_line_with_the_same_id_or_title_is_refused_and_names_the_first(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"record": "memory", "id": "x", "content": "1"}\n', encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(
        '{"record": "memory", "id": "x", "content": "2"}\n'
        '{"record": "item", "id": "x", "title": "another kind"}\n'
        '{"record": "memory", "title": "t", "content": "1"}\n'
        '{"record": "memory", "title": "t", "content": "2"}\n',
        encoding="utf-8",
    )
    found = read(tmp_path)
    assert len(found.taken) == 3
    assert [(one.file, one.line, one.reason) for one in found.refused] == [
        ("b.jsonl", 1, "has the id of line 1 of a.jsonl; give it another"),
        ("b.jsonl", 4, "has the text of line 3 of b.jsonl; give it another"),
    ]


def test_a_file_of_a_newer_version_is_refused_whole_and_costs_no_other(tmp_path: Path) -> None:
    header = {"record": "header", "format": "memento-jsonl", "version": 2}
    (tmp_path / "a.jsonl").write_text(json.dumps(header) + '\n{"record": "memory", "content": "x"}\n', encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"record": "memory", "content": "y"}\n', encoding="utf-8")
    found = read(tmp_path)
    assert [one.fields["content"] for one in found.taken] == ["y"]
    assert found.refused[0].reason == (
        "is of version 2 of its format, and this memento reads up to 1; use a newer memento"
    )


@pytest.mark.parametrize("header", ['{"record": "header"}', '{"record": "header", "format": "x", "version": 1}'])
def test_a_header_of_something_else_is_refused(path: Path, header: str) -> None:
    assert "is of the format" in read(path, header + '\n{"record": "memory", "content": "x"}').only_refused.reason


def test_exports_that_were_joined_into_one_file_are_read(path: Path) -> None:
    parts = [b"".join(memento_jsonl.encode([make_memory({"content": text})])).decode() for text in "ab"]
    assert [one.fields["content"] for one in read(path, "".join(parts)).taken] == ["a", "b"]


def test_an_empty_file_holds_nothing(path: Path) -> None:
    assert read(path, "") == Reading()


def test_every_field_of_every_record_has_a_place_in_the_format() -> None:
    for record in one_of_each():
        (line,) = list(memento_jsonl.encode([record]))[1:]
        assert msgspec.json.decode(line, type=type(record)) == record
