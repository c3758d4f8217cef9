"""Pictures of the views beside the list. Each test says what to look for when its picture changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.model import make_contradiction
from memento_tui.tui.app import MementoApp
from tests.made import edit, unguarded, without_engine

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
WIDE, NARROW = (120, 32), (80, 24)
Compare = Callable[..., bool]


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Memories of a month, one of them changed, related and disputed; the clock stands."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(clock, "now", lambda: NOW - timedelta(hours=5))
    folder = without_engine(tmp_path / "memories")
    kinds = ("decision", "fact", "bugfix", "preference")
    places = ("global", "work/api", "work/web/front", "home")
    with memento_tui.open(folder) as workspace:
        for number in range(24):
            moment = NOW - timedelta(days=29 - number, hours=number)
            workspace.remember(
                f"Keep rule {number} in mind when the cache is cold.\n\nIt was measured, and {number} ms were saved.",
                id=f"memory-{number}",
                kind=kinds[number % 4],
                namespace=places[number % 4],
                tags=["cache", "speed"][: number % 3],
                stability=("draft", "verified", "stable")[number % 3],
                source={"agent": "claude"} if number % 2 else None,
                created_at=moment,
                updated_at=moment,
                verified_at=moment if number % 3 else None,
            )
    with memento_tui.open(folder, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        edit(agent, "memory-12", content="Keep rule 12 in mind when the cache is warm.\n\nIt was measured twice.")
    with memento_tui.open(folder) as workspace:
        workspace.update("memory-12", title="\x1b[31mRule\u202e twelve [/nope]", tags=["cache", "warm"], certainty=2)
        workspace.relate("memory-12", "memory-3", "supersedes", "since 2.0")
        workspace.relate("memory-7", "memory-12", "consolidated_from")
        workspace.relate("memory-12", "src/cache.py", "file")
        workspace.relate("memory-12", "memory-5", "related")
        workspace.forget("memory-5")
        disputed = {"older": "memory-8", "newer": "memory-12", "why": "cold against warm", "score": 0.9}
        with unguarded(workspace._store, workspace.author, "detect") as tx:
            tx.put(make_contradiction(disputed, now=NOW), base=0)
        workspace.saved_searches.save("Decisions about the API", "kind:decision ns:work")
        workspace.saved_searches.save("Cold cache", "cache cold")
    monkeypatch.setattr(clock, "now", lambda: NOW)
    return folder


@pytest.fixture
def app(filled: Path) -> Iterator[MementoApp]:
    with Workspace(filled, channel="tui", session="picture") as workspace:
        yield MementoApp(workspace, "memories")


async def _settle(pilot: Pilot[None]) -> None:
    """Wait until all that was asked for is read and shown."""
    for _ in range(3):
        await pilot.pause()
        # The worker that opened a dialog waits for its answer.
        if waited := [worker for worker in pilot.app.workers if worker.group != "searches"]:
            await pilot.app.workers.wait_for_complete(waited)
    await pilot.pause()


def after(*keys: str) -> Callable[[Pilot[None]], object]:
    """Return what presses keys once the first rows are there, each after the one before has had its effect."""

    async def press(pilot: Pilot[None]) -> None:
        await _settle(pilot)
        for key in keys:
            await pilot.press(key)
            await _settle(pilot)

    return press


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_history(snap_compare: Compare, app: MementoApp, size: tuple[int, int]) -> None:
    """Three versions with who and when, the second one's fields in a line each, then the differing words marked."""
    assert snap_compare(app, terminal_size=size, run_before=after("h", "j"))


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_timeline(snap_compare: Compare, app: MementoApp, size: tuple[int, int]) -> None:
    """The memory in the middle of the list with a star, others by the day; the hostile title in placeholders."""
    assert snap_compare(app, terminal_size=size, run_before=after("o"))


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_links(snap_compare: Compare, app: MementoApp, size: tuple[int, int]) -> None:
    """The contradiction first, arrows and words in columns, the label and the id in the second line of each."""
    assert snap_compare(app, terminal_size=size, run_before=after("l"))


def test_links_after_a_walk(snap_compare: Compare, app: MementoApp) -> None:
    """The way at the top, the present memory in bold; the cursor on the link that leads back."""
    assert snap_compare(app, terminal_size=WIDE, run_before=after("l", "j", "enter"))


def test_links_of_a_memory_without_any(snap_compare: Compare, app: MementoApp) -> None:
    """A sentence in place of the list."""
    assert snap_compare(app, terminal_size=NARROW, run_before=after("j", "l"))


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_why(snap_compare: Compare, app: MementoApp, size: tuple[int, int]) -> None:
    """The curve with today at its left, each part with its number and meaning, the four presets in a line."""
    assert snap_compare(app, terminal_size=size, run_before=after("j", "w"))


def test_why_in_a_search(snap_compare: Compare, app: MementoApp) -> None:
    """Every number of the rank with its meaning, in columns, above the weight."""
    keys = ("slash", *"rule", "space", "7", "enter", "w")
    assert snap_compare(app, terminal_size=(120, 50), run_before=after(*keys))


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_tree(snap_compare: Compare, app: MementoApp, size: tuple[int, int]) -> None:
    """Namespaces as a tree, counts at the right edge, stars at what narrows the list, the query in the box."""
    assert snap_compare(app, terminal_size=size, run_before=after("f", "j", "j", "j", "j", "enter"))


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_saved_searches(snap_compare: Compare, app: MementoApp, size: tuple[int, int]) -> None:
    """Names, queries and counts in columns, and what the keys do."""
    assert snap_compare(app, terminal_size=size, run_before=after("s"))


def test_light(snap_compare: Compare, app: MementoApp) -> None:
    """Everything legible on a light ground."""
    app.theme = "textual-light"
    assert snap_compare(app, terminal_size=WIDE, run_before=after("h", "j"))
