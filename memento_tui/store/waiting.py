"""Reading the one queue of all that waits for a person: open proposals and unresolved contradictions, by page.

The order is that of arrival, the oldest first. It depends on nothing that changes, so what arrives is added at the end
and never moves what is being read, what is put off comes back to its old place, and nothing waits for ever.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.records.proposal import OPEN_STATES
from memento_tui.records.when import to_text
from memento_tui.store.contradictions import BOTH_HOLD
from memento_tui.store.database import Database

__all__ = ["WAITING_KINDS", "WaitingRow", "WaitingRows"]

WAITING_KINDS: tuple[str, ...] = (
    "secret",
    "contradiction",
    "suggestion",
    "identity",
    "expiring",
    "skip",
    "item",
    "learned",
    "consolidation",
    "merge",
    "trust",
    "new",
    "change",
    "deletion",
)
"""What an item of the queue asks for, the most telling first: a merge that held a secret is a ``secret``."""


class WaitingRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a list shows of one thing that waits."""

    record: str
    """``proposal`` or ``contradiction``."""
    record_id: str
    kind: str
    """One of `WAITING_KINDS`."""
    action: str
    """What a proposal would do: create, edit, delete or merge; ``resolve`` for a contradiction."""
    target: str
    text: str
    """The beginning of what it is about; several lines where nothing has a title."""
    who: str
    since: datetime
    state: str
    version: int


def _reason(code: str) -> str:
    return f"proposal.reasons LIKE '%\"{code}\"%'"


_KIND = (
    "CASE"
    f" WHEN {_reason('secret_found')} THEN 'secret'"
    " WHEN proposal.target = 'contradiction' THEN 'suggestion'"
    " WHEN proposal.target = 'crystal' THEN 'identity'"
    f" WHEN {_reason('expiring_skip')} THEN 'expiring'"
    " WHEN proposal.target IN ('skip', 'item') THEN proposal.target"
    f" WHEN {_reason('distilled')} THEN 'learned'"
    f" WHEN {_reason('consolidation')} THEN 'consolidation'"
    " WHEN proposal.action = 'merge' THEN 'merge'"
    f" WHEN {_reason('earned_trust')} OR {_reason('promotion')} THEN 'trust'"
    " WHEN proposal.action = 'create' THEN 'new'"
    " WHEN proposal.action = 'edit' THEN 'change'"
    " ELSE 'deletion' END"
)

_PROPOSED = (
    f"SELECT 'proposal' AS record, proposal.id AS id, {_KIND} AS kind, created_at AS since, 1 AS side, number"
    f" FROM proposal WHERE state IN ({', '.join(repr(state) for state in OPEN_STATES)})"
    " AND (state <> 'later' OR coalesce(later_until, '9') <= :at)"
)
_DISPUTED = (
    "SELECT 'contradiction', contradiction.id, 'contradiction', created_at, 0, number FROM contradiction"
    f" WHERE status <> 'resolved' AND {BOTH_HOLD} AND (status = 'open' OR coalesce(later_until, '9') <= :at)"
)
_ALL = f"SELECT * FROM ({_PROPOSED} UNION ALL {_DISPUTED})"
_CHOSEN = "(:kind = '' OR kind = :kind)"
_ORDER = "since, side, number"

_HEAD = 400
"""Characters of a text that a row is shown of."""

_TEXT_OF_PROPOSAL = (
    "coalesce(nullif(trim(memory.title), ''), substr(memory.content, 1, :head), skip.item, item.title,"
    " substr(crystal.content, 1, :head), json_extract(proposal.payload, '$.item'),"
    " json_extract(proposal.payload, '$.title'), newer.title || ' ' || substr(newer.content, 1, :head), '')"
)
_SHOWN_PROPOSALS = (
    f"SELECT proposal.id, action, target, {_TEXT_OF_PROPOSAL}, proposed_by, state, proposal.version FROM proposal"
    " LEFT JOIN memory ON target = 'memory' AND memory.id = target_id"
    " LEFT JOIN skip ON target = 'skip' AND skip.id = target_id"
    " LEFT JOIN item ON target = 'item' AND item.id = target_id"
    " LEFT JOIN crystal ON target = 'crystal' AND crystal.id = target_id"
    " LEFT JOIN contradiction ON target = 'contradiction' AND contradiction.id = target_id"
    " LEFT JOIN memory AS newer ON newer.id = contradiction.newer"
    " WHERE proposal.id IN (SELECT value FROM json_each(:ids))"
)
_SHOWN_CONTRADICTIONS = (
    "SELECT contradiction.id, 'resolve', 'contradiction',"
    " coalesce(nullif(trim(memory.title), ''), substr(memory.content, 1, :head), why), '',"
    " contradiction.status, contradiction.version FROM contradiction"
    " LEFT JOIN memory ON memory.id = contradiction.newer"
    " WHERE contradiction.id IN (SELECT value FROM json_each(:ids))"
)


