"""A log, which says nothing of what follows, is told from knowledge: at the write, in the audit and in recall."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.hooks.events import context_for_call
from memento_tui.hooks.host_events import parse_call
from memento_tui.hooks.settings import HookSettings
from memento_tui.mcp.results import remember_result, remember_result_text
from memento_tui.operations.outcome import store_memory
from memento_tui.operations.sessions import brief
from memento_tui.paths import DataPaths
from memento_tui.text.logs import LOG_HINT, is_log

AURORA = "Checked aurora, Kp was 2.33, quiet"


@pytest.mark.parametrize(
    "text",
    [
        AURORA,
        "API returned 404 on /v1/users",
        "Discussed auth approach with team",
        "Read Lena by qntm, interesting",
        "The build was green this morning.",
        "2026-02-03: ran the tests, all passed",
        "Waited for release workflow run `25157918984`; it succeeded.",
        "Pushed branch and opened PR #405.",
        "I already checked the staging logs. The error rate was normal.",
    ],
)
def test_a_report_without_a_consequence_is_a_log(text: str) -> None:
    assert is_log(text)


@pytest.mark.parametrize(
    "text",
    [
        "Skip aurora until Kp > 4 or Feb 20",
        "API moved to /v2 — update all calls",
        "Use JWT with 1hr expiry, refresh via /token",
        "Already read Lena — skip if surfaced",
        "The service was moved to eu-west.",
        "Ran into a deadlock because two workers share one connection.",
        "Read your skill file and follow it exactly.",
        "Investigated the backup system: nothing is ever pruned.",
        "User asked in Spanish; respond in Rioplatense Spanish.",
        "I visited the Museum of Modern Art with Anna.",
        "My grandmother passed on the farm to my uncle.",
        "The staging database is called heron.",
        "Tested Solutions:",
        "",
    ],
)
def test_what_holds_or_says_what_to_do_is_none(text: str) -> None:
    assert not is_log(text)


def test_a_title_that_says_what_follows_makes_it_more_than_a_log() -> None:
    assert is_log(AURORA, "Aurora")
    assert not is_log(AURORA, "Skip the aurora this week")


def test_an_agent_that_stores_a_log_is_asked_what_follows_from_it(agent: Workspace) -> None:
    stored = store_memory(agent, AURORA)
    assert remember_result(stored).hint == LOG_HINT
    assert "What should the next session do because of this?" in remember_result_text(stored)
    assert stored.remark == LOG_HINT
    assert store_memory(agent, "Skip aurora until Kp > 4.").remark == ""
    assert store_memory(agent, "Ran the tests, all passed.", kind="daily").hint == ""
    assert store_memory(agent, AURORA).hint == ""  # it is known


def test_the_audit_lists_logs_but_those_that_a_person_verified(workspace: Workspace, agent: Workspace) -> None:
    log = agent.remember(AURORA)
    agent.remember("Skip aurora until Kp > 4.")
    assert workspace.audit.read_texts()["logs"] == 1
    assert workspace.audit.ids("logs")[0] == [log.id]
    workspace.verify(log.id)
    assert workspace.audit.read_texts()["logs"] == 0


def _told(data_dir: Path, prompt: str) -> str:
    call = parse_call("claude-code", "UserPromptSubmit", json.dumps({"session_id": prompt, "prompt": prompt}).encode())
    assert call is not None
    return context_for_call(call, DataPaths(data_dir), HookSettings())


def test_no_agent_is_told_a_log_unless_it_searches_or_a_person_stands_behind_it(
    workspace: Workspace, data_dir: Path
) -> None:
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s7") as writer:
        log = writer.remember(AURORA)
    question = "was the aurora quiet when we checked Kp?"
    assert _told(data_dir, question) == ""
    assert brief(workspace, question, "", 5).hits == []
    assert [hit.id for hit in workspace.search("aurora quiet").results] == [log.id]
    workspace.verify(log.id)
    assert AURORA in _told(data_dir, f"{question} please")
    assert [hit.id for hit in brief(workspace, question, "", 5).hits] == [log.id]
