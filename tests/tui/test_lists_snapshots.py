"""Pictures of the work and of the skips. Each test says what to look for when its picture changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.tui.app import MementoApp
from tests.made import without_engine
from tests.tui.made_lists import NOW, put_items, put_skips

Compare = Callable[..., bool]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory that is called the same in every picture, and a clock that stands."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(clock, "now", lambda: NOW)
    return without_engine(tmp_path / "memories")


@pytest.fixture
def picture(snap_compare: Compare, folder: Path) -> Callable[..., bool]:
    """Takes a picture of a section."""

    def take(
        start: str,
        press: tuple[str, ...] = (),
        size: tuple[int, int] = (120, 32),
        *,
        theme: str = "",
        empty: bool = False,
    ) -> bool:
        if not empty:
            (put_items if start == "working" else put_skips)(folder)
        with Workspace(folder, channel="tui", session="picture") as workspace:
            app = MementoApp(workspace, start)
            if theme:
                app.theme = theme
            return snap_compare(app, terminal_size=size, press=press)

    return take


def test_working_wide(picture: Callable[..., bool]) -> None:
    """Aligned columns, ages at the right edge; beside them the item in full with its history."""
    assert picture("working")


def test_working_ultra_wide(picture: Callable[..., bool]) -> None:
    """200 cells: the titles and next actions take the room; nothing floats apart."""
    assert picture("working", (), (200, 40))


def test_working_narrow(picture: Callable[..., bool]) -> None:
    """80 x 24: priority, category, title, next action and age in straight columns, the item below."""
    assert picture("working", ("j",), (80, 24))


def test_working_hostile(picture: Callable[..., bool]) -> None:
    """The last open row: placeholders, a ! badge, straight columns; the side warns."""
    assert picture("working", ("G",))


def test_working_light(picture: Callable[..., bool]) -> None:
    """Everything legible on a light ground."""
    assert picture("working", theme="textual-light")


def test_working_finished(picture: Callable[..., bool]) -> None:
    """What is done at the end, muted, with its status in words."""
    assert picture("working", ("f", "G"))


def test_working_empty(picture: Callable[..., bool]) -> None:
    """A sentence that says what to do next, with the line for the command line."""
    assert picture("working", (), (80, 24), empty=True)


def test_board_wide(picture: Callable[..., bool]) -> None:
    """Four columns side by side with their counts, one cursor, the item in full below."""
    assert picture("working", ("b", "l"))


def test_board_narrow(picture: Callable[..., bool]) -> None:
    """80 x 24: the columns one below the other, the one with the cursor taller."""
    assert picture("working", ("b",), (80, 24))


def test_board_light(picture: Callable[..., bool]) -> None:
    """The board on a light ground; the active column is named in brackets, not by colour alone."""
    assert picture("working", ("b", "l", "l"), theme="textual-light")


def test_choosing_a_category(picture: Callable[..., bool]) -> None:
    """Four lines, each with its number and letter; the present one says so."""
    assert picture("working", ("c",), (100, 24))


def test_working_form(picture: Callable[..., bool]) -> None:
    """The fields of an item below one another, in plain words."""
    assert picture("working", ("e",))


def test_skips_wide(picture: Callable[..., bool]) -> None:
    """Soonest to end first, the two that end soon marked with < and the word; the hits at the right edge."""
    assert picture("skips", ("j",))


def test_skips_ultra_wide(picture: Callable[..., bool]) -> None:
    """200 x 50: item and reason whole, the hits at the right edge."""
    assert picture("skips", ("j",), size=(200, 50))


def test_skips_narrow(picture: Callable[..., bool]) -> None:
    """80 x 24: until when, what, why and hits in straight columns, the skip below."""
    assert picture("skips", ("j", "j"), (80, 24))


def test_skips_ended(picture: Callable[..., bool]) -> None:
    """The one that is over at the end, muted, with x and the word."""
    assert picture("skips", ("f", "G"))


def test_skips_light(picture: Callable[..., bool]) -> None:
    """Everything legible on a light ground."""
    assert picture("skips", theme="textual-light")


def test_skips_empty(picture: Callable[..., bool]) -> None:
    """A sentence that says what to do next, with the line for the command line."""
    assert picture("skips", (), (80, 24), empty=True)


def test_extending(picture: Callable[..., bool]) -> None:
    """A line with 30d in it, and what may be written there."""
    assert picture("skips", ("plus",), (100, 24))
