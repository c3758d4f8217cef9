from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.errors import InvalidInput
from memento_tui.formats import beads
from memento_tui.formats.base import ExportRecord
from memento_tui.formats.columns import encode_go_json
from memento_tui.formats.discovery import find_sources
from memento_tui.formats.import_export import ImportReport, run_export, run_import
from memento_tui.formats.registry import detect_format
from memento_tui.model import make_item, make_memory, make_skip
from tests.unit.format_reading import Reading, reading

BUG: dict[str, Any] = {
    "_type": "issue",
    "id": "bd-1",
    "title": "Login <fails>",
    "description": "Steps & such",
    "design": "Retry once",
    "notes": "Seen twice",
    "status": "in_progress",
    "priority": 1,
    "issue_type": "bug",
    "assignee": "anna",
    "created_at": "2026-03-01T09:00:00.5Z",
    "updated_at": "2026-03-02T09:00:00Z",
    "labels": ["auth", "web"],
    "dependencies": [{"issue_id": "bd-1", "depends_on_id": "bd-2", "type": "blocks"}],
    "comments": [{"id": 1, "issue_id": "bd-1", "author": "bo", "text": "me too"}],
    "dependency_count": 1,
    "dependent_count": 0,
    "comment_count": 1,
}
TASK: dict[str, Any] = {"_type": "issue", "id": "bd-2", "title": "Docs", "status": "open", "priority": 2}
LEARNED = {"_type": "memory", "key": "ports", "value": "The server listens on 8080"}


