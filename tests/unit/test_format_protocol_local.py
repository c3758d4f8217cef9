from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.errors import InvalidInput
from memento_tui.formats.base import ExportRecord
from memento_tui.formats.discovery import find_sources
from memento_tui.formats.import_export import run_export, run_import
from memento_tui.formats.protocol import local
from memento_tui.formats.protocol.columns import parse_blocks, render_document
from memento_tui.formats.registry import detect_format
from memento_tui.model import Relation, WorkingItem, make_crystal, make_item, make_memory
from tests.unit.format_reading import Reading, reading
from tests.unit.protocol_sources import as_file, rows

NAME = "protocol-local"
DOCUMENT = """# Working Memory

**Read this at the start.**

---

## Active Work

What you are doing.

### Search
Half done.

---

## Skip List

---

## My Own

Words.
"""


def memory(identity: str = "a1b2c3d4", **fields: object) -> dict[str, Any]:
    usual = {
        "id": identity,
        "content": f"The text of {identity}.",
        "type": "fact",
        "tags": ["api"],
        "created": "2026-02-14T10:00:00.000Z",
        "expires": None,
    }
    return {**usual, **fields}


def skip(identity: str = "5c1b0001", **fields: object) -> dict[str, Any]:
    usual = {"id": identity, "item": "aurora", "reason": "Kp is low", "expires": "2027-02-20"}
    return {**usual, "added": "2026-02-14T10:00:00.000Z", **fields}


def workspace_of(folder: Path, *memories: dict[str, Any], skips: object = ()) -> Path:
    for one in memories:
        as_file(folder / "memories" / f"{one['id']}.json", one)
    as_file(folder / "skip-index.json", list(skips) if isinstance(skips, tuple) else skips)
    (folder / "working-memory.md").write_text(DOCUMENT, encoding="utf-8")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def read(path: Path) -> Reading:
    return reading(local.read(path))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "app" / ".memento"


def test_a_file_becomes_a_memory(place: Path) -> None:
    as_file(place / "memories" / "a1b2c3d4.json", memory(expires="2030-01-01", tags=["api", "source:bulk"]))
    found = read(place)
    assert found.memories["a1b2c3d4"] == make_memory(
        {
            "id": "a1b2c3d4",
            "content": "The text of a1b2c3d4.",
            "kind": "fact",
            "tags": ["api"],
            "system_tags": ["source:bulk"],
            "source_type": "derived",
            "created_at": "2026-02-14T10:00Z",
            "expires_at": "2030-01-01",
            "extra": {"memento-protocol": {"file": {"row": {"expires": "2030-01-01"}}}},
        }
    )
    assert found.only.file == "memories/a1b2c3d4.json"


def test_an_import_takes_everything_and_an_export_gives_every_byte_back(
    workspace: Workspace, place: Path, tmp_path: Path
) -> None:
    workspace_of(
        place,
        memory(mood="calm", type="insight", expires="soon", content="Zeilen\nmit ümlaut \u2028 und \\ und \x7f"),
        memory("a1b2c3d5", consolidated=True, consolidated_into="a1b2c3d6"),
        memory("a1b2c3d6", consolidated_from=["a1b2c3d5", "ffffffff"], tags=["source:x", "b"]),
        memory("a1b2c3d7", linkages=[{"type": "file", "path": "a.py"}, {"type": "memory", "id": "a1b2c3d4"}]),
        skips=(skip(), skip("5c1b0002", expires="never", why=[1]), skip("5c1b0003", expires="2020-01-01")),
    )
    (place / "memories" / "by hand.json").write_text('{"content" : "odd",\r\n "id":"a1b2c3d8"}\n', encoding="utf-8")
    as_file(place / "items" / "1e000001.json", {"id": "1e000001", "category": "skip_list", "title": "Never"})
    as_file(place / "items" / "sub" / "x.json", {"title": "Two\nlines", "created": "2026-01-01", "status": "odd"})
    report = run_import(workspace, NAME, place)
    assert report.refused == []
    written = run_export(workspace, tmp_path / "out", format_name=NAME)
    assert (written.left_out, written.files) == (0, len(files(place)))
    assert files(tmp_path / "out" / "default" / ".memento") == files(place)
    again = run_import(workspace, NAME, place)
    assert (again.imported, again.updated, again.unchanged) == (0, 0, report.imported)


