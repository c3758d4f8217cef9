from __future__ import annotations

import subprocess
import sys

import pytest
from rich.cells import cell_len
from textual import events
from textual.app import App, ComposeResult

from memento_tui.tui.widgets.paged_rows import PAGE_SIZE
from memento_tui.tui.widgets.record_list import GUTTER_WIDTH, RecordList
from tests.tui.fake_rows import FakeListApp, FakeRow, FakeRows, draw_title, settle

MILLION = 1_000_000
SIZE = (60, 20)


async def test_the_first_page_of_a_million_rows_is_painted_before_anything_is_read() -> None:
    app = FakeListApp(FakeRows(MILLION))
    app.source.may_answer.set()
    async with app.run_test(size=SIZE):
        assert app.lines()[0] == ">  title of r0"
        assert app.lines()[19] == "   title of r19"
        assert app.rows.total == MILLION


async def test_rows_that_were_set_before_the_list_is_mounted_are_in_its_first_frame() -> None:
    source = FakeRows(500)

    class EarlyApp(App[None]):
        def compose(self) -> ComposeResult:
            self.rows: RecordList[FakeRow] = RecordList(draw_title)
            self.rows.set_rows(source.first_page(), 500, source, select="r70")
            yield self.rows

    app = EarlyApp()
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert app.rows.current == FakeRow("r70", "title of r70")
        assert app.rows.first_visible == 51


@pytest.mark.parametrize(
    ("keys", "index"),
    [
        ("down", 1),
        ("j j j k", 2),
        ("down up up", 0),
        ("pagedown", 20),
        ("pagedown pageup", 0),
        ("ctrl+d ctrl+d ctrl+u", 10),
        ("end", MILLION - 1),
        ("G k", MILLION - 2),
        ("G g", 0),
        ("end down", MILLION - 1),
        ("end home", 0),
    ],
)
async def test_keys_move_the_cursor(keys: str, index: int) -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(*keys.split())
        await settle(pilot)
        assert app.rows.cursor == index
        assert app.rows.current == app.source.row(index)
        assert app.lines()[app.cursor_line()] == f">  title of r{index}"
        assert app.highlighted()[-1] == f"r{index}"


async def test_paging_leaves_the_cursor_on_its_line_of_the_screen() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("down", "down", "down", "pagedown")
        assert (app.rows.cursor, app.cursor_line()) == (23, 3)
        await pilot.press("ctrl+d")
        assert (app.rows.cursor, app.cursor_line()) == (33, 3)


async def test_the_end_of_a_million_rows_is_reached_without_reading_what_lies_between() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("end")
        await settle(pilot)
        assert app.lines()[-1] == ">  title of r999999"
        assert set(app.source.pages_read) <= {100, 999_800, 999_900}


async def test_rows_that_are_not_read_yet_are_held_a_place() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.source.may_answer.clear()
        await pilot.press("end")
        assert app.lines() == ["   ..."] * 19 + [">  ..."]
        assert app.rows.current is None
        assert app.highlighted() == ["r0"]
        app.source.may_answer.set()
        await settle(pilot)
        assert app.lines()[-1] == ">  title of r999999"
        assert app.highlighted() == ["r0", "r999999"]


async def test_what_the_reader_has_scrolled_past_is_never_read() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.source.pages_read.clear()
        app.source.may_answer.clear()
        for index in range(10_050, 100_000, 10_000):
            app.rows.cursor = index
            await pilot.pause()
        app.source.may_answer.set()
        await settle(pilot)
        first, *rest = app.source.pages_read
        assert first == 10_000
        assert sorted(rest) == [89_900, 90_000, 90_100]


async def test_pages_at_hand_stay_few_however_far_one_scrolls() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        for page in range(120):
            app.rows.cursor = page * PAGE_SIZE
            await app.workers.wait_for_complete()
        await settle(pilot)
        assert len(app.source.pages_read) >= 119
        assert len(app.rows._pages) <= 50
        assert app.lines()[app.cursor_line()] == ">  title of r11900"


