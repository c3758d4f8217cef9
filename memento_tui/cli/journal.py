"""Commands about the past: the versions of a memory, and taking back what was done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.activity import list_activity, plain_entry, who
from memento_tui.cli.command import command
from memento_tui.cli.memories import paging
from memento_tui.cli.output import emit, moment, safe, table
from memento_tui.cli.session import opened
from memento_tui.store.activity_rows import changed_fields
from memento_tui.store.journal import Entry
from memento_tui.store.tables import as_plain

if TYPE_CHECKING:
    from memento_tui.store.store import Revision

__all__ = ["commands"]


@command(
    "history",
    short_help="Show the versions of a memory, or the whole journal.",
    examples="""
    memento history 7f3k
    memento history 7f3k --json
    memento history --limit 20
    """,
)
@click.argument("id", required=False)
@paging
def history(id: str | None, after: str | None, limit: int) -> None:  # noqa: A002 - its name in the help
    """Show every version of the memory ID, newest first; without ID the journal, as `memento activity` lists it."""
    with opened() as workspace:
        if id is not None:
            revisions = workspace.history(id)
            emit(lambda: {"items": _plain_revisions(revisions), "next": None}, lambda: _revisions(revisions))
            return
        list_activity(workspace, "", after, limit)


def _plain_revisions(revisions: Sequence[Revision]) -> list[dict[str, Any]]:
    return [
        {
            **plain_entry(revision.entry),
            "version": revision.version,
            "removed": revision.removed,
            "purged": revision.purged,
            "record": None if revision.record is None else as_plain(revision.record),
        }
        for revision in revisions
    ]


def _revisions(revisions: Sequence[Revision]) -> str:
    older: list[Revision | None] = [*revisions[1:], None]
    rows = [
        [str(r.version), str(r.entry.seq), moment(r.entry.at), who(r.entry), r.entry.action, _difference(r, before)]
        for r, before in zip(revisions, older, strict=True)
    ]
    return table(["VERSION", "ENTRY", "WHEN", "WHO", "WHAT", "CHANGED"], rows)


def _difference(revision: Revision, before: Revision | None) -> str:
    if revision.purged:
        return "its text was purged"
    if revision.removed:
        return "removed"
    if before is None or before.record is None:
        return str(revision.record.headline)
    return ", ".join(changed_fields(before.record, revision.record))


@command(
    "undo",
    short_help="Take back the last change, or any journal entry.",
    examples="""
    memento undo
    memento undo 341
    memento history
    """,
)
@click.argument("seq", type=click.IntRange(1), required=False)
def undo(seq: int | None) -> None:
    """Take back what you did last, or the journal entry SEQ, whoever made it; a bulk write is taken back whole."""
    with opened() as workspace:
        entries = workspace.undo(seq)
    emit({"undone": [plain_entry(entry) for entry in entries]}, lambda: _told("Took back", entries))


@command(
    "redo",
    short_help="Do again what was undone last.",
    examples="""
    memento redo
    memento redo --json
    """,
)
def redo() -> None:
    """Do again what you undid last, unless you have changed something since."""
    with opened() as workspace:
        entries = workspace.redo()
    emit({"redone": [plain_entry(entry) for entry in entries]}, lambda: _told("Did again", entries))


def _told(verb: str, entries: Sequence[Entry]) -> str:
    return "\n".join(safe(f"{verb} {e.seq}: {e.action}, {moment(e.at)}, {who(e)} {e.note}".rstrip()) for e in entries)


commands = {"history": history, "undo": undo, "redo": redo}
