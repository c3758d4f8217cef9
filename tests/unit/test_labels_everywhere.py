"""Every interface says of a memory who knows it, how old it is, where and when it holds, what contradicts it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.hooks.events import context_for_call
from memento_tui.hooks.host_events import parse_call
from memento_tui.hooks.settings import HookSettings
from memento_tui.model import make_contradiction
from tests.journeys.cli_shell import Console
from tests.journeys.mcp_agent import text_of
from tests.made import PERSON, note, put, unguarded
from tests.unit.profile_agent import seated

QUESTION = "On which port does the staging proxy of invoices listen?"
NAMESPACE = "invoices"


@pytest.fixture
def told(workspace: Workspace) -> Workspace:
    """A workspace with one memory of which there is much to say, and another that contradicts it."""
    now = clock.now()
    known: dict[str, Any] = {
        "namespace": NAMESPACE,
        "source_type": "derived",
        "source": {"agent": "codex"},
        "stability": "draft",
    }
    put(
        workspace._store,
        note(
            "The staging proxy of invoices listens on port 8080.",
            id="one1",
            created_at=now - timedelta(days=100),
            valid_to=now + timedelta(days=400),
            validity_context="on rack two",
            **known,
        ),
        note("The staging proxy of invoices listens on port 9090.", id="two2", **known),
    )
    with unguarded(workspace._store, PERSON, "find") as tx:
        tx.put(make_contradiction({"older": "one1", "newer": "two2", "why": "another port", "score": 0.9}), base=0)
    return workspace


def holds_everything(answer: str, workspace: Workspace) -> None:
    end = workspace.get("one1").valid_to
    assert end is not None
    for part in ("unverified", "by codex", "3 months old", f"valid until {end:%Y-%m-%d}", "on rack two", "two2"):
        assert part in answer, part


@pytest.mark.parametrize(
    ("profile", "tool", "arguments"),
    [
        ("native", "search", {"query": QUESTION}),
        ("native", "context", {"message": QUESTION, "namespace": NAMESPACE}),
        ("native", "get", {"ids": ["one1"]}),
        ("bank", "recall", {"bank_id": NAMESPACE, "query": QUESTION}),
        ("bank", "get_memory", {"id": "one1"}),
        ("core", "memory_search", {"query": QUESTION}),
        ("core", "memory_recall", {"ids": ["one1"]}),
        ("vault", "memento_search", {"query": QUESTION}),
        ("vault", "memento_recall", {"prompt": QUESTION, "session_id": "s9"}),
        ("vault", "memento_get", {"path": "one1"}),
        ("protocol", "memento_recall", {"query": QUESTION, "workspace": NAMESPACE}),
    ],
)
def test_a_tool_says_how_each_memory_stands(
    told: Workspace, profile: str, tool: str, arguments: dict[str, object]
) -> None:
    with seated(told.paths.root, profile) as agent:
        answer = agent.send(tool, arguments)
    assert not answer.is_error, text_of(answer)
    holds_everything(text_of(answer), told)


def test_a_prompt_is_told_how_each_memory_stands(told: Workspace) -> None:
    told.search("invoices", mode="keyword")
    call = parse_call("claude-code", "UserPromptSubmit", json.dumps({"session_id": "s1", "prompt": QUESTION}).encode())
    assert call is not None
    context = context_for_call(call, told.paths, HookSettings())
    holds_everything(context, told)
    assert "contradicts two2" in context


@pytest.mark.parametrize("words", [["search", QUESTION], ["show", "one1"]])
def test_a_person_reads_how_a_memory_stands(told: Workspace, data_dir: Path, words: list[str]) -> None:
    holds_everything(Console(data_dir).run(*words).stdout.decode(), told)


@pytest.mark.usefixtures("told")
def test_a_list_says_who_knows_a_memory_where_it_applies_and_what_contradicts_it(data_dir: Path) -> None:
    row = next(line for line in Console(data_dir).run("list").stdout.decode().splitlines() if line.startswith("one1"))
    assert "codex" in row
    assert row.endswith("[applies: on rack two, contradicts two2]")
    (listed,) = (one for one in Console(data_dir).json("list")["items"] if one["id"] == "one1")
    assert listed["contradicts"] == ["two2"]
