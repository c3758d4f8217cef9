"""The command ``crystal``: the agent's identity in prose, its history, and what changed in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from memento_tui.cli.command import group, open_workspace
from memento_tui.cli.options import read_text
from memento_tui.cli.output import emit, format_fields, format_time, safe, table
from memento_tui.cli.record_completion import complete_ids
from memento_tui.errors import NotFound
from memento_tui.model import Crystal
from memento_tui.model.validation import to_plain

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api.identity import CrystalChange


@group(
    "crystal",
    invoke_without_command=True,
    short_help="Keep the agent's identity, a text in prose.",
    examples="""
    memento crystal
    memento crystal write - < identity.md
    memento crystal history
    memento crystal diff 6dj9
    """,
)
@click.pass_context
def crystal(ctx: click.Context) -> None:
    """Keep the identity crystal. Without a command, show the current one."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(show)


@crystal.command(
    "show",
    short_help="Show the current crystal.",
    examples="""
    memento crystal show
    memento crystal show 6dj9 --json
    """,
)
@click.argument("id", required=False, shell_complete=complete_ids("crystal"))
def show(id: str | None = None) -> None:  # noqa: A002 - its name in the help
    """Show the current crystal, or the one whose id is or begins with ID."""
    with open_workspace() as workspace:
        found = workspace.crystals.current() if id is None else workspace.crystals.get(id)
    if found is None:
        raise NotFound("There is no crystal yet.", "Write one: memento crystal write TEXT")
    emit(to_plain(found), lambda: f"{safe(found.content, multiline=True)}\n\n{format_fields(_crystal_object(found))}")


def _crystal_object(found: Crystal) -> dict[str, object]:
    return {name: getattr(found, name) for name in found.__struct_fields__ if name != "content"}


@crystal.command(
    "write",
    short_help="Write a new crystal.",
    examples="""
    memento crystal write "I keep the site's backend; I prefer small changes."
    memento crystal write - --base 6dj9x2m4kq1a < identity.md
    """,
)
@click.argument("text")
@click.option("--base", metavar="ID", help="The crystal that you read; if another one is current, that is a conflict.")
def write(text: str, base: str | None) -> None:
    """Write a new crystal; `-` reads it from standard input. The previous one stays in the history."""
    with open_workspace(create=True) as workspace:
        read = None if base is None else workspace.resolve("crystal", base)
        made = workspace.crystals.write(read_text(text), base_id=read)
    emit(to_plain(made), lambda: safe(f"{made.id}  {made.status}"))


@crystal.command(
    "history",
    short_help="List all crystals.",
    examples="""
    memento crystal history
    memento crystal history --json
    """,
)
def history() -> None:
    """List all crystals, newest first, including proposed ones."""
    with open_workspace() as workspace:
        found = workspace.crystals.timeline()
    emit(
        lambda: {"items": [to_plain(entry) for entry in found], "next": None},
        lambda: _crystal_rows(found) or "There is no crystal yet.",
    )


def _crystal_rows(found: Sequence[Crystal]) -> str:
    rows = [[c.id, c.status, c.author, format_time(c.created_at), " ".join(c.content.split())[:200]] for c in found]
    return table(["ID", "STATUS", "AUTHOR", "WRITTEN", "TEXT"], rows)


@crystal.command(
    "diff",
    short_help="Show what changed between two crystals.",
    examples="""
    memento crystal diff 6dj9
    memento crystal diff 6dj9 8wq2
    memento crystal diff 6dj9 --json
    """,
)
@click.argument("a", shell_complete=complete_ids("crystal"))
@click.argument("b", required=False, shell_complete=complete_ids("crystal"))
def diff(a: str, b: str | None) -> None:
    """Show the difference from the crystal A to the crystal B.

    With A alone, compare it with the one before; a proposed one, with what approving it would replace.
    """
    with open_workspace() as workspace:
        change = workspace.crystals.compare(a, b)
    data = {
        "before": None if change.before is None else to_plain(change.before),
        "after": to_plain(change.after),
        "unified": change.unified,
    }
    emit(data, lambda: _difference_text(change))


def _difference_text(change: CrystalChange) -> str:
    names = [
        _crystal_name(change.before) if change.before is not None else "(none before)",
        _crystal_name(change.after),
    ]
    head = safe(f"--- {names[0]}") + "\n" + safe(f"+++ {names[1]}")
    changed = "\n".join(change.unified.split("\n")[2:])
    return f"{head}\n{safe(changed, multiline=True) if changed else 'They are the same.'}"


def _crystal_name(found: Crystal) -> str:
    from memento_tui.api.identity import writer_of  # noqa: PLC0415 - a command's help is shown without it

    return f"{found.id}  {found.status}, {format_time(found.created_at)}, {writer_of(found)}"


@crystal.command(
    "restore",
    decides=True,
    short_help="Restore an old crystal.",
    examples="""
    memento crystal restore 6dj9
    memento crystal restore 6dj9 --json
    """,
)
@click.argument("id", shell_complete=complete_ids("crystal"))
def restore(id: str) -> None:  # noqa: A002 - its name in the help
    """Write the text of an old crystal as a new one."""
    with open_workspace() as workspace:
        made = workspace.crystals.restore(id)
    emit(to_plain(made), lambda: safe(f"{made.id}  {made.status}"))


commands = {"crystal": crystal}
