"""Query the journal and the exposure ledger: every change with its author, and every memory shown to an agent."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property

import msgspec

from memento_tui import clock
from memento_tui.api.search import SearchEngine
from memento_tui.errors import InvalidInput, NotAllowed, NotFound
from memento_tui.model.filters import AllOf, Filter, OneOf
from memento_tui.model.journal_actions import actions_called
from memento_tui.moments import parse_moment, parse_span
from memento_tui.search.query_language import parse
from memento_tui.storage.activity import ActivityRow, AgentTotals, ChangedRecord, DayCount, JournalFilter
from memento_tui.storage.journal import ACTORS, Author, Change, Entry
from memento_tui.storage.ledgers import ExposureFilter, ExposureRow, SessionTotals
from memento_tui.storage.memory_events import MemoryEvent
from memento_tui.storage.store import Store
from memento_tui.storage.tables import cut_page
from memento_tui.text.near_names import nearest_name

__all__ = ["ActivityLog", "ActivityQuery", "JournalAction", "parse_activity"]

ACTIVITY_FILTERS: Mapping[str, str] = {
    "actor": "person, agent or system",
    "agent": "the agent's name",
    "session": "the session",
    "channel": "cli, tui, mcp, http, hook, mirror, api, import, maintenance or engine",
    "action": 'what was done, such as deleted or "skip added"',
    "memory": "the id of a memory that was touched",
    "since": "a date, a span such as 7d, or the number of an entry",
    "before": "the same",
    "is": "new: since you last looked",
}
"""The names of the filters, with the values that each takes."""

_OTHER_NAMES = {"after": "since", "until": "before", "by": "agent"}
"""Other names of these filters: those of a search for memories, and of other programs."""

_LEAST_LIKENESS = 0.8
"""The likeness of a name to a filter's (0 to 1, that of difflib) from which on it counts as that filter misspelled."""

_FILTER_TERM = re.compile(r"(\w+):(.*)", re.DOTALL)
_PREFIX_FIELDS = ("actor", "agent", "session", "channel", "action")


class ActivityQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A query on the journal or the ledger. Empty fields do not restrict; of several values, one must match."""

    words: tuple[str, ...] = ()
    actor: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    channel: tuple[str, ...] = ()
    action: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    first_seq: int | None = None
    before_seq: int | None = None
    since: datetime | None = None
    before: datetime | None = None
    records: tuple[str, ...] = ()
    """Only entries that changed a record of one of these kinds (``skip``, ``item``, ``crystal``)."""
    is_new: bool = False
    """Whether only entries since the person last looked are selected."""


def parse_activity(text: str, now: datetime | None = None) -> ActivityQuery:
    """Return the query of a line such as ``port agent:claude action:"skip add" since:7d``.

    Raises:
        InvalidInput: a filter has no value, or one that it cannot have.

    """
    given: dict[str, list[str]] = {}
    for part in _split_words(text):
        match = _FILTER_TERM.fullmatch(part)
        name, value = _filter_named(match[1].lower(), match[2], part) if match else ("words", part)
        values = [one.strip() for one in value.split(",")] if name in _PREFIX_FIELDS else [value.strip()]
        if not all(values):
            raise InvalidInput(f"{name}: has no value.", f"It takes {ACTIVITY_FILTERS.get(name, 'a word')}.")
        _check_known(name, values)
        given.setdefault(name, []).extend(values)
    fields: dict[str, object] = {
        name: tuple(given[name]) for name in ("words", "memory", *_PREFIX_FIELDS) if name in given
    }
    for name, seq_field in (("since", "first_seq"), ("before", "before_seq")):
        for value in given.get(name, []):
            fields.update(_parse_bound(name, seq_field, value, now or clock.now()))
    for value in given.get("is", []):
        if value.lower() != "new":
            raise InvalidInput(f"is:{value:.40} is not known.", "is:new finds what came since you last looked.")
        fields["is_new"] = True
    return msgspec.convert(fields, ActivityQuery)


def _filter_named(name: str, value: str, part: str) -> tuple[str, str]:
    """Return the filter that a part of a line names and its value, else it as a word.

    Raises:
        InvalidInput: the name is that of a filter with a slip, or that of a like one elsewhere.

    """
    if name in ACTIVITY_FILTERS:
        return name, value
    meant = _OTHER_NAMES.get(name) or nearest_name(name, ACTIVITY_FILTERS, _LEAST_LIKENESS)
    if meant and value:
        raise InvalidInput(
            f"There is no filter {name:.40}:.", f"Did you mean {meant}:? It takes {ACTIVITY_FILTERS[meant]}."
        )
    return "words", part


def _check_known(name: str, values: Collection[str]) -> None:
    """Raise `InvalidInput` for the beginning of no actor or action there is: an empty list would say nothing of it."""
    for value in values:
        is_unknown_actor = name == "actor" and not any(actor.startswith(value.lower()) for actor in ACTORS)
        if is_unknown_actor or (name == "action" and not actions_called(value)):
            raise InvalidInput(f"{name}:{value:.40} is not known.", f"It takes {ACTIVITY_FILTERS[name]}.")


def _split_words(text: str) -> list[str]:
    """Return the words of a line; quotation marks hold some together, and one that is open ends with the line."""
    splitter = shlex.shlex(text, posix=True)
    splitter.whitespace_split = True
    splitter.commenters = splitter.escape = ""
    splitter.quotes = '"'
    try:
        return list(splitter)
    except ValueError:
        return text.replace('"', " ").split()


def _parse_bound(name: str, seq_field: str, value: str, now: datetime) -> dict[str, object]:
    if value.isdecimal() and value.isascii():
        return {seq_field: min(int(value), 2**62)}
    span = parse_span(value)
    return {name: now - span if span is not None else parse_moment(value, name, now)}


MAX_RECORDS = 20
"""Records of an entry that are listed one by one."""

_LAST_SEEN_SETTING = "app.looked"
"""The setting that keeps the newest entry that the person has seen."""

MAX_COUNTED_ENTRIES = 5_000
"""Entries of agents that are counted; the totals are marked as incomplete beyond."""

_MAX_MEMORIES = 500
"""Memories that the words of a query may select."""


class JournalAction(msgspec.Struct, frozen=True):
    """One journal entry in full."""

    row: ActivityRow
    changed: Sequence[ChangedRecord]
    """The first `MAX_RECORDS` records that it changed, before and after."""
    batch_entries: int
    """How many entries are undone with this one, itself included: those of one bulk write."""
    batch_records: int
    """How many records these changed."""


class JournalSource:
    """The entries that one query selects, newest first, by page. Its words are looked up at the first read."""

    def __init__(self, store: Store, criteria: Callable[[], JournalFilter]) -> None:
        self._activity = store.activity
        self._make_criteria = criteria

    @cached_property
    def _criteria(self) -> JournalFilter:
        return self._make_criteria()

    def total(self) -> int:
        """Return how many rows there are."""
        return self._activity.total(self._criteria)

    def page(self, start: int, count: int) -> Sequence[ActivityRow]:
        """Return ``count`` rows from index ``start``, fewer at the end."""
        return self._activity.page(self._criteria, start, count)

    def locate(self, row_id: str) -> int | None:
        """Return the index of a row, or ``None`` where it is not selected."""
        return self._activity.position(self._criteria, int(row_id))

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of ``count`` rows from index ``start``, fewer at the end."""
        return [str(seq) for seq in self._activity.seqs(self._criteria, start, count)]


