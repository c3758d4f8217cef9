"""The commands ``maintain``, ``distill``, ``audit`` and ``backup``."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from memento_tui import clock
from memento_tui.cli.code_audit import list_code_findings
from memento_tui.cli.command import PathArgument, command, current_session, group, open_workspace
from memento_tui.cli.interaction import confirm, progress_bar, staged_progress, stop_on_signals
from memento_tui.cli.memories import memory_rows
from memento_tui.cli.options import paging
from memento_tui.cli.output import (
    EXIT_INTERRUPTED,
    bold,
    count_of,
    emit,
    format_time,
    next_page_note,
    note,
    safe,
    table,
)
from memento_tui.cli.timers import change_timer
from memento_tui.errors import DamagedFile, DataDirectoryError, LostData, NotAllowed
from memento_tui.maintenance.schedule import RUNNERS, Runner
from memento_tui.model.validation import to_plain

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api.distillation import DistillationReport
    from memento_tui.maintenance.distillation.proposals import DistillationResult
    from memento_tui.maintenance.run import MaintenanceReport


_NICENESS = 19
"""By how much a run that nobody asked for yields to other work."""

_MAX_LISTED = 40
"""Rows of a table that a person is shown; --json lists all."""


def _interruptible() -> AbstractContextManager[threading.Event]:
    """Return a context whose event Ctrl-C sets, so that the work ends after its present step."""
    sentence = "Ending after this step. Press Ctrl-C again to end at once; nothing is lost either way."
    return stop_on_signals(signal.SIGINT, announce=sentence)


@command(
    "maintain",
    writes=lambda given: not given["dry_run"],
    short_help="Maintain the memories: what ages and what repeats.",
    examples="""
    memento maintain --dry-run
    memento maintain
    memento maintain --contradictions
    memento maintain --consolidate --dry-run
    memento maintain --json
    memento maintain --install --dry-run
    memento maintain --uninstall
    """,
    decides=lambda given: (given["install"] or given["uninstall"]) and not given["dry_run"],
)
@click.option("--dry-run", is_flag=True, help="Show what would be done, with the texts, and change nothing.")
@click.option("--consolidate", is_flag=True, help="Propose one memory for several that say the same in parts.")
@click.option("--contradictions", is_flag=True, help="Propose contradictions between all memories.")
@click.option("--denials", is_flag=True, help="Propose them by what longer texts deny and other weak signs, too.")
@click.option("--lessons", is_flag=True, help="Let the language model draw lessons from alike memories.")
@click.option("--patterns", is_flag=True, help="Propose for everywhere what several projects taught.")
@click.option("--install", is_flag=True, help="Let a timer of the system run it every night (systemd or launchd).")
@click.option("--uninstall", is_flag=True, help="Remove that timer.")
@click.option("--yes", is_flag=True, help="Do not ask before the timer is written or removed.")
@click.option("--by", type=click.Choice(RUNNERS), default="person", hidden=True)
def maintain(  # noqa: PLR0913 - an argument for each option, all by name
    *,
    dry_run: bool,
    consolidate: bool,
    contradictions: bool,
    denials: bool,
    lessons: bool,
    patterns: bool,
    install: bool,
    uninstall: bool,
    yes: bool,
    by: Runner,
) -> None:
    """Expire, demote and compact memories that are due; find near duplicates.

    It proposes ten changes for a thousand memories at most, and leaves the rest for the next run. Contradictions,
    consolidations, lessons and patterns are proposed only where you ask for them, since more of them are turned down,
    or too few were ever read; a cross-encoder that `entailment_model` in `[engine]` names weighs contradictions in
    every run.

    Changes that need a decision wait in `memento review` and `memento contradiction`. It may be interrupted at any
    moment and run as often as you like; `memento undo` takes back a whole run by the number that `memento history`
    shows.

    It runs by itself too, unless `run_when_idle` in `[maintenance]` is off: when a session ends, and once a day by the
    engine, a command or the app, in a process of its own. `memento status` says when it ran last and is due again.
    """
    if install or uninstall:
        if install and uninstall:
            raise click.UsageError("Say --install or --uninstall, not both.")
        change_timer(removes=uninstall, dry_run=dry_run, yes=yes)
        return
    if by != "person":
        _maintain_by_itself(by)
        return
    from memento_tui.api.maintenance import maintain_workspace  # noqa: PLC0415 - a command's help is shown without it

    with open_workspace() as workspace, _interruptible() as stopping, staged_progress(stopping) as progress:
        options = {
            "consolidate": consolidate,
            "contradictions": contradictions,
            "denials": denials,
            "lessons": lessons,
            "patterns": patterns,
        }
        asked = [name for name, wanted in options.items() if wanted]
        report = maintain_workspace(workspace, dry_run=dry_run, asked=asked, stopping=stopping, progress=progress)
    emit(lambda: _report_object(report), lambda: _report_text(report))
    if report.interrupted:
        raise click.exceptions.Exit(EXIT_INTERRUPTED)


def _maintain_by_itself(by: Runner) -> None:
    """Run maintenance if it is due and nobody else runs it, yielding to all other work. Prints problems alone."""
    from memento_tui.api.maintenance import maintain_workspace  # noqa: PLC0415 - as above
    from memento_tui.api.maintenance_schedule import is_maintenance_due  # noqa: PLC0415 - as above

    os.nice(_NICENESS)
    with open_workspace() as workspace, _interruptible() as stopping:
        if not is_maintenance_due(workspace, by):
            return
        try:
            report = maintain_workspace(workspace, by=by, stopping=stopping)
        except NotAllowed:
            return  # the engine, or another process, is at it
    for problem in report.problems:
        note(f"{format_time(clock.now())} {problem}")


def _proposals_waiting_text(count: int) -> str:
    return "1 waits for you" if count == 1 else f"{count:,} wait for you"


def _report_object(report: MaintenanceReport) -> dict[str, Any]:
    counts = Counter(action.action for action in report.actions)
    plain: dict[str, Any] = msgspec.to_builtins(report)
    return {**plain, "counts": dict(counts), "waiting": sum(action.waits for action in report.actions)}


def _report_text(report: MaintenanceReport) -> str:
    lines = [*(f"! {safe(problem)}" for problem in report.problems)]
    if report.interrupted:
        lines.append("Interrupted; the rest is done next time.")
    if report.backup:
        lines.append(f"The daily backup: {safe(report.backup)}")
    if not report.actions:
        return "\n".join([*lines, "Nothing is due."])
    counts = Counter(action.action for action in report.actions)
    done = ", ".join(f"{count:,} {action}" for action, count in counts.items())
    lines.append(bold(f"{'Would be done' if report.dry_run else 'Done'}: {done}"))
    rows = [[d.action, d.record, d.id, "you" if d.waits else "-", d.why] for d in report.actions[:_MAX_LISTED]]
    lines.append(table(["WHAT", "OF", "ID", "DECIDES", "WHY"], rows))
    if len(report.actions) > _MAX_LISTED:
        lines.append(f"... and {len(report.actions) - _MAX_LISTED:,} more; --json lists all.")
    lines += [f"\n{safe(d.why)}\n{safe(d.text, multiline=True)}" for d in report.actions[:_MAX_LISTED] if d.text]
    waiting = sum(action.waits for action in report.actions)
    if waiting and not report.dry_run:
        lines.append(f"{_proposals_waiting_text(waiting)}: memento review, memento contradiction")
    return "\n".join(lines)


@command(
    "distill",
    writes=True,
    short_help="Propose memories from an agent's transcript.",
    examples="""
    memento distill ~/.claude/projects/-home-me-site/4f1c.jsonl
    memento distill session.jsonl --dry-run
    memento distill rollout.jsonl --limit 5 --json
    """,
)
@click.argument("transcript", type=PathArgument(path_type=Path))
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="Propose this many at most.")
@click.option("--dry-run", is_flag=True, help="Show what would be proposed, and change nothing.")
def distill(transcript: Path, limit: int, *, dry_run: bool) -> None:
    """Propose memories, skips and working items from TRANSCRIPT, each with the lines that it is based on.

    Transcripts of Claude Code and Codex are read, and plain JSON lines with role and content. Texts that are stored
    already, or were rejected before, are not proposed again.
    """
    from memento_tui.api.distillation import distill_transcript  # noqa: PLC0415 - a command's help is shown without it

    with open_workspace(create=True) as workspace, progress_bar("Reading") as progress, _interruptible() as stopping:
        found = distill_transcript(
            workspace, transcript, limit=limit, dry_run=dry_run, progress=progress, stopping=stopping
        )
    emit(lambda: _distillation_object(found), lambda: _distillation_text(found))
    if found.interrupted:
        raise click.exceptions.Exit(EXIT_INTERRUPTED)


def _distillation_object(found: DistillationReport) -> dict[str, Any]:
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


def _distillation_text(found: DistillationReport) -> str:
    lines = [f"! {safe(problem)}" for problem in found.problems]
    if found.interrupted:
        return "\n".join([*lines, f"Interrupted after {found.turns:,} turns; nothing was proposed."])
    if not found.learned:
        return "\n".join([*lines, f"{found.turns:,} turns were read; nothing new was found."])
    rows = [
        [
            one.outcome,
            one.candidate.target,
            f"{one.candidate.first_line}-{one.candidate.last_line}",
            one.id or "-",
            _learned_text(one),
        ]
        for one in found.learned
    ]
    lines.append(table(["OUTCOME", "WHAT", "LINES", "ID", "TEXT"], rows))
    proposed = sum(one.outcome == "proposed" for one in found.learned)
    if proposed:
        lines.append(f"{_proposals_waiting_text(proposed)}: memento review")
    return "\n".join(lines)


def _learned_text(one: DistillationResult) -> str:
    fields = one.candidate.fields
    text = str(fields.get("content") or fields.get("item") or fields.get("title") or "")
    return f"{text} ({one.why})" if one.why else text


if TYPE_CHECKING:
    from memento_tui.api.audit import AuditFinding, RotAudit
    from memento_tui.api.backups import Backup, RestoredBackup
    from memento_tui.model import Memory


@command(
    "audit",
    short_help="Find duplicates, stale memories, secrets and other problems.",
    examples="""
    memento audit
    memento audit --quick --json
    memento audit --list never_used
    memento audit --list secrets --json
    memento audit --code
    """,
)
@click.option(
    "--quick", is_flag=True, help="Read no texts: secrets, injections and hidden characters are not searched."
)
@click.option("--list", "code", metavar="KIND", help="List the memories with one kind of problem, in pages.")
@click.option(
    "--code",
    "of_code",
    is_flag=True,
    help="Hold the memories of this directory's project against its Git repository, and list those that cite what"
    " changed, moved or is gone.",
)
@paging
def audit(after: str | None, limit: int, code: str | None, *, quick: bool, of_code: bool) -> None:
    """Find problems: duplicates, memories that are never used, stale ones, secrets, proposals that wait for long.

    Nothing is changed. For each kind the number is shown, what it means and what you can do.
    """
    if of_code:
        if quick or code is not None or after is not None:
            raise click.UsageError("--code stands alone.")
        list_code_findings()
        return
    with open_workspace() as workspace, staged_progress() as progress:
        if code is not None:
            _list_finding(workspace.audit, code, after, limit)
            return
        if not quick:
            workspace.audit.read_texts(progress=progress)
        found = workspace.audit.count(progress=progress)
    emit(lambda: {"items": [_finding_object(one) for one in found]}, lambda: _findings_table(found))


def _finding_object(finding: AuditFinding) -> dict[str, Any]:
    return {**to_plain(finding.kind), "count": finding.count}


def _findings_table(found: Sequence[AuditFinding]) -> str:
    bad = [one for one in found if one.count]
    unknown = [one for one in found if one.count is None]
    fine = [one for one in found if one.count == 0]
    lines = []
    for one in bad:
        lines.append(bold(f"{one.count:>9,}  {one.kind.title}") + f"  ({one.kind.code})")
        lines += [f"{'':11}{one.kind.means}", f"{'':11}{one.kind.todo}"]
    if unknown:
        lines.append(f"Not searched: {', '.join(one.kind.title.lower() for one in unknown)}.")
    if fine:
        lines.append(f"None found: {', '.join(one.kind.title.lower() for one in fine)}.")
    if bad:
        lines.append("To see them: memento audit --list KIND")
    return "\n".join(lines)


def _list_finding(rot: RotAudit, code: str, after: str | None, limit: int) -> None:
    from memento_tui.api.audit import parse_audit_kind  # noqa: PLC0415 - a command's help is shown without it

    kind = parse_audit_kind(code)
    ids, following = rot.ids(kind.code, after=after, limit=limit)
    found = rot.memories(ids)
    items = [{**to_plain(memory), "why": rot.why(kind.code, memory.id)} for memory in found]
    emit({"items": items, "next": following}, lambda: _finding_page(rot, kind.code, found, following))


def _finding_page(rot: RotAudit, code: str, found: list[Memory], following: str | None) -> str:
    if not found:
        return "None found."
    why = {memory.id: rot.why(code, memory.id) for memory in found}
    if any(why.values()):
        # The text itself is not printed: a secret would stand in the terminal's history.
        listed = table(["ID", "STATUS", "FOUND"], [[m.id, m.status, why[m.id]] for m in found])
    else:
        listed = memory_rows(found, members=rot.members(list(why)))
    return listed + next_page_note(following)


@group(
    "backup",
    invoke_without_command=True,
    short_help="Make, check and restore backups.",
    examples="""
    memento backup
    memento backup make
    memento backup verify latest
    memento backup restore 20261121T0731
    """,
)
@click.pass_context
def backup(ctx: click.Context) -> None:
    """Make copies of the database, and restore one. Without a command, list them.

    They are kept in the data directory; copy one to another disk in case this one fails.

    memento makes some by itself: once a day where something changed (the last seven stay, and of the four weeks before
    one each), and before an import of more than a hundred records, a repair, a restore and a new format of the database
    (the last three of each). `backups = false` in `[maintenance]` of config.toml leaves out the daily ones and those
    before imports. A purge goes through all of them.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_backups)


