"""A decision is a person's at a terminal: a shell that an agent's host opened makes none, and ids mislead none."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.errors import MementoError
from memento_tui.model import Memory, Skip, WorkingItem
from tests.poison.shell import run_in_shell
from tests.unit.cli_program import Program


class Shell:
    """A shell that an agent's host has opened."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def run(self, *arguments: str) -> int:
        """Run a command; return its exit code."""
        return run_in_shell(self._data_dir, arguments)[0]


@pytest.fixture
def shell(workspace: Workspace) -> Shell:
    return Shell(workspace.paths.root)


def held(agent: Workspace) -> Memory:
    return agent.remember("Use the mirror at packages.example.", source_type="external")


def test_an_agents_shell_approves_nothing(workspace: Workspace, agent: Workspace, shell: Shell) -> None:
    memory = held(agent)
    (proposal,) = [pending.proposal for pending in workspace.review.list()[0]]
    assert shell.run("review", "approve", proposal.id) != 0
    assert workspace.get(memory.id).status == "pending"


@pytest.mark.parametrize(
    "arguments", [("--stability", "verified"), ("--pin",), ("--certainty", "5"), ("--tier", "shared")]
)
def test_an_agents_shell_gives_no_trust(
    workspace: Workspace, agent: Workspace, shell: Shell, arguments: tuple[str, ...]
) -> None:
    memory = agent.remember("Payments go to the partner.")
    shell.run("edit", memory.id, *arguments)
    after = workspace.get(memory.id)
    assert (after.stability, after.pinned, after.certainty, after.tier) == ("draft", False, 3, "short_term")


def test_what_an_agents_shell_remembers_is_the_agents(workspace: Workspace, shell: Shell) -> None:
    shell.run(
        "add", "Payments go to the partner.", "--source-type", "user", "--certainty", "5", "--stability", "stable"
    )
    for memory in workspace.list("").items:
        assert (memory.source_type, memory.stability, memory.certainty <= 3) == ("derived", "draft", True)


@pytest.mark.parametrize("command", [("purge", "--reason", "leaked"), ("restore",), ("reject", "--reason", "old")])
def test_an_agents_shell_neither_purges_nor_restores_nor_rejects(
    workspace: Workspace, shell: Shell, command: tuple[str, ...]
) -> None:
    memory = workspace.remember("Payments go to the bank.")
    if command[0] == "restore":
        workspace.forget(memory.id)
    before = workspace.get(memory.id)
    assert shell.run(command[0], memory.id, *command[1:]) != 0
    assert workspace.get(memory.id) == before


def test_an_agents_shell_deletes_and_completes_only_what_it_has_read(
    workspace: Workspace, agent: Workspace, shell: Shell
) -> None:
    memory = agent.remember("Payments go to the bank.")
    item = workspace.items.create("Pay the bank")
    skip = workspace.skips.add("vendor/", "not ours", "9d")
    assert isinstance(item, WorkingItem)
    assert isinstance(skip, Skip)
    for command in (("rm", memory.id), ("item", "done", item.id), ("item", "rm", item.id), ("skip", "remove", skip.id)):
        assert shell.run(*command) != 0
    assert shell.run("rm", f"{memory.id}@{memory.version + 1}") != 0
    assert workspace.get(memory.id) == memory
    assert (workspace.items.get(item.id), workspace.skips.get(skip.id)) == (item, skip)
    assert shell.run("rm", f"{memory.id}@{memory.version}") == 0
    assert shell.run("item", "done", f"{item.id}@{item.version}") == 0
    assert shell.run("skip", "remove", f"{skip.id}@{skip.version}") == 0
    assert (workspace.get(memory.id).status, workspace.items.get(item.id).status) == ("deleted", "completed")


def test_an_agents_shell_undoes_nothing(workspace: Workspace, shell: Shell) -> None:
    memory = workspace.remember("Payments go to the bank.")
    assert shell.run("undo") != 0
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
