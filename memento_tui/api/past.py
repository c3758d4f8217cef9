"""The memory as it was at an earlier moment, read from the journal: listed, searched by words, shown and exported."""

from __future__ import annotations

import builtins
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Self

import msgspec

from memento_tui import clock
from memento_tui.api.queries import MemoryView, records_of, related_to
from memento_tui.errors import InvalidField, NotFound
from memento_tui.model import AnyRecord, Memory
from memento_tui.model.filters import AllOf, Filter, with_default_statuses
from memento_tui.moments import parse_moment, parse_span
from memento_tui.search.query_language import Phrase, Query, parse, parse_filter
from memento_tui.search.ranking import PAST_TITLE_WEIGHT
from memento_tui.storage.backup import Progress
from memento_tui.storage.journal import Entry
from memento_tui.storage.memory_queries import Page
from memento_tui.storage.past import PastDatabase, entry_at
from memento_tui.storage.store import Store
from memento_tui.text.passages import Snippet

__all__ = ["Past", "PastHit", "find_entry"]

_ENTRY = re.compile(r"(?:entry[ :]|#)\s*([0-9]{1,100})")
_AGO = re.compile(r"(.+?)\s+ago")
_DAYS = {"today": 0, "yesterday": 1}


def find_entry(store: Store, at: str, now: datetime | None = None) -> Entry:
    """Return the last journal entry that was written by a moment.

    ``at`` is a date (its first instant, in UTC) or ``today`` or ``yesterday``, a time, a span back from now such as
    ``3d`` or ``3 days ago``, or the number of an entry: ``entry 512``, ``#512``.

    Raises:
        InvalidField: it is none of these, or not in the past.
        NotFound: nothing had been written by then, or there is no such entry.

    """
    if number := _ENTRY.fullmatch(at.strip().lower()):
        seq = int(number[1])
        entries = store.journal.entries(before=min(seq, 2**62) + 1, limit=1)
        if not entries or entries[0].seq != seq:
            raise NotFound(f"The journal has no entry {number[1]:.40}.", "`memento history` lists them.")
        return entries[0]
    moment = _past_moment(at, now or clock.now())
    found = entry_at(store.database, moment)
    if found is None:
        first = store.journal.entries_after(0, 1)
        began = f"; the journal begins at {first[0].at[:16].replace('T', ' ')}Z" if first else ""
        raise NotFound(f"Nothing had been written by {moment:%Y-%m-%d %H:%M}Z{began}.", "Name a later moment.")
    return found


def _past_moment(at: str, now: datetime) -> datetime:
    ago = _AGO.fullmatch(at.strip())
    span = parse_span(ago[1] if ago else at)
    days_ago = _DAYS.get(at.strip().lower())
    day = None if days_ago is None else (now - timedelta(days=days_ago)).date()
    try:
        moment = now - span if span is not None else parse_moment(day or at, "at")
    except (OverflowError, InvalidField):
        said = (
            "must be a date such as 2026-11-20 or `yesterday`, a time such as 2026-11-20T18:00Z, 3d or `3 days ago`,"
            " or `entry 512`"
        )
        raise InvalidField("at", f"{said}; not {at!r:.60}") from None
    if moment > now:
        raise InvalidField("at", f"must be in the past; {moment:%Y-%m-%d %H:%M}Z is not")
    return moment


class PastHit(msgspec.Struct, frozen=True):
    """A memory, as it was in the past, that holds the words of the query."""

    memory: Memory
    score: int
    """How often it holds the words, its title three times."""
    passage: Snippet


class PastSearch(msgspec.Struct, frozen=True):
    """The answer of a search in the past."""

    hits: Sequence[PastHit]
    total: int
    problems: Sequence[str] = ()


