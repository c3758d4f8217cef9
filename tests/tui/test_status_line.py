"""The line at the bottom: a problem stays until the person has read it and gone on."""

from __future__ import annotations

from pathlib import Path

import pytest

import memento_tui
from memento_tui.tui.widgets import bars
from tests.tui.app_driver import opened


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The one moment that the line reads, for a test to change."""
    now = [100.0]
    monkeypatch.setattr(bars, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def filled(data_dir: Path) -> Path:
    """A directory with three memories and two working items."""
    with memento_tui.open(data_dir) as workspace:
        for name in ("first", "second", "third"):
            workspace.remember(f"The {name} text.")
        workspace.items.create("The first item")
        workspace.items.create("The second item")
    return data_dir


async def test_a_problem_with_a_row_is_gone_on_the_next_row_once_it_could_be_read(
    filled: Path, seconds: list[float]
) -> None:
    async with opened(filled) as driver:
        line = driver.app.query_one(bars.StatusLine)
        await driver.press("r")
        assert "is not deleted" in str(line.render())
        await driver.press("j")
        assert "is not deleted" in str(line.render()), "it could not be read yet"
        seconds[0] += 100
        await driver.press("j")
        assert "is not deleted" not in str(line.render())


async def test_a_problem_of_two_lines_begins_below_itself(data_dir: Path) -> None:
    async with opened(data_dir, (60, 24)) as driver:
        line = driver.app.query_one(bars.StatusLine)
        driver.app.show_status("A sentence that is much longer than the line has room for, " * 2, problem=True)
        await driver.until(lambda: line.size.height > 1, "two lines")
        assert line.content_region.x == 1, "both stand a cell from the edge"
        assert all(line.render_line(y).text[0] != " " for y in (0, 1))
        driver.app.show_status("Short.")
        await driver.until(lambda: line.size.height == 1, "one line")
        assert line.content_region.x == 0
        assert line.render_line(0).text.startswith(" Short.")


async def test_what_was_done_stays_said_on_the_next_row(filled: Path, seconds: list[float]) -> None:
    async with opened(filled) as driver:
        line = driver.app.query_one(bars.StatusLine)
        await driver.press("d")
        seconds[0] += 100
        await driver.press("j")
        assert "z undoes" in str(line.render())


async def test_a_message_of_another_section_is_gone_once_it_could_be_read(filled: Path, seconds: list[float]) -> None:
    async with opened(filled) as driver:
        line = driver.app.query_one(bars.StatusLine)
        await driver.press("d", "4", "j")
        assert "z undoes" in str(line.render()), "it could not be read yet"
        seconds[0] += 100
        await driver.press("k")
        assert "z undoes" not in str(line.render())
