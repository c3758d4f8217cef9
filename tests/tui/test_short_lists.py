"""A short list on a tall screen: rows of several lines, and below them what was done lately."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.tui.sections.list_section import ListSection
from tests.made import without_engine
from tests.tui.app_driver import Driver, opened
from tests.tui.made_lists import NOW, put_items, put_skips
from tests.unit.cli_program import Program

TALL = (220, 60)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory with skips and working items, and a clock that stands."""
    monkeypatch.setattr(clock, "now", lambda: NOW)
    return put_skips(put_items(without_engine(tmp_path / "data")))


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    """A data directory in which a memory from outside waits."""
    place = without_engine(tmp_path / "data")
    with Workspace(place, actor="agent", agent="codex") as agent:
        agent.remember("It was painted in green by those who came.", title="The door", source_type="external")
    return place


def _section(driver: Driver) -> ListSection:  # type: ignore[type-arg]
    section = driver.app.section
    assert isinstance(section, ListSection)
    return section


def _lines(driver: Driver, row: int = 0) -> list[str]:
    """Return the lines of a row as they stand on the screen."""
    rows = _section(driver).list
    top = row * rows.row_height
    return [rows.render_line(y).text.strip() for y in range(top, top + rows.row_height)]


async def test_a_skip_says_its_whole_reason_below_where_the_list_has_room(folder: Path) -> None:
    async with opened(folder, TALL, "skips") as driver:
        await driver.until(lambda: _section(driver).list.row_height > 1, "rows of several lines")
        await driver.press("G")
        first, reason, *_, blank = _lines(driver, _section(driver).list.total - 1)
        assert "deploying on a Friday" in first
        assert "a person said so" not in first
        assert reason == "a person said so"
        assert blank == ""
        header = str(_section(driver).columns.header.render())
        assert "what to skip" in header
        assert "why" not in header


async def test_a_working_item_says_its_next_action_and_its_text_below(folder: Path) -> None:
    async with opened(folder, TALL, "working") as driver:
        await driver.until(lambda: _section(driver).list.row_height > 1, "rows of several lines")
        title, then, text, _ = _lines(driver)
        assert "Move the users to /v3" in title
        assert then == "-> write the migration and try it on the copy"
        assert text.startswith("The old table keeps the names in two columns.")


async def test_the_text_of_an_item_in_a_group_stands_below_its_headline(waiting: Path) -> None:
    async with opened(waiting, TALL, "review") as driver:
        await driver.until(lambda: _section(driver).list.row_height > 1, "rows of several lines")
        await driver.press("F")
        rows = _section(driver).list
        top = next(y for y in range(rows.size.height) if "The door" in rows.render_line(y).text)
        headline, below = (rows.render_line(y).text for y in (top, top + 1))
        assert below.index("It was painted") == headline.index("The door")


async def test_rows_have_one_line_on_a_screen_that_is_not_tall(folder: Path) -> None:
    async with opened(folder, (120, 32), "skips") as driver:
        assert _section(driver).list.row_height == 1
        assert not _section(driver).lately.display
        assert "why" in str(_section(driver).columns.header.render())


async def test_the_columns_that_were_chosen_stay_chosen_while_the_text_stands_below(folder: Path) -> None:
    async with opened(folder, TALL, "skips") as driver:
        await driver.until(lambda: _section(driver).list.row_height > 1, "rows of several lines")
        columns = _section(driver).columns
        assert columns.here is not None
        assert "why" in columns.chosen(columns.here)


async def test_rows_do_not_grow_while_a_filter_is_typed_or_an_agent_writes(folder: Path) -> None:
    with Workspace(folder) as workspace:
        for number in range(30):
            workspace.skips.add(f"number {number}", "one of many", NOW.replace(year=NOW.year + 1))
    async with opened(folder, TALL, "skips") as driver:
        rows = _section(driver).list
        assert rows.row_height == 1
        await driver.press("slash")
        await driver.type("vendor")
        assert rows.total == 1
        assert rows.row_height == 1
        await driver.press("escape", "escape")
        await driver.until(lambda: rows.total > 1, "all skips again")
        assert rows.row_height == 1


