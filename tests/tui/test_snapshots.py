"""Pictures of the screens. Each test says what to look for when its picture changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.tui.app import MementoApp
from tests.made import note, put, without_engine

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
Compare = Callable[..., bool]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory that is called the same in every picture, and a clock that stands."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(clock, "now", lambda: NOW)
    return without_engine(tmp_path / "memories")


@pytest.fixture
def filled(folder: Path) -> Path:
    kinds = ("decision", "instruction", "bugfix", "preference", "anti_pattern")
    with memento_tui.open(folder) as workspace:
        for number in range(40):
            moment = datetime(2026, 11, 20 - number % 19, number % 24, tzinfo=UTC)
            workspace.remember(
                f"Keep rule {number} in mind when the cache is cold.\n\nIt was measured, and {number} ms were saved.",
                id=f"memory-{number}",
                kind=kinds[number % 5],
                tags=["cache", "speed"][: number % 3],
                stability=("draft", "verified", "stable")[number % 3],
                pinned=number % 7 == 0,
                created_at=moment,
                updated_at=moment,
                verified_at=moment,
            )
        moment = datetime(2026, 11, 21, 11, tzinfo=UTC)
        wide = "日本語のメモリ 🙂 and \x1b[31mhidden\u202e characters [/nope]"
        put(workspace._store, note(wide, id="wide", created_at=moment, updated_at=moment))
        workspace.search("rule", mode="keyword")  # what says something alike is found from the first moment on
    return folder


@pytest.fixture
def app(filled: Path) -> Iterator[MementoApp]:
    with Workspace(filled, channel="tui", session="picture") as workspace:
        yield MementoApp(workspace, "memories")


def test_memories_wide(snap_compare: Compare, app: MementoApp) -> None:
    """The list with aligned columns, the age at the right edge, the preview beside it."""
    assert snap_compare(app, terminal_size=(120, 32), press=["j"])


def test_memories_narrow(snap_compare: Compare, app: MementoApp) -> None:
    """80 x 24: the preview below the list, no tags column, nothing cut in the key bar."""
    assert snap_compare(app, terminal_size=(80, 24), press=["j"])


def test_memories_hostile_and_wide_characters(snap_compare: Compare, app: MementoApp) -> None:
    """The first row: placeholders, a ! badge, straight columns, and a warning in the preview."""
    assert snap_compare(app, terminal_size=(120, 24))


def _searched(*keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Return what presses keys and waits until the search by meaning has answered too."""

    async def act(pilot: Pilot[None]) -> None:
        await pilot.press(*keys)
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()

    return act


def test_search(snap_compare: Compare, app: MementoApp) -> None:
    """The query in the box, the words found underlined in the preview, how many were found."""
    act = _searched("slash", *"rule", "space", "7", "enter")
    assert snap_compare(app, terminal_size=(120, 32), run_before=act)


def test_nothing_found(snap_compare: Compare, app: MementoApp) -> None:
    """A sentence that says how to find more; no stale preview."""
    assert snap_compare(app, terminal_size=(120, 24), run_before=_searched("slash", *"zzz"))


def test_editing(snap_compare: Compare, app: MementoApp) -> None:
    """The form in place of the preview, the list still there, keys that save and leave."""
    assert snap_compare(app, terminal_size=(120, 32), press=["j", "e"])


def test_memories_ultra_wide(snap_compare: Compare, app: MementoApp) -> None:
    """200 x 50: tags in the list, the text beside it; nothing is stretched out of sight of what it belongs to."""
    assert snap_compare(app, terminal_size=(200, 50), press=["j"])


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
def test_in_the_terminals_own_colours(snap_compare: Compare, app: MementoApp, theme: str) -> None:
    """Only the terminal's sixteen colours; the cursor and the section shown stand out."""
    app.theme = theme
    assert snap_compare(app, terminal_size=(120, 24), press=["j"])


def test_without_colours(snap_compare: Compare, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shades of grey only; the cursor has its >, trust its glyphs, the section its brackets."""
    monkeypatch.setenv("NO_COLOR", "1")
    with Workspace(filled, channel="tui", session="picture") as workspace:
        assert snap_compare(MementoApp(workspace, "memories"), terminal_size=(120, 24), press=["j"])


def test_light(snap_compare: Compare, app: MementoApp) -> None:
    """Everything legible on a light ground."""
    app.theme = "textual-light"
    assert snap_compare(app, terminal_size=(120, 32), press=["j"])


def test_help(snap_compare: Compare, app: MementoApp) -> None:
    """The keys of the list in two columns, and a box to filter them."""
    assert snap_compare(app, terminal_size=(120, 40), press=["question_mark"])


def test_empty(snap_compare: Compare, folder: Path) -> None:
    """A store without memories says what to do next."""
    with Workspace(folder, channel="tui", session="picture") as workspace:
        assert snap_compare(MementoApp(workspace, "memories"), terminal_size=(100, 24))
