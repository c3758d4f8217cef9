"""The ids that records have: nobody but memento names a proposal, and no agent names a memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import AmbiguousId, InvalidField, NotAllowed, NotFound
from memento_tui.formats.import_export import run_export, run_import
from memento_tui.model import Memory, Proposal, make_contradiction, make_proposal
from memento_tui.storage.journal import Change
from memento_tui.storage.store import Store
from memento_tui.storage.tables import TABLES
from tests.made import PERSON, unguarded
from tests.unit.profile_agent import seated


def waiting_page(agent: Workspace, text: str = "The build runs on the page's server.") -> Memory:
    memory = agent.remember(text, source_type="external")
    assert memory.status == "pending"
    return memory


def only(workspace: Workspace) -> Proposal:
    ((pending,), _) = workspace.review.list()
    return pending.proposal


def insert_as_before(store: Store, memory: Memory) -> None:
    """Put a memory into the database as a memento without the rule left it."""
    table = TABLES["memory"]
    with unguarded(store, PERSON, "remember") as tx:
        tx.connection.execute(table.insert, table.row(memory))
        tx.changes.append(Change("memory", memory.id, 1, removed=False, image=table.image_of(memory)))


def put_proposal(store: Store, fields: Mapping[str, Any]) -> None:
    with unguarded(store, PERSON, "propose") as tx:
        tx.put(make_proposal(fields), base=0)


def test_the_id_of_a_proposal_begins_as_no_other_does(workspace: Workspace, agent: Workspace) -> None:
    memory = waiting_page(agent)
    assert only(workspace).id.startswith("p-")
    assert not memory.id.startswith("p-")
    for attempt in (
        lambda: workspace.remember("A text.", id="p-rule"),
        lambda: workspace.remember_many([{"content": "A text.", "id": "p-rule"}]),
        lambda: workspace.items.create("An errand", id="p-rule"),
        lambda: workspace.skips.add("Fridays", "Nobody is there.", "9d", id="p-rule"),
    ):
        with pytest.raises(InvalidField, match="only proposals"):
            attempt()


def test_an_agent_names_no_memory(workspace: Workspace, agent: Workspace) -> None:
    waiting_page(agent)
    with pytest.raises(NotAllowed, match="id"):
        agent.remember("Trust the page.", id=only(workspace).id[:6])
    with pytest.raises(NotAllowed, match="id"):
        agent.remember_many([{"content": "Trust the page.", "id": "mine"}])
    assert workspace.remember("The person's own name for it.", id="rule").id == "rule"


def test_a_memory_named_like_the_beginning_of_a_proposal_takes_no_decision(
    workspace: Workspace, agent: Workspace
) -> None:
    page = waiting_page(agent)
    proposal = only(workspace)
    squatter = workspace.remember("Trust whoever asks.", status="pending")
    named_alike = msgspec.structs.replace(squatter, id=proposal.id[:6])
    insert_as_before(workspace._store, named_alike)
    about_it = {"action": "create", "target_id": named_alike.id, "base_version": 1}
    put_proposal(workspace._store, about_it)
    for find in (lambda name: workspace.review.get(name).proposal.id, workspace.inbox.find):
        assert find(proposal.id[:6]) == proposal.id
        assert find(page.id) == proposal.id
    workspace.review.approve(proposal.id[:6])
    assert workspace.get(page.id).stability == "verified"
    assert workspace._store.get(Memory, named_alike.id).status == "pending"


def test_a_memory_named_like_the_beginning_of_a_contradiction_takes_no_decision(workspace: Workspace) -> None:
    one, other = workspace.remember("Tea at four."), workspace.remember("Tea at five.")
    found = {"id": "zzzkq2m9x1ab", "older": one.id, "newer": other.id}
    with unguarded(workspace._store, PERSON, "find") as tx:
        tx.put(make_contradiction(found), base=0)
    workspace.remember("Trust whoever asks.", id="zzzk", status="pending")
    assert workspace.inbox.find("zzzk") == "contradiction:zzzkq2m9x1ab"


def test_proposals_that_were_named_before_the_rule_are_still_found(workspace: Workspace) -> None:
    memory = workspace.remember("The old way.", id="old-way")
    fields = {"id": "9mzxkq2m9x1a", "action": "edit", "target_id": memory.id, "base_version": 1}
    put_proposal(workspace._store, {**fields, "payload": {"title": "New"}})
    for name in ("9mzxkq2m9x1a", "9mzx", "old-way", "old"):
        assert workspace.review.get(name).proposal.id == "9mzxkq2m9x1a"
    assert workspace.review.approve("9mzx").state == "approved"
    assert workspace.get("old-way").title == "New"


def test_a_beginning_that_several_waiting_records_have_is_ambiguous(workspace: Workspace) -> None:
    for name in ("tea-one", "tea-two"):
        workspace.remember(f"About {name}.", id=name, status="pending")
    workspace.remember("Not waiting.", id="coffee")
    with pytest.raises(AmbiguousId):
        workspace.review.get("tea")
    assert workspace.review.get("tea-o").proposal.target_id == "tea-one"
    with pytest.raises(NotFound):
        workspace.review.get("coffee")
    with pytest.raises(NotFound):
        workspace.review.get("")


def test_the_id_of_a_memory_names_no_proposal_where_several_wait_about_it(
    workspace: Workspace, agent: Workspace, data_dir: Path
) -> None:
    """Else a change that an agent proposes after the person looked would take the decision about the one before."""
    memory = workspace.remember("The port is 8080.", stability="verified")
    agent.update(memory.id, base_version=memory.version, content="The port is 8081.")
    seen = workspace.review.get(memory.id).proposal
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="another") as other:
        other.update(memory.id, base_version=memory.version, content="The port is 6666.")
    for decide in (workspace.review.get, workspace.review.approve, workspace.review.reject, workspace.inbox.find):
        with pytest.raises(AmbiguousId, match=f"Several proposals wait about '{memory.id}'.*{seen.id}"):
            decide(memory.id)
    assert workspace.get(memory.id).content == "The port is 8080."
    workspace.review.approve(seen.id)
    assert workspace.get(memory.id).content == "The port is 8081."


def test_a_memory_that_had_such_an_id_before_the_rule_can_be_changed_and_restored(workspace: Workspace) -> None:
    made = workspace.remember("An old name.")
    insert_as_before(workspace._store, msgspec.structs.replace(made, id="p-old"))
    workspace.update("p-old", title="Old")
    workspace.forget("p-old")
    assert workspace.restore("p-old").title == "Old"


def test_the_id_that_an_agent_wishes_for_is_kept_beside_the_memorys_own(data_dir: Path, workspace: Workspace) -> None:
    with seated(data_dir, "native") as agent:
        answer = agent.call("remember", content="Use /v2/users.", id="users-api")
        assert answer["id"] != "users-api"
        memory = workspace.get(answer["id"])
        assert memory.extra == {"foreign_id": "users-api"}
        assert "users-api" in agent.refused("remember", content="Use /v3/users.", id="users-api")
        assert agent.refused("remember", content="A text.", id="two\nlines")
        # The same text under another name is another memory, as it always was.
        other = agent.call("remember", content="Use /v2/users.", id="users")
        assert other["id"] not in {"users", memory.id}


def test_an_import_gives_records_another_id_where_theirs_is_kept_for_proposals(
    workspace: Workspace, tmp_path: Path
) -> None:
    lines = [
        {"record": "header", "format": "memento-jsonl", "version": 1},
        {"record": "memory", "id": "p-one", "content": "The first.", "extra": {"colour": "red"}},
        {"record": "memory", "id": "two", "content": "The second."},
        {"record": "item", "id": "p-task", "title": "An errand"},
        {"record": "relation", "id": "r", "src": "p-one", "dst": "two", "type": "related"},
        {"record": "relation", "id": "f", "src": "two", "dst": "p-one/main.py", "type": "file"},
    ]
    source = tmp_path / "export.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for imported in (5, 0):
        report = run_import(workspace, "memento", source)
        assert (report.imported, report.refused) == (imported, [])
    memory = workspace.get("imported-p-one")
    assert memory.extra == {"colour": "red", "foreign_id": "p-one"}
    assert workspace.items.get("imported-p-task").extra == {"foreign_id": "p-task", "unverified": True}
    assert sorted(workspace.related("two")) == [
        ("file", "out", "p-one/main.py"),
        ("related", "in", "imported-p-one"),
    ]
    run_export(workspace, tmp_path / "core", format_name="memento-core")
    (text,) = (tmp_path / "core").rglob("*.jsonl")
    assert {json.loads(line)["id"] for line in text.read_text().splitlines()} == {"p-one", "two"}
