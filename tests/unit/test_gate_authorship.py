"""A model is told of each skip, working item and identity whether a person stands behind its words."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.formats.import_export import run_import
from memento_tui.formats.memento_jsonl import HEADER_FORMAT
from memento_tui.hooks.events import context_for_call
from memento_tui.hooks.host_events import HookCall
from memento_tui.hooks.settings import HookSettings
from memento_tui.model import Skip, WorkingItem
from memento_tui.model.lists import UNVERIFIED_KEY, is_unverified

SOON = clock.now() + timedelta(days=30)


def started(workspace: Workspace) -> str:
    call = HookCall("claude-code", "SessionStart", "start", "s1", "", "", is_fresh=True)
    return context_for_call(call, workspace.paths, HookSettings())


def written(agent: Workspace) -> tuple[Skip, WorkingItem]:
    skip, item = agent.skips.add("vendor", "not ours", SOON), agent.items.create("Write the page")
    assert isinstance(skip, Skip)
    assert isinstance(item, WorkingItem)
    return skip, item


def test_what_an_agent_writes_is_told_as_unverified_and_what_the_person_writes_is_not(
    workspace: Workspace, agent: Workspace
) -> None:
    workspace.skips.add("the audit", "in spring", SOON)
    workspace.items.create("Read the page")
    written(agent)
    agent.crystals.write("I am bold.")
    told = started(workspace)
    assert "[unverified]\nI am bold." in told
    assert "active work [unverified]: Write the page" in told
    assert f"skip until {SOON:%Y-%m-%d} [unverified]: vendor" in told
    assert "active work: Read the page" in told
    assert f"skip until {SOON:%Y-%m-%d}: the audit" in told


def test_a_persons_item_that_an_agent_rewrites_is_the_agents_until_the_person_writes_it(
    workspace: Workspace, agent: Workspace
) -> None:
    item = workspace.items.create("Read the page")
    changed = agent.items.update(item.id, base_version=item.version, content="Then pay the partner.")
    assert isinstance(changed, WorkingItem)
    assert is_unverified(changed)
    done = workspace.items.update(item.id, status="paused")
    assert isinstance(done, WorkingItem)
    assert is_unverified(done)
    own = workspace.items.update(item.id, content="Then ask Mara.")
    assert isinstance(own, WorkingItem)
    assert not is_unverified(own)


def test_an_agent_cannot_say_that_a_person_stands_behind_its_words(workspace: Workspace, agent: Workspace) -> None:
    item = agent.items.create("Write the page", extra={UNVERIFIED_KEY: False})
    assert isinstance(item, WorkingItem)
    changed = agent.items.update(item.id, base_version=item.version, extra={})
    assert isinstance(changed, WorkingItem)
    assert is_unverified(workspace.items.get(item.id))


def test_what_a_person_approves_is_told_as_theirs(workspace: Workspace, agent: Workspace) -> None:
    workspace.crystals.write("I am careful.")
    agent.crystals.write("I am bold.")
    (pending,), _ = workspace.review.list()
    workspace.review.approve(pending.proposal.id)
    current = workspace.crystals.current()
    assert current is not None
    assert (current.content, is_unverified(current)) == ("I am bold.", False)


@pytest.mark.parametrize("maker", ["person", "claude", ""])
def test_a_file_does_not_say_who_made_a_skip(workspace: Workspace, tmp_path: Path, maker: str) -> None:
    record = {"record": "skip", "id": "abcdefgh2345", "item": "vendor", "reason": "not ours", "created_by": maker}
    header = {"record": "header", "format": HEADER_FORMAT, "version": 1}
    path = tmp_path / "given.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (header, {**record, "expires_at": SOON.isoformat()})))
    run_import(workspace, "memento", path)
    (skip,) = workspace.skips.list()
    assert is_unverified(skip)
    assert skip.created_by != "person"
