"""What upkeep did to a memory in the meantime neither stands in its source's way nor shortens its source."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.formats.import_export import run_export, run_import
from memento_tui.formats.registry import FORMATS
from memento_tui.maintenance.aging import ORIGINAL_TEXT_KEY, due_change
from memento_tui.model import Memory
from tests.made import PERSON, note, put, unguarded, without_engine

LONG = "We deploy on Fridays. Nobody knows why, but the pipeline is calm by then and the rollback is fast.\n"


def aged(workspace: Workspace, memory_id: str, *steps: str) -> Memory:
    """Let a memory take these steps of its life, as sleep does, and return it."""
    memory = workspace.get(memory_id)
    now = memory.created_at
    for step in steps:
        while True:
            now += timedelta(days=10)
            change = due_change(memory, now)
            if change is not None:
                break
        assert change.action == step
        with unguarded(workspace._store, PERSON, "maintain") as tx:
            memory = tx.put(change.memory, base=memory.version)
    return memory


def the_memory(workspace: Workspace) -> Memory:
    (memory,) = (memory for batch in workspace._store.memories.batches() for memory in batch)
    return memory


def write_graph(path: Path, *observations: str, **more: str) -> None:
    entity = {"type": "entity", "name": "Deploys", "entityType": "fact", "observations": observations, **more}
    path.write_text(json.dumps(entity) + "\n")


def test_a_source_may_change_what_it_keeps_of_a_memory_that_was_demoted(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "memory.jsonl"
    write_graph(source, "one", createdAt="2020-01-01T00:00:00Z")
    run_import(workspace, "mcp-reference", source)
    memory = the_memory(workspace)
    with unguarded(workspace._store, PERSON, "promote") as tx:
        tx.put(msgspec.structs.replace(memory, tier="long_term"), base=memory.version)
    demoted = aged(workspace, memory.id, "demote")
    write_graph(source, "one", createdAt="2020-01-01T00:00:00Z", colour="blue")
    report = run_import(workspace, "mcp-reference", source)
    assert (report.updated, report.refused) == (1, [])
    after = workspace.get(memory.id)
    assert after.extra["mcp-reference"]["entity"]["colour"] == "blue"
    assert after.extra["demoted_at"] == demoted.extra["demoted_at"]


def test_what_a_source_keeps_is_disputed_by_its_own_name_only(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "memory.jsonl"
    write_graph(source, "one")
    run_import(workspace, "mcp-reference", source)
    memory = the_memory(workspace)
    mine = {**memory.extra, "mcp-reference": {"entity": {"name": "Deploys", "mine": True}}, "note": "kept"}
    workspace.update(memory.id, extra=mine)
    write_graph(source, "one", colour="blue")
    report = run_import(workspace, "mcp-reference", source)
    assert [one.reason.split(" changed both here")[0] for one in report.refused] == ["extra.mcp-reference"]
    assert workspace.get(memory.id).extra == mine


def test_a_preview_becomes_whole_again_when_its_source_changes(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "notes"
    source.mkdir()
    (source / "a.md").write_text(LONG)
    run_import(workspace, "vault", source)
    memory = the_memory(workspace)
    preview = aged(workspace, memory.id, "compact")
    assert (preview.status, preview.content) == ("compacted", "We deploy on Fridays.")
    assert run_import(workspace, "vault", source).unchanged == 1
    assert workspace.get(memory.id).status == "compacted"
    (source / "a.md").write_text(LONG + "Mondays are worse.\n")
    report = run_import(workspace, "vault", source)
    assert (report.updated, report.refused) == (1, [])
    after = workspace.get(memory.id)
    assert (after.status, after.content) == ("active", LONG + "Mondays are worse.\n")
    assert ORIGINAL_TEXT_KEY not in after.extra


def test_an_archived_preview_takes_the_new_text_of_its_source_and_stays_archived(
    workspace: Workspace, tmp_path: Path
) -> None:
    source = tmp_path / "notes"
    source.mkdir()
    (source / "a.md").write_text(LONG)
    run_import(workspace, "vault", source)
    memory = the_memory(workspace)
    aged(workspace, memory.id, "compact", "archive")
    (source / "a.md").write_text(LONG + "Mondays are worse.\n")
    assert run_import(workspace, "vault", source).refused == []
    after = workspace.get(memory.id)
    assert (after.status, after.content) == ("archived", LONG + "Mondays are worse.\n")
    assert ORIGINAL_TEXT_KEY not in after.extra


def test_a_preview_moves_to_another_machine_as_a_preview_and_becomes_whole_there_too(
    workspace: Workspace, tmp_path: Path
) -> None:
    memory = workspace.remember(LONG)
    aged(workspace, memory.id, "compact")
    run_export(workspace, tmp_path / "one.jsonl")
    with memento_tui.open(without_engine(tmp_path / "other")) as other:
        run_import(other, "memento", tmp_path / "one.jsonl")
        assert (other.get(memory.id).status, other.get(memory.id).extra[ORIGINAL_TEXT_KEY]) == ("compacted", LONG)
        workspace.restore(memory.id)
        run_export(workspace, tmp_path / "two.jsonl")
        (tmp_path / "two.jsonl").replace(tmp_path / "one.jsonl")
        assert run_import(other, "memento", tmp_path / "one.jsonl").updated == 1
        assert (other.get(memory.id).status, other.get(memory.id).content) == ("active", LONG)
        assert ORIGINAL_TEXT_KEY not in other.get(memory.id).extra


SHORTENED = [
    name for name, one in FORMATS.items() if not one.is_remote and name not in ("memento", "agents-block", "beads")
]


FROM_FILES = {"agents-file": "CLAUDE.md", "claude": "MEMORY.md"}


@pytest.mark.parametrize("steps", [("compact",), ("compact", "archive")])
@pytest.mark.parametrize("format_name", SHORTENED)
def test_a_preview_leaves_for_other_programs_in_full(
    workspace: Workspace, tmp_path: Path, format_name: str, steps: tuple[str, ...]
) -> None:
    if format_name in FROM_FILES:
        (tmp_path / FROM_FILES[format_name]).write_text("# Deploys\n" + LONG)
        run_import(workspace, format_name, tmp_path / FROM_FILES[format_name])
    else:
        put(workspace._store, note(LONG, title="Deploys"))
    before = ("demote",) if the_memory(workspace).tier == "long_term" else ()
    aged(workspace, the_memory(workspace).id, *before, *steps)
    run_export(workspace, tmp_path / "x", format_name=format_name)
    with memento_tui.open(without_engine(tmp_path / "other")) as other:
        run_import(other, format_name, tmp_path / "x")
        assert LONG.strip() in the_memory(other).content


def test_a_note_that_faded_here_is_not_shortened_in_the_vault(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    file = tmp_path / "vault" / "a.md"
    file.write_text(LONG)
    run_import(workspace, "vault", tmp_path / "vault")
    aged(workspace, the_memory(workspace).id, "compact")
    run_export(workspace, tmp_path / "vault", format_name="vault")
    assert file.read_text() == LONG
