from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.lists import Items, Skips
from memento_tui.errors import Conflict, InvalidField, NotAllowed, NotFound
from memento_tui.formats.import_export import run_import
from memento_tui.model import Proposal, Skip, WorkingItem
from memento_tui.policy.gate import Gate
from memento_tui.policy.policy import preset_rules


def _skip(workspace: Workspace, item: str = "vendor/", until: str = "7d") -> Skip:
    made = workspace.skips.add(item, "third-party code", until, namespace="site", extra={"kept": 1})
    assert isinstance(made, Skip)
    return made


def test_a_skip_becomes_a_standing_decision_and_one_undo_takes_both_back(workspace: Workspace) -> None:
    skip = _skip(workspace)
    decided = workspace.skips.decide(skip.id[:8])
    assert (decided.category, decided.title, decided.content) == (
        "standing_decision",
        "Skip: vendor/",
        "third-party code",
    )
    assert (decided.namespace, decided.extra, decided.status) == ("site", {"kept": 1}, "active")
    assert workspace.skips.list(ended=True) == []
    assert workspace.items.list() == [decided]
    workspace.undo()
    assert workspace.items.list() == []
    assert [(back.id, back.item) for back in workspace.skips.list()] == [(skip.id, "vendor/")]
    workspace.redo()
    assert [item.id for item in workspace.items.list()] == [decided.id]
    assert workspace.skips.list() == []


def test_a_standing_decision_has_the_title_that_the_person_gives(workspace: Workspace) -> None:
    decided = workspace.skips.decide(_skip(workspace).id, title="Never read vendor/")
    assert decided.title == "Never read vendor/"


def test_only_a_person_makes_a_standing_decision_of_a_skip(workspace: Workspace, agent: Workspace) -> None:
    skip = _skip(workspace)
    with pytest.raises(NotAllowed, match="Only a person"):
        agent.skips.decide(skip.id)
    assert workspace.skips.list() == [skip]
    assert workspace.items.list() == []


def test_a_decision_about_a_skip_that_changed_meanwhile_does_nothing(workspace: Workspace) -> None:
    skip = _skip(workspace)
    workspace.skips.update(skip.id, reason="another reason")
    for act in (workspace.skips.decide, workspace.skips.remove):
        with pytest.raises(Conflict, match="you changed version 1, it is at 2"):
            act(skip.id, base_version=1)
    with pytest.raises(Conflict):
        workspace.skips.extend(skip.id, "30d", base_version=1)
    assert [(left.reason, left.version) for left in workspace.skips.list()] == [("another reason", 2)]
    assert workspace.items.list() == []


def test_a_title_that_breaks_a_rule_leaves_the_skip_alone(workspace: Workspace) -> None:
    skip = _skip(workspace, "x" * 1000)
    with pytest.raises(InvalidField, match="title"):
        workspace.skips.decide(skip.id)
    assert workspace.skips.list() == [skip]
    with pytest.raises(NotFound):
        workspace.skips.decide("zzzz")


def test_a_skip_is_extended_and_never_shortened(workspace: Workspace) -> None:
    skip = _skip(workspace, until="7d")
    extended = workspace.skips.extend(skip.id[:8], "30d")
    assert isinstance(extended, Skip)
    assert extended.expires_at - clock.now() > timedelta(days=29)
    for until in ("7d", "2020-01-01", "sometime"):
        with pytest.raises(InvalidField, match="expires_at"):
            workspace.skips.extend(skip.id, until)
    assert workspace.skips.list() == [extended]


def test_an_extension_by_an_agent_waits_where_the_policy_says_so(workspace: Workspace, agent: Workspace) -> None:
    skip = _skip(workspace)
    strict = Skips(agent._store, Gate(agent._store, agent.author, preset_rules("strict")))
    waiting = strict.extend(skip.id, "30d", base_version=strict.get(skip.id).version)
    assert isinstance(waiting, Proposal)
    assert workspace.skips.get(skip.id) == skip
    workspace.review.approve(waiting.id)
    assert workspace.skips.get(skip.id).expires_at > skip.expires_at


def test_a_removal_made_from_an_older_version_is_a_conflict_for_everybody(
    workspace: Workspace, agent: Workspace
) -> None:
    item = workspace.items.create("work")
    assert isinstance(item, WorkingItem)
    workspace.items.update(item.id, title="changed")
    strict = Items(agent._store, Gate(agent._store, agent.author, preset_rules("strict")))
    for items in (workspace.items, agent.items, strict):
        with pytest.raises(Conflict):
            items.remove(item.id, base_version=1)
    assert workspace.review.count() == 0
    assert workspace.items.remove(item.id, base_version=2) is None


def test_lists_are_narrowed_by_words_and_fields(workspace: Workspace) -> None:
    workspace.items.create("Move to /v3", tags=["api"])
    workspace.items.create("Answer from legal", category="waiting_for")
    assert [item.title for item in workspace.items.list(query="category:waiting")] == ["Answer from legal"]
    assert [item.title for item in workspace.items.list(query="v3 tag:API")] == ["Move to /v3"]
    _skip(workspace, "issue 4711", "2d")
    _skip(workspace, "vendor/", "30d")
    assert [skip.item for skip in workspace.skips.list(query="expires:<7d")] == ["issue 4711"]


def test_nobody_makes_or_extends_a_skip_that_ends_later_than_in_two_years(
    workspace: Workspace, agent: Workspace
) -> None:
    skip = _skip(workspace)
    for opened in (workspace, agent):
        for until in ("200y", "2099-12-31", "732d"):
            with pytest.raises(InvalidField, match="more than two years away"):
                opened.skips.add("reading vendor/", "third-party code", until)
            with pytest.raises(InvalidField, match="more than two years away"):
                opened.skips.extend(skip.id, until, base_version=opened.skips.get(skip.id).version)
        assert isinstance(opened.skips.add("reading vendor/", "third-party code", "2y"), Skip)


def test_an_import_cuts_a_skip_to_two_years_once_and_says_so(workspace: Workspace, tmp_path: Path) -> None:
    fields = {
        "record": "skip",
        "id": "s1",
        "item": "vendor",
        "reason": "not ours",
        "created_at": "2026-10-01T00:00:00Z",
    }
    source = tmp_path / "export.jsonl"
    source.write_text(json.dumps({**fields, "expires_at": "2099-12-31T00:00:00Z"}) + "\n")
    report = run_import(workspace, "memento", source)
    assert (report.imported, report.shortened, report.refused) == (1, 1, [])
    assert workspace.skips.get("s1").expires_at == datetime(2028, 10, 1, tzinfo=UTC)
    again = run_import(workspace, "memento", source)
    assert (again.unchanged, again.shortened) == (1, 0)
