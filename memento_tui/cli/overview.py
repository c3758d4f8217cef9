"""Commands that tell what words a workspace uses."""

from __future__ import annotations

import click

from memento_tui.cli.command import command
from memento_tui.cli.output import emit, table
from memento_tui.cli.session import opened

__all__ = ["commands"]


@command(
    "tags",
    short_help="List the tags in use.",
    examples="""
    memento tags
    memento tags --limit 20 --json
    """,
)
@click.option("--limit", type=click.IntRange(1, 10_000), metavar="NUMBER", default=100, show_default=True)
def tags(limit: int) -> None:
    """List the tags, most used first."""
    with opened() as workspace:
        found = workspace.store.tags(limit)
    emit({"items": [{"tag": tag, "count": count} for tag, count in found], "next": None}, lambda: _rows("TAG", found))


@command(
    "namespaces",
    short_help="List the namespaces in use.",
    examples="""
    memento namespaces
    memento namespaces --json
    """,
)
def namespaces() -> None:
    """List the namespaces with the number of memories that a search may return."""
    with opened() as workspace:
        found = workspace.store.namespaces()
    items = [{"namespace": name, "count": count} for name, count in found]
    emit({"items": items, "next": None}, lambda: _rows("NAMESPACE", found))


def _rows(heading: str, found: list[tuple[str, int]]) -> str:
    return table(["MEMORIES", heading], [[str(count), name] for name, count in found]) or "None yet."


commands = {"tags": tags, "namespaces": namespaces}
