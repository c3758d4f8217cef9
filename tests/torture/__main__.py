"""Run writers against one data directory under a supervisor, then hold what is there against what was acknowledged.

The same seed chooses the same torments; what they meet depends on the machine.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import _pytest.outcomes

import memento_tui
from tests.disks import SmallDisk, small_disk
from tests.torture.findings import faults_of
from tests.torture.supervisor import Crew, Surroundings, processes_in, torment
from tests.torture.writers import WRITERS

_MEGABYTES = 600
_MOST_TOLD = 40
_FEWEST_BEGUN = 3
"""Writers that had something acknowledged when the first torment comes."""

_ENGINE = "memento_tui.engine"
_LONGEST_WAIT_SECONDS = 120.0
"""Seconds that writers may take to begin, and processes whose writer was killed to end."""


def _wait_for_begun(notes: Path) -> None:
    """Wait until some of the writers are at work, which on a busy machine takes longer than a short run."""
    deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
    while time.monotonic() < deadline:
        if sum(file.stat().st_size > 0 for file in notes.glob("*.acks")) >= _FEWEST_BEGUN:
            return
        time.sleep(0.2)


def _wait_for_others(data: Path) -> list[str]:
    """Wait until no process names the directory; return a fault for each that goes on.

    An engine is killed. Servers and commands whose writer was killed end by themselves.
    """
    deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
    while (others := processes_in(data)) and time.monotonic() < deadline:
        for process, words in others.items():
            if _ENGINE in words:
                _kill(process)
        time.sleep(0.2)
    for process in others:
        _kill(process)
    return [f"still at work: {' '.join(words)}" for words in others.values()]


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _run(folder: Path, disk: SmallDisk | None, seed: int, seconds: float, of_each: int) -> list[str]:
    """Let the writers of a seed be tormented; print what happened, and return the faults."""
    chance = random.Random(seed)  # noqa: S311 - the same seed decides the same
    notes, data = folder / "notes", (disk.path if disk else folder) / "data"
    notes.mkdir()
    data.mkdir(mode=0o700)
    memento_tui.open(data).close()
    crew = Crew(Surroundings(data, notes, disk), chance)
    for kind in [*WRITERS] * of_each:
        crew.start(kind)
    try:
        _wait_for_begun(notes)
        torment(crew, chance, seconds)
    finally:
        crew.end()
    faults = _wait_for_others(data)
    with memento_tui.open(data) as workspace:
        count, found = faults_of(workspace, notes)
        head = workspace.activity.head()
    if not count:
        found.append("nothing was acknowledged")
    did = ", ".join(f"{name} {times}" for name, times in crew.did.items())
    _tell(f"{count:,} writes acknowledged in {head:,} entries; {did}")
    return [*crew.faults, *faults, *found]


def _tell(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - it is what it is run for


def main() -> int:
    """Run, print what was done and found, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--of-each", type=int, default=2, help="writers of each kind")
    given = parser.parse_args()
    _tell(f"torture by seed {given.seed}")
    with tempfile.TemporaryDirectory() as name, ExitStack() as mounts:
        disk = None
        try:
            disk = mounts.enter_context(small_disk(Path(name) / "disk", _MEGABYTES))
        except _pytest.outcomes.Skipped as skipped:
            _tell(f"the disk is never full: {skipped}")
        faults = _run(Path(name), disk, given.seed, given.seconds, given.of_each)
    for fault in faults[:_MOST_TOLD]:
        _tell(f"! {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
