from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memento_tui.errors import InvalidInput
from memento_tui.formats import memento_core
from memento_tui.model import Memory, make_memory, make_relation, make_skip
from tests.unit.format_reading import Reading, reading

USUAL: dict[str, Any] = {
    "id": "550e8400-e29b-41d4-a716-446655440000",
    "namespace": "decisions",
    "content": "Use JSONL for storage.",
    "tags": ["architecture", "storage"],
    "created": "2026-02-26T14:30:00.000Z",
    "updated": "2026-02-27T09:00:00.500Z",
    "source": "claude-code",
    "relations": [],
    "ttl": None,
}


def line(**values: object) -> str:
    return json.dumps({**USUAL, **values}) + "\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "memories").mkdir(parents=True)
    return tmp_path / "home"


def put(home: Path, namespace: str, text: str | bytes) -> Path:
    path = home / "memories" / f"{namespace}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(root: Path) -> Reading:
    return reading(memento_core.read(root))


def test_a_line_becomes_a_memory(home: Path) -> None:
    put(home, "decisions", line(relations=["other"], ttl="2030-01-01T00:00:00.000Z"))
    found = read(home)
    memory = found.memories[USUAL["id"]]
    assert memory == make_memory(
        {
            "id": USUAL["id"],
            "namespace": "decisions",
            "content": "Use JSONL for storage.",
            "tags": ["architecture", "storage"],
            "created_at": "2026-02-26T14:30:00Z",
            "updated_at": "2026-02-27T09:00:00.5Z",
            "expires_at": "2030-01-01",
            "source": {"agent": "claude-code"},
            "source_type": "derived",
            "extra": {"memento-core": {"relations": ["other"]}},
        }
    )
    assert found.only.links == (("related", "other", ""),)
    assert (found.only.file, found.only.line, found.only.deleted) == ("decisions.jsonl", 1, False)


def test_the_folders_below_memories_are_the_namespace(home: Path) -> None:
    put(home, "projects/my-app", line(namespace="projects/my-app"))
    assert read(home).only.fields["namespace"] == "projects/my-app"
    assert read(home / "memories").only.fields["namespace"] == "projects/my-app"
    assert read(home / "memories" / "projects" / "my-app.jsonl").only.fields["namespace"] == "projects/my-app"


def test_a_file_outside_of_any_home_has_its_own_name_as_namespace(tmp_path: Path) -> None:
    path = tmp_path / "v1.2 notes.jsonl"
    path.write_text(line(), encoding="utf-8")
    assert read(path).only.fields["namespace"] == "v1.2 notes"


@pytest.mark.parametrize("source", ["user", "manual"])
def test_what_a_person_wrote_is_the_users(home: Path, source: str) -> None:
    put(home, "global", line(source=source))
    assert read(home).only.fields["source_type"] == "user"


def test_the_last_line_for_an_id_counts(home: Path) -> None:
    put(home, "global", line(id="a", content="old") + line(id="b") + line(id="a", content="new"))
    found = read(home)
    assert found.keys == ["b", "a"]
    assert (found.taken[1].fields["content"], found.taken[1].line) == ("new", 3)
    assert memento_core.count(home) == 3


def test_a_damaged_last_line_does_not_cost_the_good_one_before_it(home: Path) -> None:
    put(home, "global", line(id="a", content="good").encode() + line(id="a").encode().replace(b"JSONL", b"\xff"))
    found = read(home)
    assert found.keys == ["a"]
    assert found.taken[0].fields["content"] == "good"
    assert [(one.file, one.line) for one in found.refused] == [("global.jsonl", 2)]


def test_corrupt_half_and_unended_lines_never_cost_the_rest(home: Path) -> None:
    put(home, "global", line(id="a") + '{"id": "h", "content": "cut' + "\n" + "garbage\n" + line(id="b").strip())
    found = read(home)
    assert found.keys == ["a", "b"]
    assert [one.line for one in found.refused] == [2, 3]


def test_a_record_appended_to_a_half_written_one_is_found(home: Path) -> None:
    put(home, "global", '{"id": "h", "content": "cut' + line(id="a") + line(id="b").strip() + line(id="c"))
    found = read(home)
    assert found.keys == ["a", "b", "c"]
    assert [one.line for one in found.refused] == [1]


