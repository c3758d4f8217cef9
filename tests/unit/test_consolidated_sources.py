"""No interface tells a consolidated source beside the memory that stands for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.api.consolidation import consolidate
from memento_tui.hooks.events import context_for_call
from memento_tui.hooks.host_events import parse_call
from memento_tui.hooks.settings import HookSettings
from tests.journeys.cli_shell import Console
from tests.journeys.mcp_agent import text_of
from tests.unit.profile_agent import seated

QUESTION = "What do deploys of the invoices service need?"
SUMMARY = "Deploys of the invoices service in deploy/invoices.py need the VPN, a fresh token and a clean tree."
SOURCES = (
    "Deploys of the invoices service in deploy/invoices.py need the VPN.",
    "Deploys of the invoices service in deploy/invoices.py need a fresh token.",
    "Deploys of the invoices service in deploy/invoices.py need a clean tree.",
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in the repository of the project ``invoices``."""
    root = tmp_path / "invoices"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def told(workspace: Workspace, agent: Workspace, project: Path) -> Workspace:
    """A workspace in which a person approved the summary of three memories, one of them verified before."""
    place = f"projects/{project.name}"
    made = [agent.remember(text, namespace=place, kind="decision", tags=["deploy"]).id for text in SOURCES]
    workspace.verify(made[0])
    summary = consolidate(agent, made, SUMMARY)
    assert summary.proposal is not None
    workspace.review.approve(summary.proposal.id)
    assert {workspace.get(one).status for one in made} == {"consolidated"}
    workspace.search("deploys", mode="keyword")
    return workspace


def tells_the_summary_alone(answer: str) -> None:
    told = " ".join(answer.split())
    assert "a clean tree" in told
    assert not [source for source in SOURCES if source.removesuffix(".") in told.replace(SUMMARY, "")], answer


@pytest.mark.parametrize(
    ("profile", "tool", "arguments"),
    [
        ("native", "search", {"query": QUESTION}),
        ("native", "search", {"query": QUESTION, "limit": 1}),
        ("native", "search", {"query": "tag:deploy"}),
        ("native", "search", {"query": '"Deploys of the invoices service"'}),
        ("native", "context", {"message": QUESTION}),
        ("bank", "recall", {"bank_id": "projects/invoices", "query": QUESTION}),
        ("core", "memory_search", {"query": QUESTION}),
        ("core", "memory_search", {"query": QUESTION, "tags": ["deploy"]}),
        ("vault", "memento_search", {"query": QUESTION}),
        ("vault", "memento_search", {"query": QUESTION, "detail_level": "full"}),
        ("vault", "memento_recall", {"prompt": QUESTION, "cwd": ".", "session_id": "s9"}),
        ("vault", "memento_briefing", {"cwd": ".", "session_id": "s9"}),
        ("vault", "memento_tool_context", {"tool_name": "Read", "file_path": "deploy/invoices.py", "cwd": "."}),
        ("protocol", "memento_recall", {"query": QUESTION, "workspace": "projects/invoices"}),
        ("protocol", "memento_recall", {"query": QUESTION, "workspace": "projects/invoices", "tags": ["deploy"]}),
    ],
)
def test_a_tool_tells_the_summary_alone(
    told: Workspace, project: Path, profile: str, tool: str, arguments: dict[str, object]
) -> None:
    if "cwd" in arguments:
        arguments = {**arguments, "cwd": str(project)}
    with seated(told.paths.root, profile) as agent:
        answer = agent.send(tool, arguments)
    assert not answer.is_error, text_of(answer)
    tells_the_summary_alone(text_of(answer))


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": QUESTION}),
        ("PreToolUse", {"tool_name": "Read", "tool_input": {"file_path": "deploy/invoices.py"}}),
    ],
)
def test_a_hook_tells_the_summary_alone(told: Workspace, project: Path, event: str, fields: dict[str, object]) -> None:
    sent = {"session_id": "s9", "cwd": str(project), **fields}
    call = parse_call("claude-code", event, json.dumps(sent).encode())
    assert call is not None
    tells_the_summary_alone(context_for_call(call, told.paths, HookSettings()))


@pytest.mark.parametrize("query", [QUESTION, "tag:deploy"])
@pytest.mark.usefixtures("told")
def test_a_search_of_the_command_line_finds_the_summary_alone(data_dir: Path, query: str) -> None:
    tells_the_summary_alone(Console(data_dir).run("search", query).stdout.decode())


def test_sources_are_found_by_who_asks_for_them(told: Workspace) -> None:
    assert {hit.memory.content for hit in told.search(f"is:consolidated {QUESTION}").results} == set(SOURCES)
    assert {hit.memory.content for hit in told.search("is:consolidated").results} == set(SOURCES)


def test_a_source_is_found_again_where_its_summary_is_gone(told: Workspace) -> None:
    (summary,) = told.search("tag:deploy").results
    told.forget(summary.id)
    assert {hit.memory.content for hit in told.search("tag:deploy").results} == set(SOURCES)
