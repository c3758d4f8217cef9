"""The activity list says the same as a reader who goes through the whole journal by hand."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.errors import MementoError
from memento_tui.model import Memory
from memento_tui.storage.activity import JournalFilter
from memento_tui.storage.journal import Author, Entry
from memento_tui.storage.store import Store
from tests.made import NOW, note, unguarded

AUTHORS = [
    Author("person", "tui"),
    Author("agent", "mcp", "claude", "s1"),
    Author("agent", "mcp", "Claude%code", "s_2"),
    Author("system", "engine"),
]
ACTIONS = ["remember", "edit", "skip add", "purge it!"]

deeds = st.lists(
    st.tuples(st.sampled_from(AUTHORS), st.sampled_from(ACTIONS), st.integers(0, 3), st.sampled_from(["", "a port"])),
    max_size=25,
)
takings_back = st.lists(st.integers(1, 30), max_size=8)
beginnings = st.sampled_from(
    [(), ("claude",), ("c", "per"), ("s",), ("s_",), ("a",), ("mcp", "tui"), ("skip",), ("%",)]
)
moments = st.none() | st.integers(0, 30).map(lambda minutes: NOW + timedelta(minutes=minutes))
numbers = st.none() | st.integers(-1, 35)
filters = st.builds(
    JournalFilter,
    actor=beginnings,
    agent=beginnings,
    session=beginnings,
    channel=beginnings,
    action=beginnings,
    first_seq=numbers,
    before_seq=numbers,
    since=moments,
    before=moments,
    words=st.sampled_from([(), ("port",), ("a", "PORT"), ("none",)]),
    memories=st.none() | st.sampled_from([(), ("m0",), ("m1", "m2")]),
)
ranges = st.builds(JournalFilter, first_seq=numbers, before_seq=numbers)


@contextmanager
def journal_of(done: list[tuple[Author, str, int, str]], back: list[int]) -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "memento.db")
        store.database.connection.execute("PRAGMA synchronous = OFF")
        for minute, (author, action, which, said) in enumerate(done):
            with unguarded(store, author, action, note=said, now=NOW + timedelta(minutes=minute)) as tx:
                before = tx.get(Memory, f"m{which}")
                if before is None:
                    tx.put(note(f"text {which}", id=f"m{which}"), base=0)
                else:
                    tx.put(msgspec.structs.replace(before, content=f"text {minute}"), base=before.version)
        for seq in back:
            try:
                store.undo(AUTHORS[0], seq)
            except MementoError:
                continue
        yield store
        store.close()


def naive(store: Store, wanted: JournalFilter) -> list[Entry]:
    """Return the entries that a filter means, newest first."""
    return [entry for entry in store.journal.entries(limit=1000) if _fits(store, entry, wanted)]


def _fits(store: Store, entry: Entry, wanted: JournalFilter) -> bool:
    for name in ("actor", "agent", "session", "channel", "action"):
        values = getattr(wanted, name)
        if values and not any(getattr(entry, name).lower().startswith(value.lower()) for value in values):
            return False
    touched = {change.record_id for change in store.journal.changes(entry.seq)}
    by_word = bool(wanted.words) and all(word.lower() in entry.note.lower() for word in wanted.words)
    by_memory = wanted.memories is not None and bool(touched & set(wanted.memories))
    if (wanted.words or wanted.memories is not None) and not (by_word or by_memory):
        return False
    at = entry.at
    return (
        (wanted.first_seq is None or entry.seq >= wanted.first_seq)
        and (wanted.before_seq is None or entry.seq < wanted.before_seq)
        and (wanted.since is None or at >= f"{wanted.since:%Y-%m-%dT%H:%M:%S}")
        and (wanted.before is None or at < f"{wanted.before:%Y-%m-%dT%H:%M:%S}")
    )


@given(deeds, takings_back, filters | ranges, st.integers(0, 30), st.integers(1, 10))
def test_pages_places_and_counts_are_those_of_the_whole_journal_read_by_hand(
    done: list[tuple[Author, str, int, str]], back: list[int], wanted: JournalFilter, start: int, count: int
) -> None:
    with journal_of(done, back) as store:
        expected = [entry.seq for entry in naive(store, wanted)]
        assert store.activity.total(wanted) == len(expected)
        assert store.activity.seqs(wanted, start, count) == expected[start : start + count]
        page = store.activity.page(wanted, start, count)
        assert [row.entry.seq for row in page] == expected[start : start + count]
        for seq in range(store.journal.head() + 3):
            place = expected.index(seq) if seq in expected else None
            assert store.activity.position(wanted, seq) == place


@given(deeds, takings_back, st.booleans(), st.integers(0, 30))
def test_a_row_says_before_it_is_tried_what_cannot_be_taken_back(
    done: list[tuple[Author, str, int, str]],
    back: list[int],
    purging: bool,  # noqa: FBT001 - drawn
    which: int,
) -> None:
    with journal_of(done, back) as store:
        if purging and store.find(Memory, "m0") is not None:
            store.purge(AUTHORS[0], "memory", "m0", "leaked")
        rows = store.activity.page(JournalFilter(), 0, 100)
        for row in rows:
            assert row.touched == len(store.journal.changes(row.entry.seq))
        for row in rows[which : which + 1]:
            refused = ""
            try:
                store.undo(AUTHORS[0], row.entry.seq)
            except MementoError as error:
                refused = str(error)
            stuck = "taken back already" in refused or "is a purge" in refused or "was purged" in refused
            assert bool(row.obstacle) == stuck, (row, refused)
            (after,) = store.activity.rows([row.entry.seq])
            assert (after.undone_by is None) == (row.undone_by is None and bool(refused))
