"""The command ``item``: what is being worked on, what holds until further notice, what is waited for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from memento_tui.cli.command import Function, group
from memento_tui.cli.entries import listed, plain_entry, remove_each, said_entry
from memento_tui.cli.fields import read_text, split_words
from memento_tui.cli.outcomes import for_each
from memento_tui.cli.output import bold, emit, moment, named, safe, table
from memento_tui.cli.session import opened
from memento_tui.records import WorkingItem
from memento_tui.records.item import CATEGORIES, ITEM_STATUSES
from memento_tui.store.tables import as_plain

__all__ = ["commands"]


def _fields(function: Function) -> Function:
    """Add an option for each field of a working item."""
    options = [
        click.option("--category", type=click.Choice(CATEGORIES)),
        click.option("--status", type=click.Choice(ITEM_STATUSES)),
        click.option("--content", metavar="TEXT", help="What there is to know; `-` reads standard input."),
        click.option("--priority", metavar="NUMBER", help="The highest comes first; 0 if not given."),
        click.option("--tag", "tags", multiple=True, metavar="TAG", help="Repeat it, or join with commas."),
        click.option("--next", "next_action", metavar="TEXT", help="The next action."),
        click.option("--namespace", metavar="PATH"),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def _given(options: dict[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in options.items() if value not in (None, ())}
    if "tags" in fields:
        fields["tags"] = split_words(fields["tags"])
    if "content" in fields:
        fields["content"] = read_text(fields["content"])
    return fields


@group(
    "item",
    invoke_without_command=True,
    short_help="What is being worked on and waited for.",
    examples="""
    memento item add "Move to /v3" --next "write the migration" --priority 2
    memento item list --status active
    memento item done 5wk1
    """,
)
@click.pass_context
def item(ctx: click.Context) -> None:
    """Keep the working items. Without a command, list them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@item.command(
    "add",
    short_help="Add a working item.",
    examples="""
    memento item add "Move to /v3" --next "write the migration" --priority 2
    memento item add "Answer from legal" --category waiting_for --json
    """,
)
@click.argument("title")
@_fields
def add(title: str, **options: Any) -> None:  # noqa: ANN401 - the options of all fields
    """Add a working item."""
    with opened(create=True) as workspace:
        made = workspace.items.create(title, **_given(options))
    emit(plain_entry(made, "added"), lambda: said_entry(made, "added"))


@item.command(
    "list",
    short_help="List the working items.",
    examples="""
    memento item list
    memento item list migration tag:db status:active
    memento item list --category waiting_for --json
    """,
)
@click.argument("query", nargs=-1)
@click.option("--category", type=click.Choice(CATEGORIES))
@click.option("--status", type=click.Choice(ITEM_STATUSES))
def list_(query: tuple[str, ...] = (), category: str | None = None, status: str | None = None) -> None:
    """List the working items, highest priority first. QUERY selects by words, category:, status: and tag:."""
    with opened() as workspace:
        found = workspace.items.list(category=category, status=status, query=" ".join(query))
    listed(found, lambda: _rows(found) or "No working items.")


def _rows(found: Sequence[WorkingItem]) -> str:
    rows = [[i.id, i.status, i.category, str(i.priority), moment(i.updated_at), i.title] for i in found]
    return table(["ID", "STATUS", "CATEGORY", "PRIORITY", "CHANGED", "TITLE"], rows)


@item.command(
    "show",
    short_help="Show one working item.",
    examples="""
    memento item show 5wk1
    memento item show 5wk1 --json
    """,
)
@click.argument("id")
def show(id: str) -> None:  # noqa: A002 - its name in the help
    """Show one working item."""
    with opened() as workspace:
        found = workspace.items.get(id)
    emit(as_plain(found), lambda: _in_full(found))


def _in_full(found: WorkingItem) -> str:
    fields = {n: getattr(found, n) for n in found.__struct_fields__ if n not in ("title", "content")}
    parts = [bold(safe(found.title)), safe(found.content, multiline=True), named(fields)]
    return "\n\n".join(part for part in parts if part)


@item.command(
    "edit",
    short_help="Change a working item.",
    examples="""
    memento item edit 5wk1 --next "ask Ana" --priority 3
    memento item edit 5wk1 --status paused --json
    """,
)
@click.argument("id")
@click.option("--title", metavar="TEXT")
@click.option(
    "--base-version",
    type=click.IntRange(1),
    metavar="VERSION",
    help="The version that you read; any other is a conflict.",
)
@_fields
def edit(id: str, base_version: int | None, **options: Any) -> None:  # noqa: A002, ANN401 - its name in the help; all fields
    """Change the working item whose id is or begins with ID. Its tags are replaced by those given."""
    changes = _given(options)
    if not changes:
        raise click.UsageError("Name a field to change.")
    with opened() as workspace:
        changed = workspace.items.update(id, base_version=base_version, **changes)
    emit(plain_entry(changed, "changed"), lambda: said_entry(changed, "changed"))


@item.command(
    "done",
    short_help="Mark working items as completed.",
    examples="""
    memento item done 5wk1
    memento item done 5wk1 7p2c --json
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def done(ids: tuple[str, ...]) -> None:
    """Mark working items as completed."""
    with opened() as workspace:

        def complete(given: str) -> dict[str, Any]:
            changed = workspace.items.update(given, status="completed")
            if isinstance(changed, WorkingItem):
                return {"id": changed.id, "status": changed.status}
            return {"id": changed.target_id, "status": "proposed"}

        for_each(ids, complete, lambda outcome: f"{outcome['id']}  {outcome['status']}")


@item.command(
    "rm",
    short_help="Remove working items.",
    examples="""
    memento item rm 5wk1
    memento undo
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def rm(ids: tuple[str, ...]) -> None:
    """Remove working items; `memento undo` brings them back."""
    with opened() as workspace:
        remove_each(workspace.items, ids)


commands = {"item": item}
