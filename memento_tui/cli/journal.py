"""Commands about the journal: what was done, by whom, and taking it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import command
from memento_tui.cli.memories import paging
from memento_tui.cli.output import emit, moment, safe, table
from memento_tui.cli.session import opened
from memento_tui.errors import InvalidInput
from memento_tui.store.journal import Change, Entry
from memento_tui.store.tables import as_plain

if TYPE_CHECKING:
    from memento_tui.store.store import Revision, Store

__all__ = ["commands"]


def plain_entry(entry: Entry) -> dict[str, Any]:
    """Return a journal entry as JSON tells it."""
    names = ("seq", "id", "at", "actor", "agent", "session", "channel", "action", "note", "batch", "undoes", "origin")
    return {name: getattr(entry, name) for name in names} | {"hash": entry.hash.hex()}


def _who(entry: Entry) -> str:
    return f"{entry.agent or entry.actor} ({entry.channel})"


@command(
    "history",
    short_help="Show the versions of a memory, or the whole journal.",
    examples="""
    memento history 7f3k
    memento history --limit 20
    memento history --json --after 340
    """,
)
@click.argument("id", required=False)
@paging
def history(id: str | None, after: str | None, limit: int) -> None:  # noqa: A002 - its name in the help
    """Show every version of the memory ID, newest first; without ID the journal of the whole workspace."""
    with opened() as workspace:
        if id is not None:
            revisions = workspace.history(id)
            emit(lambda: {"items": _plain_revisions(revisions), "next": None}, lambda: _revisions(revisions))
            return
        entries = workspace.store.entries(before=_before(after), limit=limit)
        told = [(entry, _changes(workspace.store, entry)) for entry in entries]
    following = str(entries[-1].seq) if len(entries) == limit and entries[-1].seq > 1 else None
    items = [{**plain_entry(entry), "records": _plain_changes(changes)} for entry, changes in told]
    emit({"items": items, "next": following}, lambda: _journal(told, following))


def _before(after: str | None) -> int | None:
    if after is None:
        return None
    if not after.isdecimal():
        raise InvalidInput(f"{after!r:.60} is not a cursor.", "Use the `next` of the page before.")
    return int(after)


def _changes(store: Store, entry: Entry) -> list[Change] | None:
    """Return what an entry did; ``None`` for a part of a bulk write, which may be thousands of records."""
    return None if entry.batch else store.changes(entry.seq)


def _plain_changes(changes: list[Change] | None) -> list[dict[str, Any]] | None:
    if changes is None:
        return None
    return [{"record": c.record, "id": c.record_id, "version": c.version, "removed": c.removed} for c in changes]


def _journal(told: Sequence[tuple[Entry, list[Change] | None]], following: str | None) -> str:
    if not told:
        return "Nothing has happened yet."
    rows = [[str(e.seq), moment(e.at), _who(e), e.action, _concerning(changes), e.note] for e, changes in told]
    more = f"\nThere are more: --after {following}" if following else ""
    return table(["ENTRY", "WHEN", "WHO", "WHAT", "RECORDS", "NOTE"], rows) + more


def _concerning(changes: list[Change] | None) -> str:
    if changes is None:
        return "many"
    named = [f"{change.record} {change.record_id}" for change in changes if change.record != "proposal"] or [
        f"{change.record} {change.record_id}" for change in changes
    ]
    return named[0] + (f" and {len(named) - 1} more" if len(named) > 1 else "") if named else ""


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
        [str(r.version), str(r.entry.seq), moment(r.entry.at), _who(r.entry), r.entry.action, _difference(r, before)]
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
    old, new = as_plain(before.record), as_plain(revision.record)
    changed = [name for name in new if new[name] != old[name] and name not in ("version", "updated_at")]
    return ", ".join(changed)


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
    return "\n".join(safe(f"{verb} {e.seq}: {e.action}, {moment(e.at)}, {_who(e)} {e.note}".rstrip()) for e in entries)


commands = {"history": history, "undo": undo, "redo": redo}