async def test_a_page_is_read_once() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(*["pagedown"] * 12, *["pageup"] * 12)
        await settle(pilot)
        assert sorted(app.source.pages_read) == [100, 200, 300]


async def test_a_first_page_that_is_short_is_shown_and_completed() -> None:
    source = FakeRows(MILLION)
    app = FakeListApp(source)
    async with app.run_test(size=SIZE) as pilot:
        app.rows.set_rows(source.first_page()[:20], MILLION, source)
        assert app.lines()[-1] == "   title of r19"
        await settle(pilot)
        assert sorted(set(source.pages_read)) == [0, 100]
        await pilot.press("pagedown")
        assert app.lines()[-1] == "   title of r39"


async def test_rows_that_arrive_above_leave_the_reader_with_the_same_rows() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("pagedown", "down", "down")
        before = app.lines()
        app.rows.refresh_rows(FakeRows(MILLION, arrived=3))
        await settle(pilot)
        assert app.lines() == before
        assert (app.rows.cursor, app.rows.first_visible, app.rows.total) == (25, 23, MILLION + 3)
        refreshed = app.last(RecordList.Refreshed)
        assert isinstance(refreshed, RecordList.Refreshed)
        assert refreshed.moved == 3


async def test_rows_that_arrive_at_the_top_wait_above_it() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        app.rows.refresh_rows(FakeRows(MILLION, arrived=2))
        await settle(pilot)
        assert app.lines()[0] == ">  title of r0"
        assert app.rows.first_visible == 2
        await pilot.press("home")
        assert app.lines()[:3] == [">  title of n1", "   title of n0", "   title of r0"]


async def test_a_reader_who_scrolled_away_from_the_cursor_is_held_by_the_row_at_the_top() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        app.rows.scroll_to(y=5_000, animate=False)
        await settle(pilot)
        before = app.lines()
        app.rows.refresh_rows(FakeRows(MILLION, arrived=7, gone=[100]))
        await settle(pilot)
        assert app.lines() == before
        assert (app.rows.first_visible, app.rows.cursor) == (5_006, 7)
        assert app.rows.current == FakeRow("r0", "title of r0")


async def test_where_the_selected_row_is_gone_the_one_that_follows_takes_its_place() -> None:
    app = FakeListApp(FakeRows(300))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("pagedown", "down")
        app.rows.refresh_rows(FakeRows(300, gone=[21]))
        await settle(pilot)
        assert (app.rows.cursor, app.cursor_line()) == (21, 1)
        assert app.highlighted()[-1] == "r22"


async def test_where_rows_around_the_selected_one_go_with_it_none_that_is_left_is_passed_over() -> None:
    app = FakeListApp(FakeRows(300))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("pagedown", "down")
        app.rows.refresh_rows(FakeRows(300, gone=[18, 19, 21, 22]))
        await settle(pilot)
        assert app.highlighted()[-1] == "r23"
        assert app.rows.cursor == 19


async def test_where_the_last_row_is_gone_the_one_before_it_is_selected() -> None:
    app = FakeListApp(FakeRows(300))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("end")
        await settle(pilot)
        app.rows.refresh_rows(FakeRows(300, gone=[299]))
        await settle(pilot)
        assert app.highlighted()[-1] == "r298"
        assert app.lines()[-1] == ">  title of r298"


@pytest.mark.parametrize(
    ("count", "index", "following", "last"), [(250, 99, "r100", "r119"), (250, 249, "r248", "r248")]
)
async def test_a_row_that_is_left_out_gives_its_place_to_the_next_before_anything_is_read(
    count: int, index: int, following: str, last: str
) -> None:
    app = FakeListApp(FakeRows(count))
    async with app.run_test(size=SIZE) as pilot:
        app.rows.cursor = index
        await settle(pilot)
        app.rows.scroll_to(y=max(index, 1), animate=False)
        await settle(pilot)
        announced = app.highlighted()
        left_out = app.rows.current
        assert app.rows.remove_current() == FakeRow(following, f"title of {following}")
        assert app.rows.total == count - 1
        assert left_out is not None
        assert f"   {left_out.title}" not in app.lines()
        assert app.lines()[app.cursor_line()] == f">  title of {following}"
        assert app.lines()[-1].endswith(f"title of {last}")
        app.source.gone = [index]
        app.rows.refresh_rows(app.source)
        await settle(pilot)
        assert app.lines()[app.cursor_line()] == f">  title of {following}"
        assert app.highlighted() == announced


