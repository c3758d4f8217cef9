"""The command ``reject``: turning down memories that hold."""

from __future__ import annotations

from typing import Any

import click

from memento_tui.cli.command import command
from memento_tui.cli.outcomes import for_each
from memento_tui.cli.session import opened

__all__ = ["commands"]


@command(
    "reject",
    short_help="Turn down memories, with a reason that agents read.",
    examples="""
    memento reject 7f3k --reason "That was true of the old cluster only."
    memento reject 7f3k 9x2m --json
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--reason", default="", help="What an agent reads that tries to store the same text again.")
def reject(ids: tuple[str, ...], reason: str) -> None:
    """Turn down the memories with these ids: they are recalled no more, and no agent stores the same text again.

    `memento restore` or `memento undo` brings them back. What waits for a decision is rejected with
    `memento review reject`.
    """
    with opened() as workspace:

        def turn_down(given: str) -> dict[str, Any]:
            memory = workspace.reject(given, reason)
            return {"id": memory.id, "status": memory.status}

        for_each(ids, turn_down, lambda outcome: f"{outcome['id']}  {outcome['status']}")


commands = {"reject": reject}