def put(path: Path, *lines: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else encode_go_json(line).decode() for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read(path: Path) -> Reading:
    return reading(beads.read(path))


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    return (report.imported, report.updated, report.unchanged, len(report.refused))


def exported(workspace: Workspace, path: Path) -> list[Any]:
    run_export(workspace, path, format_name="beads")
    return lines_of(path)


def test_an_issue_becomes_a_working_item_and_a_memory_a_memory(workspace: Workspace, tmp_path: Path) -> None:
    path = put(tmp_path / "issues.jsonl", BUG, TASK, LEARNED)
    assert detect_format(path) == "beads"
    assert counts(run_import(workspace, "beads", path)) == (3, 0, 0, 0)
    bug = workspace.items.get("bd-1")
    assert (bug.title, bug.category, bug.status, bug.priority) == ("Login <fails>", "active_work", "active", 3)
    assert bug.content == "Steps & such\n\n## Design\n\nRetry once\n\n## Notes\n\nSeen twice"
    assert (bug.tags, f"{bug.updated_at:%Y-%m-%d}") == (("auth", "web"), "2026-03-02")
    (memory,) = [one for batch in workspace._store.memories.batches() for one in batch]
    assert (memory.title, memory.content, memory.source.agent) == ("ports", "The server listens on 8080", "beads")


def test_a_second_import_changes_nothing_and_an_export_gives_the_same_bytes(
    workspace: Workspace, tmp_path: Path
) -> None:
    path = put(tmp_path / "issues.jsonl", BUG, TASK, LEARNED)
    run_import(workspace, "beads", path)
    head = workspace._store.journal.head()
    assert counts(run_import(workspace, "beads", path)) == (0, 0, 3, 0)
    assert workspace._store.journal.head() == head
    exported(workspace, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("fields", "category", "status"),
    [
        ({"status": "open"}, "active_work", "active"),
        ({"status": "hooked"}, "active_work", "active"),
        ({"status": "their-own"}, "active_work", "active"),
        ({"status": "blocked"}, "active_work", "paused"),
        ({"status": "deferred"}, "active_work", "paused"),
        ({"status": "closed"}, "active_work", "completed"),
        ({"status": "tombstone"}, "active_work", "archived"),
        ({"status": "pinned"}, "standing_decision", "active"),
        ({"status": "open", "issue_type": "gate"}, "waiting_for", "active"),
        ({"status": "open", "await_type": "timer"}, "waiting_for", "active"),
    ],
)
def test_the_status_says_what_kind_of_work_it_is(
    workspace: Workspace, tmp_path: Path, fields: dict[str, str], category: str, status: str
) -> None:
    path = put(tmp_path / "issues.jsonl", {**TASK, **fields})
    run_import(workspace, "beads", path)
    item = workspace.items.get("bd-2")
    assert (item.category, item.status) == (category, status)
    assert exported(workspace, tmp_path / "out.jsonl") == [{**TASK, **fields}]


def test_an_edit_here_changes_what_it_is_about_and_nothing_else(workspace: Workspace, tmp_path: Path) -> None:
    run_import(workspace, "beads", put(tmp_path / "issues.jsonl", BUG, {**TASK, "closed_at": None}))
    content = "Steps\n\n## Design\n\nRetry twice\n\n## Notes\n\nSeen twice"
    workspace.items.update("bd-1", content=content, priority=4, tags=["auth"])
    workspace.items.update("bd-2", status="completed")
    bug, task = exported(workspace, tmp_path / "out.jsonl")
    at = {name: workspace.items.get(name).updated_at.isoformat().replace("+00:00", "Z") for name in ("bd-1", "bd-2")}
    changed = {
        "description": "Steps",
        "design": "Retry twice",
        "priority": 0,
        "labels": ["auth"],
        "updated_at": at["bd-1"],
    }
    assert bug == {**BUG, **changed}
    assert task == {**TASK, "status": "closed", "closed_at": at["bd-2"]}


def test_an_issue_opened_again_is_no_longer_closed_at_any_time(workspace: Workspace, tmp_path: Path) -> None:
    closed = {**TASK, "status": "closed", "closed_at": "2026-03-01T00:00:00Z"}
    run_import(workspace, "beads", put(tmp_path / "issues.jsonl", closed))
    workspace.items.update("bd-2", status="active")
    assert exported(workspace, tmp_path / "out.jsonl") == [{**TASK, "status": "open", "closed_at": None}]


def test_a_change_in_the_source_is_taken_in_with_what_belongs_to_it(workspace: Workspace, tmp_path: Path) -> None:
    path = put(tmp_path / "issues.jsonl", BUG, TASK)
    run_import(workspace, "beads", path)
    more = {**BUG, "status": "closed", "closed_at": "2026-03-03T00:00:00Z", "comments": []}
    assert counts(run_import(workspace, "beads", put(path, more, TASK))) == (0, 1, 1, 0)
    assert workspace.items.get("bd-1").status == "completed"
    assert exported(workspace, tmp_path / "out.jsonl") == [more, TASK]


def test_a_text_that_holds_a_heading_of_ours_returns_as_it_was(workspace: Workspace, tmp_path: Path) -> None:
    tricky = {**BUG, "description": "a\n\n## Notes\n\nb", "notes": ""}
    run_import(workspace, "beads", put(tmp_path / "issues.jsonl", tricky))
    assert exported(workspace, tmp_path / "out.jsonl") == [tricky]
    workspace.items.update("bd-1", content="only this")
    (after,) = exported(workspace, tmp_path / "after.jsonl")
    assert [after[name] for name in ("description", "design", "notes")] == ["only this", "", ""]


def bare(issue: dict[str, Any]) -> dict[str, Any]:
    """Return an issue as the table of a backup has it."""
    counted = ("dependency_count", "dependent_count", "comment_count")
    return {k: v for k, v in issue.items() if k not in ("_type", "labels", "dependencies", "comments", *counted)}


BACKUP: dict[str, list[dict[str, Any]]] = {
    "issues": [bare(BUG), bare(TASK)],
    "labels": [{"issue_id": "bd-1", "label": "auth"}, {"issue_id": "bd-1", "label": "web"}],
    "dependencies": BUG["dependencies"],
    "comments": BUG["comments"],
    "events": [{"id": 1, "issue_id": "bd-2", "event_type": "created"}, {"id": 2, "issue_id": "bd-1", "actor": "x"}],
    "config": [{"key": "kv.memory.ports", "value": "The server listens on 8080"}],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, rows in BACKUP.items():
        put(tmp_path / "project" / ".beads" / "backup" / f"{name}.jsonl", *rows)
    return tmp_path / "project"


def test_a_backup_is_read_with_its_tables_and_returns_as_them(
    workspace: Workspace, project: Path, tmp_path: Path
) -> None:
    assert {
        detect_format(project),
        detect_format(project / ".beads"),
        detect_format(project / ".beads" / "backup"),
    } == {"beads"}
    assert counts(run_import(workspace, "beads", project)) == (3, 0, 0, 0)
    assert counts(run_import(workspace, "beads", project)) == (0, 0, 3, 0)
    assert workspace.items.get("bd-1").tags == ("auth", "web")
    run_export(workspace, tmp_path / "out", format_name="beads")
    assert {path.stem: lines_of(path) for path in (tmp_path / "out").iterdir()} == BACKUP


def test_a_row_that_comes_to_an_issue_changes_it(workspace: Workspace, project: Path) -> None:
    run_import(workspace, "beads", project)
    put(project / ".beads" / "backup" / "labels.jsonl", *BACKUP["labels"], {"issue_id": "bd-2", "label": "docs"})
    assert counts(run_import(workspace, "beads", project)) == (0, 1, 2, 0)
    assert workspace.items.get("bd-2").tags == ("docs",)


def test_a_backup_can_be_written_as_an_export_and_an_export_as_a_backup(
    workspace: Workspace, project: Path, tmp_path: Path
) -> None:
    run_import(workspace, "beads", project)
    bug, task, learned = exported(workspace, tmp_path / "out.jsonl")
    assert bug == {**bare(BUG), **{name: BUG[name] for name in ("labels", "dependencies", "comments")}}
    assert (task, learned) == (bare(TASK), LEARNED | {"key": "ports"})
    found = read(put(tmp_path / "in.jsonl", BUG, TASK, LEARNED)).taken
    records: list[ExportRecord] = [
        make_memory(one.fields) if one.record == "memory" else make_item(one.fields) for one in found
    ]
    beads.write(records, tmp_path / "tables")
    tables = {path.stem: lines_of(path) for path in (tmp_path / "tables").iterdir()}
    assert tables == {name: rows for name, rows in BACKUP.items() if name != "events"}


def test_it_is_found_in_a_checked_out_project(project: Path, tmp_path: Path) -> None:
    (project / ".git").mkdir()
    (found,) = find_sources(tmp_path / "data", tmp_path).candidates
    assert (found.format, found.path, found.amount) == ("beads", project / ".beads", "2 lines")


def test_what_beads_exports_now_is_read_before_its_backup(project: Path) -> None:
    put(project / ".beads" / "issues.jsonl", TASK)
    put(project / ".beads" / "interactions.jsonl", {"id": "int-1"})
    assert read(project).only.key == "issue bd-2"


def test_settings_in_a_backup_are_passed_over(project: Path) -> None:
    put(project / ".beads" / "backup" / "config.jsonl", {"key": "issue_prefix", "value": "bd"})
    found = read(project)
    assert (len(found.taken), found.refused) == (2, [])


def test_rows_and_lines_that_belong_to_nothing_are_told_by_line(project: Path) -> None:
    folder = project / ".beads" / "backup"
    put(folder / "events.jsonl", {"id": 1, "issue_id": "bd-9"}, {"id": 2}, "{half")
    put(folder / "issues.jsonl", BUG, "{half", {"id": "x"}, {**BUG, "title": "again"}, TASK)
    found = read(project)
    assert found.keys == ["memory ports", "issue bd-1", "issue bd-2"]
    told = sorted((refused.file, refused.line, refused.reason.split(":")[0]) for refused in found.refused)
    assert told == [
        ("events.jsonl", 1, "is about the issue 'bd-9', which is not there"),
        ("events.jsonl", 2, "names no issue that it belongs to"),
        ("events.jsonl", 3, "is not whole JSON"),
        ("issues.jsonl", 2, "is not whole JSON"),
        ("issues.jsonl", 3, "is neither an issue nor a memory of beads"),
        ("issues.jsonl", 4, "has the id of one before it; give it another"),
    ]


def test_working_items_from_elsewhere_are_issues_and_session_notes_are_left_out(tmp_path: Path) -> None:
    made = {"created_at": "2026-01-01T00:00:00Z"}
    records: list[ExportRecord] = [
        make_item(
            {"id": "a", "title": "Do", "content": "It", "priority": 9, "next_action": "Ask", "tags": ["t"], **made}
        ),
        make_item({"id": "b", "title": "Use tabs", "category": "standing_decision", **made}),
        make_item({"id": "c", "title": "Review", "category": "waiting_for", "status": "completed", **made}),
        make_item({"id": "d", "title": "Monday", "category": "session_note"}),
        make_skip({"item": "x", "reason": "y", "expires_at": "2028-01-01"}),
        make_memory({"id": "m", "title": "ports", "content": "8080"}),
        make_memory({"id": "n", "title": "ports", "content": "9090"}),
        make_memory({"content": "no", "status": "rejected"}),
    ]
    written = beads.write(records, tmp_path / "out.jsonl")
    assert (written.records, written.left_out) == (5, 3)
    first, second, third, *memories = lines_of(tmp_path / "out.jsonl")
    assert (first["description"], first["notes"], first["priority"], first["labels"]) == ("It", "Next: Ask", 0, ["t"])
    assert (first["status"], second["status"], third["status"]) == ("open", "pinned", "closed")
    assert (third["issue_type"], third["closed_at"]) == ("gate", "2026-01-01T00:00:00Z")
    assert [(one["key"], one["value"]) for one in memories] == [("ports", "8080"), ("n", "9090")]
    again = {one.key: one for one in read(tmp_path / "out.jsonl").taken}
    kinds = [again[f"issue {name}"].fields["category"] for name in ("a", "b", "c")]
    assert kinds == ["active_work", "standing_decision", "waiting_for"]


def test_a_place_that_is_taken_is_not_written_over(tmp_path: Path) -> None:
    for path in (put(tmp_path / "a.jsonl", TASK), tmp_path):
        with pytest.raises(InvalidInput, match="there already"):
            beads.write([], path)


@pytest.mark.real_data
def test_a_real_backup_is_taken_whole_and_returns_to_the_byte(
    workspace: Workspace, real_data: Path, tmp_path: Path
) -> None:
    root = real_data / "gastownhall+beads"
    assert detect_format(root) == "beads"
    assert counts(run_import(workspace, "beads", root)) == (1, 0, 0, 0)
    assert counts(run_import(workspace, "beads", root)) == (0, 0, 1, 0)
    run_export(workspace, tmp_path / "out", format_name="beads")
    backup = root / ".beads" / "backup"
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == {
        path.name: path.read_bytes() for path in backup.iterdir()
    }