async def test_where_the_only_row_is_left_out_that_is_told() -> None:
    app = FakeListApp(FakeRows(1))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert app.rows.remove_current() is None
        await settle(pilot)
        assert app.rows.total == 0
        assert app.highlighted() == ["r0", None]
        assert app.rows.remove_current() is None


async def test_where_all_rows_are_gone_that_is_told() -> None:
    app = FakeListApp(FakeRows(3))
    async with app.run_test(size=SIZE) as pilot:
        app.rows.refresh_rows(FakeRows(3, gone=[0, 1, 2]))
        await settle(pilot)
        assert app.highlighted() == ["r0", None]
        assert app.lines() == [""] * 20
        await pilot.press("down", "end", "pagedown", "space", "v", "enter")
        assert app.rows.cursor == 0


async def test_a_row_that_changed_under_the_cursor_is_announced_again() -> None:
    app = FakeListApp(FakeRows(300))
    async with app.run_test(size=SIZE) as pilot:
        app.rows.refresh_rows(FakeRows(300, title="new title of"))
        await settle(pilot)
        assert app.highlighted() == ["r0", "r0"]
        assert app.lines()[0] == ">  new title of r0"


async def test_a_reader_who_moves_during_a_refresh_is_not_moved_back() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        later = FakeRows(MILLION, arrived=4)
        later.may_answer.clear()
        app.rows.refresh_rows(later)
        await pilot.press("down", "down")
        later.may_answer.set()
        await settle(pilot)
        assert app.rows.current == FakeRow("r2", "title of r2")
        assert (app.rows.cursor, app.cursor_line()) == (6, 2)


async def test_refreshes_asked_for_during_a_refresh_count_as_one() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.source.may_answer.clear()
        for _ in range(50):
            app.rows.refresh_rows()
            await pilot.pause()
        app.source.may_answer.set()
        await settle(pilot)
        assert len([message for message in app.received if isinstance(message, RecordList.Refreshed)]) == 2


async def test_a_refresh_can_go_to_a_row() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        app.rows.refresh_rows(FakeRows(MILLION, arrived=1), select="r5000")
        await settle(pilot)
        assert app.rows.cursor == 5_001
        assert app.lines()[-1] == ">  title of r5000"


async def test_what_was_read_for_an_earlier_query_is_dropped() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.source.may_answer.clear()
        await pilot.press("end")
        other = FakeRows(MILLION, title="other")
        app.rows.set_rows(other.first_page(), MILLION, other)
        app.source.may_answer.set()
        await settle(pilot)
        await pilot.press("end")
        await settle(pilot)
        assert app.lines()[-1] == ">  other r999999"


async def test_rows_that_cannot_be_read_are_told_of_and_asked_for_again() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.source.is_broken = True
        await pilot.press("end")
        await settle(pilot)
        failed = app.last(RecordList.LoadFailed)
        assert isinstance(failed, RecordList.LoadFailed)
        assert failed.error.message == "The disk is gone."
        assert app.lines()[-1] == ">  ..."
        app.source.is_broken = False
        await pilot.press("pageup")
        await settle(pilot)
        assert app.lines()[app.cursor_line()] == ">  title of r999979"


async def test_a_refresh_that_fails_leaves_the_rows_that_were_there() -> None:
    app = FakeListApp(FakeRows(300))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        before = app.lines()
        app.source.is_broken = True
        app.rows.refresh_rows()
        await settle(pilot)
        assert isinstance(app.received[-1], RecordList.LoadFailed)
        assert app.lines() == before


