"""Commands that look after the memories: ``sleep`` and ``distill``."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from memento_tui.cli.command import command
from memento_tui.cli.output import bold, emit, note, safe, table
from memento_tui.cli.progress import progress_bar, staged_progress
from memento_tui.cli.session import opened

if TYPE_CHECKING:
    from memento_tui.upkeep.learning import Learned
    from memento_tui.upkeep.sleep import SleepReport
    from memento_tui.workspace.learning import Distilled

__all__ = ["commands"]

_INTERRUPTED = 130
"""What a shell reports of a program that Ctrl-C ended."""

_LISTED = 40
"""Lines of a kind that a person is shown; --json lists all."""


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Yield what Ctrl-C sets, so that the work ends after the step it is at; a second one ends at once."""
    stopping = threading.Event()

    def stop(_number: int, _frame: object) -> None:
        stopping.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        note("Ending after this step. Press Ctrl-C again to end at once; nothing is lost either way.")

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopping
    finally:
        signal.signal(signal.SIGINT, before)


@command(
    "sleep",
    short_help="Look after the memories: what ages, repeats or contradicts.",
    examples="""
    memento sleep --dry-run
    memento sleep
    memento sleep --json
    """,
)
@click.option("--dry-run", is_flag=True, help="Only tell what would be done.")
def sleep(*, dry_run: bool) -> None:
    """Expire, demote and compact what is due; look for duplicates, contradictions and what belongs together.

    What needs a decision waits in `memento review` and `memento contradiction`. It may be interrupted at any moment
    and run as often as you like; `memento undo` takes back a whole sleep by the number that `memento history` shows.
    """
    from memento_tui.workspace.nightly import look_after  # noqa: PLC0415 - a command's help is shown without it

    with opened() as workspace, staged_progress() as progress, _interruptible() as stopping:
        report = look_after(workspace, dry_run=dry_run, stopping=stopping, progress=progress)
    emit(lambda: _plain(report), lambda: _told(report))
    if report.interrupted:
        raise click.exceptions.Exit(_INTERRUPTED)


def _waiting(count: int) -> str:
    return "1 waits for you" if count == 1 else f"{count:,} wait for you"


def _plain(report: SleepReport) -> dict[str, Any]:
    counts = Counter(deed.action for deed in report.deeds)
    plain: dict[str, Any] = msgspec.to_builtins(report)
    return {**plain, "counts": dict(counts), "waiting": sum(deed.waits for deed in report.deeds)}


def _told(report: SleepReport) -> str:
    lines = [*(f"! {safe(problem)}" for problem in report.problems)]
    if report.interrupted:
        lines.append("Interrupted; the rest is done next time.")
    if not report.deeds:
        return "\n".join([*lines, "Nothing is due."])
    counts = Counter(deed.action for deed in report.deeds)
    done = ", ".join(f"{count:,} {action}" for action, count in counts.items())
    lines.append(bold(f"{'Would be done' if report.dry_run else 'Done'}: {done}"))
    rows = [[d.action, d.record, d.id, "you" if d.waits else "-", d.why] for d in report.deeds[:_LISTED]]
    lines.append(table(["WHAT", "OF", "ID", "DECIDES", "WHY"], rows))
    if len(report.deeds) > _LISTED:
        lines.append(f"... and {len(report.deeds) - _LISTED:,} more; --json lists all.")
    waiting = sum(deed.waits for deed in report.deeds)
    if waiting and not report.dry_run:
        lines.append(f"{_waiting(waiting)}: memento review, memento contradiction")
    return "\n".join(lines)


@command(
    "distill",
    short_help="Learn from an agent's transcript.",
    examples="""
    memento distill ~/.claude/projects/-home-me-site/4f1c.jsonl
    memento distill session.jsonl --dry-run
    memento distill rollout.jsonl --limit 5 --json
    """,
)
@click.argument("transcript", type=click.Path(path_type=Path))
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="Propose at most so many.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be proposed.")
def distill(transcript: Path, limit: int, *, dry_run: bool) -> None:
    """Propose memories, skips and working items that TRANSCRIPT teaches, each with the lines it rests on.

    Transcripts of Claude Code and Codex are read, and plain JSON lines with role and content. What is known already,
    or was rejected before, is not proposed again.
    """
    from memento_tui.workspace.learning import distill_transcript  # noqa: PLC0415 - a command's help is shown without it

    with opened(create=True) as workspace, progress_bar("Reading") as progress, _interruptible() as stopping:
        found = distill_transcript(
            workspace, transcript, limit=limit, dry_run=dry_run, progress=progress, stopping=stopping
        )
    emit(lambda: _plain_distilled(found), lambda: _told_distilled(found))
    if found.interrupted:
        raise click.exceptions.Exit(_INTERRUPTED)


def _plain_distilled(found: Distilled) -> dict[str, Any]:
    return {
        "session": found.session,
        "turns": found.turns,
        "learned": [
            {
                "outcome": one.outcome,
                "id": one.id,
                "why": one.why,
                **msgspec.to_builtins(one.candidate),
            }
            for one in found.learned
        ],
        "problems": found.problems,
        "interrupted": found.interrupted,
    }


def _told_distilled(found: Distilled) -> str:
    lines = [f"! {safe(problem)}" for problem in found.problems]
    if found.interrupted:
        return "\n".join([*lines, f"Interrupted after {found.turns:,} turns; nothing was proposed."])
    if not found.learned:
        return "\n".join([*lines, f"{found.turns:,} turns were read; they teach nothing new."])
    rows = [
        [
            one.outcome,
            one.candidate.target,
            f"{one.candidate.first_line}-{one.candidate.last_line}",
            one.id or "-",
            _about(one),
        ]
        for one in found.learned
    ]
    lines.append(table(["OUTCOME", "WHAT", "LINES", "ID", "TEXT"], rows))
    proposed = sum(one.outcome == "proposed" for one in found.learned)
    if proposed:
        lines.append(f"{_waiting(proposed)}: memento review")
    return "\n".join(lines)


def _about(one: Learned) -> str:
    fields = one.candidate.fields
    text = str(fields.get("content") or fields.get("item") or fields.get("title") or "")
    return f"{text} ({one.why})" if one.why else text


commands = {"sleep": sleep, "distill": distill}
