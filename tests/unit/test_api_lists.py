from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.lists import Items
from memento_tui.errors import Conflict, InvalidField, NotFound
from memento_tui.model import Crystal, Proposal, Skip, WorkingItem
from memento_tui.policy.gate import Gate
from memento_tui.policy.policy import PolicyPreset, preset_rules
from tests.made import NOW, PERSON, unguarded


def skip(workspace: Workspace, item: str, **fields: Any) -> Skip:  # noqa: ANN401 - fields
    made = workspace.skips.add(item, "because", "7d", **fields)
    assert isinstance(made, Skip)
    return made


def work(workspace: Workspace, title: str, **fields: Any) -> WorkingItem:  # noqa: ANN401 - fields
    made = workspace.items.create(title, **fields)
    assert isinstance(made, WorkingItem)
    return made


@pytest.mark.parametrize(
    ("item", "query"),
    [
        ("vendored folder", "read the vendored folder"),
        ("vendored folder", "Folder, vendored!"),
        ("vendored folder", "vendored"),
        ("docs/OLD.md", "docs/old.md"),
        ("CVE-2024-1234", "is cve-2024-1234 relevant?"),
        ("日本", "日本"),
    ],
)
def test_a_skip_holds_for_what_names_it_whole_or_is_part_of_it(workspace: Workspace, item: str, query: str) -> None:
    skip(workspace, item)
    assert [found.item for found in workspace.skips.check(query)] == [item]


@pytest.mark.parametrize(
    ("item", "query"),
    [
        ("key rotation", "the keynote"),
        ("vendored folder", "folder of vendors"),
        ("vendored folder", ""),
        ("vendored folder", "?!"),
        ("vendored folder", "another folder"),
    ],
)
def test_a_skip_does_not_hold_for_what_only_looks_alike(workspace: Workspace, item: str, query: str) -> None:
    skip(workspace, item)
    assert workspace.skips.check(query) == []


def test_a_check_counts_a_hit_and_a_skip_that_has_ended_holds_no_more(workspace: Workspace) -> None:
    held = skip(workspace, "vendored folder")
    ended = skip(workspace, "vendored files")
    with unguarded(workspace._store, PERSON, "end") as tx:
        tx.put(type(ended)(**{**_fields(ended), "expires_at": NOW}), base=1)
    assert [found.id for found in workspace.skips.check("vendored")] == [held.id]
    assert [found.id for found in workspace.skips.list()] == [held.id]
    assert [found.id for found in workspace.skips.list(ended=True)] == [ended.id, held.id]
    hit = workspace.skips.get(held.id[:6])
    assert (hit.hits, hit.version) == (1, 1)
    assert hit.last_hit_at is not None


def _fields(record: Skip) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}


def test_who_added_a_skip_is_kept_when_it_is_changed(workspace: Workspace, agent: Workspace) -> None:
    made = skip(agent, "folder")
    assert made.created_by == "claude"
    changed = workspace.skips.update(made.id, reason="better", expires_at="30d")
    assert isinstance(changed, Skip)
    assert (changed.reason, changed.created_by, changed.version) == ("better", "claude", 2)
    assert changed.expires_at > made.expires_at


@pytest.mark.parametrize("field", ["id", "created_at", "version"])
def test_what_an_entry_is_cannot_be_changed(workspace: Workspace, field: str) -> None:
    made, item = skip(workspace, "folder"), work(workspace, "work")
    changes: dict[str, Any] = {field: "5"}
    with pytest.raises(InvalidField, match=f"{field}: cannot be changed"):
        workspace.skips.update(made.id, **changes)
    with pytest.raises(InvalidField, match=f"{field}: cannot be changed"):
        workspace.items.update(item.id, **changes)
    with pytest.raises(InvalidField, match="created_by: cannot be changed"):
        workspace.skips.update(made.id, created_by="someone else")


def test_working_items_come_by_priority_and_are_filtered(workspace: Workspace) -> None:
    low = work(workspace, "low")
    high = work(workspace, "high", priority=3, category="waiting_for")
    assert [item.id for item in workspace.items.list()] == [high.id, low.id]
    assert [item.id for item in workspace.items.list(category="waiting_for")] == [high.id]
    done = workspace.items.update(low.id[:7], status="completed")
    assert isinstance(done, WorkingItem)
    assert [item.id for item in workspace.items.list(status="completed")] == [low.id]
    workspace.items.remove(high.id)
    assert [item.id for item in workspace.items.list()] == [low.id]
    with pytest.raises(NotFound):
        workspace.items.get(high.id)


