"""The command ``skip``: what the agent is not to do, why, and until when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from memento_tui.cli.command import group
from memento_tui.cli.entries import listed, plain_entry, remove_each, said_entry
from memento_tui.cli.outcomes import for_each
from memento_tui.cli.output import emit, moment, safe, table
from memento_tui.cli.session import opened
from memento_tui.records import Skip
from memento_tui.store.tables import as_plain

__all__ = ["commands"]


@group(
    "skip",
    invoke_without_command=True,
    short_help="What the agent is not to do, why, and until when.",
    examples="""
    memento skip add "reading vendor/" --reason "third-party code" --until 30d
    memento skip check "vendor/lib.js"
    memento skip extend 8kq2 --until 60d
    memento skip decide 8kq2
    """,
)
@click.pass_context
def skip(ctx: click.Context) -> None:
    """Keep the list of what the agent is not to do or read again. Without a command, list it."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@skip.command(
    "add",
    short_help="Add to the list.",
    examples="""
    memento skip add "reading vendor/" --reason "third-party code" --until 30d
    memento skip add "issue 4711" --reason "waits for upstream" --until 2027-01-31 --json
    """,
)
@click.argument("item")
@click.option("--reason", required=True, help="Why.")
@click.option("--until", required=True, metavar="WHEN", help="When it ends: a date, a time or a span such as 7d.")
@click.option("--namespace", default="global", show_default=True)
def add(item: str, reason: str, until: str, namespace: str) -> None:
    """Add ITEM to the list."""
    with opened(create=True) as workspace:
        made = workspace.skips.add(item, reason, until, namespace=namespace)
    emit(plain_entry(made, "added"), lambda: said_entry(made, "added"))


@skip.command(
    "list",
    short_help="List what is skipped.",
    examples="""
    memento skip list
    memento skip list vendor "expires:<7d"
    memento skip list --ended --json
    """,
)
@click.argument("query", nargs=-1)
@click.option("--ended", is_flag=True, help="Those that are over as well.")
def list_(query: tuple[str, ...] = (), *, ended: bool = False) -> None:
    """List the skips that hold, soonest to end first. QUERY selects by words, by:NAME and expires:<7d."""
    with opened() as workspace:
        found = workspace.skips.list(ended=ended, query=" ".join(query))
    listed(found, lambda: _rows(found) or "Nothing is skipped.")


def _rows(found: Sequence[Skip]) -> str:
    rows = [[s.id, moment(s.expires_at), str(s.hits), s.item, s.reason] for s in found]
    return table(["ID", "UNTIL", "HITS", "WHAT", "WHY"], rows)


@skip.command(
    "check",
    short_help="Tell whether something is to be skipped.",
    examples="""
    memento skip check "vendor/lib.js"
    memento skip check "issue 4711" --json
    """,
)
@click.argument("query")
def check(query: str) -> None:
    """Tell whether QUERY, something about to be done, is to be skipped; each match counts as a hit."""
    with opened() as workspace:
        found = workspace.skips.check(query)
    emit(
        lambda: {"skip": bool(found), "items": [as_plain(entry) for entry in found], "next": None},
        lambda: _rows(found) or safe(f"Not on the list: {query}"),
    )


@skip.command(
    "edit",
    short_help="Change a skip.",
    examples="""
    memento skip edit 8kq2 --until 30d
    memento skip edit 8kq2 --reason "still broken upstream"
    """,
)
@click.argument("id")
@click.option("--item", help="What to skip.")
@click.option("--reason", help="Why.")
@click.option("--until", "expires_at", metavar="WHEN", help="When it ends.")
@click.option("--namespace")
@click.option(
    "--base-version",
    type=click.IntRange(1),
    metavar="VERSION",
    help="The version that you read; any other is a conflict.",
)
def edit(id: str, base_version: int | None, **options: str | None) -> None:  # noqa: A002 - its name in the help
    """Change the skip whose id is or begins with ID."""
    changes = {name: value for name, value in options.items() if value is not None}
    if not changes:
        raise click.UsageError("Name a field to change.")
    with opened() as workspace:
        changed = workspace.skips.update(id, base_version=base_version, **changes)
    emit(plain_entry(changed, "changed"), lambda: said_entry(changed, "changed"))


@skip.command(
    "extend",
    short_help="Let skips hold longer.",
    examples="""
    memento skip extend 8kq2 --until 60d
    memento skip extend 8kq2 3zzt --until 2027-06-30 --json
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--until", required=True, metavar="WHEN", help="When it ends now: a date, a time or a span from now.")
def extend(ids: tuple[str, ...], until: str) -> None:
    """Let skips hold longer; those that are over hold again."""
    with opened() as workspace:

        def lengthen(given: str) -> dict[str, Any]:
            changed = workspace.skips.extend(given, until)
            if isinstance(changed, Skip):
                return {"id": changed.id, "status": "extended", "expires_at": as_plain(changed)["expires_at"]}
            return {"id": changed.target_id, "status": "proposed"}

        for_each(ids, lengthen, _said_extended)


def _said_extended(outcome: dict[str, Any]) -> str:
    until = f" to {moment(outcome['expires_at'])}" if "expires_at" in outcome else ""
    return f"{outcome['id']}  {outcome['status']}{until}"


@skip.command(
    "decide",
    short_help="Turn skips into standing decisions.",
    examples="""
    memento skip decide 8kq2
    memento skip decide 8kq2 --title "Never read vendor/" --json
    memento undo
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--title", default="", metavar="TEXT", help="What the decision is called; `Skip: ...` if not given.")
def decide(ids: tuple[str, ...], title: str) -> None:
    """Turn skips into standing decisions, which do not end: working items that `memento item` lists.

    One `memento undo` takes back the decision and brings back the skip.
    """
    if title and len(ids) > 1:
        raise click.UsageError("A title is for one skip; leave it out, or name one ID.")
    with opened() as workspace:

        def settle(given: str) -> dict[str, Any]:
            found = workspace.skips.get(given).id
            made = workspace.skips.decide(found, title=title)
            return {"id": found, "status": "decided", "item": as_plain(made)}

        for_each(ids, settle, lambda outcome: f"{outcome['id']}  decided: memento item show {outcome['item']['id']}")


@skip.command(
    "remove",
    short_help="End skips now.",
    examples="""
    memento skip remove 8kq2
    memento skip remove 8kq2 3zzt --json
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def remove(ids: tuple[str, ...]) -> None:
    """End skips now; `memento undo` brings them back."""
    with opened() as workspace:
        remove_each(workspace.skips, ids)


commands = {"skip": skip}