def test_a_tombstone_is_a_deletion(home: Path) -> None:
    put(home, "global", line(id="a") + '{"id": "a", "deleted": true}\n')
    incoming = read(home).only
    assert (incoming.key, incoming.deleted, incoming.line) == ("a", True, 2)


def test_a_memory_that_was_deleted_and_stored_again_lives(home: Path) -> None:
    put(home, "global", line(id="a") + '{"id": "a", "deleted": true}\n' + line(id="a", content="back"))
    assert read(home).memories["a"].content == "back"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"id": None}, "has no id"),
        ({"id": 5}, "has no id"),
        ({"id": " "}, "has no id"),
        ({"content": ""}, "has no content"),
        ({"content": ["a"]}, "has no content"),
        ({"content": None, "deleted": False}, "has no content"),
    ],
)
def test_a_line_without_an_id_or_a_text_is_refused(home: Path, values: dict[str, Any], reason: str) -> None:
    put(home, "global", line(**values) + line(id="b"))
    found = read(home)
    assert found.keys == ["b"]
    assert [(one.line, one.reason) for one in found.refused] == [(1, reason)]


@pytest.mark.parametrize(
    "odd",
    [
        {"tags": "one, two"},
        {"tags": ["", "x" * 500, 3, None, "good", "good"]},
        {"tags": {"a": 1}},
        {"created": "yesterday"},
        {"created": 1700000000},
        {"updated": "2026-13-45T00:00:00.000Z"},
        {"ttl": 3600},
        {"ttl": "soon"},
        {"source": {"agent": "x"}},
        {"source": ["user"]},
        {"relations": "a"},
        {"relations": [{"id": "a"}, 5, ""]},
        {"namespace": 7},
        {"deleted": "no"},
        {"importance": 0.7, "extra": {"a": 1}, "kind": "x"},
    ],
)
def test_odd_values_cost_no_memory_and_return_as_they_were(home: Path, tmp_path: Path, odd: dict[str, Any]) -> None:
    put(home, "decisions", line(**odd))
    found = read(home)
    memory = found.memories[USUAL["id"]]
    assert memory.content == USUAL["content"]
    assert found.refused == []
    written = back(memory, tmp_path)
    # A time that is none is the exception: the memory has a true one by now.
    expected = {**USUAL, **odd, "namespace": "decisions", "created": written["created"], "updated": written["updated"]}
    assert written == expected


def back(memory: Memory, folder: Path) -> dict[str, Any]:
    memento_core.write([memory], folder / "back")
    (path,) = (folder / "back" / "memories").rglob("*.jsonl")
    value = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    return value


def test_one_id_in_two_files_stays_with_the_first_created_and_the_other_is_told_apart(home: Path) -> None:
    put(home, "a", line(id="x", content="younger", created="2026-05-01T00:00:00.000Z"))
    put(home, "b", line(id="x", content="older", created="2026-04-01T00:00:00.000Z"))
    memories = read(home).memories
    assert {key: memory.content for key, memory in memories.items()} == {"x@a": "younger", "x": "older"}
    assert memories["x"].namespace == "b"


def test_a_second_use_of_an_id_that_appears_later_does_not_take_it_from_the_first(home: Path) -> None:
    put(home, "b", line(id="x", created="2026-04-01T00:00:00.000Z"))
    before = read(home).only
    put(home, "a", line(id="x", created="2026-05-01T00:00:00.000Z"))
    after = {one.key: one for one in read(home).taken}
    assert after["x"].digest == before.digest
    assert sorted(after) == ["x", "x@a"]


def test_a_memory_that_was_moved_keeps_its_id(home: Path) -> None:
    put(home, "old", line(id="x", created="2026-04-01T00:00:00.000Z") + '{"id": "x", "deleted": true}\n')
    put(home, "new", line(id="x", created="2026-05-01T00:00:00.000Z"))
    found = {one.key: one for one in read(home).taken}
    assert found["x"].fields["namespace"] == "new"
    assert found["x@old"].deleted


def test_the_key_of_a_second_use_never_meets_an_id_that_is_spelled_like_it(home: Path) -> None:
    put(home, "a", line(id="x") + line(id="x@b"))
    put(home, "b", line(id="x"))
    assert sorted(read(home).keys) == ["x", "x@b", "x@b@"]


