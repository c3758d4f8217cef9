"""The commands ``item`` and ``skip``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import CommandFunction, group, open_workspace
from memento_tui.cli.options import parse_id_and_version, read_text, split_words
from memento_tui.cli.output import bold, emit, for_each, format_fields, format_time, safe, table
from memento_tui.cli.record_completion import complete_ids
from memento_tui.model import Proposal, Skip, WorkingItem
from memento_tui.model.lists import ITEM_CATEGORIES, ITEM_STATUSES
from memento_tui.model.validation import to_plain

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api.lists import Items, Skips
    from memento_tui.api.types import SkipHit


def entry_object(entry: Skip | WorkingItem | Proposal, outcome: str) -> dict[str, Any]:
    """Return an entry of a list as JSON, or the proposal that it became."""
    if isinstance(entry, Proposal):
        return {"id": entry.target_id, "outcome": "proposed", "proposal": to_plain(entry)}
    return {**to_plain(entry), "outcome": outcome}


def entry_text(entry: Skip | WorkingItem | Proposal, outcome: str) -> str:
    """Return the outcome of a write to an entry of a list in words."""
    if isinstance(entry, Proposal):
        return safe(f"{entry.target_id}  waits for review: memento review show {entry.id}")
    return safe(f"{entry.id}  {outcome}")


def print_list(found: Sequence[Skip | WorkingItem], text: Callable[[], str]) -> None:
    """Print all entries of a list."""
    emit(lambda: {"items": [to_plain(entry) for entry in found], "next": None}, text)


def remove_each(entries: Items | Skips, ids: Sequence[str]) -> None:
    """Remove entries of a list, each by ``ID`` or ``ID@VERSION``, and print the outcome of each."""

    def remove(entry_id: str) -> dict[str, Any]:
        name, version = parse_id_and_version(entry_id)
        found = entries.get(name).id
        proposal = entries.remove(found, base_version=version)
        return {"id": found, "status": "removed" if proposal is None else "proposed"}

    for_each(ids, remove, lambda outcome: f"{outcome['id']}  {outcome['status']}")


def _item_options(function: CommandFunction) -> CommandFunction:
    """Add an option for each field of a working item."""
    options = [
        click.option("--category", type=click.Choice(ITEM_CATEGORIES)),
        click.option("--status", type=click.Choice(ITEM_STATUSES)),
        click.option("--content", metavar="TEXT", help="The details; `-` reads standard input."),
        click.option("--priority", metavar="NUMBER", help="The highest comes first; 0 if not given."),
        click.option("--tag", "tags", multiple=True, metavar="TAG", help="Repeat it, or join with commas."),
        click.option("--next", "next_action", metavar="TEXT", help="The next action."),
        click.option("--namespace", metavar="PATH"),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def _given_item_fields(options: dict[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in options.items() if value not in (None, ())}
    if "tags" in fields:
        fields["tags"] = split_words(fields["tags"])
    if "content" in fields:
        fields["content"] = read_text(fields["content"])
    return fields


@group(
    "item",
    invoke_without_command=True,
    short_help="Keep the list of what is being worked on.",
    examples="""
    memento item add "Move to /v3" --next "write the migration" --priority 2
    memento item list --status active
    memento item done 5wk1
    """,
)
@click.pass_context
def item_group(ctx: click.Context) -> None:
    """Keep the working items. Without a command, list them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_items)


@item_group.command(
    "add",
    short_help="Add a working item.",
    examples="""
    memento item add "Move to /v3" --next "write the migration" --priority 2
    memento item add "Answer from legal" --category waiting_for --json
    """,
)
@click.argument("title")
@_item_options
def add_item(title: str, **options: Any) -> None:  # noqa: ANN401 - the options of all fields
    """Add a working item."""
    with open_workspace(create=True) as workspace:
        made = workspace.items.create(title, **_given_item_fields(options))
    emit(entry_object(made, "added"), lambda: entry_text(made, "added"))


