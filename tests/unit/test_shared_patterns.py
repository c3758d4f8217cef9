"""A lesson that two or more projects taught is proposed once as a pattern for everywhere, and names the projects."""

from __future__ import annotations

from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.maintenance.consolidation.shared_patterns import SHARED_PATTERN
from memento_tui.model import Memory, Proposal

LESSON = "Launchd starts a scheduled script without the user's PATH, so every program in it needs its absolute path."
PROJECTS = ("bakery", "library", "tower")


def taught(workspace: Workspace, *projects: str, text: str = LESSON, **fields: Any) -> list[Memory]:  # noqa: ANN401 - a memory's
    return [
        workspace.remember(text, namespace=f"projects/{name}", **{"kind": "anti_pattern", **fields})
        for name in projects
    ]


def proposed(workspace: Workspace) -> list[Proposal]:
    maintain_workspace(workspace, asked=["patterns"])
    return [
        pending.proposal
        for pending in workspace.review.list()[0]
        if pending.proposal.evidence.get("pass") == "shared_pattern"
    ]


def test_a_lesson_of_three_projects_is_one_pattern_that_names_them(workspace: Workspace) -> None:
    sources = taught(workspace, *PROJECTS)
    (proposal,) = proposed(workspace)
    pattern = workspace.get(proposal.target_id)
    assert pattern.content == f"{LESSON}\n\nTaught by the projects bakery, library, tower."
    assert (pattern.kind, pattern.namespace, pattern.status) == ("pattern", "global", "pending")
    assert pattern.system_tags == (SHARED_PATTERN,)
    assert proposal.evidence["why"] == "3 projects taught it: bakery, library, tower."
    assert set(proposal.evidence["sources"]) == {source.id for source in sources}


def test_its_sources_stay_when_a_person_approves_it(workspace: Workspace) -> None:
    sources = taught(workspace, "bakery", "library")
    (proposal,) = proposed(workspace)
    workspace.review.approve(proposal.id)
    assert workspace.get(proposal.target_id).status == "active"
    assert [workspace.get(source.id) for source in sources] == sources
    drawn = workspace._store.memories.relations_of(proposal.target_id)
    assert {(one.type, one.label, one.dst) for one in drawn} == {("related", "taught by", one.id) for one in sources}
    assert proposed(workspace) == []


def test_no_run_proposes_one_unasked_and_one_that_is_asked_compares_all(workspace: Workspace) -> None:
    taught(workspace, "site", "shop")
    maintain_workspace(workspace)
    assert workspace.review.list()[0] == []
    assert len(proposed(workspace)) == 1


def test_it_is_proposed_once_whatever_became_of_it(workspace: Workspace) -> None:
    taught(workspace, "bakery", "library")
    (proposal,) = proposed(workspace)
    workspace.review.reject(proposal.id, "each project keeps its own")
    taught(workspace, "tower")
    assert proposed(workspace) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"sensitivity": "confidential"},
        {"source_type": "external"},
        {"kind": "observation"},
        {"text": "# CLAUDE.md\n\nThis file provides guidance to Claude Code when it works with this repository."},
        {"text": "Checked the schedule of the backup job, all passed."},
        {"text": "@AGENTS.md", "title": "CLAUDE.md", "kind": "instruction"},
        {"text": "See @docs/AGENTS.md and CONTRIBUTING.md", "kind": "instruction"},
        {"text": "Released version 1.2.0 of the program to all of its users on the first of May."},
    ],
)
def test_what_is_no_open_lesson_of_a_project_stays_where_it_is(workspace: Workspace, fields: dict[str, str]) -> None:
    taught(workspace, "bakery", "library", **fields)
    assert proposed(workspace) == []


@pytest.mark.parametrize(
    "text",
    [
        "Never force-push.",
        "Use pnpm.",
        "提交前必须运行所有测试并通知发布负责人。",
        "テストは必ず先に書く。コミットの前に必ず全部のテストを実行する。",
        "常に型ヒントを書く。",
    ],
)
def test_a_short_rule_and_one_in_a_script_without_spaces_are_lessons(workspace: Workspace, text: str) -> None:
    taught(workspace, "bakery", "library", text=text, kind="instruction")
    (proposal,) = proposed(workspace)
    assert workspace.get(proposal.target_id).content.startswith(text)


def test_what_holds_everywhere_already_is_not_proposed_again(workspace: Workspace) -> None:
    workspace.remember(LESSON, kind="pattern")
    taught(workspace, "bakery", "library")
    assert proposed(workspace) == []


def test_one_project_under_two_roots_is_one_project(workspace: Workspace) -> None:
    taught(workspace, "bakery")
    workspace.remember(LESSON, kind="anti_pattern", namespace="claude/bakery")
    assert proposed(workspace) == []


def test_lessons_that_differ_in_their_claim_are_not_joined(workspace: Workspace) -> None:
    taught(workspace, "bakery", text="The nightly export of the invoices needs at least 4 GB of memory to finish.")
    taught(workspace, "library", text="The nightly export of the invoices needs at least 16 GB of memory to finish.")
    assert proposed(workspace) == []


def test_a_dry_run_names_it_and_writes_nothing(workspace: Workspace) -> None:
    taught(workspace, "bakery", "library")
    head = workspace._store.journal.head()
    report = maintain_workspace(workspace, dry_run=True, asked=["patterns"])
    assert [(action.action, action.waits) for action in report.actions] == [("pattern", True)]
    assert workspace._store.journal.head() == head