async def test_a_refresh_asked_for_during_a_read_that_fails_is_done() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.source.is_broken = True
        app.source.may_answer.clear()
        await pilot.press("end")
        app.rows.refresh_rows(FakeRows(MILLION, title="mended"))
        app.source.may_answer.set()
        await settle(pilot)
        await settle(pilot)
        assert app.lines()[-1] == ">  mended r999999"


async def test_marks_are_kept_by_identity() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("space", "down", "space", "space", "up", "space")
        assert app.rows.marks == {"r0", "r2"}
        app.rows.refresh_rows(FakeRows(MILLION, arrived=1))
        await settle(pilot)
        await pilot.press("home")
        assert app.lines()[:4] == [">  title of n0", " * title of r0", "   title of r1", " * title of r2"]
        other = FakeRows(1)
        app.rows.set_rows(other.first_page(), 1, other)
        assert app.lines()[0] == ">* title of r0"
        assert app.rows.marks == {"r0", "r2"}
        app.rows.clear_marks()
        assert app.lines()[0] == ">  title of r0"


async def test_a_range_is_marked_from_where_it_was_begun_to_the_cursor() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("down", "down", "v", "up", "up")
        assert app.lines()[:4] == [">+ title of r0", " + title of r1", " + title of r2", "   title of r3"]
        await pilot.press("v")
        assert not app.rows.is_ranging
        assert app.rows.marks == {"r0", "r1", "r2"}
        assert app.lines()[:4] == [">* title of r0", " * title of r1", " * title of r2", "   title of r3"]


async def test_a_range_may_hold_rows_that_were_never_shown() -> None:
    app = FakeListApp(FakeRows(5_000))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("down", "v", "end")
        await settle(pilot)
        await pilot.press("space")
        await settle(pilot)
        assert app.rows.marks == {f"r{number}" for number in range(1, 5_000)}
        assert isinstance(app.received[-1], RecordList.MarksChanged)


async def test_a_range_moves_with_its_rows() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("down", "v", "down")
        app.rows.refresh_rows(FakeRows(MILLION, arrived=10))
        await settle(pilot)
        await pilot.press("v")
        assert app.rows.marks == {"r1", "r2"}


async def test_escape_leaves_the_range_and_is_otherwise_not_taken() -> None:
    app = FakeListApp(FakeRows(300))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("v", "down", "escape")
        assert app.lines()[:2] == ["   title of r0", ">  title of r1"]
        assert (app.rows.is_ranging, app.rows.marks, app.escapes) == (False, frozenset(), 0)
        await pilot.press("escape")
        assert app.escapes == 1


async def test_a_flood_of_cursor_moves_is_announced_as_its_last() -> None:
    app = FakeListApp(FakeRows(300))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for index in range(1, 50):
            app.rows.cursor = index
        await settle(pilot)
        assert app.highlighted() == ["r0", "r49"]


async def test_enter_is_left_to_the_owner_of_the_list() -> None:
    app = FakeListApp(FakeRows(300))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("down", "enter")
        assert app.entered == ["r1"]


async def test_a_click_selects_and_a_double_click_is_as_good_as_enter() -> None:
    app = FakeListApp(FakeRows(300))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("pagedown")
        await pilot.click(app.rows, offset=(10, 4))
        assert app.rows.cursor == 24
        assert app.entered == []
        await pilot.double_click(app.rows, offset=(10, 7))
        await pilot.pause()
        assert app.entered == ["r27"]


async def test_a_click_below_the_last_row_does_nothing() -> None:
    app = FakeListApp(FakeRows(3))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.click(app.rows, offset=(10, 9))
        assert app.rows.cursor == 0


async def test_the_wheel_scrolls_and_leaves_the_cursor() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        wheel = events.MouseScrollDown(app.rows, 5, 5, 0, 1, 0, shift=False, meta=False, ctrl=False)
        app.rows.post_message(wheel)
        await settle(pilot)
        assert app.rows.first_visible > 0
        assert app.rows.cursor == 0
        await pilot.press("down")
        assert app.lines()[0] == ">  title of r1"


