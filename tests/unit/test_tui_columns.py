"""The columns of the lists: which a row has room for, and that the header stands above them."""

from __future__ import annotations

from datetime import timedelta
from itertools import accumulate
from typing import NamedTuple

import pytest
from rich.cells import cell_len

from memento_tui import clock
from memento_tui.api.types import MemorySummary
from memento_tui.model import WorkingItem
from memento_tui.tui.columns import Columns
from memento_tui.tui.inbox_columns import WAITING_COLUMNS
from memento_tui.tui.memory_columns import MEMORY_COLUMNS, memory_line
from memento_tui.tui.row_sources import summary_of
from memento_tui.tui.sections.activity_rows import ENTRY_COLUMNS, EXPOSURE_COLUMNS
from memento_tui.tui.sections.entry_text import ITEM_COLUMNS, SKIP_COLUMNS, format_expiry
from memento_tui.tui.sections.identity import IdentitySection
from memento_tui.tui.sections.identity_text import CRYSTAL_COLUMNS
from memento_tui.tui.sections.list_section import ListSection
from memento_tui.tui.sections.memories import MemoriesSection
from memento_tui.tui.sections.review.section import ReviewSection
from memento_tui.tui.sections.skips import SkipsSection
from memento_tui.tui.sections.working import WorkingSection
from tests.made import note

TITLE = MEMORY_COLUMNS.main
_ALL_LISTS = (
    MEMORY_COLUMNS,
    WAITING_COLUMNS,
    ITEM_COLUMNS,
    SKIP_COLUMNS,
    CRYSTAL_COLUMNS,
    ENTRY_COLUMNS,
    EXPOSURE_COLUMNS,
)
_SORTED = (MemoriesSection, ReviewSection, WorkingSection, SkipsSection, IdentitySection)


class _Drawn(NamedTuple):
    """A row and its header, as texts of the same width."""

    row: str
    header: str


def _memory() -> MemorySummary:
    now = clock.now()
    return summary_of(
        note(
            "The API answers on port 8080.",
            title="The port of the API",
            kind="decision",
            tags=("api", "net"),
            namespace="projects/site",
            certainty=4,
            source_type="external",
            created_at=now - timedelta(days=2),
            updated_at=now - timedelta(hours=3),
            expires_at=now + timedelta(days=30, hours=1),
        )
    )


def _drawn(width: int, names: tuple[str, ...] = MEMORY_COLUMNS.first) -> _Drawn:
    (pieces,) = memory_line(_memory(), width, names)
    header = "".join(text for _, text in MEMORY_COLUMNS.header(names, width))
    return _Drawn("".join(text for text, _ in pieces), header)


@pytest.mark.parametrize(
    "names", [MEMORY_COLUMNS.first, tuple(MEMORY_COLUMNS.all), (TITLE,), ("used", "certainty", TITLE)]
)
def test_row_and_header_fill_every_width_exactly_and_the_title_keeps_its_room(names: tuple[str, ...]) -> None:
    for width in range(30, 240):
        drawn = _drawn(width, names)
        assert (cell_len(drawn.row), cell_len(drawn.header)) == (width, width)
        widths = {name: cell_len(text) for name, text in MEMORY_COLUMNS.header(names, width) if name}
        assert widths[TITLE] >= min(20, width - 10)


def test_each_column_begins_where_its_header_does() -> None:
    names = ("kind", TITLE, "namespace", "tags", "agent", "source")
    pieces = list(MEMORY_COLUMNS.header(names, 150))
    starts = dict(
        zip((name for name, _ in pieces), accumulate((cell_len(t) for _, t in pieces), initial=0), strict=False)
    )
    row = _drawn(150, names).row
    for name, text in (
        ("kind", "decide "),
        (TITLE, "The port"),
        ("namespace", "projects/site"),
        ("tags", "#api #net"),
        ("source", "external"),
    ):
        assert row[starts[name] :].startswith(text)


def test_numbers_and_ages_stand_at_the_right_of_their_cells() -> None:
    names = (TITLE, "certainty", "used", "ends", "created", "changed")
    assert _drawn(100, names).row.split()[-5:] == ["4", "0", "4w", "2d", "3h"]
    assert _drawn(100, names).header.split() == ["title", "sure", "used", "ends", "made", "age"]


def test_eighty_columns_show_kind_title_and_age_as_they_do_without_a_choice() -> None:
    assert _drawn(77).header.split() == ["kind", "title", "age"]
    assert _drawn(50).header.split() == ["title", "age"]
    assert _drawn(120).header.split() == ["kind", "title", "tags", "age"]


