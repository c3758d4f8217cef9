"""The command that makes the database smaller."""

from __future__ import annotations

import click

from memento_tui.cli.command import command, open_workspace
from memento_tui.cli.interaction import staged_progress
from memento_tui.cli.output import count_of, emit
from memento_tui.model.validation import to_plain

__all__ = ["commands"]


@command(
    "compact",
    decides=lambda given: not given["dry_run"],
    short_help="Make the database smaller.",
    examples="""
    memento compact --dry-run
    memento compact --json
    """,
)
@click.option("--dry-run", is_flag=True, help="Say what it would come to, and change nothing.")
def compact(*, dry_run: bool) -> None:
    """Write the database anew without free pages, with the versions of each record packed against each other.

    Every version, the journal, undo and --at stay as they are, unless [history] in config.toml limits the versions that
    are kept: then a backup is made first, and the texts of older ones are let go; who changed what and when stays, and
    the journal verifies as before. It helps where much was changed with an earlier memento,
    which kept every version whole, deleted or purged. The app and agents may run; they wait while the file is written.
    """
    with open_workspace() as workspace, staged_progress() as progress:
        from memento_tui.api.compaction import compact as compact_workspace  # noqa: PLC0415 - the help is shown without

        done = compact_workspace(workspace, dry_run=dry_run, progress=progress)
    would = "It would be about " if dry_run else "Now it is "
    versions = f"{count_of(done.packed, 'earlier version')} {'would be ' if dry_run else ''}packed"
    later = " Another program reads an older state: the file gets smaller when that ends." if done.is_read else ""
    limited = ""
    if done.let_go:
        would_be = "would be" if dry_run else "was" if done.let_go == 1 else "were"
        limited = f"; {count_of(done.let_go, 'version')} beyond [history] {would_be} let go"
        limited += f", and {done.backup} holds them" if done.backup else ""
    if done.is_shared:
        later += " The workspace is in a hub, which merges versions of any age, so none was let go."
    emit(
        to_plain(done),
        lambda: (
            f"The database was {done.before / 1e6:,.1f} MB. {would}{done.after / 1e6:,.1f} MB;"
            f" {versions}{limited}.{later}"
        ),
    )


commands = {"compact": compact}
