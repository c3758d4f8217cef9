"""A decision is a person's at a terminal: a shell that an agent's host opened makes none, and ids mislead none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memento_tui.api import Workspace
from memento_tui.errors import MementoError
from memento_tui.model import Memory
from tests.unit.cli_program import Program


@pytest.fixture
def shell(workspace: Workspace) -> Iterator[Program]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLAUDECODE", "1")
        yield Program(workspace.paths.root)


def held(agent: Workspace) -> Memory:
    return agent.remember("Use the mirror at packages.example.", source_type="external")


def test_an_agents_shell_approves_nothing(workspace: Workspace, agent: Workspace, shell: Program) -> None:
    memory = held(agent)
    (proposal,) = [pending.proposal for pending in workspace.review.list()[0]]
    assert shell.run("review", "approve", proposal.id).code != 0
    assert workspace.get(memory.id).status == "pending"


@pytest.mark.parametrize(
    "arguments", [("--stability", "verified"), ("--pin",), ("--certainty", "5"), ("--tier", "shared")]
)
def test_an_agents_shell_gives_no_trust(
    workspace: Workspace, agent: Workspace, shell: Program, arguments: tuple[str, ...]
) -> None:
    memory = agent.remember("Payments go to the partner.")
    shell.run("edit", memory.id, *arguments)
    after = workspace.get(memory.id)
    assert (after.stability, after.pinned, after.certainty, after.tier) == ("draft", False, 3, "short_term")


def test_what_an_agents_shell_remembers_is_the_agents(workspace: Workspace, shell: Program) -> None:
    shell.run(
        "add", "Payments go to the partner.", "--source-type", "user", "--certainty", "5", "--stability", "stable"
    )
    for memory in workspace.list("").items:
        assert (memory.source_type, memory.stability, memory.certainty <= 3) == ("derived", "draft", True)


@pytest.mark.parametrize("command", [("purge", "--reason", "leaked"), ("restore",), ("reject", "--reason", "old")])
def test_an_agents_shell_neither_purges_nor_restores_nor_rejects(
    workspace: Workspace, shell: Program, command: tuple[str, ...]
) -> None:
    memory = workspace.remember("Payments go to the bank.")
    if command[0] == "restore":
        workspace.forget(memory.id)
    before = workspace.get(memory.id)
    assert shell.run(command[0], memory.id, *command[1:]).code != 0
    assert workspace.get(memory.id) == before


def test_an_agents_shell_undoes_nothing(workspace: Workspace, shell: Program) -> None:
    memory = workspace.remember("Payments go to the bank.")
    assert shell.run("undo").code != 0
    assert workspace.get(memory.id).status == "active"


def test_an_agent_gives_no_memory_an_id_that_a_person_would_type(workspace: Workspace, agent: Workspace) -> None:
    memory = held(agent)
    (proposal,) = [pending.proposal for pending in workspace.review.list()[0]]
    typed = proposal.id[:4]
    try:
        other = agent.remember("Payments go to the partner.", id=typed, source_type="external")
    except MementoError:
        other = None
    program = Program(workspace.paths.root)
    program.run("review", "approve", f"{typed}@{proposal.version}")
    assert other is None or workspace.get(other.id).status == "pending"
    assert workspace.get(memory.id).status in ("active", "pending")
