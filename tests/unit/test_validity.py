"""What holds no longer, or not yet, is told only where the past or the future is asked for."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
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
from tests.unit.profile_agent import recalls, seated

QUESTION = "On which port does the staging proxy listen?"
DAY = timedelta(days=1)


@pytest.fixture
def ports(workspace: Workspace) -> Workspace:
    """A workspace that knows three ports of one proxy: of the past, of now, and of the future."""
    now = clock.now()
    text = "The staging proxy listens on port {}."
    put(
        workspace._store,
        note(text.format(7001), id="past", created_at=now - 400 * DAY, valid_to=now - 30 * DAY),
        note(text.format(7002), id="now", valid_from=now - 30 * DAY, valid_to=now + 30 * DAY),
        note(text.format(7003), id="future", valid_from=now + 30 * DAY),
    )
    return workspace


def found(workspace: Workspace, query: str) -> set[str]:
    return {hit.id for hit in workspace.search(query, mode="keyword").results}


def test_a_search_finds_what_holds_and_the_rest_where_it_is_asked_for(ports: Workspace) -> None:
    now = clock.now()
    assert found(ports, "staging proxy port") == {"now"}
    assert found(ports, "staging proxy port valid:past") == {"past"}
    assert found(ports, "staging proxy port valid:future") == {"future"}
    assert found(ports, "staging proxy port at:60d") == {"past"}
    assert found(ports, f"staging proxy port at:{now + 60 * DAY:%Y-%m-%d}") == {"future"}
    assert found(ports, "valid:past") == {"past"}


def test_a_list_of_the_person_holds_them_all_and_marks_them(ports: Workspace, data_dir: Path) -> None:
    lines = Console(data_dir).run("list").stdout.decode().splitlines()[1:]
    assert {tuple(line.split()[:2]) for line in lines} == {("past", "past"), ("now", "active"), ("future", "future")}
    assert {memory.id for memory in ports.list("valid:now").items} == {"now"}


@pytest.mark.parametrize(("profile", "tool", "arguments"), recalls(QUESTION))
def test_no_tool_tells_what_does_not_hold(
    ports: Workspace, profile: str, tool: str, arguments: dict[str, object]
) -> None:
    with seated(ports.paths.root, profile) as agent:
        said = text_of(agent.send(tool, arguments))
    assert "7002" in said
    assert "7001" not in said
    assert "7003" not in said


def test_an_agent_that_asks_for_the_past_is_told_it_and_that_it_is_past(ports: Workspace) -> None:
    with seated(ports.paths.root, "native") as agent:
        said = agent.read("search", query="staging proxy port at:60d")
    assert "7001" in said
    assert "no longer valid since" in said


def hook(workspace: Workspace, event: str, **fields: Any) -> str:  # noqa: ANN401 - the host's own
    workspace.search("proxy", mode="keyword")
    call = parse_call("claude-code", event, json.dumps({"session_id": "s1", **fields}).encode())
    assert call is not None
    return context_for_call(call, workspace.paths, HookSettings())


def test_a_prompt_is_told_what_holds(ports: Workspace) -> None:
    said = hook(ports, "UserPromptSubmit", prompt=QUESTION)
    assert "7002" in said
    assert "7001" not in said
    assert "7003" not in said


def test_a_session_does_not_begin_with_what_holds_no_longer(workspace: Workspace) -> None:
    ended = clock.now() - DAY
    put(workspace._store, note("Ask Ann before a release.", pinned=True, stability="verified", valid_to=ended))
    assert "Ann" not in hook(workspace, "SessionStart", source="startup")
    with seated(workspace.paths.root, "native") as agent:
        assert "Ann" not in agent.read("session_open")


def test_an_end_that_is_given_on_the_command_line_ends_what_is_told(data_dir: Path, workspace: Workspace) -> None:
    shell = Console(data_dir)
    made = shell.json("add", "Deploys run from main.", "--valid-to", "2026-01-01")["id"]
    assert found(workspace, "deploys main") == set()
    assert found(workspace, "deploys main at:2025-06-01") == {made}
    assert "no longer valid since 2026-01-01" in shell.run("show", made).stdout.decode()


def test_a_contradiction_with_what_is_over_is_none(ports: Workspace) -> None:
    with unguarded(ports._store, PERSON, "find") as tx:
        tx.put(make_contradiction({"older": "past", "newer": "now", "why": "another port", "score": 0.9}), base=0)
    with seated(ports.paths.root, "native") as agent:
        assert "contradictions" not in agent.call("search", query=QUESTION)


def test_the_words_of_where_a_memory_applies_are_searched_and_filtered(workspace: Workspace) -> None:
    put(
        workspace._store,
        note("Retries wait two seconds.", id="pg", validity_context="PostgreSQL 15 and later, deployed on Servers"),
        note("Retries wait three seconds.", id="my", validity_context="MySQL"),
        note("Retries wait four seconds.", id="all"),
    )
    assert found(workspace, "retries postgresql") == {"pg", "my", "all"}
    assert workspace.search("retries postgresql", mode="keyword").results[0].id == "pg"
    assert found(workspace, "retries applies:POSTGRESQL") == {"pg"}
    assert found(workspace, "retries applies:mysql,postgresql") == {"pg", "my"}
    for form in ("server", "deploying", "servers", "deploy,nowhere"):
        assert found(workspace, f"retries applies:{form}") == {"pg"}
        assert {memory.id for memory in workspace.list(f"applies:{form}").items} == {"pg"}
    assert found(workspace, "postgresql") == {"pg"}
    assert {memory.id for memory in workspace.list("-applies:mysql").items} == {"pg", "all"}


def test_a_moment_is_within_what_begins_then_and_outside_of_what_ends_then(workspace: Workspace) -> None:
    turn = datetime(2026, 3, 1, tzinfo=UTC)
    put(workspace._store, note("Old rule.", id="old", valid_to=turn), note("New rule.", id="new", valid_from=turn))
    assert found(workspace, "rule at:2026-03-01") == {"new"}
    assert found(workspace, "rule at:2026-02-28") == {"old"}


@pytest.mark.parametrize(
    ("profile", "tool", "arguments"),
    [one for one in recalls("at:60d staging proxy port") if "query" in one[2]],
)
def test_a_search_of_every_profile_finds_what_held_where_that_is_asked_for(
    ports: Workspace, data_dir: Path, profile: str, tool: str, arguments: dict[str, object]
) -> None:
    assert ports.find("past") is not None
    with seated(data_dir, profile) as agent:
        answer = text_of(agent.send(tool, arguments))
    assert "7001" in answer
    assert "7002" not in answer
