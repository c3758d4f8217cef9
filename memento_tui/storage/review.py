"""Read the proposals and contradictions that wait for a person, and the one inbox over both, by page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.model import Contradiction, Proposal
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.model.review import INBOX_KINDS, RISK_REASONS
from memento_tui.moments import format_moment
from memento_tui.storage.connection import Connection, Row
from memento_tui.storage.database import Database
from memento_tui.storage.statements import OPEN_PROPOSALS, SELECT_KEPT_BOTH
from memento_tui.storage.tables import cut_page, select_records

__all__ = ["ContradictionQueries", "InboxQueries", "InboxRow", "ProposalQueries"]

_IS_UNRESOLVED = "contradiction.status <> 'resolved'"

BOTH_SIDES_RECALLED = (
    "(SELECT count(*) FROM memory WHERE memory.id IN (contradiction.older, contradiction.newer)"
    f" AND memory.status IN ({', '.join(repr(status) for status in RECALLED_STATUSES if status != 'superseded')})) = 2"
)
"""Holds where neither side was deleted, rejected, archived or superseded meanwhile."""


class ContradictionQueries:
    """The contradictions of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _select(self, where: str, parameters: Sequence[object]) -> list[Contradiction]:
        with self._database.reading() as connection:
            return select_records(connection, Contradiction, where, parameters)

    def page(
        self, *, at: datetime, resolved: bool = False, after: str | None = None, limit: int = 50
    ) -> tuple[list[Contradiction], str | None]:
        """Return the contradictions that wait for a person at a moment, surest first, and the next page's cursor.

        ``resolved`` returns those that were resolved instead, the latest first.
        """
        if resolved:
            where, order, parameters = "contradiction.status = 'resolved'", "number DESC", list[object]()
            beyond = "number < (SELECT number FROM contradiction WHERE id = ?)"
        else:
            where = (
                f"{_IS_UNRESOLVED} AND {BOTH_SIDES_RECALLED} AND (status = 'open' OR coalesce(later_until, '9') <= ?)"
            )
            order, parameters = "score DESC, number", [format_moment(at)]
            beyond = "(-score, number) > (SELECT -score, number FROM contradiction WHERE id = ?)"
        if after is not None:
            where += f" AND {beyond}"
            parameters.append(after)
        found = self._select(f"{where} ORDER BY {order} LIMIT ?", [*parameters, limit + 1])
        found, goes_on = cut_page(found, limit)
        return found, found[-1].id if goes_on else None

    def count(self, *, at: datetime) -> int:
        """Return how many wait for a person at a moment."""
        where = f"{_IS_UNRESOLVED} AND {BOTH_SIDES_RECALLED} AND (status = 'open' OR coalesce(later_until, '9') <= ?)"
        with self._database.reading() as connection:
            query = f"SELECT count(*) FROM contradiction WHERE {where}"
            return int(connection.execute(query, (format_moment(at),)).fetchone()[0])

    def around(self, ids: Sequence[str]) -> list[Contradiction]:
        """Return the unresolved contradictions, put off or not, that have one of the memories as a side."""
        listed = msgspec.json.encode(list(ids)).decode()
        among = "(SELECT value FROM json_each(?))"
        where = (
            f"(older IN {among} OR newer IN {among}) AND {_IS_UNRESOLVED} AND {BOTH_SIDES_RECALLED} "
            "ORDER BY score DESC, number"
        )
        return self._select(where, (listed, listed))

    def kept_both(self, ids: Sequence[str]) -> list[tuple[str, str]]:
        """Return the pairs of some memories that a person let stand side by side, each with its condition."""
        with self._database.reading() as connection:
            rows = connection.execute(SELECT_KEPT_BOTH, (msgspec.json.encode(list(ids)).decode(),)).fetchall()
        return [(str(row[0]), str(row[1])) for row in rows]

    def of(self, memory_id: str) -> list[Contradiction]:
        """Return the unresolved contradictions of one memory, whatever became of the other side."""
        return self._select(f"(older = ? OR newer = ?) AND {_IS_UNRESOLVED} ORDER BY number", (memory_id, memory_id))

    def between(self, one: str, other: str) -> list[Contradiction]:
        """Return every contradiction of two memories, whichever is the older and whatever became of it."""
        where = "(older = ? AND newer = ?) OR (older = ? AND newer = ?) ORDER BY number DESC"
        return self._select(where, (one, other, other, one))


