from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.errors import InvalidInput
from memento_tui.formats import mem0
from memento_tui.formats.import_export import ImportReport, run_export, run_import
from memento_tui.formats.registry import detect_format
from memento_tui.model import Memory, make_memory
from tests.unit.format_reading import reading

TEA: dict[str, Any] = {
    "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
    "memory": "Prefers green tea",
    "hash": hashlib.md5(b"Prefers green tea", usedforsecurity=False).hexdigest(),
    "metadata": {"category": "food", "weight": 0.5},
    "created_at": "2025-03-01T10:11:12.123456-07:00",
    "updated_at": None,
    "user_id": "anna",
}
BOAT: dict[str, Any] = {
    "id": "b",
    "memory": "Owns a boat",
    "user_id": "anna",
    "agent_id": "planner",
    "run_id": "r7",
    "role": "user",
    "categories": ["hobby", "sea"],
    "expiration_date": "2090-05-01",
    "created_at": "2025-03-01T00:00:00Z",
    "updated_at": "2025-03-02T00:00:00Z",
}
KNOWS = {"source": "anna", "relationship": "is_friend_of", "target": "bo"}


def put(path: Path, document: object, indent: int | None = 2) -> Path:
    path.write_text(json.dumps(document, indent=indent), encoding="utf-8")
    return path


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    return (report.imported, report.updated, report.unchanged, len(report.refused))


def exported(workspace: Workspace, path: Path) -> Any:  # noqa: ANN401 - a JSON document
    run_export(workspace, path, format_name="mem0")
    return json.loads(path.read_bytes())


def memories(path: Path) -> dict[str, Memory]:
    return reading(mem0.read(path)).memories


def test_a_memory_keeps_its_id_text_times_and_source(tmp_path: Path) -> None:
    found = memories(put(tmp_path / "m.json", {"results": [TEA, BOAT]}))
    tea, boat = found[TEA["id"]], found["b"]
    assert (tea.id, tea.content, tea.namespace, tea.source_type) == (
        TEA["id"],
        "Prefers green tea",
        "global",
        "derived",
    )
    assert tea.created_at.isoformat() == "2025-03-01T17:11:12.123456+00:00"
    assert (boat.tags, boat.source.agent, boat.source.session, boat.source_type) == (
        ("hobby", "sea"),
        "planner",
        "r7",
        "user",
    )
    assert f"{boat.expires_at:%Y-%m-%d}" == "2090-05-01"


@pytest.mark.parametrize(
    "document",
    [
        {"results": [TEA, BOAT]},
        [TEA, BOAT],
        {"memories": [TEA, BOAT]},
        {"count": 2, "next": None, "results": [TEA, BOAT]},
    ],
)
def test_every_shape_of_its_answers_is_read_twice_and_written_as_one(
    workspace: Workspace, tmp_path: Path, document: object
) -> None:
    path = put(tmp_path / "m.json", document)
    assert detect_format(path) == "mem0"
    assert counts(run_import(workspace, "mem0", path)) == (2, 0, 0, 0)
    assert counts(run_import(workspace, "mem0", path)) == (0, 0, 2, 0)
    assert exported(workspace, tmp_path / "out.json") == {"results": [TEA, BOAT]}


def test_memories_a_line_are_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text(f"{json.dumps(TEA)}\n{{half\n{json.dumps(BOAT)}\n", encoding="utf-8")
    assert detect_format(path) == "mem0"
    found = reading(mem0.read(path))
    assert found.keys == [TEA["id"], "b"]
    assert [(refused.line, "not whole JSON" in refused.reason) for refused in found.refused] == [(2, True)]


def test_a_single_memory_is_read(tmp_path: Path) -> None:
    assert reading(mem0.read(put(tmp_path / "m.json", TEA))).only.key == TEA["id"]


