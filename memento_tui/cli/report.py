"""The command ``report``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import command, open_workspace
from memento_tui.cli.output import bold, emit, safe, table
from memento_tui.model.validation import to_plain
from memento_tui.text.quantities import count_of

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api.use_report import PeriodUse, ReportedMemory, UseReport


_DEFAULT_WEEKS = 8
_MOST_LISTED = 20
"""Memories of each list that a person is shown; --json has all."""


@command(
    "report",
    short_help="Show whether memories help: what was told, used and paid for.",
    examples="""
    memento report
    memento report --weeks 4 --project projects/site
    memento report --json
    """,
)
@click.option(
    "--weeks",
    type=click.IntRange(1, 520),
    metavar="NUMBER",
    default=_DEFAULT_WEEKS,
    show_default=True,
    help="This week and those before it.",
)
@click.option("--project", metavar="NAMESPACE", default="", help="Only what sessions of this project were told.")
def report(weeks: int, project: str) -> None:
    """Show for each week and project what agents were told, what they used of it, and what it cost in tokens.

    Then the memories to drop, which many sessions were told and none used, the others that were never used, and those
    that were used most. A use is seen in a session's transcript, so the share counts only sessions whose transcript
    was read. Nothing is changed: `memento rm ID` deletes a memory, and `memento undo` brings it back.
    """
    from memento_tui.api.use_report import use_report  # noqa: PLC0415 - help is shown without it

    with open_workspace() as workspace:
        found = use_report(workspace, weeks=weeks, namespace=project)
    emit(lambda: _report_object(found), lambda: "\n\n".join(_report_parts(found)))


def _report_object(found: UseReport) -> dict[str, Any]:
    lists = {"drop": found.drop, "never_used": found.never_used, "used": found.used}
    return {
        "since": found.since.isoformat(),
        "weeks": found.weeks,
        "namespace": found.namespace,
        "total": _period_object(found.total),
        "projects": [_period_object(one) for one in found.projects],
        "by_week": [_period_object(one) for one in found.by_week],
        **{name: [_memory_object(one) for one in memories] for name, memories in lists.items()},
    }


def _period_object(one: PeriodUse) -> dict[str, Any]:
    return {**to_plain(one), "share": one.share}


def _memory_object(one: ReportedMemory) -> dict[str, Any]:
    memory = one.memory
    about = {"headline": _headline(one), "namespace": memory.namespace, "kind": memory.kind}
    return {"id": memory.id, **about, **to_plain(one.use), "advice": one.advice}


def _headline(one: ReportedMemory) -> str:
    return one.memory.title or next((line for line in one.memory.content.splitlines() if line.strip()), "")


def _report_parts(found: UseReport) -> Iterator[str]:
    total = found.total
    about = f" in {found.namespace}" if found.namespace else ""
    if not total.told:
        yield safe(f"Agents were told nothing{about} since {found.since:%Y-%m-%d}.")
        return
    yield safe(
        f"Since {found.since:%Y-%m-%d} agents were told {count_of(total.told, 'memory', 'memories')}{about} in"
        f" {count_of(total.sessions, 'session')}, for about {count_of(total.tokens, 'token')}. {share_sentence(total)}"
    )
    rows = [
        [f"{one.week}", one.namespace or "(unknown)", *(f"{n:,}" for n in (one.sessions, one.told)), _used(one),
         f"{one.tokens:,}", f"{one.used_tokens:,}"]
        for one in found.by_week
    ]  # fmt: skip
    yield table(["WEEK OF", "PROJECT", "SESSIONS", "TOLD", "USED", "TOKENS", "TOKENS USED"], rows)
    yield from _listed("To drop", found.drop, "`memento rm ID` deletes one, `memento undo` brings it back.")
    unused = "Told, and not known to be used" if total.share is None else "Told and never used, too seldom to say"
    yield from _listed(unused, found.never_used)
    yield from _listed("Used", found.used)


def share_sentence(total: PeriodUse) -> str:
    """Return a sentence on the share of exposures that were used."""
    if total.share is None:
        return "No transcript of these sessions was read, so it is not known what they used."
    if total.seen == total.told:
        return f"They used {total.share:.0%} of that."
    return f"They used {total.share:.0%} of the {total.seen:,} whose sessions' transcripts were read."


def _used(one: PeriodUse) -> str:
    if one.share is None:
        return f"{one.used:,}" if one.used else "unknown"
    return f"{one.used:,} ({one.share:.0%})"


def _listed(heading: str, memories: Sequence[ReportedMemory], todo: str = "") -> Iterator[str]:
    if not memories:
        return
    has_advice = any(one.advice for one in memories)
    rows = [
        [one.memory.id, f"{one.use.told:,}", f"{one.use.used:,}", f"{one.use.tokens:,}", _headline(one)]
        + ([one.advice] if has_advice else [])
        for one in memories[:_MOST_LISTED]
    ]
    headings = ["ID", "TOLD", "USED", "TOKENS", "MEMORY", *(["WHY"] if has_advice else [])]
    lines = [bold(heading), table(headings, rows)]
    if len(memories) > _MOST_LISTED:
        lines.append(f"and {len(memories) - _MOST_LISTED:,} more; --json lists all.")
    yield "\n".join([*lines, *([todo] if todo else [])])


commands = {"report": report}