class ProposalQueries:
    """The proposals of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self, states: Sequence[str], *, at: datetime, after: str | None = None, limit: int = 50
    ) -> tuple[list[Proposal], str | None]:
        """Return proposals in these states, oldest first, and the next page's cursor.

        Those put off until after ``at`` are left out unless only ``later`` is asked for.
        """
        if limit < 1:
            raise InvalidInput(f"A page holds at least one proposal; not {limit}.", "Give a limit of 1 or more.")
        marks = ", ".join("?" * len(states))
        where, parameters = f"state IN ({marks})", list[object](states)
        if list(states) != ["later"]:
            where += " AND (state <> 'later' OR coalesce(later_until, '9') <= ?)"
            parameters.append(format_moment(at))
        if after is not None:
            where += " AND number > (SELECT number FROM proposal WHERE id = ?)"
            parameters.append(after)
        with self._database.reading() as connection:
            found = select_records(connection, Proposal, f"{where} ORDER BY number LIMIT ?", [*parameters, limit + 1])
        found, goes_on = cut_page(found, limit)
        return found, found[-1].id if goes_on else None

    def count(self, states: Sequence[str], *, at: datetime) -> int:
        """Return how many proposals `page` would return in all."""
        marks = ", ".join("?" * len(states))
        query = (
            f"SELECT count(*) FROM proposal WHERE state IN ({marks})"
            " AND (state <> 'later' OR coalesce(later_until, '9') <= ?)"
        )
        with self._database.reading() as connection:
            return int(connection.execute(query, [*states, format_moment(at)]).fetchone()[0])

    def about(self, target_id: str, record: str = "memory") -> list[Proposal]:
        """Return the proposals about one record of a kind, newest first."""
        where = "target_id = ? AND target = ? ORDER BY number DESC"
        with self._database.reading() as connection:
            return select_records(connection, Proposal, where, (target_id, record))

    def open_about(self, prefix: str) -> list[Proposal]:
        """Return the open proposals about records whose ids are or begin with ``prefix``, newest first."""
        where = f"target_id >= ? AND target_id < ? AND state IN {OPEN_PROPOSALS} ORDER BY number DESC"
        with self._database.reading() as connection:
            return select_records(connection, Proposal, where, (prefix, prefix + "\U0010ffff"))

    def of(
        self, proposed_by: str, states: Sequence[str], *, after: str | None = None, limit: int = 50
    ) -> tuple[list[Proposal], str | None]:
        """Return the proposals of one agent in these states, postponed ones too, and the next page's cursor.

        What was decided last comes first; of what waits, the newest.
        """
        marks = ", ".join("?" * len(states))
        where, parameters = f"proposed_by = ? AND state IN ({marks})", list[object]([proposed_by, *states])
        moment = "coalesce(decided_at, created_at)"
        if after is not None:
            where += f" AND ({moment}, number) < (SELECT {moment}, number FROM proposal WHERE id = ?)"
            parameters.append(after)
        where += f" ORDER BY {moment} DESC, number DESC LIMIT ?"
        with self._database.reading() as connection:
            found = select_records(connection, Proposal, where, [*parameters, limit + 1])
        found, goes_on = cut_page(found, limit)
        return found, found[-1].id if goes_on else None

    def same(self, fingerprint: str) -> Proposal | None:
        """Return the newest proposal that waits, or was rejected, and would do the same; ``None`` if there is none."""
        where = (
            f"fingerprint = ? AND fingerprint <> '' AND (state IN {OPEN_PROPOSALS} OR state = 'rejected')"
            " ORDER BY number DESC LIMIT 1"
        )
        with self._database.reading() as connection:
            return next(iter(select_records(connection, Proposal, where, (fingerprint,))), None)

    def waiting_for(self, reason: str) -> list[Proposal]:
        """Return the undecided proposals that have a reason, postponed ones too, oldest first."""
        where = (
            f"state IN {OPEN_PROPOSALS}"
            " AND EXISTS (SELECT 1 FROM json_each(proposal.reasons) WHERE value = ?) ORDER BY number"
        )
        with self._database.reading() as connection:
            return select_records(connection, Proposal, where, (reason,))

    def waiting_of(self, session: str, reason: str = "") -> list[Proposal]:
        """Return the undecided proposals of a session, those with a reason alone if one is given, oldest first."""
        where = (
            f"state IN {OPEN_PROPOSALS} AND session = ?"
            " AND (? = '' OR EXISTS (SELECT 1 FROM json_each(proposal.reasons) WHERE value = ?)) ORDER BY number"
        )
        with self._database.reading() as connection:
            return select_records(connection, Proposal, where, (session, reason, reason))

    def merging(self) -> set[str]:
        """Return the ids of the memories on both sides of the merges that wait."""
        query = (
            "SELECT target_id, json_extract(evidence, '$.other') FROM proposal"
            f" WHERE action = 'merge' AND state IN {OPEN_PROPOSALS}"
        )
        with self._database.reading() as connection:
            return {str(side) for row in connection.execute(query) for side in row}

    def sources_used(self, reason: str) -> list[frozenset[str]]:
        """Return the sets of records that proposals with a reason were made from, whatever became of them."""
        query = (
            "SELECT json_extract(evidence, '$.about') FROM proposal"
            " WHERE EXISTS (SELECT 1 FROM json_each(reasons) WHERE value = ?)"
        )
        with self._database.reading() as connection:
            rows = connection.execute(query, (reason,)).fetchall()
        return [frozenset(msgspec.json.decode(row[0], type=list[str])) for row in rows if row[0]]


class InboxRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the inbox."""

    record: str
    """``proposal`` or ``contradiction``."""
    record_id: str
    kind: str
    """One of `WAITING_KINDS`."""
    action: str
    """The change that a proposal would make: create, edit, delete or merge; ``resolve`` for a contradiction."""
    target: str
    text: str
    """The beginning of the text that it is about; several lines where nothing has a title."""
    said: str
    """The beginning of the proposed text; of a contradiction that of each side's text, on a line each."""
    who: str
    session: str
    """The session that a proposal was made in; empty where none is known."""
    source: str
    """Where it is from: an address, a transcript, or the kind of source; empty for a contradiction."""
    since: datetime
    state: str
    version: int
    changes_verified: bool = False
    """Whether it would change, delete or merge a memory that is verified, stable or essential now."""


