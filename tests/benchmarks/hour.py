"""An hour of use in fast motion: an agent writes ten times a second while a person goes about; what memory it takes.

``python -m tests.benchmarks.hour DATA [MINUTES]`` prints the resident megabytes after each tenth of the time.
"""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
from pathlib import Path

from memento_tui.api import Workspace
from memento_tui.app_sections import SECTIONS
from memento_tui.tui import garbage
from memento_tui.tui.app import MementoApp
from tests.benchmarks.table import Row
from tests.benchmarks.workbench import drawn

__all__ = ["growth"]

_MINUTES = 60
_LOOKS_A_MINUTE = 200
"""The app looks at the journal every 0.3 seconds, and each time the agent has written three times."""

_WRITES_A_LOOK = 3
_MOST_GROWTH = 1.05


def growth(data: Path, size: str) -> Row:
    """Compare the memory after the hour with that after its first tenth, in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.hour", str(data)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - this file
    marks = [float(line) for line in told.split()]
    what = f"memory of the app at {size} memories after an hour of use / after its first six minutes"
    return Row(what, f"{marks[-1]:.0f} MB", f"{marks[0]:.0f} MB", marks[-1] / marks[0], _MOST_GROWTH)


async def _use(data: Path, minutes: int) -> None:
    with (
        Workspace(data, channel="tui", session="person") as mine,
        Workspace(data, actor="agent", channel="mcp", agent="claude", session="agent") as agent,
    ):
        garbage.disable_collection()  # as the program does when it begins
        app = MementoApp(mine, "memories")
        async with app.run_test(size=(120, 40)):
            looks = minutes * _LOOKS_A_MINUTE
            for look in range(looks):
                for number in range(_WRITES_A_LOOK):
                    agent.remember(f"Note {look}-{number}: the cache of build {look} is at shard {number}.")
                app._poll_journal()
                await _go_about(app, look)
                if (look + 1) % (looks // 10) == 0:
                    gc.collect()
                    print(f"{_resident():.1f}", flush=True)


async def _go_about(app: MementoApp, look: int) -> None:
    app.simulate_key("j" if look % 40 < 30 else "k")
    if look % 50 == 49:
        await app.action_section(SECTIONS[look // 50 % len(SECTIONS)].name)
    if look % 400 == 399:
        await app.open_section("memories", "cache build")
        await drawn(app)
        app.section.show_query("")
    await drawn(app)


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    asyncio.run(_use(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else _MINUTES))