def test_where_the_title_would_have_no_room_the_last_columns_are_left_out_first() -> None:
    names = (TITLE, "namespace", "agent", "source", "certainty", "used", "ends", "created", "changed")
    assert _drawn(200, names).header.split()[-1] == "age"
    narrow = _drawn(50, names).header.split()
    assert narrow[0] == "title"
    assert narrow[-1] == "age"
    assert "made" not in narrow


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        (None, MEMORY_COLUMNS.first),
        ("", MEMORY_COLUMNS.first),
        ("used kind", MEMORY_COLUMNS.first),
        ("colour title used title", (TITLE, "used")),
    ],
)
def test_what_was_kept_is_read_without_what_there_is_not(kept: str | None, expected: tuple[str, ...]) -> None:
    assert MEMORY_COLUMNS.chosen(kept) == expected


@pytest.mark.parametrize("columns", _ALL_LISTS, ids=lambda columns: columns.name)
def test_the_header_of_every_list_fills_every_width_and_names_the_main_column(columns: Columns[object]) -> None:
    for names in (columns.first, tuple(columns.all)):
        for width in range(30, 240, 7):
            pieces = list(columns.header(names, width))
            assert sum(cell_len(text) for _, text in pieces) == width
            assert columns.main in [name for name, _ in pieces]


@pytest.mark.parametrize("columns", _ALL_LISTS, ids=lambda columns: columns.name)
def test_what_a_list_shows_first_are_columns_of_it_with_the_main_one(columns: Columns[object]) -> None:
    assert set(columns.first) <= set(columns.all)
    assert columns.main in columns.first
    assert columns.staying in columns.first


@pytest.mark.parametrize("section", _SORTED, ids=lambda section: section.__name__)
def test_every_order_of_a_column_is_one_of_its_list(section: type[ListSection]) -> None:  # type: ignore[type-arg]
    assert section.COLUMNS is not None
    orders = [order for column in section.COLUMNS.all.values() for order in column.orders]
    assert orders
    assert set(orders) <= set(section.ORDERS)


@pytest.mark.parametrize("columns", [ITEM_COLUMNS, SKIP_COLUMNS], ids=lambda columns: columns.name)
def test_columns_are_narrowed_before_one_that_was_switched_on_is_left_out(columns: Columns[object]) -> None:
    for added in set(columns.all) - set(columns.first):
        names = (*columns.first, added)
        cells_of = {name: cell_len(text) for name, text in columns.header(names, 81) if name}
        assert added in cells_of
        assert cells_of[columns.main] >= columns.least_main


def test_the_columns_that_a_row_has_no_room_for_are_named() -> None:
    names = (*ITEM_COLUMNS.first, "status", "tags", "namespace")
    assert ITEM_COLUMNS.without_room(names, 200) == []
    assert ITEM_COLUMNS.without_room(names, 81) == ["namespace"]


def test_a_column_with_a_part_of_its_row_has_that_where_all_have_room() -> None:
    cells_of = {name: cell_len(text) for name, text in ITEM_COLUMNS.header(ITEM_COLUMNS.first, 150)}
    assert cells_of["next"] == int(150 * 0.38)


def test_every_end_of_a_skip_fits_its_column_and_its_header_begins_where_the_time_does() -> None:
    now = clock.now()
    spans = [timedelta(seconds=3), timedelta(minutes=59), timedelta(hours=23), timedelta(days=2), timedelta(days=13)]
    spans += [timedelta(days=55), timedelta(days=360), timedelta(days=9_999), timedelta(days=365 * 1_900)]
    texts = [format_expiry(now + sign * span, now)[0] for span in spans for sign in (1, -1)]
    column = SKIP_COLUMNS.all["ends"]
    assert max(cell_len(text) for text in texts) <= column.width.fewest
    assert {text[:2] for text in texts} == {"  ", "< ", "x "}
    assert (column.label[:2], column.label[2:]) == ("  ", "ends")


@pytest.mark.parametrize(
    ("priority", "shown"),
    [
        (0, "0"),
        (-999, "-999"),
        (-1_500, "-1k"),
        (1_999, "1k"),
        (9_999, "9k"),
        (10_000, ">9k"),
        (-9_999, "-9k"),
        (-10_000, "<-9k"),
    ],
)
def test_a_priority_of_thousands_is_rounded_towards_zero_and_never_cut(priority: int, shown: str) -> None:
    item = WorkingItem(id="w-1", title="An item", created_at=clock.now(), updated_at=clock.now(), priority=priority)
    assert ITEM_COLUMNS.all["priority"].text(item, clock.now()) == shown.rjust(4)


def test_an_action_of_the_journal_is_shown_whole_or_not_at_all() -> None:
    def cells_of_action(width: int) -> int:
        header = ENTRY_COLUMNS.header(ENTRY_COLUMNS.first, width)
        return next((cell_len(text) for name, text in header if name == "action"), 0)

    assert cells_of_action(120) > cells_of_action(67) >= len("contradiction")
    assert cells_of_action(50) >= len("contradiction")
    assert cells_of_action(45) == 0
