"""The app on a disk that nothing can be written to: figures and texts are shown, every change is answered in words."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import memento_tui
from memento_tui.tui.sections.home import HomeSection
from tests.disks import small_disk
from tests.made import without_engine
from tests.tui.app_driver import opened

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="disks are mounted as Linux does it")


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk") as disk:
        with memento_tui.open(without_engine(disk.path / "data")) as workspace:
            workspace.remember("The port is 8080.")
            workspace.search("port", mode="keyword")
        disk.make_read_only()
        yield disk.path / "data"


@pytest.mark.parametrize("keys", [("n", "x", "ctrl+s"), ("e", "x", "ctrl+s"), ("d",), ("a",), ("i",)])
async def test_a_change_is_answered_with_a_sentence_and_the_app_goes_on(data: Path, keys: tuple[str, ...]) -> None:
    async with opened(data) as driver:
        await driver.until(lambda: driver.current == "The port is 8080.", "the memory is listed")
        await driver.press(*keys)
        await driver.until(lambda: "read-only, so nothing can be written" in driver.told, "it says why")
        assert driver.app.workspace.activity.head() == 1
        assert driver.app.workspace.count_all() == 1


async def test_home_shows_its_figures_and_a_search_finds(data: Path) -> None:
    async with opened(data, start="home") as driver:
        board = driver.app.screen.query_one(HomeSection).board
        await driver.until(lambda: "1 memory" in str(board.render()), "the memories are counted")
        await driver.until(lambda: "1 journal entries" in str(board.render()), "the database is in order")
        await driver.press("2", "slash", *"8080")
        await driver.until(lambda: driver.current == "The port is 8080.", "it is found")