def _has_reason(code: str) -> str:
    return f"proposal.reasons LIKE '%\"{code}\"%'"


_RISK_OF_PROPOSAL = " ".join(
    f"WHEN {' OR '.join(_has_reason(code) for code in codes)} THEN '{kind}'" for kind, codes in RISK_REASONS.items()
)
_KIND_OF_PROPOSAL = (
    f"CASE {_RISK_OF_PROPOSAL}"
    " WHEN proposal.target = 'contradiction' THEN 'suggestion'"
    " WHEN proposal.target = 'crystal' THEN 'identity'"
    f" WHEN {_has_reason('expiring_skip')} THEN 'expiring'"
    " WHEN proposal.target IN ('skip', 'item') THEN proposal.target"
    f" WHEN {_has_reason('distilled')} THEN 'learned'"
    f" WHEN {_has_reason('consolidation')} THEN 'consolidation'"
    f" WHEN {_has_reason('code_gone')} OR {_has_reason('code_changed')} THEN 'code'"
    " WHEN proposal.action = 'merge' THEN 'merge'"
    f" WHEN {_has_reason('earned_trust')} OR {_has_reason('promotion')} THEN 'promotion'"
    " WHEN proposal.action = 'create' THEN 'new'"
    " WHEN proposal.action = 'edit' THEN 'change'"
    " ELSE 'deletion' END"
)

_PROPOSALS = (
    f"SELECT 'proposal' AS record, proposal.id AS id, {_KIND_OF_PROPOSAL} AS kind, 0.0 AS doubt, created_at AS since,"
    " 1 AS side, number, proposed_by AS who, proposal.version AS version FROM proposal"
)
_CONTRADICTIONS = (
    "SELECT 'contradiction' AS record, contradiction.id AS id, 'contradiction' AS kind, -score AS doubt,"
    " created_at AS since, 0 AS side, number, '' AS who, contradiction.version AS version FROM contradiction"
)
_OPEN_PROPOSALS = (
    f"{_PROPOSALS} WHERE state IN {OPEN_PROPOSALS} AND (state <> 'later' OR coalesce(later_until, '9') <= :at)"
)
_OPEN_CONTRADICTIONS = (
    f"{_CONTRADICTIONS} WHERE status <> 'resolved' AND {BOTH_SIDES_RECALLED}"
    " AND (status = 'open' OR coalesce(later_until, '9') <= :at)"
)
_RISK = f"CASE kind {' '.join(f'WHEN {kind!r} THEN {place}' for place, kind in enumerate(INBOX_KINDS))} END"
_INBOX = f"SELECT *, {_RISK} AS risk FROM ({_OPEN_PROPOSALS} UNION ALL {_OPEN_CONTRADICTIONS})"
_INBOX_NAMED = (
    f"SELECT *, {_RISK} AS risk FROM ("
    f"{_OPEN_PROPOSALS} AND proposal.id IN (SELECT value FROM json_each(:proposals))"
    f" UNION ALL {_OPEN_CONTRADICTIONS} AND contradiction.id IN (SELECT value FROM json_each(:contradictions)))"
)
"""The named items of the inbox, read by id, which is fast however many wait."""
_IS_OF_KIND = "(:kind = '' OR kind = :kind)"
_INBOX_ORDER = "risk, doubt, since, side, number"
"""The riskiest kind first, the surest contradictions first, then the longest waiting."""