class ExposureSource:
    """The exposures that one query selects, newest first, by page; as `JournalSource`."""

    def __init__(self, store: Store, criteria: Callable[[], ExposureFilter]) -> None:
        self._exposures = store.exposures
        self._make_criteria = criteria

    @cached_property
    def _criteria(self) -> ExposureFilter:
        return self._make_criteria()

    def total(self) -> int:
        """Return how many rows there are."""
        return self._exposures.total(self._criteria)

    def page(self, start: int, count: int) -> Sequence[ExposureRow]:
        """Return ``count`` rows from index ``start``, fewer at the end."""
        return self._exposures.page(self._criteria, start, count)

    def locate(self, row_id: str) -> int | None:
        """Return the index of a row, or ``None`` where it is not selected."""
        return self._exposures.position(self._criteria, row_id)

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of ``count`` rows from index ``start``, fewer at the end."""
        return self._exposures.ids(self._criteria, start, count)


class ActivityLog:
    """The journal and the exposure ledger of one workspace, newest first."""

    def __init__(self, store: Store, author: Author, search_engine: SearchEngine) -> None:
        self._store = store
        self._author = author
        self._search_engine = search_engine

    # The journal

    def head(self) -> int:
        """Return the sequence number of the newest journal entry; 0 in an empty journal."""
        return self._store.journal.head()

    def position(self) -> tuple[int, str]:
        """Return the newest entry's sequence number and a mark of it, which a restored backup does not share."""
        head = self._store.journal.head()
        return head, self._store.journal.mark(head)

    def entries(self, *, before: int | None = None, limit: int = 50) -> list[Entry]:
        """Return the newest journal entries, those before entry ``before``, newest first."""
        return self._store.journal.entries(before=before, limit=limit)

    def entries_after(self, seq: int, limit: int = 500) -> list[Entry]:
        """Return the journal entries after ``seq``, oldest first."""
        return self._store.journal.entries_after(seq, limit)

    def changes(self, seq: int) -> list[Change]:
        """Return the changes of one entry, a record each."""
        return self._store.journal.changes(seq)

    def memory_events(
        self, namespace: str, *, since: datetime, actions: Collection[str] = (), limit: int, is_small: bool = False
    ) -> list[MemoryEvent]:
        """Return the newest changes to the memories of a namespace, newest first; see `MemoryEventQueries.changes`."""
        return self._store.memory_events.changes(
            namespace, since=since, actions=actions, limit=limit, is_small=is_small
        )

    def exposure_counts(self, namespace: str, *, since: datetime, seconds: int) -> list[tuple[int, int]]:
        """Return how many memories of a namespace were shown, by spans of ``seconds`` that begin at a second."""
        return self._store.memory_events.exposure_counts(namespace, since=since, seconds=seconds)

    def page(self, query: ActivityQuery, *, before: int | None = None, limit: int = 50) -> list[ActivityRow]:
        """Return the newest entries that a query selects; ``before`` is the last one of the page before."""
        bounds = [seq for seq in (before, query.before_seq) if seq is not None]
        criteria = self.journal_filter(msgspec.structs.replace(query, before_seq=min(bounds) if bounds else None))
        return self._store.activity.page(criteria, 0, limit)

    def count(self, query: ActivityQuery) -> int:
        """Return how many entries a query selects."""
        return self._store.activity.total(self.journal_filter(query))

    def action(self, seq: int) -> JournalAction:
        """Return an entry in full. Raises `NotFound`."""
        row = next(iter(self._store.activity.rows([seq])), None)
        if row is None:
            raise NotFound(f"The journal has no entry {seq}.", "`memento activity` lists them.")
        changed = self._store.activity.changed(seq, MAX_RECORDS)
        together = self._store.activity.batch(row.entry.batch) if row.entry.batch else (1, row.touched)
        return JournalAction(row, changed, *together)

    def rows(self, seqs: Sequence[int]) -> list[ActivityRow]:
        """Return the rows of some entries, newest first."""
        return self._store.activity.rows(seqs)

    def undone_together(self, rows: Sequence[ActivityRow]) -> tuple[int, int]:
        """Return how many entries are taken back with some, bulk writes whole, and how many records they changed."""
        alone = [row for row in rows if not row.entry.batch]
        bulk = [self._store.activity.batch(name) for name in {row.entry.batch for row in rows if row.entry.batch}]
        return len(alone) + sum(n for n, _ in bulk), sum(row.touched for row in alone) + sum(n for _, n in bulk)

    def source(self, query: ActivityQuery, *, last_seen: int | None = None) -> JournalSource:
        """Return the entries that a question selects, by page; ``is:new`` counts from entry ``last_seen``."""
        return JournalSource(self._store, lambda: self.journal_filter(query, last_seen=last_seen))

    def journal_filter(self, query: ActivityQuery, *, last_seen: int | None = None) -> JournalFilter:
        """Return the journal filter of a query."""
        first = query.first_seq
        if query.is_new:
            first = max(first or 0, (self.last_seen() if last_seen is None else last_seen) + 1)
        return JournalFilter(
            actor=query.actor,
            agent=query.agent,
            session=query.session,
            channel=query.channel,
            action=tuple({name: None for typed in query.action for name in (typed, *actions_called(typed))}),
            first_seq=first,
            before_seq=query.before_seq,
            since=query.since,
            before=query.before,
            words=() if query.memory else query.words,
            memories=self._memories(query),
            records=query.records,
        )

    def _memories(self, query: ActivityQuery) -> tuple[str, ...] | None:
        """Return the ids of the memories that a query names; ``None`` where it names none."""
        ids = tuple(self._resolved(name) for name in query.memory)
        if not query.words:
            return ids or None
        found = self._speaking_of(query.words)
        return tuple(name for name in found if not ids or name in ids)

    def _speaking_of(self, words: Sequence[str]) -> list[str]:
        """Return the ids of the memories, as they are now, that hold all of some words; the last may be unfinished."""
        # Nothing of what was typed is an operator here.
        plain = [part.lstrip("-") for word in words for part in word.replace('"', " ").replace(":", " ").split()]
        *whole, last = [word for word in plain if word] or [""]
        tree: Filter = AllOf()
        keyword = self._search_engine.keyword
        if whole:
            held = parse(" ".join(f'"{word}"' for word in whole))
            hits = keyword.search(held, tree, _MAX_MEMORIES, count=False).hits if held.words else []
            tree = OneOf("id", tuple(name for name, _ in hits))
        conditions = parse(last, typing=True)
        if not conditions.words or tree == OneOf("id", ()):
            return []
        return [name for name, _ in keyword.search(conditions, tree, _MAX_MEMORIES, count=False).hits]

    def _resolved(self, name: str) -> str:
        # One that was purged or undone away is known to the journal alone, by its whole id.
        try:
            return self._store.resolve("memory", name)
        except NotFound:
            return name

    def members(self, kind: str, ids: Sequence[str]) -> dict[str, str]:
        """Return the member of the hub whose person wrote each record of a kind first; others are left out."""
        return self._store.writes.members(kind, ids)

    def writers(self, kind: str, ids: Sequence[str]) -> dict[str, str]:
        """Return which session of an agent wrote each record of a kind last; one that a person changed has none."""
        return self._store.writes.writers(kind, ids)

    # Since the person last looked

    def last_seen(self) -> int:
        """Return the number of the newest entry that the person has seen; 0 if none."""
        kept = self._store.settings.get(_LAST_SEEN_SETTING) or ""
        return int(kept) if kept.isdecimal() else 0

    def mark_seen(self, seq: int | None = None) -> int:
        """Note that the person has seen the journal up to an entry (the newest by default), and return its number.

        Raises:
            NotAllowed: an agent asks.

        """
        if self._author.actor != "person":
            raise NotAllowed("Only a person looks at the activity.", "Leave it to them.")
        seen = max(self._store.journal.head() if seq is None else seq, self.last_seen())
        if seen != self.last_seen():
            self._store.settings.set(_LAST_SEEN_SETTING, str(seen))
        return seen

    def totals_since_last_seen(self) -> AgentTotals:
        """Return the totals of the agents' changes since the person last looked, over at most 5,000 entries."""
        return self._store.activity.tally(self.last_seen(), MAX_COUNTED_ENTRIES)

    def days(self, count: int = 14, *, now: datetime | None = None) -> list[DayCount]:
        """Return how much was done on each of the last days (UTC), by actor, today last."""
        return self._store.activity.days((now or clock.now()).date(), count)

    # The injection ledger

    def exposures(
        self, query: ActivityQuery, *, after: str | None = None, limit: int = 50
    ) -> tuple[list[ExposureRow], str | None]:
        """Return the newest exposures that a query selects, and the next page's cursor.

        Raises:
            InvalidInput: the question asks for what only the journal knows, or ``after`` is not a cursor.

        """
        criteria = self.exposure_filter(query)
        last = -1 if after is None else self._store.exposures.position(criteria, after)
        if last is None:
            raise InvalidInput(f"{after!r:.60} is not a cursor.", "Use the `next` of the page before.")
        rows, goes_on = cut_page(self._store.exposures.page(criteria, last + 1, limit + 1), limit)
        return rows, rows[-1].id if goes_on else None

    def sessions(self, query: ActivityQuery, limit: int = 50) -> list[SessionTotals]:
        """Return the totals of each session's exposures, the one last served first."""
        return self._store.exposures.sessions(self.exposure_filter(query), limit)

    def exposure_source(self, query: ActivityQuery) -> ExposureSource:
        """Return the exposures that a query selects, to be read by page."""
        return ExposureSource(self._store, lambda: self.exposure_filter(query))

    def exposures_by_id(self, ids: Sequence[str]) -> list[ExposureRow]:
        """Return some exposures by their ids, newest first."""
        return self._store.exposures.page(ExposureFilter(ids=tuple(ids)), 0, len(ids))

    def sessions_shown(self, memory_ids: Sequence[str], *, since: datetime) -> dict[str, int]:
        """Return in how many sessions each memory was shown from a moment on; those shown in none are left out."""
        return self._store.exposures.sessions_shown(memory_ids, since)

    def session(self, name: str) -> SessionTotals | None:
        """Return the totals of one session's exposures, or ``None`` where it was shown nothing."""
        return self._store.exposures.session(name)

    def check_exposure_query(self, query: ActivityQuery) -> None:
        """Raise an error for a query that only the journal can answer.

        Raises:
            InvalidInput: it asks for what the ledger does not know.

        """
        conditions = {"actor": query.actor, "agent": query.agent, "action": query.action, "is": query.is_new}
        conditions["since"] = query.first_seq is not None or query.before_seq is not None
        for name, value in conditions.items():
            if value:
                known = "words, session:, channel:, memory:, and since: or before: a moment"
                raise InvalidInput(f"The ledger of exposures has no {name}:.", f"It is filtered by {known}.")

    def exposure_filter(self, query: ActivityQuery) -> ExposureFilter:
        """Return the exposure filter of a query. Raises like `check_exposure_query`."""
        self.check_exposure_query(query)
        return ExposureFilter(
            session=query.session,
            channel=query.channel,
            memories=self._memories(query),
            since=query.since,
            before=query.before,
        )
