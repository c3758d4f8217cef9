"""Read memories: pages by key, list rows, counts, relations, and the timeline around one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Generic, Literal, NamedTuple, TypeVar

import msgspec

from memento_tui.errors import AmbiguousId, InvalidInput, NotFound
from memento_tui.model import Memory, Relation
from memento_tui.model.filters import AllOf, Filter, OneOf
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.storage.connection import Connection, Row
from memento_tui.storage.database import Database
from memento_tui.storage.filters import filter_sql
from memento_tui.storage.statements import SELECT_EARLIER_IN_SESSION, SELECT_SUCCESSORS
from memento_tui.storage.tables import cut_page, select_records, table_of
from memento_tui.text.novelty import CHARACTERS_COMPARED, Novelty

__all__ = [
    "MemoryOrder",
    "MemoryQueries",
    "MemorySummary",
    "Page",
    "SessionContext",
    "Timeline",
    "TimelineEntry",
    "WeighedMemory",
    "resolve_id",
    "summaries_by_id",
    "tag_counts",
]

_SUMMARY_CHARACTERS = 400


class MemorySummary(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a list of memories."""

    id: str
    title: str
    head: str
    """The first characters of the content."""
    namespace: str
    kind: str
    tags: tuple[str, ...]
    certainty: int
    stability: str
    source_type: str
    status: str
    pinned: bool
    updated_at: datetime
    created_at: datetime
    expires_at: datetime | None
    version: int
    used_count: int
    agent: str
    """The agent that wrote it; empty where none did."""

    @property
    def headline(self) -> str:
        """The title, or the first line of the content that is not blank."""
        if self.title.strip():
            return self.title
        lines = (line.strip().lstrip("#").strip() for line in self.head.splitlines())
        return next((line for line in lines if line), self.head.strip())


RowT = TypeVar("RowT")


class Page(msgspec.Struct, Generic[RowT], frozen=True):
    """Some rows, and the cursor of the page after them (``None`` at the end)."""

    items: list[RowT]
    next: str | None


class WeighedMemory(NamedTuple):
    """The fields that a memory's rank depends on beside its match; see `memento_tui.search.decay.DecayingMemory`."""

    id: str
    kind: str
    certainty: int
    confidence: float
    surprise: float | None
    tier: str
    stability: str
    status: str
    created_at: datetime
    updated_at: datetime
    verified_at: datetime | None
    used_count: int
    last_used_at: datetime | None


class SessionContext(NamedTuple):
    """The texts that a session wrote just before one of its memories."""

    text: str
    """The end of it, at most as many characters as were asked for, from the beginning of a word on."""
    ids: tuple[str, ...]
    """The ids of the memories that it is from."""


_MOST_EARLIER_MEMORIES = 8
"""Memories that a context is made of, at most."""

_SELECT_SUMMARY = (
    f"SELECT memory.id, title, substr(content, 1, {_SUMMARY_CHARACTERS}), namespace, kind, tags, certainty, stability,"
    " source_type, status, pinned, updated_at, expires_at, version, number, created_at,"
    " coalesce((SELECT used FROM usage WHERE record = 'memory' AND record_id = memory.id), 0),"
    " coalesce(json_extract(source, '$.agent'), '') FROM memory"
)
_WITH_USE = " LEFT JOIN usage ON usage.record = 'memory' AND usage.record_id = memory.id"
_SELECT_WEIGHED = (
    "SELECT memory.id, kind, certainty, confidence, surprise, tier, stability, status, created_at, updated_at,"
    f" verified_at, coalesce(usage.used, 0), usage.last_used_at FROM memory{_WITH_USE}"
)
_decode_tags = msgspec.json.Decoder(tuple[str, ...]).decode


def _summary_of_row(row: Row) -> MemorySummary:
    return MemorySummary(
        id=row[0],
        title=row[1],
        head=row[2],
        namespace=row[3],
        kind=row[4],
        tags=_decode_tags(row[5]),
        certainty=row[6],
        stability=row[7],
        source_type=row[8],
        status=row[9],
        pinned=bool(row[10]),
        updated_at=datetime.fromisoformat(row[11]),
        expires_at=None if row[12] is None else datetime.fromisoformat(row[12]),
        version=row[13],
        created_at=datetime.fromisoformat(row[15]),
        used_count=row[16],
        agent=row[17],
    )