INBOX_ORDERS = {
    "risk": _INBOX_ORDER,
    "oldest": f"since, {_INBOX_ORDER}",
    "newest": f"since DESC, {_INBOX_ORDER}",
    "agent": f"who, {_INBOX_ORDER}",
}
"""The orders in which the inbox can be listed."""

_INBOX_COLUMNS = _INBOX_ORDER.split(", ")
_PLACE = ", ".join(f":{column}" for column in _INBOX_COLUMNS)
_IS_BEHIND, _IS_BEFORE = f"({_INBOX_ORDER}) > ({_PLACE})", f"({_INBOX_ORDER}) < ({_PLACE})"

_MAX_SPOKEN_CHARACTERS = 60
"""Characters of one side's words by which a contradiction is named."""

_HEADLINE_CHARACTERS = 400
"""Characters of a text that a row is shown of."""

_PROPOSAL_HEADLINE = (
    "coalesce(nullif(trim(memory.title), ''), substr(memory.content, 1, :head), skip.item, item.title,"
    " substr(crystal.content, 1, :head), json_extract(proposal.payload, '$.item'),"
    " json_extract(proposal.payload, '$.title'), newer.title || ' ' || substr(newer.content, 1, :head), '')"
)
_PROPOSAL_SOURCE = (
    "coalesce(nullif(json_extract(memory.source, '$.url'), ''), json_extract(proposal.evidence, '$.transcript'),"
    " nullif(json_extract(memory.source, '$.transcript'), ''), memory.source_type, '')"
)
_PROPOSED_TEXT = (
    "substr(coalesce(json_extract(proposal.payload, '$.content'), json_extract(proposal.payload, '$.reason'),"
    " nullif(memory.content, ''), skip.reason, nullif(item.content, ''), item.next_action, crystal.content,"
    " newer.content, ''), 1, :head)"
)
_CHANGES_VERIFIED = "(action <> 'create' AND coalesce(memory.stability IN ('verified', 'stable') OR memory.pinned, 0))"
_PROPOSALS_WITH_TARGETS = (
    "proposal LEFT JOIN memory ON target = 'memory' AND memory.id = target_id"
    " LEFT JOIN skip ON target = 'skip' AND skip.id = target_id"
    " LEFT JOIN item ON target = 'item' AND item.id = target_id"
    " LEFT JOIN crystal ON target = 'crystal' AND crystal.id = target_id"
    " LEFT JOIN contradiction ON target = 'contradiction' AND contradiction.id = target_id"
    " LEFT JOIN memory AS newer ON newer.id = contradiction.newer"
)
_SELECT_PROPOSAL_ROWS = (
    f"SELECT proposal.id, action, target, {_PROPOSAL_HEADLINE}, proposed_by, state, proposal.version,"
    f" proposal.session, {_PROPOSAL_SOURCE}, {_CHANGES_VERIFIED}, {_PROPOSED_TEXT} FROM {_PROPOSALS_WITH_TARGETS}"
    " WHERE proposal.id IN (SELECT value FROM json_each(:ids))"
)
_SELECT_CONTRADICTION_ROWS = (
    "SELECT contradiction.id, 'resolve', 'contradiction',"
    " coalesce(nullif(trim(memory.title), ''), substr(memory.content, 1, :head), why), '',"
    " contradiction.status, contradiction.version, '', '', older.content, older_spans, memory.content, newer_spans"
    " FROM contradiction LEFT JOIN memory ON memory.id = contradiction.newer"
    " LEFT JOIN memory AS older ON older.id = contradiction.older"
    " WHERE contradiction.id IN (SELECT value FROM json_each(:ids))"
)
_SAYS_ALL = "NOT EXISTS (SELECT 1 FROM json_each(:words) WHERE instr(fold({}), value) = 0)"
"""Whether a text holds every one of some folded words."""