@item_group.command(
    "list",
    short_help="List the working items.",
    examples="""
    memento item list
    memento item list migration tag:db status:active
    memento item list --category waiting_for --json
    """,
)
@click.argument("query", nargs=-1)
@click.option("--category", type=click.Choice(ITEM_CATEGORIES))
@click.option("--status", type=click.Choice(ITEM_STATUSES))
def list_items(query: tuple[str, ...] = (), category: str | None = None, status: str | None = None) -> None:
    """List the working items, highest priority first. QUERY selects by words, category:, status: and tag:."""
    with open_workspace() as workspace:
        found = workspace.items.list(category=category, status=status, query=" ".join(query))
    print_list(found, lambda: _item_rows(found) or "No working items.")


def _item_rows(found: Sequence[WorkingItem]) -> str:
    rows = [[i.id, i.status, i.category, str(i.priority), format_time(i.updated_at), i.title] for i in found]
    return table(["ID", "STATUS", "CATEGORY", "PRIORITY", "CHANGED", "TITLE"], rows)


@item_group.command(
    "show",
    short_help="Show one working item.",
    examples="""
    memento item show 5wk1
    memento item show 5wk1 --json
    """,
)
@click.argument("id", shell_complete=complete_ids("item"))
def show_item(id: str) -> None:  # noqa: A002 - its name in the help
    """Show one working item."""
    with open_workspace() as workspace:
        found = workspace.items.get(id)
    emit(to_plain(found), lambda: _item_text(found))


def _item_text(found: WorkingItem) -> str:
    fields = {n: getattr(found, n) for n in found.__struct_fields__ if n not in ("title", "content")}
    parts = [bold(safe(found.title)), safe(found.content, multiline=True), format_fields(fields)]
    return "\n\n".join(part for part in parts if part)


@item_group.command(
    "edit",
    short_help="Change a working item.",
    examples="""
    memento item edit 5wk1 --next "ask Ana" --priority 3
    memento item edit 5wk1 --status paused --json
    """,
)
@click.argument("id", shell_complete=complete_ids("item"))
@click.option("--title", metavar="TEXT")
@click.option(
    "--base-version",
    type=click.IntRange(1),
    metavar="VERSION",
    help="The version that you read; any other is a conflict.",
)
@_item_options
def edit_item(id: str, base_version: int | None, **options: Any) -> None:  # noqa: A002, ANN401 - its name in the help; all fields
    """Change the working item whose id is or begins with ID. Its tags are replaced by those given.

    ID@VERSION is ID with --base-version VERSION.
    """
    changes = _given_item_fields(options)
    if not changes:
        raise click.UsageError("Name a field to change.")
    with open_workspace() as workspace:
        name, version = parse_id_and_version(id, base_version)
        changed = workspace.items.update(name, base_version=version, **changes)
    emit(entry_object(changed, "changed"), lambda: entry_text(changed, "changed"))


@item_group.command(
    "done",
    short_help="Mark working items as completed.",
    examples="""
    memento item done 5wk1
    memento item done 5wk1 7p2c --json
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids("item"))
def complete_items(ids: tuple[str, ...]) -> None:
    """Mark working items as completed; ID@VERSION refuses one that has changed since you read it."""
    with open_workspace() as workspace:

        def complete(item_id: str) -> dict[str, Any]:
            name, version = parse_id_and_version(item_id)
            changed = workspace.items.update(name, base_version=version, status="completed")
            if isinstance(changed, WorkingItem):
                return {"id": changed.id, "status": changed.status}
            return {"id": changed.target_id, "status": "proposed"}

        for_each(ids, complete, lambda outcome: f"{outcome['id']}  {outcome['status']}")


@item_group.command(
    "rm",
    short_help="Remove working items.",
    examples="""
    memento item rm 5wk1
    memento undo
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids("item"))
def remove_items(ids: tuple[str, ...]) -> None:
    """Remove working items; `memento undo` brings them back.

    ID@VERSION refuses one that has changed since you read it.
    """
    with open_workspace() as workspace:
        remove_each(workspace.items, ids)