def _weighed_of_row(row: Row) -> WeighedMemory:
    return WeighedMemory(
        id=row[0],
        kind=row[1],
        certainty=row[2],
        confidence=row[3],
        surprise=row[4],
        tier=row[5],
        stability=row[6],
        status=row[7],
        created_at=datetime.fromisoformat(row[8]),
        updated_at=datetime.fromisoformat(row[9]),
        verified_at=None if row[10] is None else datetime.fromisoformat(row[10]),
        used_count=row[11],
        last_used_at=None if row[12] is None else datetime.fromisoformat(row[12]),
    )


def _parse_cursor(cursor: str) -> tuple[str, int]:
    moment, _, number = cursor.partition("~")
    try:
        datetime.fromisoformat(moment)
        return moment, int(number)
    except ValueError:
        raise InvalidInput(f"{cursor!r:.60} is not a cursor.", "Use the `next` of the page before.") from None


def _ordered_sql(
    tree: Filter, after: str | None, limit: int, skip: int, *, oldest_first: bool
) -> tuple[str, list[object]]:
    sql, parameters = filter_sql(tree)
    order, sign = ("ASC", ">") if oldest_first else ("DESC", "<")
    if after is not None:
        sql += f" AND (memory.updated_at, memory.number) {sign} (?, ?)"
        parameters += _parse_cursor(after)
    tail = f" WHERE {sql} ORDER BY memory.updated_at {order}, memory.number {order} LIMIT ? OFFSET ?"
    return tail, [*parameters, limit, skip]


def summaries_by_id(connection: Connection, ids: Sequence[str]) -> list[MemorySummary]:
    """Return the rows of these ids in the order given, without those that do not exist."""
    listed = msgspec.json.encode(list(ids)).decode()
    query = f"{_SELECT_SUMMARY} WHERE memory.id IN (SELECT value FROM json_each(?))"
    found = {row[0]: _summary_of_row(row) for row in connection.execute(query, (listed,))}
    return [found[i] for i in ids if i in found]


def tag_counts(connection: Connection, limit: int = 100) -> list[tuple[str, int]]:
    """Return the most used tags, as the newest memory writes each, with how many recalled memories have it."""
    marks = ", ".join("?" * len(RECALLED_STATUSES))
    hidden = f"SELECT number FROM memory WHERE status <> 'active' AND status NOT IN ({marks})"
    query = (
        "SELECT (SELECT value FROM memory, json_each(memory.tags) WHERE memory.number = newest AND fold(value) = tag),"
        " uses FROM (SELECT tag, count(*) AS uses, max(number) AS newest FROM memory_tag"
        f" WHERE number NOT IN ({hidden}) GROUP BY tag ORDER BY uses DESC, tag LIMIT ?)"
    )
    return [(row[0], row[1]) for row in connection.execute(query, (*RECALLED_STATUSES, limit))]


def resolve_id(connection: Connection, record: str, prefix: str) -> str:
    """Return the one id that is ``prefix`` or begins with it.

    Raises:
        NotFound: no record's id does.
        AmbiguousId: several do.

    """
    if prefix:
        query = f"SELECT id FROM {record} WHERE id = ?"
        if connection.execute(query, (prefix,)).fetchone():
            return prefix
        query = f"SELECT id FROM {record} WHERE id >= ? AND id < ? ORDER BY id LIMIT 6"
        found = [row[0] for row in connection.execute(query, (prefix, prefix + "\U0010ffff"))]
        if len(found) == 1:
            return str(found[0])
        if found:
            raise AmbiguousId(prefix, found)
    raise NotFound(
        f"There is no {record} whose id is or begins with {prefix!r:.80}.", "Check the id with a list or search."
    )


MemoryOrder = Literal["created", "certainty", "used", "last_used"]

_ORDER_COLUMNS: Mapping[MemoryOrder, str] = {
    "created": "memory.created_at",
    "certainty": "memory.certainty",
    "used": "coalesce(usage.used, 0)",
    "last_used": "coalesce(usage.last_used_at, '')",
}
_TABLE = table_of(Memory)
_SELECT_NUMBERED = _TABLE.select.replace(" FROM memory", ", memory.number FROM memory", 1)
_IS_LIVE = "status NOT IN ('deleted', 'rejected', 'archived')"

_MOST_COMPARED = 4_000
"""Memories, the last changed ones, beside which those of a bulk write are measured; see DECISIONS.md for the cost."""


