"""The command ``session``: the sessions of agents that wrote, their quarantine, and where their memories came from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from memento_tui.cli.command import PathArgument, group, open_workspace
from memento_tui.cli.output import count_of, emit, format_time, safe, table
from memento_tui.cli.record_completion import complete_ids
from memento_tui.projects import find_project

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api.provenance import CopiedMemory, ProvenanceReport
    from memento_tui.api.written_sessions import WrittenSession
    from memento_tui.policy.quarantine import QuarantineOutcome


@group(
    "session",
    invoke_without_command=True,
    short_help="Take what one session of an agent wrote out of recall.",
    examples="""
    memento session
    memento session quarantine 7c1e2b9a
    memento session release 7c1e2b9a
    memento session check ~/.claude/projects/-home-dana-billing/7c1e2b9a.jsonl
    """,
)
@click.pass_context
def session(ctx: click.Context) -> None:
    """Govern what the sessions of agents wrote. Without a command, list them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_sessions)


@session.command(
    "list",
    short_help="List the sessions that wrote.",
    examples="""
    memento session list
    memento session list --limit 5 --json
    """,
)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many to list.")
def list_sessions(limit: int = 20) -> None:
    """List the sessions of agents that wrote, the one that wrote last first."""
    with open_workspace() as workspace:
        found = workspace.sessions.list(limit)
    emit(
        lambda: {"items": [_session_object(one) for one in found], "next": None},
        lambda: _sessions_table(found) or "No agent has written yet.",
    )


def _session_object(found: WrittenSession) -> dict[str, Any]:
    return dict(msgspec.to_builtins(found))


def _sessions_table(found: list[WrittenSession]) -> str:
    rows = [
        [
            one.session,
            one.agent,
            format_time(one.last_at),
            f"{one.records:,}",
            f"{one.in_effect:,}",
            f"quarantined, {one.waiting:,} to decide" if one.quarantined else "",
        ]
        for one in found
    ]
    return table(["SESSION", "AGENT", "LAST WROTE", "WROTE", "IN EFFECT", ""], rows) if rows else ""


@session.command(
    "quarantine",
    decides=True,
    short_help="Take what a session wrote out of recall.",
    examples="""
    memento session quarantine 7c1e2b9a
    memento session quarantine 7c1e2b9a-0d53-4b7e-9f0f-2f4e7a5d1c11 --json
    """,
)
@click.argument("id", shell_complete=complete_ids("session"))
def quarantine(id: str) -> None:  # noqa: A002 - its name in the help
    """Take everything that the session whose name is or begins with ID wrote out of recall until you have looked.

    Its memories wait in `memento review list --kind quarantined`, and what it writes from then on waits too. What you
    have verified, made essential or edited since stays. One undo takes it back, and so does `memento session release`.
    """
    with open_workspace() as workspace:
        outcome = workspace.sessions.quarantine(id)
    emit(lambda: _outcome_object(outcome), lambda: _quarantined_text(outcome))


def _outcome_object(outcome: QuarantineOutcome) -> dict[str, Any]:
    def named(records: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
        return [{"record": record, "id": record_id} for record, record_id in records]

    return {"session": outcome.session, "moved": named(outcome.moved), "kept": named(outcome.kept)}


def _quarantined_text(outcome: QuarantineOutcome) -> str:
    lines = [f"{count_of(len(outcome.moved), 'record')} of {outcome.session} left recall: memento review"]
    lines += [f"{count_of(len(outcome.kept), 'record')} stay, because you stand behind them."] * bool(outcome.kept)
    return safe("\n".join(lines), multiline=True)


@session.command(
    "release",
    decides=True,
    short_help="Give back what a quarantine took out of recall.",
    examples="""
    memento session release 7c1e2b9a
    memento session release 7c1e2b9a --json
    """,
)
@click.argument("id", shell_complete=complete_ids("session"))
def release(id: str) -> None:  # noqa: A002 - its name in the help
    """Give back what a quarantine took out of recall, but for what you have decided about meanwhile."""
    with open_workspace() as workspace:
        outcome = workspace.sessions.release(id)
    emit(lambda: _outcome_object(outcome), lambda: _released_text(outcome))


def _released_text(outcome: QuarantineOutcome) -> str:
    was = "is as it was" if len(outcome.moved) == 1 else "are as they were"
    lines = [f"{count_of(len(outcome.moved), 'record')} of {outcome.session} {was}."]
    lines += [f"{count_of(len(outcome.kept), 'record stays', 'records stay')} as you decided."] * bool(outcome.kept)
    return safe("\n".join(lines), multiline=True)


@session.command(
    "check",
    decides=lambda params: not params["dry_run"],
    short_help="Hold what a session copied from pages and other tools.",
    examples="""
    memento session check ~/.claude/projects/-home-dana-billing/7c1e2b9a.jsonl
    memento session check session.jsonl --session 7c1e2b9a --dry-run
    """,
)
@click.argument("transcript", type=PathArgument(path_type=Path))
@click.option("--session", "name", default="", metavar="ID", help="The session; by default the transcript's own.")
@click.option("--project", default="", metavar="DIR", help="The project's folder; by default where the session began.")
@click.option("--dry-run", is_flag=True, help="Only say what would be held.")
def check(transcript: Path, name: str, project: str, dry_run: bool) -> None:  # noqa: FBT001 - click's flag
    """Compare what a session remembered with what its tools returned, as is done by itself when a session ends.

    A memory whose sentences stand in a fetched page, a search, an issue or the answer of another MCP server counts as
    external and waits, with the passage. What you said yourself, and the project's own files, are not outside. An
    agent's shell has --dry-run alone.
    """
    from memento_tui.api.provenance import check_provenance  # noqa: PLC0415 - it reads transcripts

    with open_workspace() as workspace:
        found = find_project(project) if project else None
        root = project if found is None else str(found.root)
        report = check_provenance(workspace, transcript, name, project=root, dry_run=dry_run)
    emit(lambda: _report_object(report), lambda: _report_text(report))


def _report_object(report: ProvenanceReport) -> dict[str, Any]:
    return {
        "session": report.session,
        "compared": report.compared,
        "copied": [_copied_object(one) for one in report.copied],
        "problems": list(report.problems),
    }


def _copied_object(one: CopiedMemory) -> dict[str, Any]:
    return {"id": one.id, "outcome": one.outcome, "passages": msgspec.to_builtins(one.passages)}


_OUTCOMES_IN_WORDS = {
    "held": "waits",
    "labelled": "counts as external",
    "undone": "its earlier text holds again, and the change waits",
    "kept": "stays: you stand behind it",
    "found": "would wait",
}


def _report_text(report: ProvenanceReport) -> str:
    lines = [f"{count_of(report.compared, 'memory', 'memories')} compared, {len(report.copied):,} from outside."]
    for one in report.copied:
        lines.append(f"{one.id}  {_OUTCOMES_IN_WORDS[one.outcome]}")
        for passage in one.passages:
            place = f"{passage.tool or 'a tool'} {passage.where}, lines {passage.first_line}-{passage.last_line}"
            lines += [f"  {place}", f"    {passage.quote}"]
    return safe("\n".join([*lines, *report.problems]), multiline=True)


commands = {"session": session}
