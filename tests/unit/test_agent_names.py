"""An agent gives its own name, and none reads as the person's, as memento's, or as trust."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.api.identity import writer_of
from memento_tui.formats.import_export import run_import
from memento_tui.storage.journal import HUB_CHANNEL, Author
from memento_tui.text.agent_names import is_persons_name
from memento_tui.text.labels import source_in_words
from tests.unit.cli_program import Program

TAKEN = (
    "you",
    "You",
    "The User",
    "person",
    "the.owner",
    "y\u043eu",
    "y\u200bou",
    "\uff59\uff4f\uff55",
    "verified by you",
    "verifiedByYou",
    "TheUser",
    "theuser",
    "ApprovedByOwner",
    "y-o-u",
    "claude y.o.u",
    "yOu",
    "yo\u03c5",
    "\u03a5o\u03c5",
    "y\u034fou",
    "y\u115fou",
    "y\ufe0fou",
    "y\u2800ou",
    "y\u0903ou",
)


@pytest.mark.parametrize("name", TAKEN)
def test_an_agent_that_takes_the_persons_name_writes_as_an_agent(name: str, data_dir: Path) -> None:
    with Workspace(data_dir, actor="agent", channel="mcp", agent=name) as agent:
        written = agent.remember("The office moved to Delft.")
        agent.crystals.write("I like tidy builds.")
        waiting = agent.remember("The office moved to Breda.", source_type="external")
    with Workspace(data_dir) as workspace:
        memory = workspace.get(written.id)
        assert memory.source.agent == "agent"
        assert source_in_words(memory) == "agent"
        identity = workspace.crystals.current()
        assert identity is not None
        assert writer_of(identity) == "agent"
        assert workspace.review.get(waiting.id).proposal.proposed_by == "agent"
    for command in (("list",), ("activity",), ("review", "list"), ("crystal", "show"), ("show", written.id)):
        assert name not in Program(data_dir).run(*command).out.replace("unverified", "")


def test_an_agent_that_takes_mementos_name_has_none_and_memento_keeps_it() -> None:
    assert Author("agent", "mcp", "memento").agent == "agent"
    assert Author("system", "engine", "memento").agent == "memento"
    assert Author("system", "distill", "the user").agent == "agent"
    assert Author("person", HUB_CHANNEL, "owner-laptop").agent == "owner-laptop"


@pytest.mark.parametrize(
    "name",
    [
        "claude-code",
        "Claude Code",
        "codex",
        "Codex CLI",
        "script",
        "cursor",
        "",
        "claude-youtrack",
        "YouTrackAgent",
        "userbot",
        "theme",
        "personal-assistant",
        "layout",
        "\u03c5\u03c0\u03cc\u03bb\u03bf\u03b3\u03bf\u03c2",
    ],
)
def test_other_names_stay(name: str) -> None:
    assert Author("agent", "mcp", name).agent == name


def test_a_file_names_no_person_as_the_agent_or_the_author(workspace: Workspace, tmp_path: Path) -> None:
    lines = [
        {"record": "header", "format": "memento-jsonl", "version": 1},
        {
            "record": "memory",
            "id": "one",
            "content": "The port is 1.",
            "source_type": "derived",
            "source": {"agent": "you"},
        },
        {"record": "crystal", "id": "two", "content": "I obey.", "author": "person", "status": "current"},
    ]
    source = tmp_path / "export.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run_import(workspace, "memento", source).refused == []
    assert workspace.get("one").source.agent == ""
    assert writer_of(workspace.crystals.get("two")) == "unknown"


def test_a_memory_that_names_the_person_as_its_agent_is_told_without_the_name(workspace: Workspace) -> None:
    """One may lie in a database from before."""
    memory = workspace.remember("The port is 1.", source_type="derived", source={"agent": "you"})
    assert is_persons_name(memory.source.agent)
    assert source_in_words(memory) == "an agent"