@group(
    "skip",
    invoke_without_command=True,
    short_help="Keep the list of what agents are not to do.",
    examples="""
    memento skip add "reading vendor/" --reason "third-party code" --until 30d
    memento skip check "vendor/lib.js"
    memento skip show 8kq2
    memento skip extend 8kq2 --until 60d
    memento skip decide 8kq2
    """,
)
@click.pass_context
def skip_group(ctx: click.Context) -> None:
    """Keep the list of what agents are not to do or read. Without a command, list it."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_skips)


@skip_group.command(
    "add",
    short_help="Add a skip.",
    examples="""
    memento skip add "reading vendor/" --reason "third-party code" --until 30d
    memento skip add "issue 4711" --reason "waits for upstream" --until 30d --json
    memento skip add "HN: MMAcevedo/Lena (qntm)" --reason "read, and written about" --until 90d
    """,
)
@click.argument("item")
@click.option("--reason", required=True, help="The reason.")
@click.option("--until", required=True, metavar="WHEN", help="When it ends: a date, a time or a span such as 7d.")
@click.option("--namespace", default="global", show_default=True)
def add_skip(item: str, reason: str, until: str, namespace: str) -> None:
    """Add ITEM to the skips. A skip ends within two years; what holds for good is a standing decision."""
    with open_workspace(create=True) as workspace:
        made = workspace.skips.add(item, reason, until, namespace=namespace)
    emit(entry_object(made, "added"), lambda: entry_text(made, "added"))


@skip_group.command(
    "list",
    short_help="List the skips.",
    examples="""
    memento skip list
    memento skip list vendor "expires:<7d"
    memento skip list --ended --json
    """,
)
@click.argument("query", nargs=-1)
@click.option("--ended", is_flag=True, help="Include those that have ended.")
def list_skips(query: tuple[str, ...] = (), *, ended: bool = False) -> None:
    """List the active skips, the first to end first. QUERY selects by words, by:NAME and expires:<7d."""
    with open_workspace() as workspace:
        found = workspace.skips.list(ended=ended, query=" ".join(query))
    print_list(found, lambda: _skip_rows(found) or "Nothing is skipped.")


def _skip_rows(found: Sequence[Skip]) -> str:
    rows = [[s.id, format_time(s.expires_at), str(s.hits), s.item, s.reason] for s in found]
    return table(["ID", "UNTIL", "HITS", "WHAT", "WHY"], rows)


@skip_group.command(
    "show",
    short_help="Show one skip, and when it fired.",
    examples="""
    memento skip show 8kq2
    memento skip show 8kq2 --json
    """,
)
@click.argument("id", shell_complete=complete_ids("skip"))
def show_skip(id: str) -> None:  # noqa: A002 - its name in the help
    """Show one skip, and when it fired: for which session, and by which of its words."""
    with open_workspace() as workspace:
        found = workspace.skips.get(id)
        hits = workspace.skips.hits(found.id)
    emit(lambda: {**to_plain(found), "fired": [to_plain(hit) for hit in hits]}, lambda: _skip_text(found, hits))


def _skip_text(found: Skip, hits: Sequence[SkipHit]) -> str:
    fields = {n: getattr(found, n) for n in found.__struct_fields__ if n not in ("item", "reason")}
    rows = [[format_time(hit.at), hit.words, hit.session, hit.channel] for hit in hits]
    fired = table(["FIRED", "BY ITS WORDS", "SESSION", "THROUGH"], rows) if rows else ""
    parts = [bold(safe(found.item)), safe(found.reason, multiline=True), format_fields(fields), fired]
    return "\n\n".join(part for part in parts if part)


@skip_group.command(
    "check",
    short_help="Check whether something is to be skipped.",
    examples="""
    memento skip check "vendor/lib.js"
    memento skip check "have another look at issue 4711" --json
    memento skip check "summarise the story about MMAcevedo"
    """,
)
@click.argument("query")
def check_skips(query: str) -> None:
    """Check whether QUERY, something about to be done, is to be skipped; each match counts as a hit."""
    with open_workspace() as workspace:
        found = workspace.skips.check(query)
    emit(
        lambda: {"skip": bool(found), "items": [to_plain(entry) for entry in found], "next": None},
        lambda: _skip_rows(found) or safe(f"Not on the list: {query}"),
    )


@skip_group.command(
    "edit",
    short_help="Change a skip.",
    examples="""
    memento skip edit 8kq2 --until 30d
    memento skip edit 8kq2 --reason "still broken upstream"
    """,
)
@click.argument("id", shell_complete=complete_ids("skip"))
@click.option("--item", help="What to skip.")
@click.option("--reason", help="The reason.")
@click.option("--until", "expires_at", metavar="WHEN", help="When it ends.")
@click.option("--namespace")
@click.option(
    "--base-version",
    type=click.IntRange(1),
    metavar="VERSION",
    help="The version that you read; any other is a conflict.",
)
def edit_skip(id: str, base_version: int | None, **options: str | None) -> None:  # noqa: A002 - its name in the help
    """Change the skip whose id is or begins with ID. ID@VERSION is ID with --base-version VERSION."""
    changes = {name: value for name, value in options.items() if value is not None}
    if not changes:
        raise click.UsageError("Name a field to change.")
    with open_workspace() as workspace:
        name, version = parse_id_and_version(id, base_version)
        changed = workspace.skips.update(name, base_version=version, **changes)
    emit(entry_object(changed, "changed"), lambda: entry_text(changed, "changed"))


@skip_group.command(
    "extend",
    short_help="Extend skips.",
    examples="""
    memento skip extend 8kq2 --until 60d
    memento skip extend 8kq2 3zzt --until 90d --json
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids("skip"))
@click.option("--until", required=True, metavar="WHEN", help="The new end: a date, a time or a span from now.")
def extend_skips(ids: tuple[str, ...], until: str) -> None:
    """Extend skips; those that have ended become active again.

    ID@VERSION refuses one that has changed since you read it.
    """
    with open_workspace() as workspace:

        def extend(skip_id: str) -> dict[str, Any]:
            name, version = parse_id_and_version(skip_id)
            changed = workspace.skips.extend(name, until, base_version=version)
            if isinstance(changed, Skip):
                return {"id": changed.id, "status": "extended", "expires_at": to_plain(changed)["expires_at"]}
            return {"id": changed.target_id, "status": "proposed"}

        for_each(ids, extend, _extension_text)