_PAYLOAD_TEXT = "(SELECT group_concat(value, ' ') FROM json_each(proposal.payload))"
_PROPOSAL_TEXT = " || ' ' || ".join(
    f"coalesce({column}, '')"
    for column in (
        *(
            "proposed_by",
            _PAYLOAD_TEXT,
            "memory.title",
            "memory.content",
            "memory.namespace",
            "memory.tags",
        ),
        *("skip.item", "skip.reason", "item.title", "item.content", "crystal.content", "newer.title", "newer.content"),
    )
)
_CONTRADICTION_TEXT = " || ' ' || ".join(
    f"coalesce({column}, '')" for column in ("why", "older.title", "older.content", "memory.title", "memory.content")
)
_SAYING = (
    f"SELECT 'proposal ' || proposal.id FROM {_PROPOSALS_WITH_TARGETS}"
    f" WHERE proposal.state IN {OPEN_PROPOSALS}"
    f" AND {_SAYS_ALL.format(_PROPOSAL_TEXT)}"
    " UNION ALL SELECT 'contradiction ' || contradiction.id FROM contradiction"
    " LEFT JOIN memory ON memory.id = contradiction.newer LEFT JOIN memory AS older ON older.id = contradiction.older"
    f" WHERE contradiction.status <> 'resolved' AND {_SAYS_ALL.format(_CONTRADICTION_TEXT)}"
)
"""The undecided records whose texts, or whose proposer's name, hold every one of some folded words."""


