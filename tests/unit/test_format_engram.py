from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import InvalidInput
from memento_tui.formats import engram
from memento_tui.formats.columns import encode_go_json
from memento_tui.formats.discovery import find_sources
from memento_tui.formats.import_export import ImportReport, run_export, run_import
from memento_tui.formats.registry import detect_format
from memento_tui.model import Relation, make_memory, make_skip
from tests.made import without_engine
from tests.unit.format_reading import Reading, reading

SESSION = {"id": "s1", "project": "app", "directory": "/work/app", "started_at": "2026-03-01 09:00:00"}
OBSERVATION: dict[str, Any] = {
    "id": 7,
    "sync_id": "obs-1",
    "session_id": "s1",
    "type": "bugfix",
    "title": "Fixed <b> & co",
    "content": "**What**: escaped",
    "project": "app",
    "scope": "project",
    "revision_count": 1,
    "created_at": "2026-03-01 09:10:00",
    "updated_at": "2026-03-01 09:10:00",
}
OTHER = {**OBSERVATION, "id": 8, "sync_id": "obs-2", "type": "config", "title": "Ports", "scope": "personal"}
PROMPT = {
    "id": 3,
    "sync_id": "p-1",
    "session_id": "s1",
    "content": "fix it",
    "project": "app",
    "created_at": "2026-03-01 09:01:00",
}


