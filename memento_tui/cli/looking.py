"""Commands that look around: what was remembered when, what is linked to what, and what there is of each sort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import command
from memento_tui.cli.output import bold, emit, moment, safe, table
from memento_tui.cli.session import opened
from memento_tui.store.tables import as_plain

if TYPE_CHECKING:
    from memento_tui.store.around import Moment
    from memento_tui.workspace.links import Link

__all__ = ["commands"]


@command(
    "timeline",
    short_help="Show what was remembered around the same time.",
    examples="""
    memento timeline 7f3k
    memento timeline 7f3k --count 25 --json
    """,
)
@click.argument("id")
@click.option(
    "--count",
    type=click.IntRange(1, 1000),
    metavar="NUMBER",
    default=10,
    show_default=True,
    help="How many before it, and how many after.",
)
def timeline(id: str, count: int) -> None:  # noqa: A002 - its name in the help
    """Show the memory ID with those remembered just before and just after it, in all namespaces, the latest first."""
    with opened() as workspace:
        found = workspace.store.resolve("memory", id)
        moments = workspace.store.around.window(found, later=count, earlier=count)
    emit(lambda: {"id": found, "items": [_plain_moment(one) for one in moments]}, lambda: _timeline(moments, found))


def _plain_moment(one: Moment) -> dict[str, Any]:
    return {**as_plain(one.glance), "headline": one.glance.headline, "created_at": one.created_at.isoformat()}


def _timeline(moments: Sequence[Moment], memory_id: str) -> str:
    rows = [
        [
            f"{'>' if one.id == memory_id else ' '} {one.id}",
            moment(one.created_at),
            one.glance.status,
            one.glance.kind,
            one.glance.namespace,
            one.glance.headline,
        ]
        for one in moments
    ]
    return table(["  ID", "REMEMBERED", "STATUS", "KIND", "NAMESPACE", "WHAT"], rows)


@command(
    "links",
    short_help="Show what a memory is related to.",
    examples="""
    memento links 7f3k
    memento links 7f3k --json
    """,
)
@click.argument("id")
def links(id: str) -> None:  # noqa: A002 - its name in the help
    """Show the unresolved contradictions of the memory ID and its relations, each with what is at the other end."""
    from memento_tui.workspace.links import links_of  # noqa: PLC0415 - a command's help is shown without it

    with opened() as workspace:
        memory_id = workspace.store.resolve("memory", id)
        found = links_of(workspace, memory_id)
    emit(lambda: {"id": memory_id, "items": [as_plain(link) for link in found]}, lambda: _links(found))


_ARROWS = {"out": "->", "in": "<-", "both": "<>"}


def _links(found: Sequence[Link]) -> str:
    rows = [[_ARROWS[link.direction], link.word, link.end, link.state, link.label, link.headline] for link in found]
    return table(["", "HOW", "OTHER END", "STATUS", "LABEL", "WHAT"], rows) or "It is related to nothing."


@command(
    "facets",
    short_help="Count memories by kind, tag, tier and source.",
    examples="""
    memento facets
    memento facets --json
    """,
)
def facets() -> None:
    """Count the memories that a search may return: by namespace, kind, tag (the 50 most used), tier and source."""
    from memento_tui.store.facets import FACETS  # noqa: PLC0415 - a command's help is shown without it

    with opened() as workspace:
        counts = {str(name): workspace.store.facets.counts(name) for name in FACETS}
    emit(
        lambda: {name: [{"value": value, "count": count} for value, count in found] for name, found in counts.items()},
        lambda: _facets(counts),
    )


def _facets(counts: Mapping[str, Sequence[tuple[str, int]]]) -> str:
    parts = []
    for name, found in counts.items():
        if found:
            lines = [f"{count:>9,}  {safe(value)}" for value, count in found]
            parts.append("\n".join([bold(name.replace("_", " ")), *lines]))
    return "\n\n".join(parts) or "Nothing is remembered yet."


commands = {"timeline": timeline, "links": links, "facets": facets}
