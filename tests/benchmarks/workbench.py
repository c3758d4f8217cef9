"""The whole app at work: going between sections, along a list and through the review queue, beside the bare repaint."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from time import perf_counter

from textual.worker import WorkerCancelled

from memento_tui.api import Workspace
from memento_tui.app_sections import SECTIONS
from memento_tui.model.validation import new_id
from memento_tui.tui import garbage
from memento_tui.tui.app import MementoApp
from memento_tui.tui.sections.list_section import ListSection
from memento_tui.tui.sections.memories import MemoriesSection
from memento_tui.tui.sections.review.section import ReviewSection
from tests.benchmarks.table import Row, percentile

__all__ = ["at_work", "drawn"]

_TWO_FRAMES_MS = 2 * 1000 / 60
_ROUNDS, _MOVES, _DECISIONS = 6, 120, 60
_DEADLINE_SECONDS = 60
_READING_SECONDS = 0.8


def at_work(data: Path, size: str) -> list[Row]:
    """Time what a person does most, each until it is drawn, beyond what repainting the same screen takes."""
    _let_wait(data)
    return asyncio.run(_all(data, size))


def _let_wait(data: Path) -> None:
    with Workspace(data) as workspace:
        for number in range(_DECISIONS + 40):
            workspace.remember(f"Proposal {number} {new_id()} from a page about caches.", source_type="external")
        workspace.search_engine.keyword.catch_up()


async def _all(data: Path, size: str) -> list[Row]:
    async with _opened(data) as app:
        first, again = await _switching(app)
        moves, previews = await _moving(app)
        decisions = await _deciding(app)
        bare = await _repainting(app)
    measured = {
        "a section shown for the first time": first,
        "switching sections": again,
        "moving the cursor": moves,
        "opening a preview": previews,
        "deciding a review item, until the next one is shown": decisions,
    }
    return [_row(f"{what} at {size} memories", taken, bare) for what, taken in measured.items()]


def _row(what: str, taken: list[float], bare: list[float]) -> Row:
    ours, alone = percentile(taken, 0.95) * 1e3, percentile(bare, 0.95) * 1e3
    detail = f"{ours:.1f} ms (p50 {statistics.median(taken) * 1e3:.1f})"
    label = f"{what}, p95, beyond the bare repaint"
    return Row(label, detail, f"{alone:.1f} ms", ours - alone, round(_TWO_FRAMES_MS, 1), unit="ms")


@asynccontextmanager
async def _opened(data: Path) -> AsyncIterator[MementoApp]:
    with Workspace(data, channel="tui", session="benchmark") as workspace:
        garbage.disable_collection()  # as the program does when it begins
        app = MementoApp(workspace, "memories")
        async with app.run_test(size=(120, 40)):
            await asyncio.sleep(_READING_SECONDS)  # a person reads the first frame, and the app warms up
            await _at_rest(app)
            yield app


async def drawn(app: MementoApp) -> None:
    """Wait until what was asked for is drawn."""
    done = asyncio.Event()
    app.screen.call_after_refresh(done.set)
    await done.wait()


async def _timed(app: MementoApp, act: Awaitable[object], shows: Callable[[], bool]) -> float:
    """Return the seconds until something was done, what it leads to is there, and that was drawn."""
    begun = perf_counter()
    await act
    while not shows():
        assert perf_counter() - begun < _DEADLINE_SECONDS
        # Without a pause the waiting itself would hold the interpreter that the app's threads read with.
        await asyncio.sleep(0.001)
    await drawn(app)
    return perf_counter() - begun


async def _at_rest(app: MementoApp) -> None:
    """Wait for the app's workers; one that a newer one took the place of is at its end."""
    for worker in list(app.workers):
        with suppress(WorkerCancelled):
            await worker.wait()


async def _switching(app: MementoApp) -> tuple[list[float], list[float]]:
    def shown(name: str) -> bool:
        section = app.section
        if name != section.SCOPE or not section.is_mounted:
            return False
        return not isinstance(section, ListSection) or section.rows.current is not None or section.rows.total == 0

    rounds = []
    for _ in range(_ROUNDS):
        rounds.append([await _timed(app, _press(app, tab.key), partial(shown, tab.name)) for tab in SECTIONS])
        await _at_rest(app)
    await app.action_section("memories")
    return rounds[0], [taken for one in rounds[1:] for taken in one]


async def _moving(app: MementoApp) -> tuple[list[float], list[float]]:
    section = app.section
    assert isinstance(section, MemoriesSection)

    async def move() -> None:
        section.rows.cursor += 1

    def previewed() -> bool:
        return section.preview.memory_id == _current_id(section)

    moves = [await _timed(app, move(), lambda: True) for _ in range(_MOVES)]
    return moves, [await _timed(app, move(), previewed) for _ in range(_MOVES)]


def _current_id(section: MemoriesSection) -> str | None:
    return None if section.rows.current is None else section.rows.current.id


async def _deciding(app: MementoApp) -> list[float]:
    await app.action_section("review")
    await _at_rest(app)
    section = app.section
    assert isinstance(section, ReviewSection)

    def shows_next(was: str) -> bool:
        """Return whether another item is under the cursor and on the card."""
        row, card = section.rows.current, section.focused
        return row is not None and card is not None and card.name == row.id != was

    taken = []
    for _ in range(_DECISIONS):
        # No decision counts on what has just come up: a person reads it first.
        await asyncio.sleep(_READING_SECONDS)
        before = section.rows.current
        assert before is not None
        taken.append(await _timed(app, _press(app, "a"), partial(shows_next, before.id)))
    return taken


async def _press(app: MementoApp, key: str) -> None:
    app.simulate_key(key)


async def _repainting(app: MementoApp) -> list[float]:
    async def repaint() -> None:
        app.screen.refresh()

    return [await _timed(app, repaint(), lambda: True) for _ in range(_MOVES)]
