from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.errors import AmbiguousId, Conflict, DataDirectoryError, InvalidField, NotAllowed, NotFound
from memento_tui.model import WorkingItem
from tests.made import edit, without_engine


def test_the_example_of_the_documentation_works(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as workspace:
        memory = workspace.remember("Use /v2/users; /v1 answers 404.", tags=["api"])
        (hit,) = workspace.search("users endpoint").results
        assert (hit.id, hit.snippet) == (memory.id, "Use /v2/users; /v1 answers 404.")


def test_the_directory_is_the_one_given_or_that_of_the_environment(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMENTO_HOME", str(data_dir))
    with memento_tui.open() as workspace:
        workspace.remember("one")
        assert workspace.paths.root == data_dir
    with memento_tui.open(without_engine(tmp_path / "other")) as workspace:
        assert workspace.list().items == []


def test_what_a_person_and_an_agent_remember_says_whose_it_is(workspace: Workspace, agent: Workspace) -> None:
    mine, theirs = workspace.remember("one"), agent.remember("two")
    assert (mine.source_type, mine.source.agent, mine.stability) == ("user", "", "draft")
    assert (theirs.source_type, theirs.source.agent, theirs.source.session) == ("derived", "claude", "s1")
    assert [entry.actor for entry in workspace._store.journal.entries()] == ["agent", "person"]


def test_a_text_that_is_known_in_its_namespace_is_not_stored_again(workspace: Workspace, agent: Workspace) -> None:
    first = workspace.remember("use  the api", tags=["a"])
    head = workspace._store.journal.head()
    assert agent.remember("use the api", tags=["b"]) == first
    assert workspace._store.journal.head() == head
    assert workspace.remember("use the api", namespace="other").id != first.id
    assert workspace.remember("use the api", id="named").id == "named"
    workspace.forget(first.id)
    workspace.forget("named")
    assert workspace.remember("use the api").id not in (first.id, "named")


def test_an_id_that_is_taken_is_a_conflict_with_both_sides(workspace: Workspace) -> None:
    workspace.remember("one", id="a")
    with pytest.raises(Conflict, match="A memory with the id a exists already") as caught:
        workspace.remember("two", id="a")
    assert caught.value.current is not None
    assert caught.value.attempted is not None
    assert (caught.value.current["content"], caught.value.attempted["content"]) == ("one", "two")
    json.dumps(caught.value.as_dict())


def test_many_are_remembered_in_few_entries_and_each_passes_the_gate(workspace: Workspace, agent: Workspace) -> None:
    items: list[dict[str, Any]] = [{"content": "one"}, {"text": "two", "tags": ["t"]}]
    made = agent.remember_many([*items, {"content": "three", "source_type": "external"}])
    assert [memory.content for memory in made] == ["one", "two", "three"]
    assert [memory.status for memory in made] == ["active", "active", "pending"]
    assert [workspace.get(memory.id) for memory in made] == made
    assert workspace._store.journal.head() == 1
    assert workspace.review.count() == 1
    assert workspace.remember_many([]) == []


def test_a_bad_item_among_many_stores_nothing_of_its_batch(workspace: Workspace) -> None:
    with pytest.raises(InvalidField, match="content: is empty"):
        workspace.remember_many([{"content": "one"}, {"content": ""}])
    with pytest.raises(InvalidField, match="content: is empty"):
        workspace.remember_many([{"content": "one"}, {}])
    with pytest.raises(Conflict):
        workspace.remember_many([{"content": "one", "id": "a"}, {"content": "two", "id": "a"}])
    assert workspace._store.memories.count_all() == 0
    assert workspace._store.journal.head() == 0


def test_a_bulk_write_is_undone_as_one_thing(workspace: Workspace) -> None:
    made = workspace.remember_many({"content": str(number), "version": 7} for number in range(2100))
    assert {memory.version for memory in made} == {1}
    assert workspace._store.journal.head() == 2
    workspace.undo()
    assert workspace._store.memories.count_all() == 0
    workspace.redo()
    assert workspace._store.memories.count_all() == 2100


def test_an_update_changes_what_it_names_makes_a_version_and_may_clear(workspace: Workspace) -> None:
    memory = workspace.remember("one", title="t", tags=["a"], expires_at="7d", surprise=0.5)
    changed = workspace.update(memory.id[:6], content="two", expires_at=None, surprise=None)
    assert changed.status == "applied"
    assert (changed.memory.content, changed.memory.title, changed.memory.tags) == ("two", "t", ("a",))
    assert (changed.memory.expires_at, changed.memory.surprise, changed.memory.version) == (None, None, 2)
    assert changed.memory.created_at == memory.created_at < changed.memory.updated_at
    assert workspace.get(memory.id) == changed.memory


def test_an_update_that_changes_nothing_writes_nothing(workspace: Workspace, agent: Workspace) -> None:
    memory = workspace.remember("one", tags=["a"], stability="verified")
    head = workspace._store.journal.head()
    for one in (workspace, agent):
        outcome = edit(one, memory.id, content="one", tags=["a", " a"])
        assert (outcome.status, outcome.memory, outcome.proposal) == ("applied", memory, None)
    assert workspace._store.journal.head() == head


@pytest.mark.parametrize(
    "act",
    [
        lambda one, memory_id: one.update(memory_id, content="mine", base_version=1),
        lambda one, memory_id: one.forget(memory_id, base_version=1),
    ],
)
def test_two_editors_of_one_memory_do_not_overwrite_each_other(
    workspace: Workspace, agent: Workspace, act: Callable[[Workspace, str], object]
) -> None:
    memory = workspace.remember("one", stability="verified")
    workspace.update(memory.id, content="by the person", base_version=1)
    head = workspace._store.journal.head()
    for one in (workspace, agent):
        with pytest.raises(Conflict, match="you changed version 1, it is at 2") as caught:
            act(one, memory.id)
        assert caught.value.current is not None
        assert caught.value.current["content"] == "by the person"
        assert caught.value.hint == "Read it again, then make your change from what it says now."
    assert workspace._store.journal.head() == head
    assert workspace.update(memory.id, content="again", base_version=2).memory.version == 3


@pytest.mark.parametrize("field", ["id", "created_at", "version", "shown_count", "used_count", "last_used_at"])
def test_what_a_memory_is_cannot_be_changed(workspace: Workspace, field: str) -> None:
    memory = workspace.remember("one")
    with pytest.raises(InvalidField, match=f"{field}: cannot be changed"):
        workspace.update(memory.id, **{field: 5})


@pytest.mark.parametrize("changes", [{"content": ""}, {"certainty": 9}, {"tags": [""]}, {"colour": "red"}])
def test_an_update_that_breaks_a_rule_changes_nothing(workspace: Workspace, changes: dict[str, Any]) -> None:
    memory = workspace.remember("one")
    with pytest.raises(InvalidField):
        workspace.update(memory.id, **changes)
    assert workspace.get(memory.id) == memory


def test_a_person_who_raises_trust_signs_it(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    assert memory.verified_at is None
    raised = workspace.update(memory.id, stability="stable").memory
    assert (raised.stability, raised.verified_by, raised.verified_at) == ("stable", "person", raised.updated_at)
    born = workspace.remember("two", stability="verified")
    assert (born.verified_by, born.verified_at) == ("person", born.created_at)
    marked = workspace.verify(workspace.remember("three").id)
    assert (marked.stability, marked.verified_by) == ("verified", "person")


def test_only_what_is_recalled_can_be_verified(workspace: Workspace, agent: Workspace) -> None:
    pending = agent.remember("from a page", source_type="external")
    gone = workspace.remember("gone")
    workspace.forget(gone.id)
    for memory_id, status in ((pending.id, "pending"), (gone.id, "deleted")):
        with pytest.raises(NotAllowed, match=f"is {status}") as caught:
            workspace.verify(memory_id)
        assert caught.value.hint == "Approve or restore it instead."


def test_what_is_forgotten_is_kept_and_comes_back_as_it_was(workspace: Workspace) -> None:
    memory = workspace.remember("one", status="consolidated")
    assert workspace.forget(memory.id).memory.status == "deleted"
    assert workspace.forget(memory.id).memory.version == 2
    assert (workspace.list().items, workspace.search("one").results) == ([], [])
    with pytest.raises(NotAllowed, match="is deleted"):
        workspace.update(memory.id, content="two")
    assert workspace.restore(memory.id).status == "consolidated"
    assert workspace.restore(memory.id).version == 3


@pytest.mark.parametrize(
    "act", [Workspace.get, Workspace.forget, Workspace.restore, Workspace.verify, Workspace.history, Workspace.update]
)
def test_an_unknown_or_ambiguous_id_is_told_so(workspace: Workspace, act: Any) -> None:  # noqa: ANN401 - any method
    workspace.remember("one", id="ab1")
    workspace.remember("two", id="ab2")
    with pytest.raises(NotFound, match="There is no memory whose id is or begins with 'zz'"):
        act(workspace, "zz")
    with pytest.raises(AmbiguousId, match="Several ids begin with 'ab': ab1, ab2"):
        act(workspace, "ab")


def test_relations_join_what_exists_and_are_read_from_both_ends(workspace: Workspace) -> None:
    one, two = workspace.remember("one", id="one-1"), workspace.remember("two", id="two-2")
    item = workspace.items.create("work")
    assert isinstance(item, WorkingItem)
    workspace.relate("one", "two", type="supersedes")
    workspace.relate(one.id, "src/app.py", type="file")
    workspace.relate(one.id, item.id, type="item", label="see")
    assert workspace.related(one.id) == [
        ("supersedes", "out", two.id),
        ("file", "out", "src/app.py"),
        ("item", "out", item.id),
    ]
    assert workspace.related(two.id) == [("supersedes", "in", one.id)]
    for ends in (("one", "none"), ("none", "one")):
        with pytest.raises(NotFound):
            workspace.relate(*ends)
    with pytest.raises(InvalidField, match="dst: is the memory itself"):
        workspace.relate("one", "one")
    with pytest.raises(InvalidField, match="type: must be one of"):
        workspace.relate("one", "two", type="likes")
    with pytest.raises(NotFound):
        workspace.relate("one", "two", type="item")


def test_a_list_is_filtered_and_read_in_pages(workspace: Workspace) -> None:
    for number in range(5):
        workspace.remember(f"memory {number}", tags=["odd" if number % 2 else "even"])
    page = workspace.list("tag:even", limit=2)
    assert [memory.content for memory in page.items] == ["memory 4", "memory 2"]
    rest = workspace.list("tag:even", after=page.next, limit=2)
    assert ([memory.content for memory in rest.items], rest.next) == (["memory 0"], None)


def test_what_was_of_use_is_counted_for_recall_only(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    workspace.used([memory.id, memory.id])
    used = workspace.get(memory.id)
    assert (used.used_count, used.shown_count, used.stability) == (2, 0, "draft")
    assert used.last_used_at is not None
    assert clock.now() - used.last_used_at < timedelta(minutes=5)


def test_the_gate_follows_the_setting_of_the_directory(tmp_path: Path) -> None:
    answers = {}
    for preset in ("open", "guarded", "strict"):
        data_dir = without_engine(tmp_path / preset, preset)
        with memento_tui.open(data_dir, actor="agent", agent="a") as agent:
            answers[preset] = [
                agent.remember("derived").status,
                agent.remember("external", source_type="external").status,
            ]
    assert answers == {
        "open": ["active", "active"],
        "guarded": ["active", "pending"],
        "strict": ["pending", "pending"],
    }


def test_what_a_person_writes_down_to_look_at_later_waits_in_the_queue(workspace: Workspace) -> None:
    memory = workspace.remember("Is this still so?", status="pending")
    (pending,), _ = workspace.review.list()
    assert (pending.proposal.target_id, pending.proposal.reasons) == (memory.id, ("asked_to_wait",))
    workspace.review.approve(pending.proposal.id)
    assert workspace.get(memory.id).status == "active"


def test_a_closed_workspace_writes_nothing_and_says_so(tmp_path: Path) -> None:
    with Workspace(tmp_path / "closed") as workspace:
        workspace.remember("before")
    with pytest.raises(DataDirectoryError, match="was closed, so nothing is written to it any more"):
        workspace.remember("after")
    with Workspace(tmp_path / "closed") as again:
        assert [memory.content for memory in again.list().items] == ["before"]
