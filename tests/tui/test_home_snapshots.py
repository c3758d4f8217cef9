"""Pictures of the overview and of the identity. Each test says what to look for when its picture changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot

import memento_tui
from memento_tui.api import Workspace
from memento_tui.tui.app import MementoApp
from tests.made import without_engine
from tests.tui.made_home import NOW, StandingClock, fill

# Where a key leads among the tags is known once they are drawn.
pytestmark = pytest.mark.usefixtures("draws_every_frame")

Compare = Callable[..., bool]

_TEXTS = (
    (
        "# Who I am\n\nI keep the back end of the site. I prefer small changes, and I ask before I delete anything.\n\n"
        "I write in British English, and I say what I have not tested."
    ),
    (
        "# Who I am\n\nI keep the back end of the site and its tests. I prefer small changes, and I ask before I delete"
        " anything.\n\nI write in British English, and I say what I have not tested."
    ),
    (
        "# Who I am\n\nI keep the back end of the site and its tests. I prefer small changes, and I ask before I delete"
        " or rename anything.\n\nI write in British English, and I say what I have not tested."
        "\n\nOn Fridays I do not deploy."
    ),
)


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> StandingClock:
    """The clock, which stands."""
    return StandingClock(monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory that is called the same in every picture."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return without_engine(tmp_path / "memories")


@pytest.fixture
def filled(folder: Path, time: StandingClock) -> Path:
    """A month of work."""
    return fill(folder, time)


async def _counted(pilot: Pilot[None]) -> None:
    """Wait until every panel has its numbers."""
    await pilot.pause()
    for _ in range(5):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


def _compare(
    snap_compare: Compare, folder: Path, size: tuple[int, int], start: str, *keys: str, theme: str = ""
) -> bool:
    with Workspace(folder, channel="tui", session="picture") as workspace:
        app = MementoApp(workspace, start)
        if theme:
            app.theme = theme

        async def act(pilot: Pilot[None]) -> None:
            await _counted(pilot)
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
            await _counted(pilot)

        return snap_compare(app, terminal_size=size, run_before=act)


def test_home_wide(snap_compare: Compare, filled: Path) -> None:
    """Six panels in two columns, titles with a thin rule, counts right-aligned, nothing cut in the middle."""
    assert _compare(snap_compare, filled, (120, 32), "home")


def test_home_narrow(snap_compare: Compare, filled: Path) -> None:
    """80 x 24: one column that scrolls; what waits and what is new are seen at once."""
    assert _compare(snap_compare, filled, (80, 24), "home")


def test_home_narrow_scrolled(snap_compare: Compare, filled: Path) -> None:
    """80 x 24, the cursor in the last panel: it was scrolled into sight, with its title."""
    assert _compare(snap_compare, filled, (80, 24), "home", *["shift+tab"] * 10)


def test_home_ultra_wide(snap_compare: Compare, filled: Path) -> None:
    """200 x 50: three columns, which grew a little and stay in the upper part."""
    assert _compare(snap_compare, filled, (200, 50), "home")


def test_home_in_the_tags(snap_compare: Compare, filled: Path) -> None:
    """The cursor on a tag, reversed; frequent tags are heavier."""
    assert _compare(snap_compare, filled, (120, 32), "home", *["down"] * 6, "right", "right")


def test_home_light(snap_compare: Compare, filled: Path) -> None:
    """Everything legible on a light ground."""
    assert _compare(snap_compare, filled, (120, 32), "home", theme="textual-light")


def test_home_of_an_empty_workspace(snap_compare: Compare, folder: Path, time: StandingClock) -> None:
    """What to do first, and nothing else."""
    assert time.now == NOW
    assert _compare(snap_compare, folder, (100, 24), "home")


@pytest.fixture
def grown(folder: Path, time: StandingClock) -> Path:
    """An identity of three steps, and one that is proposed."""
    with (
        memento_tui.open(folder) as person,
        memento_tui.open(folder, actor="agent", channel="mcp", agent="claude", session="s1") as claude,
    ):
        for number, text in enumerate(_TEXTS):
            time.now = NOW - timedelta(days=200 - 90 * number)
            (claude, person)[number > 0].crystals.write(text)
        time.now = NOW - timedelta(hours=2)
        claude.crystals.write(_TEXTS[2].replace("ask before I delete or rename", "need not ask before I rename"))
        time.now = NOW
    _name_all(folder)
    return folder


def _name_all(folder: Path) -> None:
    """Give the crystals ids that are the same in every picture."""
    with memento_tui.open(folder) as person, person._store.database.writing() as connection:
        for place, (old,) in enumerate(connection.execute("SELECT id FROM crystal ORDER BY number").fetchall()):
            connection.execute("UPDATE crystal SET id = ? WHERE id = ?", (f"crystal{place}", old))
            connection.execute("UPDATE crystal SET parent = ? WHERE parent = ?", (f"crystal{place}", old))
            connection.execute("UPDATE proposal SET target_id = ? WHERE target_id = ?", (f"crystal{place}", old))


def test_identity_that_is_proposed(snap_compare: Compare, grown: Path) -> None:
    """The timeline with ~ on top; beside it why a person is asked, and what approving would change."""
    assert _compare(snap_compare, grown, (120, 32), "identity", "k")


def test_identity_as_prose(snap_compare: Compare, grown: Path) -> None:
    """The present identity as prose, in lines that are not too long."""
    assert _compare(snap_compare, grown, (120, 32), "identity")


def test_identity_narrow(snap_compare: Compare, grown: Path) -> None:
    """80 x 24: the prose below the timeline."""
    assert _compare(snap_compare, grown, (80, 24), "identity")


def test_identity_ultra_wide(snap_compare: Compare, grown: Path) -> None:
    """200 x 50: prose of at most 88 cells in a line."""
    assert _compare(snap_compare, grown, (200, 50), "identity")


def test_identity_compared_with_a_chosen_one(snap_compare: Compare, grown: Path) -> None:
    """A c beside the first one; the head says what is compared; the differing words are marked."""
    assert _compare(snap_compare, grown, (120, 32), "identity", "G", "c", "k", "k")


def test_identity_light(snap_compare: Compare, grown: Path) -> None:
    """Everything legible on a light ground."""
    assert _compare(snap_compare, grown, (120, 32), "identity", "m", theme="textual-light")


def test_identity_editor(snap_compare: Compare, grown: Path) -> None:
    """The text alone in the editor: no title, no tags."""
    assert _compare(snap_compare, grown, (120, 32), "identity", "e")


def test_identity_of_an_empty_workspace(snap_compare: Compare, folder: Path, time: StandingClock) -> None:
    """What an identity is, and how one comes about."""
    assert time.now == NOW
    assert _compare(snap_compare, folder, (100, 24), "identity")