@backup.command(
    "make",
    writes=True,
    decides=True,
    short_help="Make a backup now.",
    examples="""
    memento backup make
    memento backup make --keep 30 --json
    """,
)
@click.option(
    "--keep",
    type=click.IntRange(1, 10_000),
    metavar="NUMBER",
    default=10,
    show_default=True,
    help="How many of the backups that you made are kept.",
)
def make_backup(keep: int) -> None:
    """Copy the database while it is in use, and check the copy. The oldest that you made beyond --keep are removed."""
    with open_workspace() as workspace, staged_progress() as progress:
        made = workspace.backups.make(keep=keep, progress=progress, warn=note)
        place = workspace.paths.backups / made.name
    emit(
        {**to_plain(made), "path": str(place)},
        lambda: safe(f"{place}\n{_contents_text(made)}, checked", multiline=True),
    )


def _contents_text(one: Backup) -> str:
    return (
        f"{count_of(one.memories, 'memory', 'memories')}, {count_of(one.head, 'journal entry', 'journal entries')},"
        f" {one.size / 1_000_000:,.1f} MB"
    )


@backup.command(
    "list",
    short_help="List the backups.",
    examples="""
    memento backup list
    memento backup list --json
    """,
)
def list_backups() -> None:
    """List the backups, newest first: why each was made, and when all of it was read last and found in order.

    `memento backup verify` reads them again.
    """
    try:
        with open_workspace() as workspace:
            found = workspace.backups.list()
    except DataDirectoryError:
        # Where the database is lost they are the way back.
        from memento_tui.api import backups  # noqa: PLC0415 - same

        found = backups.list_backups(current_session().paths)
        if not found:
            raise
    emit(lambda: {"items": [to_plain(one) for one in found]}, lambda: _backups_table(found))