class WaitingRows:
    """What waits in one database. ``at`` is the moment asked about: what is put off until later is left out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def counts(self, at: datetime) -> dict[str, int]:
        """Return how many of each kind wait; kinds of which none does are left out."""
        query = f"SELECT kind, count(*) FROM ({_ALL}) GROUP BY kind"
        with self._database.reading() as connection:
            found = {row[0]: int(row[1]) for row in connection.execute(query, {"at": to_text(at)})}
        return {kind: found[kind] for kind in WAITING_KINDS if kind in found}

    def page(self, at: datetime, kind: str, start: int, count: int) -> list[WaitingRow]:
        """Return ``count`` rows from index ``start``; an empty ``kind`` selects all."""
        query = f"{_ALL} WHERE {_CHOSEN} ORDER BY {_ORDER} LIMIT :count OFFSET :start"
        values = {"at": to_text(at), "kind": kind, "count": count, "start": start}
        with self._database.reading() as connection:
            return _rows(connection, connection.execute(query, values).fetchall())

    def after(self, at: datetime, kind: str, record: str, record_id: str, count: int) -> list[WaitingRow]:
        """Return the rows that follow one, even where that one waits no more. Raises `InvalidInput` for an unknown."""
        side = 1 if record == "proposal" else 0
        query = f"{_ALL} WHERE {_CHOSEN} AND ({_ORDER}) > (:since, :side, :number) ORDER BY {_ORDER} LIMIT :count"
        with self._database.reading() as connection:
            place = _place(connection, record, record_id)
            if place is None:
                raise InvalidInput(f"{record_id!r:.60} is not a cursor.", "Use the `next` of the page before.")
            values = {"at": to_text(at), "kind": kind, "count": count}
            values |= {"side": side, "since": place[0], "number": place[1]}
            return _rows(connection, connection.execute(query, values).fetchall())

    def locate(self, at: datetime, kind: str, record: str, record_id: str) -> int | None:
        """Return the index of one, or ``None`` where it does not wait or is of another kind."""
        values = {"at": to_text(at), "kind": kind, "record": record, "id": record_id}
        there = f"{_ALL} WHERE {_CHOSEN} AND record = :record AND id = :id"
        query = f"SELECT count(*) FROM ({_ALL} WHERE {_CHOSEN}) WHERE ({_ORDER}) < (:since, :side, :number)"
        with self._database.reading() as connection:
            row = connection.execute(there, values).fetchone()
            if row is None:
                return None
            values |= {"since": row[3], "side": row[4], "number": row[5]}
            return int(connection.execute(query, values).fetchone()[0])

    def ids(self, at: datetime, kind: str, start: int, count: int) -> list[tuple[str, str]]:
        """Return the record and the id of ``count`` rows from index ``start``."""
        query = f"{_ALL} WHERE {_CHOSEN} ORDER BY {_ORDER} LIMIT :count OFFSET :start"
        values = {"at": to_text(at), "kind": kind, "count": count, "start": start}
        with self._database.reading() as connection:
            return [(row[0], row[1]) for row in connection.execute(query, values)]

    def rows(self, at: datetime, named: Sequence[tuple[str, str]]) -> list[WaitingRow]:
        """Return the rows of these records and ids that wait, in the order of the queue."""
        listed = msgspec.json.encode([f"{record} {record_id}" for record, record_id in named]).decode()
        query = f"{_ALL} WHERE record || ' ' || id IN (SELECT value FROM json_each(:ids)) ORDER BY {_ORDER}"
        with self._database.reading() as connection:
            return _rows(connection, connection.execute(query, {"at": to_text(at), "ids": listed}).fetchall())


def _place(connection: sqlite3.Connection, record: str, record_id: str) -> tuple[str, int] | None:
    table = "proposal" if record == "proposal" else "contradiction"
    row = connection.execute(f"SELECT created_at, number FROM {table} WHERE id = ?", (record_id,)).fetchone()
    return None if row is None else (row[0], row[1])


def _rows(connection: sqlite3.Connection, found: Sequence[sqlite3.Row]) -> list[WaitingRow]:
    """Return what is shown of places in the queue: two look-ups by id, whatever the length of the queue."""
    shown = {}
    for record, query in (("proposal", _SHOWN_PROPOSALS), ("contradiction", _SHOWN_CONTRADICTIONS)):
        ids = [row[1] for row in found if row[0] == record]
        if ids:
            values = {"ids": msgspec.json.encode(ids).decode(), "head": _HEAD}
            shown.update({(record, row[0]): row for row in connection.execute(query, values)})
    return [_row(place, shown[place[0], place[1]]) for place in found]


def _row(place: sqlite3.Row, row: sqlite3.Row) -> WaitingRow:
    return WaitingRow(
        record=place[0],
        record_id=place[1],
        kind=place[2],
        action=row[1],
        target=row[2],
        text=str(row[3]),
        who=row[4],
        since=datetime.fromisoformat(place[3]),
        state=row[5],
        version=row[6],
    )