def test_ids_that_were_told_apart_return_to_their_files_as_they_were(home: Path, tmp_path: Path) -> None:
    put(home, "a", line(id="x", namespace="a"))
    put(home, "b", line(id="x", namespace="b"))
    memories = list(read(home).memories.values())
    memento_core.write(memories, tmp_path / "back")
    for name in ("a", "b"):
        written = json.loads((tmp_path / "back" / "memories" / f"{name}.jsonl").read_text(encoding="utf-8"))
        assert written == {**USUAL, "id": "x", "namespace": name}


def test_the_digest_changes_with_the_line_and_not_with_its_place(home: Path) -> None:
    path = put(home, "global", line(id="a"))
    first = read(home).only.digest
    path.write_text("\n" + line(id="a").strip(), encoding="utf-8")
    assert read(home).only.digest == first
    path.write_text(line(id="a", content="Other."), encoding="utf-8")
    assert read(home).only.digest != first


def test_files_behind_links_that_lead_out_are_refused(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_text(line(), encoding="utf-8")
    (home / "memories" / "stolen.jsonl").symlink_to(outside)
    assert "leads out" in read(home).only_refused.reason


def test_an_empty_home_holds_nothing(home: Path) -> None:
    put(home, "global", "")
    assert read(home) == Reading()
    with pytest.raises(InvalidInput, match="nothing at"):
        read(home / "missing")


def test_an_export_writes_one_file_for_each_namespace_with_the_fields_of_the_format(tmp_path: Path) -> None:
    one = make_memory(
        {"id": "1", "content": "a", "namespace": "projects/app", "created_at": "2026-01-01T00:00:00.123456Z"}
    )
    two = make_memory({"id": "2", "content": "b", "status": "deleted"})
    relations = [make_relation({"src": "1", "dst": "2"}), make_relation({"src": "1", "dst": "a.py", "type": "file"})]
    skip = make_skip({"item": "x", "reason": "y", "expires_at": "9d"})
    written = memento_core.write([one, two, *relations, skip], tmp_path)
    assert (written.records, written.files, written.left_out) == (3, 2, 2)
    lines = (tmp_path / "memories" / "projects" / "app.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(text) for text in lines] == [
        {
            "id": "1",
            "namespace": "projects/app",
            "content": "a",
            "tags": [],
            "created": "2026-01-01T00:00:00.123456Z",
            "updated": "2026-01-01T00:00:00.123456Z",
            "source": None,
            "relations": ["2"],
            "ttl": None,
        }
    ]
    assert json.loads((tmp_path / "memories" / "global.jsonl").read_text(encoding="utf-8"))["deleted"] is True


def test_what_changed_in_memento_is_what_an_export_says(home: Path, tmp_path: Path) -> None:
    put(home, "decisions", line(created="2026-02-26T14:30:00Z", relations=["gone", "kept", "removed"], tags=["a", ""]))
    memory = make_memory({**read(home).only.fields, "tags": ["b"], "created_at": "2025-01-01"})
    others = [make_memory({"id": name, "content": name, "namespace": "n"}) for name in ("kept", "removed", "new")]
    relations = [make_relation({"src": memory.id, "dst": name}) for name in ("new", "kept")]
    memento_core.write([memory, *others, *relations], tmp_path / "back")
    value = json.loads((tmp_path / "back" / "memories" / "decisions.jsonl").read_text(encoding="utf-8"))
    assert value["tags"] == ["b"]
    assert value["created"] == "2025-01-01T00:00:00.000Z"
    assert value["relations"] == ["gone", "kept", "new"]


def test_an_export_never_adds_to_files_that_are_there(home: Path) -> None:
    with pytest.raises(InvalidInput, match="is there already"):
        memento_core.write([make_memory({"content": "a"})], home)


def test_values_that_another_hand_put_where_the_import_keeps_its_own_do_no_harm(tmp_path: Path) -> None:
    for place, kept in enumerate(["text", {"id": 5, "content": "forged", "tags": ["forged"], "created": "x"}]):
        memory = make_memory({"id": "a", "content": "true", "extra": {"memento-core": kept}})
        written = back(memory, tmp_path / str(place))
        assert (written["id"], written["content"], written["tags"]) == ("a", "true", [])


def test_a_place_that_cannot_be_written_is_an_error_with_the_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput, match="cannot be written"):
        memento_core.write([make_memory({"content": "a"})], tmp_path / "file" / "below")
