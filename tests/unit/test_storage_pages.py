from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.api.types import MemoryOrder
from memento_tui.errors import InvalidInput
from memento_tui.model.filters import AllOf, Filter, HasTag, Not, OneOf, with_default_statuses
from memento_tui.moments import format_moment
from memento_tui.storage.store import Store
from tests.made import NOW, note, put


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "memento.db")
    yield opened
    opened.close()


def fill(store: Store, count: int, *, same_moment: bool = False) -> list[str]:
    """Store memories and return their ids in the order of a list: the one changed last first."""
    moments = [NOW + timedelta(seconds=0 if same_moment else number // 3) for number in range(count)]
    made = [note(str(n), id=f"m{n:03d}", created_at=NOW, updated_at=at) for n, at in enumerate(moments)]
    put(store, *made)
    return [memory.id for memory in reversed(made)]


@pytest.mark.parametrize("limit", [1, 2, 7, 50])
@pytest.mark.parametrize("same_moment", [False, True])
def test_pages_put_together_are_the_whole_list(store: Store, limit: int, *, same_moment: bool) -> None:
    ids = fill(store, 20, same_moment=same_moment)
    memories, rows = [], []
    cursor: str | None = None
    while True:
        page = store.memories.page(AllOf(), after=cursor, limit=limit)
        glances = store.memories.summaries(AllOf(), after=cursor, limit=limit)
        assert page.next == glances.next
        memories += [memory.id for memory in page.items]
        rows += [glance.id for glance in glances.items]
        cursor = page.next
        if cursor is None:
            break
    assert memories == rows == ids


def test_pages_neither_repeat_nor_miss_old_rows_while_others_are_written(store: Store) -> None:
    ids = fill(store, 30)
    seen: list[str] = []
    cursor: str | None = None
    for turn in range(100):
        page = store.memories.page(AllOf(), after=cursor, limit=4)
        seen += [memory.id for memory in page.items]
        if page.next is None:
            break
        cursor = page.next
        put(store, note(f"new {turn}", id=f"new{turn}"))
    assert seen == ids


def test_a_list_reads_both_ways_and_jumps(store: Store) -> None:
    ids = fill(store, 12)
    back = store.memories.summaries(AllOf(), limit=50, oldest_first=True)
    assert [glance.id for glance in back.items] == ids[::-1]
    page = store.memories.summaries(AllOf(), limit=3, skip=4)
    assert [glance.id for glance in page.items] == ids[4:7]
    after = store.memories.summaries(AllOf(), after=page.next, limit=2, skip=1)
    assert [glance.id for glance in after.items] == ids[8:10]
    assert store.memories.ids(AllOf(), 5, 3) == ids[5:8]
    assert store.memories.ids(AllOf(), 11, 9) == ids[11:]
    assert store.memories.ids(AllOf(), 40, 3) == []


def test_a_page_of_no_rows_is_empty_and_leads_to_no_other(store: Store) -> None:
    fill(store, 3)
    page = store.memories.summaries(AllOf(), limit=0)
    assert (list(page.items), page.next) == ([], None)


def test_a_position_is_the_index_in_the_list_that_a_filter_makes(store: Store) -> None:
    ids = fill(store, 9, same_moment=True)
    odd = OneOf("id", tuple(ids[1::2]))
    assert [store.memories.position(AllOf(), identity) for identity in ids] == list(range(9))
    assert [store.memories.position(odd, identity) for identity in ids] == [None, 0, None, 1, None, 2, None, 3, None]
    assert store.memories.position(AllOf(), "none") is None


def test_rows_by_id_come_in_the_order_asked_for(store: Store) -> None:
    ids = fill(store, 5)
    asked = [ids[3], "none", ids[0]]
    assert [glance.id for glance in store.memories.summaries_by_id(asked)] == [ids[3], ids[0]]
    assert store.memories.summaries_by_id([]) == []


def test_a_row_shows_the_beginning_of_a_memory(store: Store) -> None:
    put(store, note("\n## Heading\n" + "x" * 1000, tags=["a"], expires_at=NOW, pinned=True))
    (row,) = store.memories.summaries(AllOf(), limit=5).items
    assert (row.headline, len(row.head), row.tags, row.pinned, row.expires_at) == ("Heading", 400, ("a",), True, NOW)


@pytest.mark.parametrize("cursor", ["", "x", "2026-01-01", "2026-01-01~x", "~1", "x~1", "\ud800~1"])
def test_what_is_no_cursor_is_refused(store: Store, cursor: str) -> None:
    fill(store, 3)
    with pytest.raises(InvalidInput, match="is not a cursor"):
        store.memories.page(AllOf(), after=cursor)


def test_a_cursor_or_limit_beyond_every_number_is_refused_in_words(store: Store, workspace: Workspace) -> None:
    with pytest.raises(InvalidInput, match="too large"):
        store.memories.page(AllOf(), after=f"{format_moment(NOW)}~{10**30}")
    with pytest.raises(InvalidInput, match="too large"):
        workspace.list(limit=10**30)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_page_of_nothing_is_refused(workspace: Workspace, limit: int) -> None:
    with pytest.raises(InvalidInput, match=f"at least one memory; not {limit}"):
        workspace.list(limit=limit)
    with pytest.raises(InvalidInput, match=f"at least one memory; not {limit}"):
        workspace.search("x", limit=limit)
    with pytest.raises(InvalidInput, match=f"at least one proposal; not {limit}"):
        workspace.review.list(limit=limit)


def test_every_memory_is_read_in_batches(store: Store) -> None:
    fill(store, 7)
    batches = list(store.memories.batches(3))
    assert [len(batch) for batch in batches] == [3, 3, 1]
    assert [memory.content for batch in batches for memory in batch] == [str(number) for number in range(7)]


STATUS = ("pending", "active", "consolidated", "superseded", "compacted", "archived", "rejected", "deleted")


@pytest.mark.parametrize(
    ("tree", "seen"),
    [
        (AllOf(), ("active", "consolidated", "superseded", "compacted")),
        (HasTag("x"), ("active", "consolidated", "superseded", "compacted")),
        (OneOf("status", ("pending", "deleted")), ("pending", "deleted")),
        (AllOf((HasTag("x"), OneOf("status", ("archived",)))), ("archived",)),
        (Not(OneOf("status", ("active",))), ("consolidated", "superseded", "compacted")),
        (Not(OneOf("status", ("deleted",))), ("active", "consolidated", "superseded", "compacted")),
    ],
)
def test_only_a_status_that_is_asked_for_by_name_shows_what_is_not_recalled(
    store: Store, tree: Filter, seen: tuple[str, ...]
) -> None:
    put(store, *(note(status, status=status, tags=["x"]) for status in STATUS))
    assert sorted(memory.content for memory in store.memories.page(with_default_statuses(tree)).items) == sorted(seen)
    assert store.memories.count(with_default_statuses(tree)) == len(seen)


@pytest.mark.parametrize("order", ["created", "certainty", "used", "last_used"])
def test_a_sorted_view_gives_pages_places_and_names_that_agree(workspace: Workspace, order: MemoryOrder) -> None:
    for number in range(9):
        workspace.remember(f"note {number}", id=f"n{number}", certainty=1 + number % 3)
    workspace.exposures.count_used(["n3", "n5"])
    view = workspace.view(AllOf(()), order)
    rows = view.page(0, 100)
    assert len(rows) == view.total() == 9
    assert [row.id for start in range(0, 9, 4) for row in view.page(start, 4)] == [row.id for row in rows]
    assert [view.locate(row.id) for row in rows] == list(range(9))
    assert view.ids(2, 3) == [row.id for row in rows[2:5]]
    assert view.locate("no such thing") is None
    first = {"created": "n8", "certainty": "n8", "used": "n5", "last_used": "n5"}
    assert rows[0].id == first[order]