def _sorted_tail(order: MemoryOrder) -> str:
    return f"ORDER BY {_ORDER_COLUMNS[order]} DESC, memory.number DESC LIMIT ? OFFSET ?"


def _joined_context(rows: Sequence[Sequence[str]], characters: int) -> SessionContext:
    """Join the texts of memories, given latest first, into one text, oldest first, and keep its end."""
    parts: list[str] = []
    ids: list[str] = []
    left = characters
    for memory_id, title, content in rows:
        part = f"{title}\n{content}" if title else content
        is_cut = len(part) > left
        if is_cut:
            part = part[-left:].partition(" ")[2]  # not from the middle of a word on
        if part:
            parts.append(part)
            ids.append(memory_id)
        left -= len(part)
        if is_cut or left <= 0:
            break
    return SessionContext("\n".join(reversed(parts)), tuple(reversed(ids)))


class MemoryQueries:
    """The memories of one database, and the relations between them. Safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # By filter

    def page(self, tree: Filter, *, after: str | None = None, limit: int = 50) -> Page[Memory]:
        """Return whole memories that a filter selects, most recently changed first.

        Raises `InvalidInput` unless ``limit`` is 1 or more and ``after`` is a cursor.
        """
        if limit < 1:
            raise InvalidInput(f"A page holds at least one memory; not {limit}.", "Give a limit of 1 or more.")
        tail, parameters = _ordered_sql(tree, after, limit + 1, 0, oldest_first=False)
        with self._database.reading() as connection:
            rows, goes_on = cut_page(connection.execute(_SELECT_NUMBERED + tail, parameters).fetchall(), limit)
            following = None
            if goes_on:
                last = rows[-1]
                following = f"{last[_TABLE.columns.index('updated_at')]}~{last[len(last) - 1]}"
            return Page([_TABLE.record_of(row) for row in rows], following)

    def summaries(
        self, tree: Filter, *, after: str | None = None, limit: int, skip: int = 0, oldest_first: bool = False
    ) -> Page[MemorySummary]:
        """Return rows for a list, most recently changed first.

        ``skip`` leaves out that many rows after the cursor, for a jump; its cost grows with the distance from there.
        """
        tail, parameters = _ordered_sql(tree, after, limit + 1, skip, oldest_first=oldest_first)
        with self._database.reading() as connection:
            rows, goes_on = cut_page(connection.execute(_SELECT_SUMMARY + tail, parameters).fetchall(), limit)
        following = f"{rows[-1][11]}~{rows[-1][14]}" if goes_on else None
        return Page([_summary_of_row(row) for row in rows], following)

    def slice(self, tree: Filter, *, order: MemoryOrder, ascending: bool, limit: int, skip: int) -> Sequence[Memory]:
        """Return ``limit`` memories that a filter selects after the first ``skip``, in an order.

        The cost grows with the number that the filter selects; by creation, with ``skip`` and ``limit`` alone.
        """
        sql, parameters = filter_sql(tree)
        way = "ASC" if ascending else "DESC"
        # The index of the timeline is used where a query says `number > 0`, and nowhere else.
        indexed = " AND memory.number > 0" if order == "created" else ""
        tail = f"{indexed} ORDER BY {_ORDER_COLUMNS[order]} {way}, memory.number {way} LIMIT ? OFFSET ?"
        with self._database.reading() as connection:
            rows = connection.execute(f"{_TABLE.select} WHERE {sql} {tail}", (*parameters, limit, skip))
            return [_TABLE.record_of(row) for row in rows]

    def sorted_summaries(self, tree: Filter, order: MemoryOrder, limit: int, skip: int) -> list[MemorySummary]:
        """Return ``limit`` rows for a list from index ``skip``, in an order, the highest first.

        The cost grows with the number that the filter selects; so for the two below.
        """
        sql, parameters = filter_sql(tree)
        query = f"{_SELECT_SUMMARY}{_WITH_USE} WHERE {sql} {_sorted_tail(order)}"
        with self._database.reading() as connection:
            return [_summary_of_row(row) for row in connection.execute(query, (*parameters, limit, skip))]

    def sorted_ids(self, tree: Filter, order: MemoryOrder, limit: int, skip: int) -> list[str]:
        """Return the ids of the rows of `sorted_summaries`."""
        sql, parameters = filter_sql(tree)
        query = f"SELECT memory.id FROM memory{_WITH_USE} WHERE {sql} {_sorted_tail(order)}"
        with self._database.reading() as connection:
            return [row[0] for row in connection.execute(query, (*parameters, limit, skip))]

    def sorted_position(self, tree: Filter, order: MemoryOrder, memory_id: str) -> int | None:
        """Return how many rows of `sorted_summaries` come before a memory, or ``None`` where it is not selected."""
        sql, parameters = filter_sql(tree)
        column = _ORDER_COLUMNS[order]
        place = f"SELECT {column}, memory.number FROM memory{_WITH_USE} WHERE memory.id = ? AND {sql}"
        before = f"SELECT count(*) FROM memory{_WITH_USE} WHERE {sql} AND ({column}, memory.number) > (?, ?)"
        with self._database.reading() as connection:
            row = connection.execute(place, (memory_id, *parameters)).fetchone()
            if row is None:
                return None
            return int(connection.execute(before, (*parameters, *row)).fetchone()[0])

    def position(self, tree: Filter, memory_id: str) -> int | None:
        """Return how many rows of `summaries` come before a memory; ``None`` where the filter does not select it."""
        sql, parameters = filter_sql(tree)
        with self._database.reading() as connection:
            row = connection.execute(
                f"SELECT updated_at, number FROM memory WHERE id = ? AND {sql}", (memory_id, *parameters)
            ).fetchone()
            if row is None:
                return None
            query = f"SELECT count(*) FROM memory WHERE {sql} AND (memory.updated_at, memory.number) > (?, ?)"
            return int(connection.execute(query, (*parameters, row[0], row[1])).fetchone()[0])

    def ids(self, tree: Filter, start: int, count: int) -> list[str]:
        """Return the ids of ``count`` rows of `summaries` from index ``start``."""
        tail, parameters = _ordered_sql(tree, None, count, start, oldest_first=False)
        with self._database.reading() as connection:
            return [row[0] for row in connection.execute(f"SELECT memory.id FROM memory{tail}", parameters)]

    def count(self, tree: Filter) -> int:
        """Return how many memories a filter selects."""
        sql, parameters = filter_sql(tree)
        with self._database.reading() as connection:
            return int(connection.execute(f"SELECT count(*) FROM memory WHERE {sql}", parameters).fetchone()[0])

    def count_all(self) -> int:
        """Return how many memories there are, whatever their status."""
        with self._database.reading() as connection:
            return int(connection.execute("SELECT count(*) FROM memory").fetchone()[0])

    def namespaces(self) -> list[tuple[str, int]]:
        """Return each namespace that holds recalled memories, with how many."""
        sql, parameters = filter_sql(OneOf("status", RECALLED_STATUSES))
        query = f"SELECT namespace, count(*) FROM memory WHERE {sql} GROUP BY namespace ORDER BY namespace"
        with self._database.reading() as connection:
            return [(row[0], row[1]) for row in connection.execute(query, parameters)]

    def confirmed_namespaces(self) -> set[str]:
        """Return the namespaces in which a recalled memory is a person's own, or was verified by one."""
        sql, parameters = filter_sql(OneOf("status", RECALLED_STATUSES))
        query = f"SELECT DISTINCT namespace FROM memory WHERE {sql} AND (source_type = 'user' OR stability <> 'draft')"
        with self._database.reading() as connection:
            return {row[0] for row in connection.execute(query, parameters)}

    def tags(self, limit: int = 100) -> list[tuple[str, int]]:
        """Return the most used tags, as the newest memory writes each, with how many recalled memories have it."""
        with self._database.reading() as connection:
            return tag_counts(connection, limit)

    def batches(self, size: int = 1000) -> Iterator[list[Memory]]:
        """Yield every memory, in batches, each in a short read of its own."""
        number = 0
        with self._database.translated():
            while True:
                rows = self._database.connection.execute(
                    f"{_SELECT_NUMBERED} WHERE memory.number > ? ORDER BY memory.number LIMIT ?", (number, size)
                ).fetchall()
                if not rows:
                    return
                number = rows[-1][len(rows[-1]) - 1]
                yield [_TABLE.record_of(row) for row in rows]

    # By id and content

    def get_many(self, ids: Sequence[str], tree: Filter | None = None) -> dict[str, Memory]:
        """Return the memories of these ids that exist and that the filter selects, by id."""
        if not ids:
            return {}
        sql, parameters = filter_sql(tree or AllOf())
        listed = msgspec.json.encode(list(ids)).decode()
        query = f"{_TABLE.select} WHERE memory.id IN (SELECT value FROM json_each(?)) AND {sql}"
        with self._database.reading() as connection:
            made = [_TABLE.record_of(row) for row in connection.execute(query, (listed, *parameters))]
        return {memory.id: memory for memory in made}

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """See one state of the database in all that this thread reads within the block."""
        with self._database.reading():
            yield

    def weighed(self, ids: Sequence[str], tree: Filter) -> dict[str, WeighedMemory]:
        """Return by id the fields that ranks depend on, of those memories that exist and that the filter selects.

        No texts are read and no records made, which is most of the time of `get_many`.
        """
        sql, parameters = filter_sql(tree)
        listed = msgspec.json.encode(list(ids)).decode()
        query = f"{_SELECT_WEIGHED} WHERE memory.id IN (SELECT value FROM json_each(?)) AND {sql}"
        with self._database.reading() as connection:
            return {row[0]: _weighed_of_row(row) for row in connection.execute(query, (listed, *parameters))}

    def summaries_by_id(self, ids: Sequence[str]) -> list[MemorySummary]:
        """Return the list rows of these ids in the order given, without those that do not exist."""
        with self._database.reading() as connection:
            return summaries_by_id(connection, ids)

    def with_digest(self, digest: bytes) -> list[Memory]:
        """Return the recalled or pending memories whose content has this digest, oldest first."""
        query = "SELECT 1 FROM memory WHERE digest = ? LIMIT 1"
        with self._database.reading() as connection:
            # Nearly always there is none, and this costs a fraction of the statement for whole memories.
            if connection.execute(query, (digest,)).fetchone() is None:
                return []
            return select_records(connection, Memory, f"digest = ? AND {_IS_LIVE} ORDER BY number", (digest,))

    def with_digests(self, digests: Sequence[bytes]) -> list[Memory]:
        """Return the recalled or pending memories whose content has one of the digests, oldest first."""
        if not digests:
            return []
        listed = msgspec.json.encode([digest.hex() for digest in digests]).decode()
        where = f"digest IN (SELECT unhex(value) FROM json_each(?)) AND {_IS_LIVE} ORDER BY number"
        with self._database.reading() as connection:
            return select_records(connection, Memory, where, (listed,))

    def novelty(self) -> Novelty:
        """Return a measure of how new further texts are beside the last changed memories, recalled or pending."""
        query = (
            f"SELECT title || char(10) || substr(content, 1, {CHARACTERS_COMPARED}) FROM memory"
            f" WHERE {_IS_LIVE} ORDER BY updated_at DESC LIMIT {_MOST_COMPARED}"
        )
        with self._database.reading() as connection:
            return Novelty(row[0] for row in connection.execute(query))

    def newest_texts(self, limit: int) -> list[str]:
        """Return title and text, a line each, of the memories among the last changed ones that are recalled or wait."""
        query = (
            f"SELECT title || char(10) || content, {_IS_LIVE} FROM memory ORDER BY updated_at DESC, number DESC LIMIT ?"
        )
        with self._database.reading() as connection:
            return [text for text, is_live in connection.execute(query, (limit,)) if is_live]

    def last_rejected(self, limit: int) -> list[tuple[str, str, str]]:
        """Return id, namespace and text of the memories that a person turned down last, newest first."""
        query = (
            "SELECT id, namespace, content FROM memory WHERE status = 'rejected'"
            " ORDER BY updated_at DESC, number DESC LIMIT ?"
        )
        with self._database.reading() as connection:
            return [(name, namespace, text) for name, namespace, text in connection.execute(query, (limit,))]

    # By relation

    def relations_of(self, record_id: str) -> list[Relation]:
        """Return the relations that begin or end at a memory, in the order they were drawn."""
        with self._database.reading() as connection:
            return select_records(connection, Relation, "src = ? OR dst = ? ORDER BY number", (record_id, record_id))

    def relations_around(self, ids: Sequence[str]) -> list[Relation]:
        """Return the relations that begin or end at any of some memories, in the order they were drawn."""
        listed = msgspec.json.encode(list(ids)).decode()
        among = "(SELECT value FROM json_each(?))"
        with self._database.reading() as connection:
            where = f"src IN {among} OR dst IN {among} ORDER BY number"
            return select_records(connection, Relation, where, (listed, listed))

    def relations_since(self, seq: int) -> list[Relation]:
        """Return the relations that journal entries after ``seq`` wrote, and that exist."""
        where = "relation.id IN (SELECT record_id FROM change WHERE seq > ? AND record = 'relation') ORDER BY number"
        with self._database.reading() as connection:
            return select_records(connection, Relation, where, (seq,))

    def successors(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return, for each of the memories that others replace, the ids of those: they supersede or consolidate it.

        A successor must be recalled itself, and a draft takes the place of drafts only: else an agent could demote what
        is verified.
        """
        listed = msgspec.json.encode(list(ids)).decode()
        found: dict[str, tuple[str, ...]] = {}
        with self._database.reading() as connection:
            for old, new in connection.execute(SELECT_SUCCESSORS, (listed,)):
                if new not in found.get(old, ()):
                    found[old] = (*found.get(old, ()), new)
        return found

    def session_context(self, memories: Iterable[Memory], characters: int) -> dict[str, SessionContext]:
        """Return, by id, the text that a session wrote just before each memory; memories without any are left out.

        It is of the same namespace, is recalled itself, and is not more sensitive than the memory: a search for the
        one never depends on what must not be found with it.
        """
        found: dict[str, SessionContext] = {}
        with self._database.reading() as connection:
            for memory in memories:
                if not memory.source.session:
                    continue
                parameters = (characters + 1, memory.id, _MOST_EARLIER_MEMORIES)
                rows = connection.execute(SELECT_EARLIER_IN_SESSION, parameters).fetchall()
                if rows:
                    found[memory.id] = _joined_context(rows, characters)
        return found

    def derived_from(self, memory_id: str) -> list[str]:
        """Return the ids of the memories that were made of one, or took it in, and may hold its text."""
        query = (
            "SELECT DISTINCT src FROM relation JOIN memory ON memory.id = relation.src"
            " WHERE relation.dst = ? AND relation.type IN ('consolidated_from', 'supersedes')"
            " AND memory.status <> 'pending'"
        )
        with self._database.reading() as connection:
            return [row[0] for row in connection.execute(query, (memory_id,))]


_IS_SHOWN = "status NOT IN ('deleted', 'rejected')"

# The index of the timeline is used where a query says `number > 0`, and nowhere else.
_SELECT_LATER = (
    f"SELECT id, created_at FROM memory WHERE number > 0 AND (created_at, number) > (?, ?) AND {_IS_SHOWN}"
    " ORDER BY created_at, number LIMIT ?"
)
_SELECT_EARLIER = (
    f"SELECT id, created_at FROM memory WHERE number > 0 AND (created_at, number) < (?, ?) AND {_IS_SHOWN}"
    " ORDER BY created_at DESC, number DESC LIMIT ?"
)


class TimelineEntry(msgspec.Struct, frozen=True):
    """One memory on the timeline."""

    summary: MemorySummary
    created_at: datetime

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.summary.id


class Timeline:
    """The timeline of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def window(self, memory_id: str, *, later: int = 10, earlier: int = 10) -> list[TimelineEntry]:
        """Return a memory with those remembered just after and just before it, the latest first.

        The order is that of `Memory.created_at`, so that an import of old notes lies where its notes were written; of
        those with the same moment, the one that arrived last comes first. Deleted and rejected memories are left out,
        except for the one that is asked about.

        Raises:
            NotFound: there is no such memory.

        """
        with self._database.reading() as connection:
            place = connection.execute("SELECT created_at, number FROM memory WHERE id = ?", (memory_id,)).fetchone()
            if place is None:
                raise NotFound(f"There is no memory with the id {memory_id}.")
            after = connection.execute(_SELECT_LATER, (*place, later)).fetchall()
            before = connection.execute(_SELECT_EARLIER, (*place, earlier)).fetchall()
            return _timeline_entries(connection, [*reversed(after), (memory_id, place[0]), *before])


def _timeline_entries(connection: Connection, rows: Sequence[Sequence[str]]) -> list[TimelineEntry]:
    summaries = {summary.id: summary for summary in summaries_by_id(connection, [row[0] for row in rows])}
    return [TimelineEntry(summaries[row[0]], datetime.fromisoformat(row[1])) for row in rows]
