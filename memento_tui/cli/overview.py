"""The commands ``overview``, ``tags``, ``namespaces``, ``timeline``, ``links`` and ``facets``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from memento_tui import clock
from memento_tui.cli.command import command, open_workspace
from memento_tui.cli.output import bold, count_of, emit, format_time, safe, table
from memento_tui.cli.record_completion import complete_ids
from memento_tui.model.validation import to_plain

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api.overview import Overview


@command(
    "overview",
    short_help="Show what waits, what agents did and what ends soon.",
    examples="""
    memento overview
    memento overview --json
    """,
)
def overview() -> None:
    """Show what waits for you, what agents did since you last looked, how much there is, and what ends soon.

    The app shows the same in its first section. This command does not mark anything as seen.
    """
    from memento_tui.api.overview import overview as read_overview  # noqa: PLC0415 - help is shown without it

    with open_workspace() as workspace:
        found = read_overview(workspace, clock.now())
    emit(lambda: _overview_object(found), lambda: "\n\n".join(_overview_lines(found)))


def _overview_object(found: Overview) -> dict[str, Any]:
    from memento_tui.model.validation import to_plain  # noqa: PLC0415 - help is shown without it

    tags = [{"tag": tag, "count": count} for tag, count in found.tags]
    return {**to_plain(found), "tags": tags}


def _overview_lines(found: Overview) -> Iterator[str]:
    amounts = found.amounts
    counts = [
        count_of(amounts.memories, "memory", "memories"),
        count_of(amounts.working_items, "working item"),
        count_of(amounts.skips, "skip"),
        f"{'an' if amounts.has_identity else 'no'} identity",
    ]
    yield ", ".join(counts)
    waiting = [[f"{one.count:,}", one.name, format_time(one.since)] for one in found.waiting]
    yield bold("Waiting for you") + "\n" + (table(["", "WHAT", "SINCE"], waiting) or "Nothing.")
    totals = found.since_looked
    more = " or more" if totals.is_capped else ""
    yield (
        bold("What agents did since you last looked")
        + "\n"
        + f"{totals.entries:,}{more} changes"
        + _agents_text(totals.by_agent)
    )
    yield bold("Kinds") + "\n" + (table(["MEMORIES", "KIND"], _count_rows(found.facets.kinds)) or "None yet.")
    yield (
        bold("Trust") + "\n" + (table(["MEMORIES", "STABILITY"], _count_rows(found.facets.stabilities)) or "None yet.")
    )
    yield bold("Tags") + "\n" + (safe(", ".join(f"{tag} {count:,}" for tag, count in found.tags[:20])) or "None yet.")
    signs = [
        ["ok" if sign.ok else "!", sign.name, "; ".join(filter(None, (sign.detail, sign.hint)))]
        for sign in found.health
    ]
    yield bold("Health") + "\n" + table(["", "WHAT", "STATE"], signs)
    soon = [[format_time(one.ends_at), one.record, one.headline] for one in found.ending.first]
    memories, skips = count_of(found.ending.memories, "memory", "memories"), count_of(found.ending.skips, "skip")
    ending = f"{memories} within 7 days, {skips} within 3"
    yield bold("Ending soon") + f"\n{ending}" + (f"\n{table(['ENDS', 'WHAT', 'TEXT'], soon)}" if soon else "")


def _agents_text(agents: dict[str, int]) -> str:
    names = ", ".join(f"{safe(name or 'unnamed')} {count:,}" for name, count in agents.items())
    return f": {names}" if names else ""


def _count_rows(counts: dict[str, int]) -> list[list[str]]:
    return [[f"{count:,}", value] for value, count in counts.items()]


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
    """List the tags, the most used first."""
    with open_workspace() as workspace:
        found = workspace.tags(limit)
    emit(
        {"items": [{"tag": tag, "count": count} for tag, count in found], "next": None},
        lambda: _count_table("TAG", found),
    )


@command(
    "namespaces",
    short_help="List the namespaces in use.",
    examples="""
    memento namespaces
    memento namespaces --json
    """,
)
def namespaces() -> None:
    """List the namespaces, each with the number of memories that a search may return."""
    with open_workspace() as workspace:
        found = workspace.namespaces()
    items = [{"namespace": name, "count": count} for name, count in found]
    emit({"items": items, "next": None}, lambda: _count_table("NAMESPACE", found))


def _count_table(heading: str, found: Sequence[tuple[str, int]]) -> str:
    return table(["MEMORIES", heading], [[str(count), name] for name, count in found]) or "None yet."


if TYPE_CHECKING:
    from memento_tui.api.queries import MemoryLink
    from memento_tui.api.types import TimelineEntry


@command(
    "timeline",
    short_help="Show what was remembered around the same time.",
    examples="""
    memento timeline 7f3k
    memento timeline 7f3k --count 25 --json
    """,
)
@click.argument("id", shell_complete=complete_ids("memory"))
@click.option(
    "--count",
    type=click.IntRange(1, 1000),
    metavar="NUMBER",
    default=10,
    show_default=True,
    help="How many before it, and how many after.",
)
def timeline(id: str, count: int) -> None:  # noqa: A002 - its name in the help
    """Show the memory ID among those that were added just before and after it, in all namespaces, the latest first."""
    with open_workspace() as workspace:
        found = workspace.resolve("memory", id)
        moments = workspace.timeline(found, later=count, earlier=count)
    emit(
        lambda: {"id": found, "items": [_timeline_object(one) for one in moments]},
        lambda: _timeline_table(moments, found),
    )


def _timeline_object(one: TimelineEntry) -> dict[str, Any]:
    return {**to_plain(one.summary), "headline": one.summary.headline, "created_at": one.created_at.isoformat()}


def _timeline_table(moments: Sequence[TimelineEntry], memory_id: str) -> str:
    rows = [
        [
            f"{'>' if one.id == memory_id else ' '} {one.id}",
            format_time(one.created_at),
            one.summary.status,
            one.summary.kind,
            one.summary.namespace,
            one.summary.headline,
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
@click.argument("id", shell_complete=complete_ids("memory"))
def links(id: str) -> None:  # noqa: A002 - its name in the help
    """Show the open contradictions of the memory ID and its relations, each with the record at the other end."""
    from memento_tui.api.queries import links_of  # noqa: PLC0415 - a command's help is shown without it

    with open_workspace() as workspace:
        memory_id = workspace.resolve("memory", id)
        found = links_of(workspace, memory_id)
    emit(lambda: {"id": memory_id, "items": [to_plain(link) for link in found]}, lambda: _links_table(found))


_LINK_ARROWS = {"out": "->", "in": "<-", "both": "<>"}


def _links_table(found: Sequence[MemoryLink]) -> str:
    rows = [
        [_LINK_ARROWS[link.direction], link.word, link.end, link.state, link.label, link.headline] for link in found
    ]
    return table(["", "HOW", "OTHER END", "STATUS", "LABEL", "WHAT"], rows) or "It has no relations."


@command(
    "facets",
    short_help="Count memories by kind, tag, tier and source.",
    examples="""
    memento facets
    memento facets --json
    """,
)
def facets() -> None:
    """Count the memories that a search may return by namespace, kind, tag (the 50 most used), tier and source."""
    from memento_tui.api.types import FACETS  # noqa: PLC0415 - a command's help is shown without it

    with open_workspace() as workspace:
        counts = {str(name): workspace.facet_counts(name) for name in FACETS}
    emit(
        lambda: {name: [{"value": value, "count": count} for value, count in found] for name, found in counts.items()},
        lambda: _facets_table(counts),
    )


def _facets_table(counts: Mapping[str, Sequence[tuple[str, int]]]) -> str:
    parts = []
    for name, found in counts.items():
        if found:
            lines = [f"{count:>9,}  {safe(value)}" for value, count in found]
            parts.append("\n".join([bold(name.replace("_", " ")), *lines]))
    return "\n\n".join(parts) or "Nothing is remembered yet."


commands = {
    "overview": overview,
    "tags": tags,
    "namespaces": namespaces,
    "timeline": timeline,
    "links": links,
    "facets": facets,
}
