"""Searches that the person keeps under a name."""

from __future__ import annotations

import click

from memento_tui.cli.command import group
from memento_tui.cli.output import emit, safe, table
from memento_tui.cli.session import opened
from memento_tui.store.tables import as_plain

__all__ = ["commands"]


@group(
    "searches",
    invoke_without_command=True,
    short_help="Searches that you keep under a name.",
    examples="""
    memento searches
    memento searches save "API decisions" tag:api kind:decision
    memento searches run "api decisions"
    """,
)
@click.pass_context
def searches(ctx: click.Context) -> None:
    """Keep searches under a name; the app has the same ones. Without a command, list them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@searches.command(
    "list",
    short_help="List them.",
    examples="""
    memento searches list
    memento searches list --json
    """,
)
def list_() -> None:
    """List the saved searches by name."""
    with opened() as workspace:
        found = workspace.saved_searches.list()
    emit(
        lambda: {"items": [as_plain(saved) for saved in found], "next": None},
        lambda: (
            table(["NAME", "QUERY"], [[saved.name, saved.query] for saved in found])
            or 'None yet. memento searches save "API decisions" tag:api kind:decision'
        ),
    )


@searches.command(
    "save",
    short_help="Keep a search.",
    examples="""
    memento searches save "API decisions" tag:api kind:decision
    memento searches save "API decisions" tag:api,web kind:decision --replace
    """,
)
@click.argument("name")
@click.argument("query", nargs=-1, required=True, metavar="QUERY")
@click.option("--replace", is_flag=True, help="Take the place of the one that has this name.")
def save(name: str, query: tuple[str, ...], *, replace: bool) -> None:
    """Keep QUERY under NAME."""
    with opened(create=True) as workspace:
        made = workspace.saved_searches.save(name, " ".join(query), replace=replace)
    emit(as_plain(made), lambda: safe(f"{made.name}  saved: {made.query}"))


@searches.command(
    "rename",
    short_help="Give one another name.",
    examples="""
    memento searches rename "API decisions" "decided about the API"
    """,
)
@click.argument("name")
@click.argument("new_name")
def rename(name: str, new_name: str) -> None:
    """Give the saved search NAME the name NEW_NAME."""
    with opened() as workspace:
        made = workspace.saved_searches.rename(name, new_name)
    emit(as_plain(made), lambda: safe(f"{made.name}  renamed"))


@searches.command(
    "remove",
    short_help="Forget one.",
    examples="""
    memento searches remove "API decisions"
    """,
)
@click.argument("name")
def remove(name: str) -> None:
    """Forget the saved search NAME; what it finds is untouched."""
    with opened() as workspace:
        gone = workspace.saved_searches.remove(name)
    emit(as_plain(gone), lambda: safe(f"{gone.name}  removed; it was: {gone.query}"))


@searches.command(
    "run",
    short_help="Search for what one says.",
    examples="""
    memento searches run "API decisions"
    memento searches run "API decisions" --limit 50 --json
    """,
)
@click.argument("name")
@click.option("--limit", type=click.IntRange(1, 1000), metavar="NUMBER", default=10, show_default=True)
@click.pass_context
def run(ctx: click.Context, name: str, limit: int) -> None:
    """Search for the query of the saved search NAME, as `memento search` does."""
    from memento_tui.cli.searching import search  # noqa: PLC0415 - the other commands do without the search

    with opened() as workspace:
        saved = workspace.saved_searches.get(name)
    ctx.invoke(search, query=(saved.query,), mode="hybrid", limit=limit, wait=False, explain=False)


commands = {"searches": searches}