@pytest.mark.parametrize("preset", ["guarded", "strict"])
def test_two_editors_of_one_entry_do_not_overwrite_each_other(
    workspace: Workspace, agent: Workspace, preset: PolicyPreset
) -> None:
    item = work(workspace, "work")
    workspace.items.update(item.id, title="changed", base_version=1)
    items = Items(agent._store, Gate(agent._store, agent.author, preset_rules(preset)))
    with pytest.raises(Conflict, match="you changed version 1, it is at 2") as caught:
        items.update(item.id, title="mine", base_version=1)
    assert caught.value.current is not None
    assert caught.value.current["title"] == "changed"
    assert workspace.review.count() == 0


@pytest.mark.parametrize(
    "act",
    [
        lambda w: w.skips.add("", "because", "7d"),
        lambda w: w.skips.add("a", "", "7d"),
        lambda w: w.skips.add("a", "because", "never"),
        lambda w: w.skips.add("a", "because", "2020-01-01"),
        lambda w: w.items.create(""),
        lambda w: w.items.create("a", category="hobby"),
        lambda w: w.crystals.write(" "),
        lambda w: w.crystals.write("x" * 1_048_576),
    ],
)
def test_an_entry_that_breaks_a_rule_is_not_made(workspace: Workspace, act: Callable[[Workspace], object]) -> None:
    with pytest.raises(InvalidField):
        act(workspace)
    assert workspace._store.journal.head() == 0


def test_a_new_identity_puts_the_old_one_into_the_past_and_names_it_as_parent(workspace: Workspace) -> None:
    assert workspace.crystals.current() is None
    first = workspace.crystals.write("I am one.")
    second = workspace.crystals.write("I am two.", base_id=first.id)
    assert [(c.content, c.status, c.parent) for c in workspace.crystals.timeline()] == [
        ("I am two.", "current", first.id),
        ("I am one.", "past", ""),
    ]
    with pytest.raises(Conflict, match="The identity was changed meanwhile") as caught:
        workspace.crystals.write("I am three.", base_id=first.id)
    assert caught.value.current is not None
    assert caught.value.current["id"] == second.id
    back = workspace.crystals.restore(first.id)
    assert (back.content, back.parent, back.id not in (first.id, second.id)) == ("I am one.", second.id, True)
    workspace.undo()
    assert workspace.crystals.current() == _at_version(second, 3)


def _at_version(crystal: Crystal, version: int) -> Crystal:
    return type(crystal)(**{**{n: getattr(crystal, n) for n in crystal.__struct_fields__}, "version": version})


def test_an_agent_writes_its_identity_until_a_person_has_written_or_approved_one(
    workspace: Workspace, agent: Workspace
) -> None:
    assert agent.crystals.write("I am one.").status == "current"
    assert agent.crystals.write("I am two.").status == "current"
    mine = workspace.crystals.write("You are three.")
    proposed = agent.crystals.write("I am four.")
    assert (proposed.status, proposed.parent) == ("proposed", mine.id)
    assert workspace.crystals.current() == mine
    (pending,) = workspace.review.list()[0]
    assert pending.proposal.reasons == ("person_wrote_identity",)
    workspace.review.approve(pending.proposal.id)
    current = workspace.crystals.current()
    assert current is not None
    assert current.id == proposed.id
    assert agent.crystals.write("I am five.").status == "proposed"


def test_entries_are_found_by_a_beginning_of_their_id(workspace: Workspace) -> None:
    made, item = skip(workspace, "folder"), work(workspace, "work")
    assert workspace.skips.get(made.id[:8]) == made
    assert workspace.items.get(item.id[:8]) == item
    for get in (workspace.skips.get, workspace.items.get):
        with pytest.raises(NotFound):
            get("zzzzzz")
    assert not isinstance(workspace.skips.remove(made.id[:8]), Proposal)
    assert workspace.skips.list() == []


def test_a_change_that_says_what_stands_already_writes_nothing(workspace: Workspace) -> None:
    item = workspace.items.create("Move to /v3", tags=["db"])
    skip = workspace.skips.add("vendor", "not ours", "30d")
    head = workspace._store.journal.head()
    assert workspace.items.update(item.id, title="Move to /v3", tags=["db"], base_version=item.version) == item
    assert workspace.skips.update(skip.id, reason="not ours") == skip
    assert workspace._store.journal.head() == head
    workspace.items.update(item.id, title="Move on")
    with pytest.raises(Conflict):
        workspace.items.update(item.id, title="Move on", base_version=item.version)


def test_an_agent_that_repeats_what_stands_asks_a_person_nothing(data_dir: Path) -> None:
    (data_dir / "config.toml").write_text('[review]\npreset = "strict"\n')
    with memento_tui.open(data_dir) as person:
        skip = person.skips.add("vendor", "not ours", "30d")
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude") as agent:
        assert agent.skips.update(skip.id, reason="not ours", base_version=agent.skips.get(skip.id).version) == skip
    with memento_tui.open(data_dir) as person:
        assert not person.inbox.count()