def _backups_table(found: Sequence[Backup]) -> str:
    if not found:
        return "There is no backup yet: memento backup make"
    rows = [
        [
            one.name,
            format_time(one.at),
            f"{one.size / 1_000_000:,.1f} MB",
            f"{one.memories:,}",
            f"{one.head:,}",
            _reason_text(one),
            "no: " + one.problem if one.problem else format_time(one.verified_at) if one.verified_at else "-",
        ]
        for one in found
    ]
    return table(["NAME", "MADE", "SIZE", "MEMORIES", "ENTRY", "REASON", "VERIFIED"], rows)


def _reason_text(one: Backup) -> str:
    return one.why or "asked for"


def _full_name(file: Path, folder: Path) -> str:
    return file.name if file.parent == folder else str(file)


@backup.command(
    "verify",
    writes=True,
    short_help="Check backups in full.",
    examples="""
    memento backup verify
    memento backup verify latest --json
    memento backup verify /media/usb/memento-20261121T073114Z.db
    """,
)
@click.argument("name", required=False)
def verify_backups(name: str | None) -> None:
    """Check the backup NAME in full, the one at that path, or all of them. The exit code is 6 if one is not whole.

    NAME may be shortened, with or without `memento-`; `latest` is the newest of yours and of the daily ones.
    """
    with open_workspace() as workspace, staged_progress() as progress:
        backups = workspace.backups
        names = (
            [one.name for one in backups.list()]
            if name is None
            else [_full_name(backups.file_of(name), workspace.paths.backups)]
        )
        found = {one: backups.verify(one, progress=progress) for one in names}
    items = [{"name": one, "ok": problem is None, "problem": problem or ""} for one, problem in found.items()]
    lines = [
        f"{bold('BAD') if problem else 'ok '}  {safe(one)}  {safe(problem or '')}".rstrip()
        for one, problem in found.items()
    ]
    emit({"items": items}, lambda: "\n".join(lines) or "There is no backup yet: memento backup make")
    if any(found.values()):
        raise click.exceptions.Exit(DataDirectoryError.exit_code)


