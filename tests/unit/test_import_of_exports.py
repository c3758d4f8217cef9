"""What was exported to any format and is imported again where it came from says nothing new."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.formats.import_export import ImportReport, run_export, run_import
from memento_tui.formats.registry import FORMATS

NAMES = {"mcp-reference": "memory.jsonl", "beads": "issues.jsonl", "memento": "memento.jsonl", "mem0": "mem0.json"}
"""The files that formats are written to which write one; the others write folders."""

WITHOUT_NATIVE = ("agents-block", "agents-file", "claude")
"""Formats that hold a part of what is here alone: what stands in files that hosts read."""

LOCAL = [name for name, chosen in FORMATS.items() if not chosen.is_remote and name not in WITHOUT_NATIVE]


def fill(workspace: Workspace) -> None:
    users = workspace.remember("Use /v2/users.", title="Users", namespace="projects/api", kind="decision", tags=["api"])
    deploys = workspace.remember("We deploy on Fridays.\nNever on Mondays.", title="Deploys", validity_context="summer")
    workspace.verify(deploys.id)
    workspace.remember("Plain text without a title.")
    workspace.remember("# A heading\n\n- a\n- b\n\n---\n\nfoo #hashtag\n", title="Markdown", certainty=4)
    workspace.remember(
        "one more", title="Users", namespace="work/deep place", kind="preference", tags=["ä", "two words"]
    )
    workspace.remember("two more", title="Users")
    workspace.remember("two more", title="Users", namespace="elsewhere")
    workspace.remember("a line that is long " * 60)
    workspace.remember("  spaced text  \n\n", title="Spaced", namespace="a/b c/d", kind="anti_pattern")
    ends = clock.now() + timedelta(days=9, hours=3, microseconds=7)
    workspace.remember("Ends soon.", title="Ends", expires_at=ends, kind="tool")
    workspace.remember("From the web.", source_type="external", source={"url": "https://example.org/a", "agent": "me"})
    workspace.remember("An agent said so.", source_type="derived", source={"agent": "claude", "session": "s1"})
    workspace.relate(users.id, deploys.id)
    workspace.skips.add("coffee", reason="decaf only", expires_at=ends)
    workspace.items.create("Ship it", content="All of it.", category="active_work", priority=2, tags=["x"])
    workspace.items.create("Wait", category="waiting_for", next_action="Ask.", namespace="projects/api")


def state(workspace: Workspace) -> dict[str, int]:
    return {record.id: getattr(record, "version", 0) for record in workspace.export_records()}


def told(report: ImportReport) -> tuple[int, int, int, int, list[str]]:
    reasons = [refused.reason for refused in report.refused]
    return report.imported, report.updated, report.waiting, report.held, reasons


@pytest.mark.parametrize("name", LOCAL)
def test_an_export_says_nothing_new_where_it_came_from(workspace: Workspace, tmp_path: Path, name: str) -> None:
    fill(workspace)
    before = state(workspace)
    path = tmp_path / NAMES.get(name, "export")
    run_export(workspace, path, format_name=name)
    for _ in range(2):
        assert told(run_import(workspace, name, path)) == (0, 0, 0, 0, [])
        assert state(workspace) == before


def test_an_edit_of_an_exported_file_changes_that_alone(workspace: Workspace, tmp_path: Path) -> None:
    kept = workspace.remember("Use /v2/users.", title="Users", namespace="projects/api", kind="decision")
    path = tmp_path / "mem0.json"
    run_export(workspace, path, format_name="mem0")
    document = json.loads(path.read_text())
    document["results"][0]["categories"] = ["new"]
    path.write_text(json.dumps(document))
    assert told(run_import(workspace, "mem0", path)) == (0, 1, 0, 0, [])
    after = workspace.get(kept.id)
    assert (after.tags, after.title, after.source_type, after.namespace) == (("new",), "Users", "user", "projects/api")


def test_a_property_that_a_person_gave_an_exported_note_comes_in(workspace: Workspace, tmp_path: Path) -> None:
    kept = workspace.remember("Use /v2/users.", title="Users")
    run_export(workspace, tmp_path / "vault", format_name="vault")
    note = tmp_path / "vault/global/Users.md"
    note.write_text(note.read_text().replace("---\n", "---\nrating: 5\n", 1))
    assert told(run_import(workspace, "vault", tmp_path / "vault")) == (0, 1, 0, 0, [])
    assert workspace.get(kept.id).extra["frontmatter"]["rating"] == 5


def test_a_text_that_is_named_otherwise_is_a_memory_of_its_own(workspace: Workspace, tmp_path: Path) -> None:
    workspace.remember("one", title="Users")
    path = tmp_path / "memory.jsonl"
    path.write_text('{"type": "entity", "name": "Accounts", "entityType": "fact", "observations": ["one"]}\n')
    assert run_import(workspace, "mcp-reference", path).imported == 1