def test_the_users_of_a_file_are_kept_apart_where_there_are_several(tmp_path: Path) -> None:
    document = [TEA, {**BOAT, "user_id": "bo"}, {**BOAT, "id": "c", "app_id": "shop"}]
    found = memories(put(tmp_path / "m.json", document))
    assert [memory.namespace for memory in found.values()] == ["users/anna", "users/bo", "projects/shop"]
    agent = {"id": "d", "memory": "x", "agent_id": "planner"}
    assert memories(put(tmp_path / "m.json", [agent]))["d"].namespace == "agents/planner"


def test_a_relation_of_the_graph_is_a_memory_and_goes_back_as_a_relation(workspace: Workspace, tmp_path: Path) -> None:
    other = {"source": "bo", "relationship": "likes", "destination": "tea", "score": 1}
    document = {"results": [TEA], "relations": [KNOWS, other]}
    path = put(tmp_path / "m.json", document)
    assert counts(run_import(workspace, "mem0", path)) == (3, 0, 0, 0)
    assert counts(run_import(workspace, "mem0", path)) == (0, 0, 3, 0)
    (found,) = [m for batch in workspace._store.memories.batches() for m in batch if "friend" in m.content]
    assert found.content == "anna is friend of bo"
    assert exported(workspace, tmp_path / "out.json") == document
    workspace.update(found.id, content="anna is no friend of bo")
    after = exported(workspace, tmp_path / "after.json")
    assert after["relations"] == [other]
    assert [one["memory"] for one in after["results"]] == ["Prefers green tea", "anna is no friend of bo"]


def test_an_edit_here_moves_the_hash_and_the_time_and_keeps_the_rest(workspace: Workspace, tmp_path: Path) -> None:
    run_import(workspace, "mem0", put(tmp_path / "m.json", [TEA, BOAT]))
    workspace.update(TEA["id"], content="Prefers black tea", tags=["drinks"], expires_at="2091-01-01")
    tea, boat = exported(workspace, tmp_path / "out.json")["results"]
    assert boat == BOAT
    assert tea == {
        **TEA,
        "memory": "Prefers black tea",
        "hash": hashlib.md5(b"Prefers black tea", usedforsecurity=False).hexdigest(),
        "updated_at": workspace.get(TEA["id"]).updated_at.isoformat().replace("+00:00", "Z"),
        "categories": ["drinks"],
        "expiration_date": "2091-01-01",
    }


def test_a_change_in_the_source_is_taken_in(workspace: Workspace, tmp_path: Path) -> None:
    path = put(tmp_path / "m.json", [TEA, BOAT])
    run_import(workspace, "mem0", path)
    put(path, [{**TEA, "memory": "Prefers coffee"}, BOAT])
    assert counts(run_import(workspace, "mem0", path)) == (0, 1, 1, 0)
    assert workspace.get(TEA["id"]).content == "Prefers coffee"


def test_a_memory_from_elsewhere_has_the_fields_of_mem0(tmp_path: Path) -> None:
    made = make_memory(
        {
            "id": "x",
            "title": "Tea",
            "content": "Green",
            "tags": ["t"],
            "source": {"agent": "a", "session": "s"},
            "created_at": "2026-01-01T00:00:00Z",
            "expires_at": "2090-01-01",
        }
    )
    rejected = make_memory({"content": "no", "status": "rejected"})
    assert mem0.write([made, rejected], tmp_path / "out.json").left_out == 1
    (result,) = json.loads((tmp_path / "out.json").read_bytes())["results"]
    assert result == {
        "id": "x",
        "memory": "Green",
        "hash": hashlib.md5(b"Green", usedforsecurity=False).hexdigest(),
        "metadata": {"title": "Tea"},
        "categories": ["t"],
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "user_id": "default",
        "expiration_date": "2090-01-01",
        "agent_id": "a",
        "run_id": "s",
    }
    with pytest.raises(InvalidInput, match="there already"):
        mem0.write([], tmp_path / "out.json")


