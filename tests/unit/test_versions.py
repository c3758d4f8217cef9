from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from memento_tui.api import Workspace
from memento_tui.api.decision_fields import changes_between
from memento_tui.api.queries import restore_version
from memento_tui.errors import Conflict, NotAllowed, NotFound
from memento_tui.model.lists import UNVERIFIED_KEY
from memento_tui.model.memory import CLAIMS_KEY, RESERVED_EXTRA, Memory
from tests.made import NOW, unguarded


def test_an_earlier_version_says_again_what_it_said(workspace: Workspace) -> None:
    memory = workspace.remember("port 8080", title="Port", tags=["api"], certainty=4, kind="decision")
    workspace.update(memory.id, content="port 9090", title="", tags=["api", "new"], certainty=1, kind="fact")
    restored = restore_version(workspace, memory.id, 1)
    assert restored.fields == ("content", "title", "kind", "tags", "certainty")
    now = workspace.get(memory.id)
    assert (now.content, now.title, now.kind, now.tags, now.certainty) == ("port 8080", "Port", "decision", ("api",), 4)
    assert (now.version, restored.memory) == (3, now)


def test_a_moment_that_an_earlier_version_did_not_have_is_cleared(workspace: Workspace) -> None:
    memory = workspace.remember("text")
    workspace.update(memory.id, expires_at=NOW + timedelta(days=900), validity_context="in March")
    assert restore_version(workspace, memory.id, 1).fields == ("expires_at", "validity_context")
    assert workspace.get(memory.id).expires_at is None


def test_what_became_of_the_memory_since_stays(workspace: Workspace) -> None:
    memory = workspace.remember("text")
    workspace.update(memory.id, pinned=True, tier="long_term", content="other")
    workspace.verify(memory.id)
    now = restore_version(workspace, memory.id, 1).memory
    assert (now.content, now.pinned, now.tier, now.stability) == ("text", True, "long_term", "verified")


def test_it_is_one_entry_that_undo_takes_back(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    workspace.update(memory.id, content="two", tags=["x"])
    head = workspace._store.journal.head()
    restore_version(workspace, memory.id, 1)
    assert workspace._store.journal.head() == head + 1
    workspace.undo()
    assert (workspace.get(memory.id).content, workspace.get(memory.id).tags) == ("two", ("x",))


def test_nothing_is_written_where_nothing_differs(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    workspace.update(memory.id, pinned=True)
    head = workspace._store.journal.head()
    assert restore_version(workspace, memory.id, 1).fields == ()
    assert workspace._store.journal.head() == head


def test_a_change_that_came_between_is_a_conflict(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    workspace.update(memory.id, content="two")
    workspace.update(memory.id, content="three")
    with pytest.raises(Conflict):
        restore_version(workspace, memory.id, 1, base_version=2)
    assert workspace.get(memory.id).content == "three"


def test_a_version_that_never_was_is_not_found(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    with pytest.raises(NotFound, match="no version 7"):
        restore_version(workspace, memory.id, 7)


def test_what_was_purged_does_not_return(workspace: Workspace) -> None:
    memory = workspace.remember("secret words", id="kept")
    workspace.purge(memory.id, "it leaked")
    workspace.remember("harmless", id="kept")
    with pytest.raises(NotAllowed, match="version 1 was purged"):
        restore_version(workspace, "kept", 1)


def test_a_version_at_which_the_memory_was_removed_holds_no_text(workspace: Workspace) -> None:
    memory = workspace.remember("one", id="kept")
    workspace.undo()
    workspace.redo()
    assert workspace.get(memory.id).version == 3
    with pytest.raises(NotAllowed, match="was removed"):
        restore_version(workspace, "kept", 2)


def test_a_deleted_memory_is_restored_first(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    workspace.update(memory.id, content="two")
    workspace.forget(memory.id)
    with pytest.raises(NotAllowed, match="deleted"):
        restore_version(workspace, memory.id, 1)


def test_an_agent_restores_no_version(workspace: Workspace, agent: Workspace) -> None:
    memory = workspace.remember("one")
    workspace.update(memory.id, content="two")
    with pytest.raises(NotAllowed, match="Only a person"):
        restore_version(agent, memory.id, 1)


def test_a_shortened_memory_gets_its_earlier_text_whole(workspace: Workspace) -> None:
    memory = workspace.remember("First sentence. Second sentence.")
    workspace.update(memory.id, content="Another first. Another second.")
    with unguarded(workspace._store, workspace.author, "compact") as tx:
        whole = workspace.get(memory.id)
        kept = {RESERVED_EXTRA[0]: whole.content, RESERVED_EXTRA[2]: "2026-01-01"}
        short = msgspec.structs.replace(whole, content="Another first.", status="compacted", extra=kept)
        tx.put(short, base=whole.version)
    assert workspace.get(memory.id).status == "compacted"
    now = restore_version(workspace, memory.id, 1).memory
    assert (now.content, now.status, now.extra) == ("First sentence. Second sentence.", "active", {})
    again = restore_version(workspace, memory.id, 3).memory
    assert again.content == "Another first. Another second."


def test_changes_between_versions_leave_out_what_counts_and_dates_them(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    after = workspace.update(memory.id, content="two", pinned=True).memory
    assert [field.line for field in changes_between(memory, after)] == ["content: one -> two", "pinned: False -> True"]
    assert not changes_between(after, after)


def test_what_a_file_claimed_is_told_apart_from_what_it_keeps_for_others() -> None:
    claimed = Memory(
        id="one",
        content="one",
        created_at=NOW,
        updated_at=NOW,
        extra={CLAIMS_KEY: {"certainty": 5}, "vault": {"digest": "a"}},
    )
    changed = msgspec.structs.replace(claimed, extra={"vault": {"digest": "b"}})
    assert [field.line for field in changes_between(claimed, changed)] == [
        "extra.vault.digest: a -> b",
        "claims: certainty 5 -> none",
    ]


def test_that_a_record_became_a_persons_own_is_a_change() -> None:
    proposed = Memory(id="one", content="one", created_at=NOW, updated_at=NOW, extra={UNVERIFIED_KEY: True})
    approved = msgspec.structs.replace(proposed, extra={})
    assert [field.line for field in changes_between(proposed, approved)] == ["unverified: yes -> no"]
    assert [field.line for field in changes_between(approved, proposed)] == ["unverified: no -> yes"]
    declined = msgspec.structs.replace(proposed, extra={UNVERIFIED_KEY: False})
    assert not changes_between(approved, declined)
