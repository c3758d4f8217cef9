"""An hour of use in fast motion: an agent writes ten times a second while a person goes about; what memory it takes.

``python -m tests.benchmarks.hour DATA [MINUTES]`` prints the resident megabytes of the app after each tenth of the
time, and how many of them are no pages of files. The agent is a process of its own, as it is in use.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    marks = [float(line.split()[0]) for line in told.splitlines()]
    what = f"memory of the app at {size} memories after an hour of use / after its first six minutes"
    return Row(what, f"{marks[-1]:.0f} MB", f"{marks[0]:.0f} MB", marks[-1] / marks[0], _MOST_GROWTH)


_AGENT = """
import sys
from memento_tui.api import Workspace

with Workspace(sys.argv[1], actor="agent", channel="mcp", agent="claude", session="agent") as agent:
    for line in sys.stdin:
        look = int(line)
        for number in range(int(sys.argv[2])):
            agent.remember(f"Note {look}-{number}: the cache of build {look} is at shard {number}.")
        print(look, flush=True)
"""
"""Writes so many memories for each number that it reads, and says it again when they are written."""


@contextmanager
def _agent(data: Path) -> Iterator[Callable[[int], None]]:
    """Give a function that lets the agent write for a look, and waits until it has."""
    command = [sys.executable, "-c", _AGENT, str(data), str(_WRITES_A_LOOK)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        if process.stdin is None or process.stdout is None:
            raise RuntimeError(command)
        numbers, answers = process.stdin, process.stdout

        def write(look: int) -> None:
            print(look, file=numbers, flush=True)
            if answers.readline() != f"{look}\n":
                raise RuntimeError("the agent has ended")

        yield write
        numbers.close()


async def _use(data: Path, minutes: int) -> None:
    with Workspace(data, channel="tui", session="person") as mine, _agent(data) as write:
        garbage.disable_collection()  # as the program does when it begins
        app = MementoApp(mine, "memories")
        async with app.run_test(size=(120, 40)):
            looks = minutes * _LOOKS_A_MINUTE
            for look in range(looks):
                write(look)
                app._poll_journal()
                await _go_about(app, look)
                if (look + 1) % (looks // 10) == 0:
                    garbage.collect_old_generation()  # as the app does in a pause; here is none
                    print(*(f"{size:.1f}" for size in _resident()), flush=True)
            app.exit()


async def _go_about(app: MementoApp, look: int) -> None:
    app.simulate_key("j" if look % 40 < 30 else "k")
    if look % 50 == 49:
        await app.action_section(SECTIONS[look // 50 % len(SECTIONS)].name)
    if look % 400 == 399:
        await app.open_section("memories", "cache build")
        await drawn(app)
        app.section.show_query("")
    await drawn(app)


def _resident() -> tuple[float, float]:
    pages, shared = map(int, Path("/proc/self/statm").read_text(encoding="ascii").split()[1:3])
    page = os.sysconf("SC_PAGE_SIZE") / 1e6
    return pages * page, (pages - shared) * page


if __name__ == "__main__":
    asyncio.run(_use(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else _MINUTES))