class Past:
    """The memory as it was after one journal entry. Use it as a context manager, or call `close`.

    Nothing can be changed in it, and its counters of use are zero: reading is not history. What was purged since is
    missing.
    """

    def __init__(
        self, store: Store, entry: Entry, *, progress: Progress | None = None, stop: threading.Event | None = None
    ) -> None:
        self.entry = entry
        """The last entry that it holds."""
        self.moment = datetime.fromisoformat(entry.at)
        """When that was written."""
        database = PastDatabase(store.database, entry.seq, progress=progress, stop=stop)
        self.missing = database.missing
        """How many records are left out, because the limit of the history let their texts of then go."""
        self._store = Store(store.database.path, database=database)

    @property
    def remark(self) -> str:
        """A sentence about the records that are left out; empty where none is."""
        if not self.missing:
            return ""
        records = "record is" if self.missing == 1 else "records are"
        return f"{self.missing:,} {records} left out: how they were then is no longer kept ([history] in config.toml)."

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the records."""
        self._store.close()

    @cached_property
    def count(self) -> int:
        """How many memories there were, whatever their status."""
        return self._store.memories.count_all()

    def parse_query(self, source: str) -> Query:
        """Parse a query with its relative times counted from the past moment."""
        return parse(source, now=self.moment)

    def list(self, query: str = "", *, after: str | None = None, limit: int = 50) -> Page[Memory]:
        """Return memories that a query's filters select, most recently changed first.

        Raises `InvalidInput` where a filter cannot be used.
        """
        among = with_default_statuses(parse_filter(query, now=self.moment))
        return self._store.memories.page(among, after=after, limit=limit)

    def view(self, among: Filter) -> MemoryView:
        """Return the memories that a filter selects as rows to be read by page, most recently changed first."""
        return MemoryView(self._store, among)

    def get(self, memory_id: str) -> Memory:
        """Return a memory by its id or a unique beginning of it. Raises `NotFound` or `AmbiguousId`."""
        return self._store.get(Memory, self._store.resolve("memory", memory_id))

    def related(self, memory_id: str) -> Sequence[tuple[str, str, str]]:
        """Return a memory's relations as type, direction (``out`` or ``in``) and the other end."""
        return related_to(self._store, memory_id)

    def contradicting(self, ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return the ids of the memories that contradicted each of some memories then, where any did."""
        against: dict[str, builtins.list[str]] = {}
        for found in self._store.contradictions.around(ids) if ids else ():
            against.setdefault(found.older, []).append(found.newer)
            against.setdefault(found.newer, []).append(found.older)
        return against

    def export_records(self) -> Iterator[AnyRecord]:
        """Yield every record that an export holds."""
        return records_of(self._store)

    def search(self, source: str, *, limit: int = 10) -> PastSearch:
        """Return the memories that hold every word and phrase of a query, by how often they do, the latest first.

        The indexes are of the present, so the texts themselves are read: word for word in their stems, without meaning.
        """
        from memento_tui.search.snippets import make_snippet  # noqa: PLC0415 - it needs the analyzers of the index

        query = self.parse_query(source)
        if query.error:
            return PastSearch((), 0, query.problems)
        among = with_default_statuses(AllOf((query.filter,)))
        wanted = _Wanted(query)
        memories = self._store.memories.slice(among, order="created", ascending=False, limit=max(1, self.count), skip=0)
        found = [(score, memory) for memory in memories if (score := wanted.score(memory))]
        found.sort(key=lambda pair: (pair[0], pair[1].updated_at), reverse=True)
        hits = [PastHit(memory, score, make_snippet(query, memory.content)) for score, memory in found[:limit]]
        return PastSearch(hits, len(found), query.problems)


class _Wanted:
    """The words and phrases of a query, in the stems by which texts are compared."""

    def __init__(self, query: Query) -> None:
        from memento_tui.text.terms import STOP_WORDS, single_terms  # noqa: PLC0415 - as in `Past.search`

        self._terms = single_terms
        is_stop = all(not isinstance(part, Phrase) and part.text.lower() in STOP_WORDS for part in query.words)
        self._wanted = [
            tuple(single_terms(part.text))
            for part in query.words
            if is_stop or isinstance(part, Phrase) or part.text.lower() not in STOP_WORDS
        ]
        self._unwanted = [tuple(single_terms(part.text)) for part in query.excluded]

    def score(self, memory: Memory) -> int:
        """Return how often a memory holds the words, the phrases in one piece; 0 where one is missing or unwanted."""
        texts = (
            (PAST_TITLE_WEIGHT, self._terms(memory.title)),
            (1, self._terms(memory.content)),
            (1, self._terms(" ".join((*memory.tags, memory.validity_context)))),
        )
        counts = [sum(weight * _count(run, text) for weight, text in texts) for run in self._wanted if run]
        if not all(counts) or any(_count(run, text) for run in self._unwanted for _, text in texts):
            return 0
        return sum(counts) if counts else 1


def _count(run: Sequence[str], text: Sequence[str]) -> int:
    """Return how often words stand one after the other in a text."""
    if not run:
        return 0
    first, length = run[0], len(run)
    return sum(tuple(text[place : place + length]) == tuple(run) for place, word in enumerate(text) if word == first)
