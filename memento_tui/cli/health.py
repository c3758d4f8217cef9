"""Commands about the health of the memories: ``audit`` and ``backup``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import command, group
from memento_tui.cli.memories import memory_rows, paging
from memento_tui.cli.output import bold, emit, moment, note, safe, table
from memento_tui.cli.progress import staged_progress
from memento_tui.cli.session import current_session, opened
from memento_tui.errors import DataDirectoryError, InvalidInput
from memento_tui.store.tables import as_plain

if TYPE_CHECKING:
    from memento_tui.records import Memory
    from memento_tui.workspace.audit import AuditFinding, RotAudit
    from memento_tui.workspace.backups import Backup, Restored

__all__ = ["commands"]


@command(
    "audit",
    short_help="Look for what has gone bad in the memories.",
    examples="""
    memento audit
    memento audit --quick --json
    memento audit --list never_used
    memento audit --list secrets --json
    """,
)
@click.option("--quick", is_flag=True, help="Read no texts: secrets, orders and hidden characters are left out.")
@click.option("--list", "code", metavar="KIND", help="List what was found of one kind, in pages.")
@paging
def audit(after: str | None, limit: int, code: str | None, *, quick: bool) -> None:
    """Look for rot: duplicates, what is never used or shown in vain, what is stale, secrets, what waits for long.

    Nothing is changed. For each kind you are told how many there are, what that means and what you can do.
    """
    with opened() as workspace, staged_progress() as progress:
        if code is not None:
            _list(workspace.audit, code, after, limit)
            return
        if not quick:
            workspace.audit.read_texts(progress=progress)
        found = workspace.audit.count(progress=progress)
    emit(lambda: {"items": [_plain(one) for one in found]}, lambda: _rows(found))


def _plain(finding: AuditFinding) -> dict[str, Any]:
    return {**as_plain(finding.kind), "count": finding.count}


def _rows(found: Sequence[AuditFinding]) -> str:
    bad = [one for one in found if one.count]
    unknown = [one for one in found if one.count is None]
    fine = [one for one in found if one.count == 0]
    lines = []
    for one in bad:
        lines.append(bold(f"{one.count:>9,}  {one.kind.title}") + f"  ({one.kind.code})")
        lines += [f"{'':11}{one.kind.means}", f"{'':11}{one.kind.todo}"]
    if unknown:
        lines.append(f"Not looked for: {', '.join(one.kind.title.lower() for one in unknown)}.")
    if fine:
        lines.append(f"None found: {', '.join(one.kind.title.lower() for one in fine)}.")
    if bad:
        lines.append("To see them: memento audit --list KIND")
    return "\n".join(lines)


def _list(rot: RotAudit, code: str, after: str | None, limit: int) -> None:
    from memento_tui.workspace.audit import kind_named  # noqa: PLC0415 - a command's help is shown without it

    kind = kind_named(code)
    ids, following = rot.ids(kind.code, after=after, limit=limit)
    found = rot.memories(ids)
    items = [{**as_plain(memory), "why": rot.why(kind.code, memory.id)} for memory in found]
    emit({"items": items, "next": following}, lambda: _page(rot, kind.code, found, following))


def _page(rot: RotAudit, code: str, found: list[Memory], following: str | None) -> str:
    if not found:
        return "None found."
    why = {memory.id: rot.why(code, memory.id) for memory in found}
    if any(why.values()):
        # The text itself is not printed: a secret would stand in the terminal's history.
        listed = table(["ID", "STATUS", "FOUND"], [[m.id, m.status, why[m.id]] for m in found])
    else:
        listed = memory_rows(found)
    return listed + (f"\nThere are more: --after {following}" if following else "")


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
    """Keep whole copies of the database, and go back to one. Without a command, list them.

    They lie in the data directory; copy one to another disk to be safe from the loss of this one.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@backup.command(
    "make",
    short_help="Make a backup now.",
    examples="""
    memento backup make
    memento backup make --keep 30 --json
    """,
)
@click.option(
    "--keep", type=click.IntRange(1, 10_000), metavar="NUMBER", default=10, show_default=True, help="How many stay."
)
def make(keep: int) -> None:
    """Copy the database while it is in use, and check the copy. The oldest backups beyond --keep are removed."""
    with opened() as workspace, staged_progress() as progress:
        made = workspace.backups.make(keep=keep, progress=progress or _nobody)
        place = workspace.paths.backups / made.name
    emit({**as_plain(made), "path": str(place)}, lambda: safe(f"{place}\n{_holding(made)}, checked", multiline=True))