@backup.command(
    "restore",
    writes=True,
    decides=True,
    short_help="Restore a backup.",
    examples="""
    memento backup restore latest
    memento backup restore 20261121T073114Z --yes --json
    memento --data-dir ~/memories backup restore /media/usb/memento-20261121T073114Z.db
    """,
)
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
def restore_backup(name: str, *, yes: bool) -> None:
    """Restore the backup NAME, or the one at that path. A backup of the present state is made first.

    The part in a hub stays as it is now, and what is shared comes back as the hub has it.

    A data directory that is empty, or not there yet, becomes the workspace that the backup is of.

    The app, agents and the engine may keep running: they see the restored state at once. A database that is too damaged
    to be opened is moved aside and replaced; end the other programs before that. Then nothing is shared with a hub
    until `memento hub share`.
    """
    try:
        with open_workspace() as workspace:
            file = workspace.backups.file_of(name)
            newer = workspace.backups.entries_since(name)
            is_newer = "is newer" if newer == 1 else "are newer"
            lost = f" {count_of(newer, 'journal entry', 'journal entries')} {is_newer}." if newer > 0 else ""
            hub = workspace.backups.about_the_hub()
            told = f"{hub} " if hub else ""
            _confirm(f"Restore {file.name}?{lost} {told}The present state is kept as a backup", yes=yes)
            with staged_progress() as progress:
                restored = workspace.backups.restore(name, progress=progress)
    except DataDirectoryError as error:
        is_there = current_session().paths.database.exists()
        if is_there and not isinstance(error, (DamagedFile, LostData)):
            raise
        note(error.message)
        restored = _restore_or_replace(name, yes=yes)
    emit(
        to_plain(restored),
        lambda: safe(f"Restored {restored.name}.\nThe state before: {restored.before or 'none'}", multiline=True),
    )


