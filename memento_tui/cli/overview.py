"""Commands that tell how things stand, and what words a workspace uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from memento_tui import clock
from memento_tui.cli.command import command
from memento_tui.cli.output import bold, emit, moment, safe, table
from memento_tui.cli.session import opened

if TYPE_CHECKING:
    from memento_tui.workspace.overview import Overview

__all__ = ["commands"]


@command(
    "overview",
    short_help="Show what waits, what agents did and what ends soon.",
    examples="""
    memento overview
    memento overview --json
    """,
)
def overview() -> None:
    """Show what waits for you, what agents did since you last looked, what there is, and what ends soon.

    The app shows the same as its first screen. Looking here does not make anything less new there.
    """
    from memento_tui.workspace.overview import overview as look  # noqa: PLC0415 - help is shown without it

    with opened() as workspace:
        found = look(workspace, clock.now())
    emit(lambda: _plain(found), lambda: "\n\n".join(_told(found)))


def _plain(found: Overview) -> dict[str, Any]:
    from memento_tui.store.tables import as_plain  # noqa: PLC0415 - help is shown without it

    tags = [{"tag": tag, "count": count} for tag, count in found.tags]
    return {**as_plain(found), "tags": tags}


def _told(found: Overview) -> Iterator[str]:
    there = found.amounts
    sorts = [
        _plural(there.memories, "memory", "memories"),
        _plural(there.working_items, "working item"),
        _plural(there.skips, "skip"),
        f"{'an' if there.has_identity else 'no'} identity",
    ]
    yield ", ".join(sorts)
    waiting = [[f"{one.count:,}", one.name, moment(one.since)] for one in found.waiting]
    yield bold("Waiting for you") + "\n" + (table(["", "WHAT", "SINCE"], waiting) or "Nothing.")
    tally = found.since_looked
    more = " or more" if tally.is_capped else ""
    yield (
        bold("What agents did since you last looked") + "\n" + f"{tally.entries:,}{more} changes" + _by(tally.by_agent)
    )
    yield bold("Kinds") + "\n" + (table(["MEMORIES", "KIND"], _rows_of(found.facets.kinds)) or "None yet.")
    yield bold("Trust") + "\n" + (table(["MEMORIES", "STABILITY"], _rows_of(found.facets.stabilities)) or "None yet.")
    yield bold("Tags") + "\n" + (safe(", ".join(f"{tag} {count:,}" for tag, count in found.tags[:20])) or "None yet.")
    signs = [
        ["ok" if sign.ok else "!", sign.name, "; ".join(filter(None, (sign.detail, sign.hint)))]
        for sign in found.health
    ]
    yield bold("Health") + "\n" + table(["", "WHAT", "STATE"], signs)
    soon = [[moment(one.ends_at), one.record, one.headline] for one in found.ending.first]
    memories, skips = _plural(found.ending.memories, "memory", "memories"), _plural(found.ending.skips, "skip")
    counts = f"{memories} within 7 days, {skips} within 3"
    yield bold("Ending soon") + f"\n{counts}" + (f"\n{table(['ENDS', 'WHAT', 'TEXT'], soon)}" if soon else "")


def _plural(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def _by(agents: dict[str, int]) -> str:
    told = ", ".join(f"{safe(name or 'unnamed')} {count:,}" for name, count in agents.items())
    return f": {told}" if told else ""


def _rows_of(counts: dict[str, int]) -> list[list[str]]:
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


commands = {"overview": overview, "tags": tags, "namespaces": namespaces}
