"""The app: its first frame, its memory, and how soon a key shows in the list."""

from __future__ import annotations

import asyncio
import statistics
import sys
from pathlib import Path
from time import perf_counter

from memento_tui.api import Workspace
from memento_tui.tui.app import MementoApp
from memento_tui.tui.sections.memories import MemoriesSection
from tests.benchmarks.table import Row, percentile
from tests.benchmarks.terminal import HELLO, start

__all__ = ["first_frame", "keystrokes", "memory_use"]

_STARTS = 9
FRAME_MS = 1000 / 60


def _commands(data: Path, scratch: Path) -> tuple[list[str], list[str]]:
    hello = scratch / "hello.py"
    hello.write_text(HELLO)
    memento = str(Path(sys.executable).with_name("memento"))
    return [sys.executable, str(hello)], [memento, "--data-dir", str(data)]


def first_frame(data: Path, scratch: Path) -> list[Row]:
    """Compare the first frame that says something with the first frame of Textual's hello-world, by turns.

    At home that is the number of memories, among the memories the newest of them.
    """
    hello, memento = _commands(data, scratch)
    with Workspace(data) as workspace:
        newest = workspace.list(limit=1).items[0].headline[:20]
        number = f"{workspace._store.statistics.recalled():,}"
    opened = {"the overview": (memento, number), "the memories": ([*memento, "--open", "memories"], newest)}
    rows = []
    for name, (command, text) in opened.items():
        pairs = [(start(hello, "Hello, World!").seconds, start(command, text).seconds) for _ in range(_STARTS)]
        bare, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
        what = f"first useful frame of {name} at 100,000 memories / Textual's hello-world"
        rows.append(Row(what, f"{ours * 1e3:.0f} ms", f"{bare * 1e3:.0f} ms", ours / bare, 1.6))
    return rows


def memory_use(data: Path, scratch: Path, size: str) -> Row:
    """Compare the resident memory of the app, settled, with that of hello-world."""
    hello, memento = _commands(data, scratch)
    with Workspace(data) as workspace:
        newest = workspace.list(limit=1).items[0].headline[:20]
    bare = start(hello, "Hello, World!", settle=True).megabytes
    ours = start([*memento, "--open", "memories"], newest, settle=True).megabytes
    return Row(
        f"memory of the app at {size} memories / hello-world", f"{ours:.0f} MB", f"{bare:.0f} MB", ours / bare, 2
    )


def keystrokes(data: Path, size: str, texts: list[str]) -> Row:
    """Compare a key typed into the search box, until the list is drawn anew, with drawing the list alone."""
    typed, drawn = asyncio.run(_type(data, texts))
    ours, bare = percentile(typed, 0.95), percentile(drawn, 0.95)
    what = f"keystroke to updated list at {size} memories, p95, beyond the render alone"
    detail = f"{ours * 1e3:.1f} ms (p50 {statistics.median(typed) * 1e3:.1f})"
    return Row(what, detail, f"{bare * 1e3:.1f} ms", (ours - bare) * 1e3, round(FRAME_MS, 1), unit="ms")


async def _type(data: Path, texts: list[str]) -> tuple[list[float], list[float]]:
    typed, drawn = [], []
    with Workspace(data, channel="tui") as workspace:
        workspace.search_engine.keyword.catch_up()
        app = MementoApp(workspace, "memories")
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            box = app.query_one(MemoriesSection).filter_box
            rows = app.query_one(MemoriesSection).rows
            box.focus()
            for text in texts:
                for end in range(1, len(text) + 1):
                    begun = perf_counter()
                    box.value = text[:end]
                    await _until_drawn(app)
                    typed.append(perf_counter() - begun)
                    begun = perf_counter()
                    rows.refresh()
                    await _until_drawn(app)
                    drawn.append(perf_counter() - begun)
                box.value = ""
                await pilot.pause()
    return typed, drawn


async def _until_drawn(app: MementoApp) -> None:
    done = asyncio.Event()
    app.screen.call_after_refresh(done.set)
    await done.wait()