def _restore_or_replace(name: str, *, yes: bool) -> RestoredBackup:
    from memento_tui.api.backups import find_replacement, replace_damaged  # noqa: PLC0415 - same
    from memento_tui.api.types import Author  # noqa: PLC0415 - same

    paths = current_session().paths
    file = find_replacement(paths, name)
    is_there = paths.database.exists()
    aside = "The database cannot be opened. Move it aside, and put" if is_there else "There is no database here. Put"
    _confirm(f"{aside} {file.name} in its place", yes=yes)
    return replace_damaged(paths, Author("person", "cli"), name)


def _confirm(question: str, *, yes: bool) -> None:
    confirm(
        f"{question}. Type yes",
        yes=yes,
        answer="yes",
        unasked="Restoring a backup asks first.",
        declined="That is not yes. Nothing was changed.",
    )


@backup.command(
    "rm",
    writes=True,
    decides=True,
    short_help="Remove backups.",
    examples="""
    memento backup rm memento-20261121T073114Z.db
    memento backup rm 20261121T0731 --json
    """,
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def remove_backups(names: tuple[str, ...]) -> None:
    """Remove backups for good, for instance those that still hold a purged text."""
    with open_workspace() as workspace:
        chosen = [workspace.backups.find(name).name for name in names]
        removed = [workspace.backups.remove(name).name for name in dict.fromkeys(chosen)]
    emit({"removed": removed}, lambda: safe("\n".join(f"{name}  removed" for name in removed), multiline=True))


commands = {"maintain": maintain, "distill": distill, "audit": audit, "backup": backup}
