"""The reads of a workspace that front ends are built on: by id, filter and page, and of journal and ledger."""

from __future__ import annotations

import pytest

from memento_tui.api import Workspace
from memento_tui.api.types import ExposureFilter
from memento_tui.errors import DataDirectoryError
from memento_tui.model import Memory, make_exposure
from memento_tui.model.filters import HasTag, OneOf
from tests.made import PERSON


def test_a_memory_is_found_by_its_whole_id_alone(workspace: Workspace) -> None:
    memory = workspace.remember("The port is 5433.")
    assert workspace.find(memory.id) == memory
    assert workspace.find(memory.id[:5]) is None
    assert workspace.find_record("memory", memory.id) == memory
    assert workspace.is_taken(memory.id)
    assert not workspace.is_taken("nobody")
    assert workspace.get_many([memory.id, "nobody"]) == {memory.id: memory}


def test_a_foreign_id_is_found_in_its_namespace_however_many_have_it_below(workspace: Workspace) -> None:
    extra = {"foreign_id": "x"}
    for number in range(51):
        workspace.remember(f"Port {number} is open.", namespace=f"team/{number}", extra=extra)
    memory = workspace.remember("All ports are open.", namespace="team", extra=extra)
    assert workspace.find_foreign("x", "team") == memory
    assert workspace.find_foreign("y", "team") is None


def test_an_id_is_taken_whatever_kind_of_record_has_it(workspace: Workspace) -> None:
    skip = workspace.skips.add("yarn", "npm is used", "30d")
    assert workspace.is_taken(skip.id)
    assert workspace.skips.find(skip.id) == skip
    assert workspace.items.find(skip.id) is None


def test_a_view_reads_the_same_rows_as_the_page(workspace: Workspace) -> None:
    for number in range(5):
        workspace.remember(f"Memory number {number} here.", tags=["x"] if number % 2 else [])
    view = workspace.view(HasTag("x"))
    listed = [memory.id for memory in workspace.list_where(HasTag("x")).items]
    assert view.total() == workspace.count(HasTag("x")) == 2
    assert list(view.ids(0, 9)) == [row.id for row in view.page(0, 9)] == listed
    assert [view.locate(name) for name in listed] == [0, 1]
    assert [row.id for row in workspace.summaries(listed[::-1])] == listed[::-1]
    assert workspace.count_all() == 5
    assert workspace.tags() == [("x", 2)]
    assert workspace.facet_counts("tag") == [("x", 2)]


def test_a_slice_is_ordered_by_what_was_asked(workspace: Workspace) -> None:
    made = [workspace.remember(f"Memory number {n} here.", certainty=n) for n in (3, 1, 5)]
    among = OneOf("status", ("active",))
    ordered = workspace.slice(among, order="certainty", ascending=True, skip=1, limit=2)
    assert [memory.id for memory in ordered] == [made[0].id, made[2].id]


def test_relations_are_told_by_direction(workspace: Workspace) -> None:
    one, other = workspace.remember("The old port is 80."), workspace.remember("Nothing listens there.")
    workspace.relate(one.id, other.id)
    assert [r.dst for r in workspace.relations(one.id, direction="out")] == [other.id]
    assert workspace.relations(one.id, direction="in") == []
    assert workspace.relations(other.id) == workspace.relations(one.id)


def test_versions_and_provenance_come_from_the_journal(workspace: Workspace) -> None:
    memory = workspace.remember("The port is 5433.")
    newer = workspace.remember("The port is 6000 since May.")
    workspace.update(memory.id, content="The port was 5433.")
    workspace.relate(newer.id, memory.id, "supersedes")
    first = workspace.version_of(memory.id, 1)
    assert isinstance(first, Memory)
    assert first.content == "The port is 5433."
    assert workspace.versions([memory.id, "nobody"]) == {memory.id: 2}
    known = workspace.provenance([memory.id, "nobody"])
    assert known[memory.id].superseded_by == (newer.id,)
    assert known[memory.id].first_written is not None
    assert known["nobody"].first_written is None


def test_one_undo_takes_back_everything_that_was_joined(workspace: Workspace) -> None:
    with workspace.one_undo():
        made = [workspace.remember(f"Memory number {n} here.") for n in range(3)]
    workspace.undo()
    assert workspace.get_many([memory.id for memory in made]) == {}


def test_exposures_are_recorded_counted_and_marked(workspace: Workspace) -> None:
    memory = workspace.remember("The port is 5433.")
    fields = {"memory_id": memory.id, "memory_version": 1, "session": "s", "channel": "mcp", "rank": 1}
    exposure = make_exposure({**fields, "score": 1.0, "tokens": 4, "why": {}})
    workspace.exposures.record([exposure], counted=[memory.id])
    workspace.exposures.mark_used("s", [memory.id])
    (row,) = workspace.exposures.page(ExposureFilter(), 0, 10)
    assert row.exposure.used_at is not None
    assert workspace.get(memory.id).shown_count == 1


def test_what_cannot_be_recorded_as_shown_is_not_counted_as_shown(workspace: Workspace) -> None:
    memory = workspace.remember("The port is 5433.")
    fields = {"memory_id": memory.id, "memory_version": 1, "session": "s", "channel": "mcp", "rank": 1}
    exposure = make_exposure({**fields, "score": 1.0, "tokens": 4, "why": {}})
    workspace.exposures.record([exposure], counted=[memory.id])
    with pytest.raises(DataDirectoryError):
        workspace.exposures.record([exposure], counted=[memory.id])
    assert workspace.get(memory.id).shown_count == 1


def test_settings_are_kept_beside_the_journal(workspace: Workspace) -> None:
    assert workspace.settings.get("x") is None
    workspace.settings.set("x", "1")
    workspace.settings.change("x", lambda before: f"{before}2")
    assert workspace.settings.get("x") == "12"
    assert workspace.activity.head() == 0


def test_the_position_in_the_journal_tells_one_past_from_another(workspace: Workspace) -> None:
    assert workspace.activity.position() == (0, "")
    workspace.remember("The port is 5433.")
    head, mark = workspace.activity.position()
    assert (head, len(mark)) == (1, 16)
    assert [entry.seq for entry in workspace.activity.entries_after(0)] == [1]
    assert [change.record for change in workspace.activity.changes(1)] == ["memory"]


def test_an_import_session_writes_in_the_name_of_its_author(workspace: Workspace) -> None:
    session = workspace.import_session(PERSON)
    memory = workspace.remember("The port is 5433.")
    assert session.same_content("The port is 5433.") == [memory]
    assert session.versions("memory", [memory.id]) == {memory.id: 1}
    with session.transaction("import", batch="b") as tx:
        tx.put(memory, base=memory.version)
    assert workspace.activity.entries(limit=1)[0].batch == "b"
    assert list(workspace.export_records()) == [workspace.get(memory.id)]