def test_a_damaged_document_costs_only_what_is_broken(tmp_path: Path) -> None:
    text = json.dumps({"results": [TEA, BOAT, {**BOAT, "id": "c"}]}, indent=1)
    broken = text.replace('"Owns a boat"', '"Owns a bo', 1)
    path = tmp_path / "m.json"
    path.write_text(broken, encoding="utf-8")
    found = reading(mem0.read(path))
    assert found.keys == [TEA["id"], "c"]
    assert [(refused.line, refused.reason.split(" (")[0]) for refused in found.refused] == [
        (0, "is not a whole list of memories"),
        (broken[: broken.index('"Owns')].count("\n") - 1, "is not a whole memory"),
    ]
    path.write_text(text[: text.index('"id": "c"')], encoding="utf-8")
    assert reading(mem0.read(path)).keys == [TEA["id"], "b"]


@pytest.mark.parametrize("after", [b"", b", {"])
@pytest.mark.parametrize("text", [b'"caf\xe9"', b'"\\ud800"', b"1e999", b"[" * 3000 + b"]" * 3000])
def test_what_no_text_can_hold_costs_only_the_memory_that_holds_it(tmp_path: Path, text: bytes, after: bytes) -> None:
    path = put(tmp_path / "m.json", {"results": [TEA, {"id": "x", "memory": "?"}, BOAT]})
    whole = path.read_bytes().replace(b'"?"', text)
    path.write_bytes(whole.replace(b"\n  ]", after + b"\n  ]"))
    found = reading(mem0.read(path))
    assert {TEA["id"], "b"} <= set(found.keys)
    assert set(found.keys) <= {TEA["id"], "x", "b"}
    assert found.refused or "x" in found.keys


def test_elements_that_are_no_memories_are_refused_by_line(tmp_path: Path) -> None:
    odd = [TEA, 7, {"id": "x"}, {**TEA}, {"memory": "no id", "user_id": "u"}]
    found = reading(mem0.read(put(tmp_path / "m.json", {"relations": [KNOWS], "results": odd})))
    assert len(found.taken) == 3
    assert [one.file for one in found.refused] == ["m.json"] * 3
    lines = (tmp_path / "m.json").read_text().splitlines()
    assert [lines[refused.line - 1].strip().rstrip(",") for refused in found.refused] == ["7", "{", "{"]
    assert [lines[one.line].strip() for one in found.taken] == [
        f'"id": "{TEA["id"]}",',
        '"memory": "no id",',
        '"source": "anna",',
    ]


@pytest.mark.parametrize(
    "data", [b"", b"{", b"\xff\xfe", b"null", b'"x"', b"[" * 100_000, b'{"results": {"a": 1}}', b"[]x"]
)
def test_what_is_no_document_is_told_and_never_fails(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "m.json").write_bytes(data)
    found = reading(mem0.read(tmp_path / "m.json"))
    assert found.taken == []
    assert found.refused


def test_another_json_file_is_not_taken_for_one_of_mem0(tmp_path: Path) -> None:
    put(tmp_path / "package.json", {"name": "x"})
    with pytest.raises(InvalidInput, match="nothing that memento can read"):
        detect_format(tmp_path)
    put(tmp_path / "z.json", {"results": [TEA]})
    assert detect_format(tmp_path) == "mem0"


def test_the_count_is_that_of_the_memories(tmp_path: Path) -> None:
    assert mem0.count(put(tmp_path / "m.json", {"results": [TEA, BOAT]})) == 2


def test_half_a_character_in_one_memory_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    whole = rb'{"results": [{"memory": "a \ud800", "user_id": "x"}, {"id": "b", "memory": "Owns a boat"}'
    for end in (b"]}", b', {"id"'):
        path.write_bytes(whole + end)
        found = reading(mem0.read(path))
        assert found.keys == ["b"]
        assert "holds a character or a number that no text can carry" in [one.reason for one in found.refused]


def test_a_byte_order_mark_is_no_damage(tmp_path: Path) -> None:
    path = put(tmp_path / "m.json", {"results": [TEA]})
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert reading(mem0.read(path)).only.key == TEA["id"]