async def test_a_new_size_gives_the_rows_the_lines_that_it_has_room_for(folder: Path) -> None:
    async with opened(folder, (120, 32), "skips") as driver:
        rows = _section(driver).list
        await driver.pilot.resize_terminal(*TALL)
        await driver.until(lambda: rows.row_height > 1, "rows of several lines")
        await driver.pilot.resize_terminal(80, 24)
        await driver.until(lambda: rows.row_height == 1, "rows of one line")


async def test_a_terminal_that_grows_shows_every_row_whole_above_what_was_done_lately(folder: Path) -> None:
    async with opened(folder, (80, 24), "skips") as driver:
        rows, lately = _section(driver).list, _section(driver).lately
        await driver.pilot.resize_terminal(*TALL)
        await driver.until(lambda: rows.row_height > 1 and lately.display, "rows of several lines above what was done")
        await driver.until(lambda: rows.size.height >= rows.total * rows.row_height, "room for every row")


async def test_what_was_done_lately_to_skips_stands_below_them_and_follows_the_journal(folder: Path) -> None:
    async with opened(folder, TALL, "skips") as driver:
        lately = _section(driver).lately
        await driver.until(lambda: lately.display, "what was done lately")
        rows = _section(driver).list
        assert lately.region.y >= rows.region.y + rows.total * rows.row_height
        with Workspace(folder, actor="agent", channel="mcp", agent="codex") as agent:
            agent.remember("The port of the API is 9090 since the move.")
            agent.items.create("Move the port")
            agent.skips.add("the old port", "It moved.", NOW.replace(year=NOW.year + 1))
        await driver.until(lambda: "the old port" in str(lately.render()), "the agent's skip")
        told = str(lately.render())
        assert "codex" in told
        assert "9090" not in told, "a memory"
        assert "Move the port" not in told, "a working item"


async def test_what_was_written_with_records_of_another_kind_is_not_called_by_the_name_of_one(tmp_path: Path) -> None:
    source, target = without_engine(tmp_path / "source"), without_engine(tmp_path / "target")
    with Workspace(source) as workspace:
        workspace.remember("The port of the API is 9090.")
        workspace.items.create("Move the port")
    file = tmp_path / "all.jsonl"
    assert Program(source).run("export", str(file)).code == 0
    assert Program(target).run("import", str(file)).code == 0
    async with opened(target, TALL, "working") as driver:
        lately = _section(driver).lately
        await driver.until(lambda: lately.display, "what was done lately")
        assert "2 records, these among them" in str(lately.render())
        assert "9090" not in str(lately.render())


async def test_the_board_has_the_whole_pane(folder: Path) -> None:
    async with opened(folder, TALL, "working") as driver:
        lately = _section(driver).lately
        await driver.until(lambda: lately.display, "what was done lately")
        await driver.press("b")
        await driver.until(lambda: not lately.display, "the board alone")
        await driver.press("b")
        await driver.until(lambda: lately.display, "what was done lately again")


async def test_nothing_stands_below_what_a_filter_found_as_if_it_were_found_too(folder: Path) -> None:
    async with opened(folder, TALL, "skips") as driver:
        lately = _section(driver).lately
        await driver.until(lambda: lately.display, "what was done lately")
        await driver.press("slash")
        await driver.type("friday")
        await driver.until(lambda: not lately.display, "the list alone")
        await driver.press("escape")
        await driver.until(lambda: lately.display, "what was done lately again")


async def test_below_the_working_items_stands_what_was_done_to_them(folder: Path) -> None:
    async with opened(folder, TALL, "working") as driver:
        lately = _section(driver).lately
        await driver.until(lambda: lately.display, "what was done lately")
        assert "deploying on a Friday" not in str(lately.render()), "a skip"


async def test_a_list_that_grows_takes_its_lines_back_from_what_was_done_lately(folder: Path) -> None:
    async with opened(folder, TALL, "skips") as driver:
        rows, lately = _section(driver).list, _section(driver).lately
        await driver.until(lambda: lately.display, "what was done lately")
        before, height = rows.size.height, rows.row_height
        with Workspace(folder) as elsewhere:
            elsewhere.skips.add("one more", "to see it", NOW.replace(year=NOW.year + 1))
        await driver.until(lambda: rows.size.height >= before + height, "room for one more row")
        assert rows.row_height == height