def test_relations_come_from_all_that_a_memory_says_of_others(workspace: Workspace, place: Path) -> None:
    linkages = [{"type": "file", "path": "a.py", "label": "source"}, {"type": "item", "id": "1e000001"}]
    workspace_of(
        place,
        memory(linkages=linkages),
        memory("a1b2c3d5", consolidated=True, consolidated_into="a1b2c3d6"),
        memory("a1b2c3d6", consolidated_from=["a1b2c3d4"]),
    )
    run_import(workspace, NAME, place)
    joined = {(one.src, one.type, one.dst, one.label) for one in workspace._store.all_of(Relation)}
    assert joined == {
        ("a1b2c3d4", "file", "a.py", "source"),
        ("a1b2c3d4", "item", "1e000001", ""),
        ("a1b2c3d6", "consolidated_from", "a1b2c3d4", ""),
        ("a1b2c3d6", "consolidated_from", "a1b2c3d5", ""),
    }


def test_a_section_becomes_a_working_item_that_the_tools_find_by_its_key(place: Path) -> None:
    workspace_of(place)
    found = {one.key: one for one in read(place).taken}
    assert list(found) == ["section:working-memory.md", "section:active_work", "section:My Own"]
    active = found["section:active_work"]
    assert (active.fields["title"], active.fields["content"], active.line) == (
        "Active Work",
        "What you are doing.\n\n### Search\nHalf done.",
        7,
    )
    assert active.fields["extra"]["protocol_section"] == "active_work"
    assert found["section:working-memory.md"].fields["status"] == "archived"


def test_a_section_that_a_person_edits_changes_alone(workspace: Workspace, place: Path, tmp_path: Path) -> None:
    workspace_of(place)
    run_import(workspace, NAME, place)
    (mine,) = [one for one in workspace._store.all_of(WorkingItem) if one.title == "My Own"]
    workspace.items.update(mine.id, content="Other words.", title="Ours")
    run_export(workspace, tmp_path / "out", format_name=NAME)
    text = (tmp_path / "out" / "default" / ".memento" / "working-memory.md").read_text(encoding="utf-8")
    assert text == DOCUMENT.replace("Words.", "Other words.").replace("My Own", "Ours")


def test_sections_of_the_same_name_are_told_apart(place: Path) -> None:
    text = "## A\n\none\n\n## A\n\ntwo\n"
    workspace_of(place)
    (place / "working-memory.md").write_text(text, encoding="utf-8")
    found = read(place)
    assert found.keys == ["section:A", "section:A~2"]
    assert found.refused == []


def test_new_sections_are_set_as_the_format_sets_them() -> None:
    assert render_document([]) == "# Working Memory\n\n---\n"
    text = render_document([("Active Work", "Do it."), ("Mine", "Words.")])
    assert text == "# Working Memory\n\n---\n\n## Active Work\n\nDo it.\n\n---\n\n## Mine\n\nWords.\n"
    assert (
        render_document([*parse_blocks("# T\n\n## A\n\none"), ("B", "two")], "")
        == "# T\n\n## A\n\none\n\n---\n\n## B\n\ntwo\n"
    )
    assert list(parse_blocks("")) == []
    assert [block.text for block in parse_blocks("## A")] == ["## A"]


@pytest.mark.parametrize(
    ("name", "text", "line", "reason"),
    [
        ("memories/x.json", '{"id": "x", "content": ', 0, "is not whole JSON"),
        ("memories/x.json", "[1]", 1, "not an object"),
        ("memories/x.json", '{"id": "x"}', 1, "has no content"),
        ("memories/x.json", '{"id": "x", "content": 5}', 1, "has no content"),
        ("memories/x.json", '{"id": "a1b2c3d4", "content": "other"}', 1, "has the id of memories/a1b2c3d4.json"),
        ("memories/x.json", '{"id": "x", "content": "' + "x" * 300_000 + '"}', 1, "the limit is"),
        ("memories/x.json", "[" * 100_000, 0, "is not whole JSON"),
        ("items/x.json", '{"id": "x"}', 1, "neither a title nor a content"),
        ("skip-index.json", '{"id": "x"}', 1, "is not a list"),
        ("skip-index.json", "[\n  5\n]", 2, "not an object"),
        ("skip-index.json", '[\n  {\n    "id": "x", "reason": "y", "expires": "2030-01-01"}]', 2, "has no item"),
        ("skip-index.json", "[", 0, "is not whole JSON"),
    ],
)
def test_a_broken_file_or_entry_costs_only_itself(
    workspace: Workspace, place: Path, name: str, text: str, line: int, reason: str
) -> None:
    workspace_of(place, memory())
    (place / name).parent.mkdir(exist_ok=True)
    (place / name).write_text(text, encoding="utf-8")
    report = run_import(workspace, NAME, place)
    assert report.imported == 4
    (refused,) = report.refused
    assert (refused.file, refused.line) == (name, line)
    assert reason in refused.reason