async def test_a_smaller_screen_still_shows_the_cursor() -> None:
    app = FakeListApp(FakeRows(MILLION))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(*["down"] * 15)
        await pilot.resize_terminal(30, 6)
        await settle(pilot)
        assert app.cursor_line() == 5
        await pilot.resize_terminal(100, 50)
        await settle(pilot)
        assert app.lines()[app.cursor_line()] == ">  title of r15"


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 6, 7, 20, 41])
async def test_no_line_is_torn_at_any_width(width: int) -> None:
    app = FakeListApp(FakeRows(300, title="漢字👨\u200d👩\u200d👧かな\x1b[2Je\u0301 한국어 title"))
    async with app.run_test(size=(width, 8)):
        lines = [strip.text for strip in app.rows.render_lines(app.rows.size.region)]
        assert {cell_len(line) for line in lines} == {app.rows.size.width}


async def test_hostile_text_in_a_row_is_made_safe() -> None:
    app = FakeListApp(FakeRows(300, title="[/nope] [@click=app.quit]x \x1b[2J"))
    async with app.run_test(size=SIZE):
        assert app.lines()[1] == "   [/nope] [@click=app.quit]x <ESC>[2J r1"


async def test_rows_of_two_lines_scroll_as_one() -> None:
    app = FakeListApp(FakeRows(MILLION), row_height=2)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(*["down"] * 10)
        assert app.lines()[:2] == ["   title of r1", "   second line"]
        assert app.lines()[-2:] == [">  title of r10", "   second line"]
        app.rows.row_height = 1
        await settle(pilot)
        assert app.lines()[:2] == ["   title of r1", "   title of r2"]
        assert app.cursor_line() == 9
        app.rows.row_height = 2
        await settle(pilot)
        assert app.lines()[-2:] == [">  title of r10", "   second line"]


async def test_a_scrollbar_appears_when_there_is_more_than_fits() -> None:
    app = FakeListApp(FakeRows(0))
    async with app.run_test(size=SIZE) as pilot:
        assert (app.rows.show_vertical_scrollbar, app.rows.scroll_y) == (False, 0)
        many = FakeRows(MILLION)
        app.rows.set_rows(many.first_page(), MILLION, many)
        await settle(pilot)
        assert (app.rows.show_vertical_scrollbar, app.rows.vertical_scrollbar.window_virtual_size) == (True, MILLION)
        app.rows.scroll_end(animate=False)
        few = FakeRows(5)
        app.rows.set_rows(few.first_page(), 5, few)
        await settle(pilot)
        assert (app.rows.show_vertical_scrollbar, app.rows.scroll_y) == (False, 0)


async def test_the_cursor_and_marks_are_letters_and_not_only_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = FakeListApp(FakeRows(300))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("space")
        assert [line[:GUTTER_WIDTH] for line in app.lines()[:2]] == [" * ", ">  "]


async def test_the_cursor_has_a_background_of_its_own_that_tells_whether_the_list_has_the_focus() -> None:
    app = FakeListApp(FakeRows(300))
    async with app.run_test(size=SIZE) as pilot:

        def backgrounds() -> list[object]:
            strips = app.rows.render_lines(app.rows.size.region)[:2]
            return [segment.style and segment.style.bgcolor for strip in strips for segment in list(strip)[:1]]

        focused, other = backgrounds()
        app.set_focus(None)
        await pilot.pause()
        assert len({focused, other, backgrounds()[0]}) == 3


def test_the_list_does_not_import_what_would_delay_the_first_paint() -> None:
    heavy = [
        "markdown_it",
        "textual.widgets._markdown",
        "textual.widgets._text_area",
        "tree_sitter",
        "tantivy",
        "torch",
    ]
    program = "import sys, memento_tui.tui.widgets.record_list; print([n for n in sys.argv[1:] if n in sys.modules])"
    command = [sys.executable, "-c", program, *heavy]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - this interpreter
    assert ran.stdout.strip() == "[]"
