"""Processes that write to one data directory, for tests that run several of them or kill one.

``python -m tests.journeys.store_writer JOB DIRECTORY NAME COUNT`` prints a line after each write that was acknowledged.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import Conflict
from memento_tui.storage.journal import Actor


def remember(workspace: Workspace, name: str, count: int) -> None:
    """Remember one after the other."""
    for number in range(count):
        memory = workspace.remember(f"flood {name} number{number}", tags=[name])
        tell(memory.id)


def search(workspace: Workspace, name: str, count: int) -> None:
    """Remember and search in turn, so that the index is written all the time."""
    for number in range(count):
        memory = workspace.remember(f"flood {name} number{number}")
        found = workspace.search(f"number{number} {name}", mode="keyword").results
        assert memory.id in [hit.id for hit in found], "what was written is not found"
        tell(memory.id)


def increase(workspace: Workspace, _: str, count: int) -> None:
    """Add one to a number that all writers share, from the version that was read."""
    for _turn in range(count):
        while True:
            memory = workspace.get("shared")
            try:
                written = workspace.update("shared", content=str(int(memory.content) + 1), base_version=memory.version)
            except Conflict:
                continue
            tell(written.memory.content)
            break


def bulk(workspace: Workspace, name: str, count: int) -> None:
    """Remember very many at once, telling how far it has read."""

    def items() -> Iterator[dict[str, str]]:
        for number in range(count):
            if number % 500 == 0:
                tell(str(number))
            yield {"content": f"bulk {name} {number}"}

    workspace.remember_many(items())
    tell("done")


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def run(job: str, directory: str, name: str, count: str) -> None:
    jobs = {"remember": remember, "search": search, "increase": increase, "bulk": bulk}
    actor: Actor = "agent" if name.startswith("agent") else "person"
    sys.stdin.readline()  # all writers are let go at once
    with memento_tui.open(Path(directory), actor=actor, agent=name) as workspace:
        jobs[job](workspace, name, int(count))


if __name__ == "__main__":
    run(*sys.argv[1:])