def _nobody(_what: str, _done: int, _total: int) -> None:
    """Tell nobody."""


def _holding(one: Backup) -> str:
    return f"{one.memories:,} memories, {one.head:,} journal entries, {one.size / 1_000_000:,.1f} MB"


@backup.command(
    "list",
    short_help="List the backups.",
    examples="""
    memento backup list
    memento backup list --json
    """,
)
def list_() -> None:
    """List the backups, newest first. `memento backup verify` reads one whole."""
    with opened() as workspace:
        found = workspace.backups.list()
    emit(lambda: {"items": [as_plain(one) for one in found]}, lambda: _backups(found))


def _backups(found: Sequence[Backup]) -> str:
    if not found:
        return "There is no backup yet: memento backup make"
    rows = [
        [
            one.name,
            moment(one.at),
            f"{one.size / 1_000_000:,.1f} MB",
            f"{one.memories:,}",
            f"{one.head:,}",
            one.problem or one.why,
        ]
        for one in found
    ]
    return table(["NAME", "MADE", "SIZE", "MEMORIES", "ENTRY", "NOTE"], rows)


@backup.command(
    "verify",
    short_help="Check backups from the first page to the last entry.",
    examples="""
    memento backup verify
    memento backup verify latest --json
    """,
)
@click.argument("name", required=False)
def verify(name: str | None) -> None:
    """Read the backup NAME whole, or all of them. The exit code is 6 if one cannot be restored.

    NAME may be shortened, with or without `memento-`; `latest` is the newest.
    """
    with opened() as workspace, staged_progress() as progress:
        backups = workspace.backups
        names = [one.name for one in backups.list()] if name is None else [backups.find(name).name]
        found = {one: backups.verify(one, progress=progress or _nobody) for one in names}
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
    short_help="Go back to a backup.",
    examples="""
    memento backup restore latest
    memento backup restore 20261121T073114Z --yes --json
    """,
)
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
def restore(name: str, *, yes: bool) -> None:
    """Make the workspace what the backup NAME holds. What is there now becomes a backup of its own first.

    The app, agents and the engine may run on: they see the other state at once. A database that is too damaged to be
    opened is put aside and replaced; end the other programs before that.
    """
    try:
        with opened() as workspace:
            chosen = workspace.backups.find(name)
            newer = workspace.store.head() - chosen.head
            lost = f" {newer:,} journal entries are newer." if newer > 0 else ""
            _sure(f"Go back to {chosen.name}?{lost} What is there now is kept as a backup", yes=yes)
            with staged_progress() as progress:
                restored = workspace.backups.restore(chosen.name, progress=progress or _nobody)
    except DataDirectoryError as error:
        if "damaged" not in error.message or not current_session().paths.database.exists():
            raise
        note(error.message)
        restored = _replaced(name, yes=yes)
    emit(
        as_plain(restored),
        lambda: safe(f"Restored {restored.name}.\nWhat was there before: {restored.before}", multiline=True),
    )


def _replaced(name: str, *, yes: bool) -> Restored:
    from memento_tui.store.journal import Author  # noqa: PLC0415 - only where the database is damaged
    from memento_tui.workspace.backups import replace_damaged  # noqa: PLC0415 - same

    _sure("The database cannot be opened. Put it aside, and the backup in its place", yes=yes)
    return replace_damaged(current_session().paths, Author("person", "cli"), name)


def _sure(question: str, *, yes: bool) -> None:
    if yes:
        return
    if current_session().as_json or not sys.stdin.isatty():
        raise InvalidInput("Restoring a backup asks first.", "Say --yes if you are sure.")
    if click.prompt(f"{safe(question)}. Type yes", err=True, default="", show_default=False) != "yes":
        raise InvalidInput("That is not yes. Nothing was changed.")


@backup.command(
    "rm",
    short_help="Remove backups.",
    examples="""
    memento backup rm memento-20261121T073114Z.db
    memento backup rm 20261121T0731 --json
    """,
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def rm(names: tuple[str, ...]) -> None:
    """Remove backups for good, for instance those that still hold what was purged."""
    with opened() as workspace:
        chosen = [workspace.backups.find(name).name for name in names]
        removed = [workspace.backups.remove(name).name for name in dict.fromkeys(chosen)]
    emit({"removed": removed}, lambda: safe("\n".join(f"{name}  removed" for name in removed), multiline=True))


commands = {"audit": audit, "backup": backup}