class InboxQueries:
    """The inbox of one database at the moment ``at``: entries postponed until later are left out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def counts(self, at: datetime) -> dict[str, int]:
        """Return how many of each kind wait; kinds of which none does are left out."""
        query = f"SELECT kind, count(*) FROM ({_INBOX}) GROUP BY kind"
        with self._database.reading() as connection:
            found = {row[0]: int(row[1]) for row in connection.execute(query, {"at": format_moment(at)})}
        return {kind: found[kind] for kind in INBOX_KINDS if kind in found}

    def page(self, at: datetime, kind: str, start: int, count: int) -> list[InboxRow]:
        """Return ``count`` rows from index ``start``; an empty ``kind`` selects all."""
        query = f"{_INBOX} WHERE {_IS_OF_KIND} ORDER BY {_INBOX_ORDER} LIMIT :count OFFSET :start"
        values = {"at": format_moment(at), "kind": kind, "count": count, "start": start}
        with self._database.reading() as connection:
            return _inbox_rows(connection, connection.execute(query, values).fetchall())

    def after(self, at: datetime, kind: str, record: str, record_id: str, count: int) -> list[InboxRow]:
        """Return the rows after a given one, decided since or not. Raises `InvalidInput` for an unknown id."""
        query = f"{_INBOX} WHERE {_IS_OF_KIND} AND {_IS_BEHIND} ORDER BY {_INBOX_ORDER} LIMIT :count"
        with self._database.reading() as connection:
            place = _queue_position(connection, record, record_id)
            if place is None:
                raise InvalidInput(f"{record_id!r:.60} is not a cursor.", "Use the `next` of the page before.")
            values = {"at": format_moment(at), "kind": kind, "count": count, **place}
            return _inbox_rows(connection, connection.execute(query, values).fetchall())

    def locate(self, at: datetime, kind: str, record: str, record_id: str) -> int | None:
        """Return the index of one, or ``None`` where it does not wait or is of another kind."""
        values = {"at": format_moment(at), "kind": kind, "record": record, "id": record_id}
        there = f"{_INBOX} WHERE {_IS_OF_KIND} AND record = :record AND id = :id"
        query = f"SELECT count(*) FROM ({_INBOX} WHERE {_IS_OF_KIND}) WHERE {_IS_BEFORE}"
        with self._database.reading() as connection:
            place = _queue_position(connection, record, record_id)
            if place is None or connection.execute(there, values).fetchone() is None:
                return None
            return int(connection.execute(query, {**values, **place}).fetchone()[0])

    def ids(self, at: datetime, kind: str, start: int, count: int) -> list[tuple[str, str]]:
        """Return the record and the id of ``count`` rows from index ``start``."""
        query = f"{_INBOX} WHERE {_IS_OF_KIND} ORDER BY {_INBOX_ORDER} LIMIT :count OFFSET :start"
        values = {"at": format_moment(at), "kind": kind, "count": count, "start": start}
        with self._database.reading() as connection:
            return [(row[0], row[1]) for row in connection.execute(query, values)]

    def listed(self, at: datetime, kind: str, words: Sequence[str], order: str) -> list[tuple[tuple[str, str], int]]:
        """Return the record and the id of each whose text holds all of some words in any case, and its version.

        An empty ``kind`` selects all, and no words select every text; ``order`` is one of `INBOX_ORDERS`.
        """
        holding = f" AND record || ' ' || id IN ({_SAYING})" if words else ""
        query = f"{_INBOX} WHERE {_IS_OF_KIND}{holding} ORDER BY {INBOX_ORDERS[order]}"
        values = {"at": format_moment(at), "kind": kind}
        if words:
            values["words"] = msgspec.json.encode([word.casefold() for word in words]).decode()
        with self._database.reading() as connection:
            found = connection.execute(query.replace("*", "record, id, version", 1), values)
            return [((row[0], row[1]), int(row[2])) for row in found]

    def rows(self, at: datetime, keys: Sequence[tuple[str, str]]) -> list[InboxRow]:
        """Return the rows of these records and ids that wait, in the order of the queue."""
        named = {
            f"{record}s": msgspec.json.encode([found for of, found in keys if of == record]).decode()
            for record in ("proposal", "contradiction")
        }
        query = f"{_INBOX_NAMED} ORDER BY {_INBOX_ORDER}"
        with self._database.reading() as connection:
            return _inbox_rows(connection, connection.execute(query, {"at": format_moment(at), **named}).fetchall())


def _queue_position(connection: Connection, record: str, record_id: str) -> dict[str, object] | None:
    """Return the values by which the inbox orders an item, by column; ``None`` where there is no such item."""
    of_record = _PROPOSALS if record == "proposal" else _CONTRADICTIONS
    query = f"SELECT {_INBOX_ORDER} FROM (SELECT *, {_RISK} AS risk FROM ({of_record} WHERE id = ?))"
    row = connection.execute(query, (record_id,)).fetchone()
    return None if row is None else dict(zip(_INBOX_COLUMNS, row, strict=True))


def _inbox_rows(connection: Connection, found: Sequence[Row]) -> list[InboxRow]:
    """Return the rows of some places in the inbox: two look-ups by id, whatever the length of the inbox."""
    shown = {}
    for record, query in (("proposal", _SELECT_PROPOSAL_ROWS), ("contradiction", _SELECT_CONTRADICTION_ROWS)):
        ids = [row[1] for row in found if row[0] == record]
        if ids:
            values = {"ids": msgspec.json.encode(ids).decode(), "head": _HEADLINE_CHARACTERS}
            shown.update({(record, row[0]): row for row in connection.execute(query, values)})
    return [_inbox_row(place, shown[place[0], place[1]]) for place in found]


def _headline(record: str, row: Row) -> str:
    """Return the text of a row; of a contradiction the words that differ stand first, where they are short."""
    if record == "contradiction":
        older, newer = _spoken(row[9], row[10]), _spoken(row[11], row[12])
        if older and newer and older != newer:
            return f"{older} / {newer}: {row[3]}"
    return str(row[3])


def _texts(record: str, row: Row) -> str:
    """Return the beginning of a proposal's text; of a contradiction that of both sides' texts, each on its line."""
    if record == "contradiction":
        return "\n".join(" ".join((text or "")[:_HEADLINE_CHARACTERS].split()) for text in (row[9], row[11]))
    return str(row[10])


def _spoken(content: str | None, spans: str) -> str:
    """Return the words at some spans of a text, on one line; empty where there are none, or too many for a row."""
    places = msgspec.json.decode(spans, type=list[tuple[int, int]])
    words = " \N{HORIZONTAL ELLIPSIS} ".join(" ".join((content or "")[start:end].split()) for start, end in places)
    return words if len(words) <= _MAX_SPOKEN_CHARACTERS else ""


def _inbox_row(place: Row, row: Row) -> InboxRow:
    return InboxRow(
        record=place[0],
        record_id=place[1],
        kind=place[2],
        action=row[1],
        target=row[2],
        text=_headline(place[0], row),
        said=_texts(place[0], row),
        who=row[4],
        since=datetime.fromisoformat(place[4]),
        state=row[5],
        version=row[6],
        session=row[7],
        source=row[8],
        changes_verified=place[0] == "proposal" and bool(row[9]),
    )