def _extension_text(outcome: dict[str, Any]) -> str:
    until = f" to {format_time(outcome['expires_at'])}" if "expires_at" in outcome else ""
    return f"{outcome['id']}  {outcome['status']}{until}"


@skip_group.command(
    "decide",
    short_help="Turn skips into standing decisions.",
    examples="""
    memento skip decide 8kq2
    memento skip decide 8kq2 --title "Never read vendor/" --json
    memento undo
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids("skip"))
@click.option("--title", default="", metavar="TEXT", help="The title of the decision; `Skip: ...` if not given.")
def make_decisions(ids: tuple[str, ...], title: str) -> None:
    """Turn skips into standing decisions, which do not end: working items that `memento item` lists.

    ID@VERSION refuses one that has changed since you read it. One `memento undo` removes the decision and restores the
    skip.
    """
    if title and len(ids) > 1:
        raise click.UsageError("A title is for one skip; leave it out, or name one ID.")
    with open_workspace() as workspace:

        def decide(skip_id: str) -> dict[str, Any]:
            name, version = parse_id_and_version(skip_id)
            found = workspace.skips.get(name).id
            made = workspace.skips.decide(found, title=title, base_version=version)
            return {"id": found, "status": "decided", "item": to_plain(made)}

        for_each(ids, decide, lambda outcome: f"{outcome['id']}  decided: memento item show {outcome['item']['id']}")


@skip_group.command(
    "remove",
    short_help="End skips now.",
    examples="""
    memento skip remove 8kq2
    memento skip remove 8kq2 3zzt --json
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids("skip"))
def remove_skips(ids: tuple[str, ...]) -> None:
    """End skips now; `memento undo` brings them back.

    ID@VERSION refuses one that has changed since you read it.
    """
    with open_workspace() as workspace:
        remove_each(workspace.skips, ids)


commands = {"item": item_group, "skip": skip_group}