def test_bytes_that_are_no_text_are_refused_by_line(place: Path) -> None:
    workspace_of(place, memory())
    (place / "working-memory.md").write_bytes(b"## A\n\xff\n")
    (place / "memories" / "x.json").write_bytes(b'{"id": "\xff"}')
    assert {(one.file, one.line) for one in read(place).refused} == {("working-memory.md", 2), ("memories/x.json", 1)}


def test_links_that_lead_out_are_not_followed(place: Path, tmp_path: Path) -> None:
    workspace_of(place)
    as_file(tmp_path / "secret.json", memory("stolen"))
    (place / "memories").mkdir()
    (place / "memories" / "x.json").symlink_to(tmp_path / "secret.json")
    (refused,) = read(place).refused
    assert (refused.file, "leads out" in refused.reason) == ("memories/x.json", True)


def test_every_project_below_a_folder_is_a_workspace(workspace: Workspace, tmp_path: Path) -> None:
    workspace_of(tmp_path / "in" / "app" / ".memento", memory(), memory("a1b2c3d5"), skips=(skip(),))
    workspace_of(tmp_path / "in" / "team" / "web" / ".memento", memory(), skips=(skip(),))
    assert run_import(workspace, NAME, tmp_path / "in").refused == []
    found = [one for batch in workspace._store.memories.batches() for one in batch]
    assert sorted(one.namespace for one in found) == ["app", "app", "team/web"]
    run_export(workspace, tmp_path / "out", format_name=NAME)
    assert files(tmp_path / "out") == files(tmp_path / "in")


def test_a_folder_without_files_of_the_format_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no files of Memento Protocol"):
        read(tmp_path)
    (tmp_path / "x").write_text("x")
    with pytest.raises(InvalidInput, match="is no folder"):
        read(tmp_path / "x")


def test_what_a_person_changed_here_is_what_an_export_says(workspace: Workspace, place: Path, tmp_path: Path) -> None:
    workspace_of(place, memory(expires="2030-01-01"))
    (place / "memories" / "a1b2c3d4.json").write_text(json.dumps(memory(expires="2030-01-01")), encoding="utf-8")
    run_import(workspace, NAME, place)
    workspace.update("a1b2c3d4", expires_at=None, content="New.")
    run_export(workspace, tmp_path / "out", format_name=NAME)
    back = tmp_path / "out" / "default" / ".memento" / "memories" / "a1b2c3d4.json"
    assert json.loads(back.read_text()) == memory(content="New.")


def test_a_changed_file_updates_its_memory_and_no_other(workspace: Workspace, place: Path) -> None:
    workspace_of(place, memory(), memory("a1b2c3d5"))
    run_import(workspace, NAME, place)
    as_file(place / "memories" / "a1b2c3d4.json", memory(content="Changed."))
    report = run_import(workspace, NAME, place)
    assert (report.updated, report.unchanged) == (1, 4)
    assert workspace.get("a1b2c3d4").content == "Changed."