def chunk(**lists: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever a chunk holds
    return {"sessions": None, "observations": None, "prompts": None, **lists}


class Home:
    """A project with a folder ``.engram``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / ".engram"
        (self.folder / "chunks").mkdir(parents=True)
        self.entries: list[Any] = []

    def add(self, content: dict[str, Any] | bytes, *, listed: bool = True) -> str:
        data = content if isinstance(content, bytes) else encode_go_json(content)
        identity = engram.chunk_id(data)
        (self.folder / "chunks" / f"{identity}.jsonl.gz").write_bytes(gzip.compress(data))
        if listed:
            counts = {"sessions": 0, "memories": 1, "prompts": 0}
            at = f"2026-03-0{len(self.entries) + 1}T00:00:00Z"
            self.list({"id": identity, "created_by": "anna", "created_at": at, **counts})
        return identity

    def list(self, entry: object) -> None:
        self.entries.append(entry)
        (self.folder / "manifest.json").write_text(json.dumps({"version": 1, "chunks": self.entries}))

    def read(self) -> Reading:
        return reading(engram.read(self.root))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "project")


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    return (report.imported, report.updated, report.unchanged, len(report.refused))


def exported(workspace: Workspace, folder: Path) -> dict[str, dict[str, Any]]:
    """Export everything; return the chunks by id."""
    run_export(workspace, folder, format_name="engram")
    files = sorted((folder / "chunks").iterdir())
    return {path.name.split(".")[0]: json.loads(gzip.decompress(path.read_bytes())) for path in files}


def test_observations_prompts_and_sessions_find_their_places(home: Home, workspace: Workspace) -> None:
    home.add(chunk(sessions=[{**SESSION, "summary": "Did it"}], observations=[OBSERVATION, OTHER], prompts=[PROMPT]))
    assert counts(run_import(workspace, "engram", home.root)) == (4, 0, 0, 0)
    first, second, prompt = (workspace.get(name) for name in ("obs-1", "obs-2", "imported-p-1"))
    assert (first.title, first.kind, first.namespace) == ("Fixed <b> & co", "bugfix", "projects/app")
    assert (first.source.session, first.source_type, f"{first.created_at:%H:%M}") == ("s1", "derived", "09:10")
    assert (second.kind, second.kind_raw, second.namespace) == ("observation", "config", "global")
    assert (prompt.status, prompt.kind_raw, prompt.content) == ("archived", "prompt", "fix it")
    (session,) = workspace.items.list()
    assert (session.id, session.category, session.status) == ("s1", "session_note", "archived")
    assert (session.title, session.content) == ("app 2026-03-01 09:00:00", "Did it")


@pytest.mark.parametrize("place", ["", ".engram", ".engram/chunks"])
def test_the_folder_is_known_and_read_from_wherever_it_is_named(home: Home, place: str) -> None:
    home.add(chunk(observations=[OBSERVATION]))
    assert detect_format(home.root / place) == "engram"
    assert reading(engram.read(home.root / place)).only.key == "obs-1"
    assert engram.count(home.root) == 1


def test_it_is_found_in_a_checked_out_project(home: Home, tmp_path: Path) -> None:
    home.add(chunk(observations=[OBSERVATION]))
    (home.root / ".git").mkdir()
    (found,) = find_sources(tmp_path / "data", tmp_path).candidates
    assert (found.format, found.path, found.amount) == ("engram", home.folder, "1 file")


def test_a_second_import_changes_nothing_and_unchanged_chunks_return_to_the_byte(
    home: Home, workspace: Workspace, tmp_path: Path
) -> None:
    first = home.add(chunk(sessions=[SESSION], observations=[OBSERVATION], prompts=[PROMPT]))
    second = home.add(chunk(observations=[OTHER]))
    run_import(workspace, "engram", home.root)
    head = workspace._store.journal.head()
    assert counts(run_import(workspace, "engram", home.root)) == (0, 0, 4, 0)
    assert workspace._store.journal.head() == head
    assert set(exported(workspace, tmp_path / "out")) == {first, second}
    for name in (first, second):
        path = f"chunks/{name}.jsonl.gz"
        written, source = (gzip.decompress((root / path).read_bytes()) for root in (tmp_path / "out", home.folder))
        assert written == source
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert [(one["created_by"], one["memories"]) for one in manifest["chunks"]] == [("anna", 1), ("anna", 1)]


def test_a_later_chunk_has_the_last_word(home: Home, workspace: Workspace) -> None:
    home.add(chunk(observations=[OBSERVATION]))
    run_import(workspace, "engram", home.root)
    home.add(chunk(observations=[{**OBSERVATION, "content": "again", "revision_count": 2}]))
    assert counts(run_import(workspace, "engram", home.root)) == (0, 1, 0, 0)
    assert workspace.get("obs-1").content == "again"
    assert counts(run_import(workspace, "engram", home.root)) == (0, 0, 1, 0)


def test_what_was_deleted_there_is_deleted_here(home: Home, workspace: Workspace) -> None:
    home.add(chunk(observations=[OBSERVATION, OTHER]))
    run_import(workspace, "engram", home.root)
    gone = {"entity": "observation", "entity_key": "obs-2", "op": "delete", "payload": "{}", "seq": 1}
    home.add(chunk(observations=[{**OBSERVATION, "deleted_at": "2026-03-02 00:00:00"}], mutations=[gone]))
    report = run_import(workspace, "engram", home.root)
    assert (report.deleted, report.refused) == (2, [])
    assert {workspace.get(name).status for name in ("obs-1", "obs-2")} == {"deleted"}


def relation(**payload: str) -> dict[str, Any]:
    said = {"sync_id": "rel-1", "source_id": "obs-1", "target_id": "obs-2", "judgment_status": "judged", **payload}
    return {"seq": 4, "entity": "relation", "entity_key": "rel-1", "op": "upsert", "payload": json.dumps(said)}


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("supersedes", ("supersedes", "")),
        ("conflicts_with", ("contradicts", "")),
        ("compatible", ("related", "compatible")),
    ],
)
def test_a_judged_relation_is_drawn_and_goes_back_with_its_chunk(
    home: Home, workspace: Workspace, tmp_path: Path, verdict: str, expected: tuple[str, str]
) -> None:
    home.add(chunk(observations=[OBSERVATION, OTHER]))
    name = home.add(chunk(mutations=[relation(relation=verdict)]))
    assert counts(run_import(workspace, "engram", home.root)) == (2, 0, 0, 0)
    (drawn,) = workspace._store.all_of(Relation)
    assert (drawn.src, drawn.dst, drawn.type, drawn.label) == ("obs-1", "obs-2", *expected)
    assert name in exported(workspace, tmp_path / "out")


def test_a_relation_that_nobody_judged_is_kept_but_not_drawn(home: Home) -> None:
    home.add(
        chunk(observations=[OBSERVATION, OTHER], mutations=[relation(relation="related", judgment_status="pending")])
    )
    found = home.read()
    assert (found.refused, [one.links for one in found.taken]) == ([], [(), ()])


def test_an_edit_and_a_deletion_here_make_a_new_chunk_of_the_old_one(
    home: Home, workspace: Workspace, tmp_path: Path
) -> None:
    untouched = home.add(chunk(prompts=[PROMPT]))
    old = home.add(chunk(observations=[OBSERVATION, OTHER]))
    run_import(workspace, "engram", home.root)
    workspace.update("obs-1", title="Fixed", content="new", kind="decision", namespace="projects/web")
    workspace.forget("obs-2")
    out = exported(workspace, tmp_path / "out")
    assert untouched in out
    assert old not in out
    first, second = next(one["observations"] for one in out.values() if one["observations"])
    edited = f"{workspace.get('obs-1').updated_at:%Y-%m-%d %H:%M:%S}"
    assert first == {
        **OBSERVATION, "title": "Fixed", "content": "new", "type": "decision", "project": "web", "updated_at": edited,
    }  # fmt: skip
    assert {name: second[name] for name in OTHER if name != "updated_at"} == {
        name: value for name, value in OTHER.items() if name != "updated_at"
    }
    assert second["deleted_at"] == second["updated_at"]


def test_exports_of_two_workspaces_do_not_contend_for_a_session(workspace: Workspace, tmp_path: Path) -> None:
    for name in ("one", "other"):
        with memento_tui.open(without_engine(tmp_path / name)) as elsewhere:
            elsewhere.remember(f"Said in {name}.", namespace="projects/web")
            run_export(elsewhere, tmp_path / f"{name} out", format_name="engram")
        report = run_import(workspace, "engram", tmp_path / f"{name} out")
        assert (report.imported, report.refused) == (1, [])
    run_export(workspace, tmp_path / "again", format_name="engram")
    assert {path.name for path in (tmp_path / "again/chunks").iterdir()} == {
        path.name for name in ("one", "other") for path in (tmp_path / f"{name} out/chunks").iterdir()
    }


def test_memories_from_elsewhere_are_in_a_chunk_of_their_own(home: Home, workspace: Workspace, tmp_path: Path) -> None:
    old = home.add(chunk(observations=[OBSERVATION]))
    run_import(workspace, "engram", home.root)
    workspace.remember("In a project", namespace="projects/web", title="One")
    workspace.remember("Everywhere")
    (new,) = [one for name, one in exported(workspace, tmp_path / "out").items() if name != old]
    assert [(one["id"], one["title"], one["session_id"]) for one in new["observations"]] == [
        (8, "One", "manual-save-web"),
        (9, "Everywhere", "manual-save"),
    ]
    assert [(one.get("project"), one["scope"]) for one in new["observations"]] == [
        ("web", "project"),
        (None, "personal"),
    ]
    assert [one["id"] for one in new["sessions"]] == ["manual-save-web", "manual-save"]
    again = reading(engram.read(tmp_path / "out"))
    assert (len(again.taken), again.refused) == (3, [])  # the sessions that were made for them say nothing


def test_a_byte_that_was_no_utf8_leaves_the_chunk_what_it_was(home: Home, workspace: Workspace, tmp_path: Path) -> None:
    data = encode_go_json(chunk(observations=[{**OBSERVATION, "content": "cut �..."}])).replace(
        "�".encode(), b"\\ufffd"
    )
    name = home.add(data)
    run_import(workspace, "engram", home.root)
    assert set(exported(workspace, tmp_path / "out")) == {name}


def test_what_waits_or_was_rejected_here_stays_here(tmp_path: Path) -> None:
    waiting, rejected = (make_memory({"content": status, "status": status}) for status in ("pending", "rejected"))
    skip = make_skip({"item": "x", "reason": "y", "expires_at": "2028-01-01"})
    written = engram.write([waiting, rejected, skip], tmp_path / "out")
    assert (written.records, written.left_out) == (0, 3)
    with pytest.raises(InvalidInput, match="holds chunks already"):
        engram.write([], tmp_path / "out")


def test_a_broken_chunk_costs_only_itself(home: Home) -> None:
    home.add(chunk(observations=[OBSERVATION]))
    whole = gzip.compress(encode_go_json(chunk(prompts=[PROMPT])))
    for name, data in {
        "cutoff": whole[:-20],
        "damaged": whole[:12] + b"\x00\xff" * 20,
        "half": gzip.compress(b'{"sessions": ['),
        "list": gzip.compress(b"[]"),
        "plain": b"no JSON",
    }.items():
        (home.folder / "chunks" / f"{name}.jsonl.gz").write_bytes(data)
        home.list({"id": name})
    found = home.read()
    assert found.keys == ["obs-1"]
    told = {Path(refused.file).name.split(".")[0]: refused.reason for refused in found.refused}
    assert told["cutoff"].startswith("is cut off")
    assert told["damaged"].startswith("is damaged")
    assert told["half"].startswith("is not whole JSON")
    assert told["list"] == "is not an object with fields"
    assert told["plain"].startswith("is not whole JSON")


def test_a_chunk_that_unpacks_to_more_than_memory_should_hold_is_refused(home: Home) -> None:
    home.add(b" " * (65 * 1024 * 1024))
    refused = home.read().only_refused
    assert refused.reason == "unpacks to more than 67,108,864 bytes, which no chunk of engram does"


@pytest.mark.parametrize("entry", [{"id": "../../secret"}, {"id": "gone"}, {"id": 7}, {}, "x", None])
def test_a_chunk_that_is_not_there_is_told_and_no_path_is_made_of_its_name(home: Home, entry: object) -> None:
    (home.root / "secret.jsonl.gz").write_bytes(gzip.compress(encode_go_json(chunk(prompts=[PROMPT]))))
    home.list(entry)
    assert "which is not there" in home.read().only_refused.reason


def test_a_manifest_that_cannot_be_read_or_is_missing_costs_only_the_order(home: Home) -> None:
    home.add(chunk(observations=[OBSERVATION]), listed=False)
    assert home.read().only.key == "obs-1"
    (home.folder / "manifest.json").write_text("{")
    found = home.read()
    assert (found.keys, found.refused[0].file) == (["obs-1"], "manifest.json")


def test_records_that_are_none_are_told_with_their_number(home: Home) -> None:
    lost = {"entity": "observation", "entity_key": "nobody", "op": "delete", "payload": ""}
    home.add(
        chunk(
            sessions=[{"project": "x"}],
            observations=[3, {"id": 1}, OBSERVATION],
            prompts="x",
            mutations=[lost, {"entity": "relation", "payload": "{"}, 4],
            secrets=[1],
        )
    )
    found = home.read()
    assert found.keys == ["obs-1"]
    assert [refused.reason for refused in found.refused] == [
        "holds, as session 1, something that has no id",
        "holds, as observation 1, something that is not an object with fields",
        "holds, as observation 2, something that has no content",
        "holds, as mutation 1, a change to something that is in no chunk",
        "holds, as mutation 2, a change to something that is in no chunk",
        "holds, as mutation 3, a change to something that is in no chunk",
        "holds 'secrets', which memento does not know",
    ]


def test_records_without_a_usable_name_get_one_and_two_never_share_it(home: Home, workspace: Workspace) -> None:
    unnamed = {name: value for name, value in OBSERVATION.items() if name != "sync_id"}
    home.add(chunk(observations=[unnamed, {**OTHER, "sync_id": "p-1"}, {**OTHER, "sync_id": "a\tb"}], prompts=[PROMPT]))
    assert counts(run_import(workspace, "engram", home.root)) == (4, 0, 0, 0)
    assert counts(run_import(workspace, "engram", home.root)) == (0, 0, 4, 0)


@pytest.mark.deep
@pytest.mark.real_data
def test_real_chunks_are_taken_whole_and_return_to_the_byte(
    workspace: Workspace, real_data: Path, tmp_path: Path
) -> None:
    root = real_data / "Cobies+gentle-ai"
    assert detect_format(root) == "engram"
    assert counts(run_import(workspace, "engram", root)) == (1590, 0, 0, 0)
    assert counts(run_import(workspace, "engram", root)) == (0, 0, 1590, 0)
    exported(workspace, tmp_path / "out")
    manifest = (tmp_path / "out" / "manifest.json").read_bytes()
    assert manifest == (root / ".engram" / "manifest.json").read_bytes()
    sources = sorted((root / ".engram" / "chunks").iterdir())
    assert [path.name for path in sorted((tmp_path / "out" / "chunks").iterdir())] == [path.name for path in sources]
    for path in sources:
        written = gzip.decompress((tmp_path / "out" / "chunks" / path.name).read_bytes())
        assert written == gzip.decompress(path.read_bytes())
