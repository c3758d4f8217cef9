from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import Conflict, NotAllowed, NotFound
from memento_tui.model import Memory
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store
from tests.made import PERSON, note, put, unguarded


def fields(workspace: Workspace, memory_id: str) -> tuple[str, str, tuple[str, ...]]:
    memory = workspace.get(memory_id)
    return memory.content, memory.title, memory.tags


def test_the_undo_key_takes_back_the_persons_newest_change_step_by_step(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    workspace.update(memory.id, content="two")
    workspace.update(memory.id, content="three")
    assert [entry.action for entry in workspace.undo()] == ["edit"]
    assert workspace.get(memory.id).content == "two"
    workspace.undo()
    assert workspace.get(memory.id).content == "one"
    workspace.undo()
    with pytest.raises(NotFound):
        workspace.get(memory.id)
    with pytest.raises(NotFound, match="There is nothing to undo"):
        workspace.undo()


def test_redo_does_again_what_was_undone_until_the_person_does_something_else(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    workspace.update(memory.id, content="two")
    workspace.undo()
    workspace.undo()
    workspace.redo()
    assert workspace.get(memory.id).content == "one"
    workspace.redo()
    assert workspace.get(memory.id).content == "two"
    with pytest.raises(NotFound, match="There is nothing to redo"):
        workspace.redo()
    workspace.undo()
    workspace.remember("something else")
    with pytest.raises(NotFound, match="There is nothing to redo"):
        workspace.redo()


def test_undo_survives_a_restart_and_works_from_another_process(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as first:
        memory = first.remember("one")
        first.update(memory.id, content="two")
    with memento_tui.open(data_dir) as second, memento_tui.open(data_dir) as third:
        second.undo()
        assert third.get(memory.id).content == "one"
        third.redo()
        assert second.get(memory.id).content == "two"


def test_a_person_undoes_what_an_agent_did_and_an_agent_undoes_nothing(workspace: Workspace, agent: Workspace) -> None:
    memory = agent.remember("by the agent")
    with pytest.raises(NotFound, match="There is nothing to undo"):
        workspace.undo()
    for refused in (agent.undo, agent.redo, lambda: agent.undo(1)):
        with pytest.raises(NotAllowed, match="Only a person"):
            refused()
    (undone,) = workspace.undo(workspace._store.journal.head())
    assert (undone.actor, undone.agent) == ("agent", "claude")
    with pytest.raises(NotFound):
        workspace.get(memory.id)


def test_an_older_entry_gives_back_its_fields_and_leaves_those_that_changed_later(workspace: Workspace) -> None:
    memory = workspace.remember("content", title="old", tags=["old"])
    workspace.update(memory.id, title="new")
    first = workspace._store.journal.head()
    workspace.update(memory.id, tags=["new"])
    workspace.undo(first)
    assert fields(workspace, memory.id) == ("content", "old", ("new",))
    workspace.redo()
    assert fields(workspace, memory.id) == ("content", "new", ("new",))


def test_an_older_entry_whose_fields_changed_again_is_a_conflict_that_names_them(workspace: Workspace) -> None:
    memory = workspace.remember("content", title="a")
    workspace.update(memory.id, title="b", content="new content")
    first = workspace._store.journal.head()
    workspace.update(memory.id, title="c", content="newer content")
    head = workspace._store.journal.head()
    with pytest.raises(Conflict, match=f"Entry {first} cannot be taken back: content, title of memory {memory.id}"):
        workspace.undo(first)
    assert workspace._store.journal.head() == head
    assert fields(workspace, memory.id) == ("newer content", "c", ())


def test_an_entry_is_taken_back_once(workspace: Workspace) -> None:
    workspace.remember("one")
    workspace.undo(1)
    with pytest.raises(NotAllowed, match="Entry 1 was taken back already"):
        workspace.undo(1)
    workspace.undo(2)
    with pytest.raises(NotAllowed, match="Entry 2 was taken back already"):
        workspace.undo(2)
    assert [memory.content for memory in workspace.list().items] == ["one"]


def test_taking_back_a_redo_is_taking_back_what_it_did_again(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    workspace.undo()
    workspace.redo()
    redo = workspace._store.journal.head()
    assert [entry.seq for entry in workspace.undo(redo)] == [1]
    with pytest.raises(NotFound):
        workspace.get(memory.id)
    with pytest.raises(NotFound, match="There is nothing to undo"):
        workspace.undo()
    with pytest.raises(NotAllowed, match="Entry 1 was taken back already"):
        workspace.undo(redo)
    workspace.redo()
    assert workspace.get(memory.id).content == "one"


def test_a_batch_is_taken_back_as_a_whole_and_comes_back_as_a_whole(workspace: Workspace) -> None:
    store = workspace._store
    for text in ("one", "two", "three"):
        with unguarded(store, PERSON, "import", batch="b") as tx:
            tx.put(note(text), base=0)
    assert [entry.seq for entry in workspace.undo()] == [3, 2, 1]
    assert store.memories.count_all() == 0
    workspace.redo()
    assert store.memories.count_all() == 3


def test_a_batch_that_cannot_be_taken_back_whole_stays_whole(workspace: Workspace) -> None:
    store = workspace._store
    (memory,) = put(store, note("content", title="a"))
    for title in ("b", "c"):
        with unguarded(store, PERSON, "import", batch="b") as tx:
            tx.put(note(f"new {title}"), base=0)
            tx.put(note("content", id=memory.id, title=title), base=store.get(Memory, memory.id).version)
    workspace.update(memory.id, content="other")
    workspace.update(memory.id, title="d")
    head, count = store.journal.head(), store.memories.count_all()
    with pytest.raises(Conflict, match="title of memory"):
        workspace.undo(2)
    assert (store.journal.head(), store.memories.count_all()) == (head, count)
    workspace.undo()
    workspace.undo(2)
    assert store.memories.count_all() == 1
    assert fields(workspace, memory.id) == ("other", "a", ())


def test_undoing_a_removal_brings_the_same_record_back(workspace: Workspace) -> None:
    skip = workspace.skips.add("folder", "generated", "7d")
    workspace.skips.remove(skip.id)
    workspace.undo()
    assert workspace.skips.get(skip.id).reason == "generated"
    assert workspace.skips.get(skip.id).version == 3


def test_undoing_the_creation_of_what_is_gone_already_points_at_the_removal(workspace: Workspace) -> None:
    skip = workspace.skips.add("folder", "generated", "7d")
    workspace.skips.remove(skip.id)
    with pytest.raises(Conflict, match="is gone already"):
        workspace.undo(1)
    workspace.undo()
    workspace.undo()
    assert workspace.skips.list() == []


def test_undoing_the_creation_of_what_was_edited_since_is_a_conflict_with_both_sides(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = agent.remember("one")
    created = workspace._store.journal.head()
    workspace.update(memory.id, content="two, in the person's words")
    workspace.verify(memory.id)
    verified = workspace._store.journal.head()
    with pytest.raises(Conflict, match=f"Entry {created} cannot be taken back: .*content.* of memory") as raised:
        workspace.undo(created)
    assert f"Undo entry {verified} first" in raised.value.hint
    assert raised.value.current is not None
    assert raised.value.current["content"] == "two, in the person's words"
    assert raised.value.attempted is not None
    assert raised.value.attempted["content"] == "one"
    assert workspace.get(memory.id).content == "two, in the person's words"
    workspace.undo()
    workspace.undo()
    workspace.undo(created)
    assert workspace._store.find(Memory, memory.id) is None


def test_redoing_a_deletion_of_what_was_edited_since_is_a_conflict(workspace: Workspace) -> None:
    skip = workspace.skips.add("folder", "generated", "7d")
    workspace.skips.remove(skip.id)
    workspace.undo()
    workspace.skips.update(skip.id, reason="made by a build")
    workspace.skips.update(skip.id, reason="made by the build")
    last = workspace._store.journal.head()
    workspace.undo(last)
    with pytest.raises(Conflict, match="reason of skip") as raised:
        workspace.undo(last - 2)
    assert f"Undo entry {last - 1} first" in raised.value.hint
    assert workspace.skips.get(skip.id).reason == "made by a build"


def test_what_only_the_program_changed_since_does_not_keep_a_creation_from_being_undone(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    with unguarded(workspace._store, Author("system", "engine"), "age") as tx:
        tx.put(msgspec.structs.replace(memory, certainty=1), base=memory.version)
    workspace.undo()
    assert workspace._store.find(Memory, memory.id) is None


def test_a_purge_is_not_undone_and_what_it_emptied_is_passed_over(workspace: Workspace) -> None:
    kept = workspace.remember("kept")
    secret = workspace.remember("sk-secret")
    workspace.purge(secret.id, "a key leaked")
    with pytest.raises(NotAllowed, match="is a purge; what it removed is gone for good"):
        workspace.undo(workspace._store.journal.head())
    with pytest.raises(Conflict, match="was purged"):
        workspace.undo(2)
    workspace.undo()
    assert workspace._store.find(Memory, kept.id) is None


def test_an_edit_after_which_the_text_was_purged_and_written_anew_does_not_bring_the_text_back(
    workspace: Workspace,
) -> None:
    workspace.remember("sk-secret", id="a")
    workspace.purge("a", "leaked")
    workspace.remember("harmless", id="a")
    workspace.undo()
    assert workspace._store.find(Memory, "a") is None
    workspace.redo()
    assert workspace.get("a").content == "harmless"


@pytest.mark.parametrize("seq", [0, -1, 99])
def test_an_entry_that_does_not_exist_is_not_found(workspace: Workspace, seq: int) -> None:
    with pytest.raises(NotFound, match=f"The journal has no entry {seq}"):
        workspace.undo(seq)


def test_an_entry_number_beyond_every_database_is_one_that_does_not_exist(workspace: Workspace) -> None:
    with pytest.raises(NotFound, match="has no entry"):
        workspace.undo(10**30)


def test_an_undo_says_what_it_took_back_and_is_an_entry_of_its_own(workspace: Workspace) -> None:
    workspace.remember("one")
    workspace.undo()
    (undo, _) = workspace._store.journal.entries()
    assert (undo.action, undo.undoes, undo.note) == ("undo", 1, "undo of 1 (remember)")
    workspace.redo()
    (redo, _, _) = workspace._store.journal.entries()
    assert (redo.action, redo.undoes, redo.note) == ("redo", 2, "redo of 2 (undo)")


def test_history_tells_every_version_with_who_made_it(tmp_path: Path, workspace: Workspace, agent: Workspace) -> None:
    memory = agent.remember("one")
    workspace.update(memory.id, content="two")
    workspace.forget(memory.id)
    workspace.undo()
    told = [
        (r.version, r.entry.actor, r.record and (r.record.content, r.record.status))
        for r in workspace.history(memory.id[:6])
    ]
    assert told == [
        (4, "person", ("two", "active")),
        (3, "person", ("two", "deleted")),
        (2, "person", ("two", "active")),
        (1, "agent", ("one", "active")),
    ]
    empty = Store(tmp_path / "other.db")
    assert empty.journal.history(Memory, memory.id) == []
    empty.close()