def test_a_consolidation_that_one_file_alone_names_comes_back_as_it_was(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / ".memento"
    files = [memory("a1b2c3d4", consolidated=True), memory("b1b2c3d4", consolidated_from=["a1b2c3d4"])]
    paths = [as_file(folder / "memories" / f"{one['id']}.json", one) for one in files]
    before = [path.read_bytes() for path in paths]
    run_import(workspace, NAME, folder)
    run_export(workspace, tmp_path / "out", format_name=NAME)
    out = tmp_path / "out" / "default" / ".memento" / "memories"
    assert [(out / path.name).read_bytes() for path in paths] == before


def test_names_of_files_that_an_extra_makes_up_never_lead_out(tmp_path: Path) -> None:
    names = ["../../out.json", "/tmp/out.json", "a\x00.json", "x" * 300 + ".json", "a.txt", "..", "", ".json", 5, None]  # noqa: S108 - never written
    memories = [
        make_memory({"id": f"m{n}", "content": "x", "extra": {"memento-protocol": {"file": {"name": name}}}})
        for n, name in enumerate(names)
    ]
    odd = [make_memory({"id": identity, "content": "x"}) for identity in ("a/../../b", "..", "x" * 300, "é ü")]
    local.write([*memories, *odd], tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
    folder = tmp_path / "out" / "default" / ".memento"
    assert len(list((folder / "memories").iterdir())) == len(names) + len(odd)
    assert set(read(folder).keys) == {one.id for one in [*memories, *odd]}


def test_what_the_format_has_no_place_for_is_counted(tmp_path: Path) -> None:
    records: list[ExportRecord] = [
        make_crystal({"content": "I am."}),
        make_memory({"content": "x", "status": "pending"}),
        make_item({"title": "t"}),
    ]
    written = local.write(records, tmp_path / "out")
    assert (written.records, written.left_out) == (1, 2)
    with pytest.raises(InvalidInput, match="is there already"):
        local.write(records, tmp_path / "out")


def test_files_move_to_the_hosted_database_without_names_of_their_own(
    workspace: Workspace, place: Path, tmp_path: Path
) -> None:
    workspace_of(place, memory(expires="2030-01-01", mood="calm"), skips=(skip(), skip("5c1b0002", expires="never")))
    run_import(workspace, NAME, place)
    written = run_export(workspace, tmp_path / "out", format_name="protocol-sqlite")
    assert written.refused == ()
    found = rows(tmp_path / "out" / "default.db")
    assert [row["expires_at"] for row in found["memories"]] == ["2030-01-01T00:00:00.000Z"]
    assert {row["expires_at"] for row in found["skip_list"]} == {"2027-02-20T00:00:00.000Z", "never"}
    assert {row["section_key"] for row in found["working_memory_sections"]} == {"active_work", "My Own"}


def test_the_folder_is_guessed_and_found(
    workspace: Workspace, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace_of(place, memory())
    assert detect_format(place) == NAME
    assert detect_format(place.parent) == NAME
    monkeypatch.setenv("HOME", str(tmp_path))
    found = find_sources(workspace.paths.root, tmp_path).candidates
    assert [(one.format, one.path, one.amount) for one in found] == [(NAME, place, "3 files")]


def test_a_folder_is_the_same_source_however_it_is_written(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    as_file(project / ".memento" / "memories" / "a1b2c3d4.json", memory())
    (project / ".memento" / "working-memory.md").write_text(DOCUMENT)
    as_file(project / ".memento" / "skip-index.json", [skip()])
    (tmp_path / "link").symlink_to(project)
    monkeypatch.chdir(tmp_path)
    taken = run_import(workspace, NAME, project)
    workspace.skips.remove("5c1b0001")
    for other in ("project/.memento", "./project/", "project/../project/.memento/", "link", "link/.memento"):
        again = run_import(workspace, NAME, Path(other))
        assert (again.imported, again.updated, again.unchanged, again.refused) == (0, 0, taken.imported, [])


def test_ids_of_links_are_no_secrets(workspace: Workspace, tmp_path: Path) -> None:
    names = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(100)]
    for name, other in zip(names, names[1:] + names[:1], strict=True):
        linkages = [{"type": "memory", "id": other[:8]}, {"type": "memory", "id": other[:8], "label": "related"}]
        fields = {"linkages": linkages, "consolidated_from": [other[8:24]], "content": "Lamps of the harbour."}
        as_file(tmp_path / ".memento" / "memories" / f"{name[:8]}.json", memory(name[:8], **fields))
    report = run_import(workspace, NAME, tmp_path)
    assert (report.imported, report.redacted) == (100, 0)
