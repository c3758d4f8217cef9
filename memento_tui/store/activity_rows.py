"""What the rows of the activity list tell of journal entries, and what one entry did to each record."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from memento_tui.store.journal import Entry, entries
from memento_tui.store.tables import TABLES, as_plain

__all__ = ["ActivityRow", "ChangedRecord", "activity_rows", "changed_fields", "changed_records"]

_MOST_EXAMINED = 8
"""Records of an entry among which the one is chosen that its row speaks of."""

_KINDS = ("memory", "skip", "item", "crystal", "contradiction", "proposal", "relation")
"""The kinds of records, the one that says most about an entry first."""


class ActivityRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one row of the activity list tells of an entry."""

    entry: Entry
    touched: int
    """How many records the entry changed."""
    record: str
    """The kind of the record that the row speaks of; empty where the entry changed none."""
    record_id: str
    headline: str
    """The first line of what that record says, or said before it was removed; empty where that was purged."""
    removed: bool
    purged: bool
    """Whether a purge took a text that this entry wrote."""
    undone_by: int | None
    """The entry that took this one back, if that still holds."""

    @property
    def id(self) -> str:
        """The sequence number, as a list's identity."""
        return str(self.entry.seq)

    @property
    def obstacle(self) -> str:
        """Why the entry cannot be taken back, in a sentence; empty where nothing is known to stand against it."""
        if self.entry.action == "purge":
            return f"Entry {self.entry.seq} is a purge; what it removed is gone for good."
        if self.undone_by is not None:
            return f"Entry {self.entry.seq} was taken back already, by entry {self.undone_by}."
        if self.purged:
            return f"A text that entry {self.entry.seq} wrote was purged; it cannot return."
        return ""


class ChangedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What an entry did to one record: the record before and after (``None`` where there was none, or it is purged)."""

    record: str
    record_id: str
    version: int
    removed: bool
    purged: bool
    before: Any
    after: Any


# An undo of a redo is an undo of what was done again, so that is where a redo's own fate is told.
_FACTS = (
    "SELECT entry.seq, (SELECT coalesce(max(ordinal) + 1, 0) FROM change WHERE change.seq = entry.seq),"
    " EXISTS (SELECT 1 FROM change INDEXED BY change_purged WHERE change.seq = entry.seq AND nonce IS NULL),"
    " (SELECT max(u.seq) FROM entry AS u WHERE u.undoes ="
    " CASE entry.action WHEN 'redo' THEN (SELECT undo.undoes FROM entry AS undo WHERE undo.seq = entry.undoes)"
    " ELSE entry.seq END AND NOT EXISTS (SELECT 1 FROM entry AS r WHERE r.undoes = u.seq))"
    " FROM entry WHERE entry.seq IN (SELECT value FROM json_each(?))"
)
_FIRST_CHANGES = (
    "SELECT seq, record, record_id, version, removed FROM change"
    f" WHERE seq IN (SELECT value FROM json_each(?)) AND ordinal < {_MOST_EXAMINED} ORDER BY seq, ordinal"
)


def activity_rows(connection: sqlite3.Connection, seqs: Sequence[int]) -> list[ActivityRow]:
    """Return the rows of some entries, newest first, without those that do not exist."""
    listed = msgspec.json.encode(list(seqs)).decode()
    found = list(entries(connection, "seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC", (listed,)))
    facts = {row[0]: row for row in connection.execute(_FACTS, (listed,))}
    spoken_of: dict[int, sqlite3.Row] = {}
    for change in connection.execute(_FIRST_CHANGES, (listed,)):
        known = spoken_of.get(change[0])
        if known is None or _KINDS.index(change[1]) < _KINDS.index(known[1]):
            spoken_of[change[0]] = change
    return [_row(connection, entry, facts[entry.seq], spoken_of.get(entry.seq)) for entry in found]


def _row(connection: sqlite3.Connection, entry: Entry, facts: sqlite3.Row, change: sqlite3.Row | None) -> ActivityRow:
    return ActivityRow(
        entry=entry,
        touched=facts[1],
        purged=bool(facts[2]),
        undone_by=facts[3],
        record="" if change is None else change[1],
        record_id="" if change is None else change[2],
        removed=change is not None and bool(change[4]),
        headline="" if change is None else _headline(connection, change),
    )


class _Glimpse(msgspec.Struct):
    """What of a record's image tells in a line what it is, whatever its kind."""

    title: str = ""
    item: str = ""
    content: str = ""
    why: str = ""
    action: str = ""
    target: str = ""
    target_id: str = ""
    payload: dict[str, Any] = {}
    type: str = ""
    src: str = ""
    dst: str = ""


_glimpse_of = msgspec.json.Decoder(_Glimpse).decode


def _headline(connection: sqlite3.Connection, change: sqlite3.Row) -> str:
    """Return the first line of what a record says after a change, or said before it where it was removed."""
    version = change[3] - 1 if change[4] else change[3]
    query = "SELECT image FROM change WHERE record = ? AND record_id = ? AND version = ?"
    row = connection.execute(query, (change[1], change[2], version)).fetchone()
    if row is None or row[0] is None:
        return ""
    seen = _glimpse_of(row[0])
    if change[1] == "relation":
        return f"{seen.type}: {seen.src} -> {seen.dst}"
    if change[1] == "proposal":
        return _first_line(seen.payload) or f"{seen.action} {seen.target} {seen.target_id}"
    return _first_line({"title": seen.title, "item": seen.item, "content": seen.content, "why": seen.why})


def _first_line(said: Mapping[str, Any]) -> str:
    for name in ("title", "item", "content", "why"):
        lines = (line.strip().lstrip("#").strip() for line in str(said.get(name) or "")[:400].splitlines())
        line = next((line for line in lines if line), "")
        if line:
            return line
    return ""


_CHANGED = (
    "SELECT change.record, change.record_id, change.version, change.removed, change.nonce IS NULL,"
    " old.image, change.image FROM change LEFT JOIN change AS old ON old.record = change.record"
    " AND old.record_id = change.record_id AND old.version = change.version - 1"
    " WHERE change.seq = ? ORDER BY change.ordinal LIMIT ?"
)


def changed_records(connection: sqlite3.Connection, seq: int, limit: int) -> list[ChangedRecord]:
    """Return what an entry did to each of its first ``limit`` records, with what these were before."""
    return [
        ChangedRecord(
            record=row[0],
            record_id=row[1],
            version=row[2],
            removed=bool(row[3]),
            purged=bool(row[4]),
            before=_decoded(row[0], row[5]),
            after=_decoded(row[0], row[6]),
        )
        for row in connection.execute(_CHANGED, (seq, limit))
    ]


def _decoded(record: str, image: str | None) -> Any:  # noqa: ANN401 - the record that the name says
    return None if image is None else TABLES[record].image.decode(image)


def changed_fields(before: Any, after: Any) -> dict[str, tuple[Any, Any]]:  # noqa: ANN401 - any record
    """Return the fields in which two states of a record differ, with both values as JSON has them."""
    old, new = as_plain(before), as_plain(after)
    return {
        name: (old[name], new[name]) for name in new if new[name] != old[name] and name not in ("version", "updated_at")
    }
