"""Run writers against one data directory under a supervisor, then hold what is there against what was acknowledged."""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import _pytest.outcomes

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.integrity import check_keyword_index, check_rows
from memento_tui.model import Memory
from tests.disks import SmallDisk, small_disk
from tests.made import without_engine
from tests.torture.acknowledgements import read_acknowledged
from tests.torture.writers import WRITERS

_OF_EACH = 2
_MEGABYTES = 600
_LONGEST_WAIT_SECONDS = 120.0
"""Seconds that processes whose writer was killed may take to end."""

_LONGEST_FULL_SECONDS, _LONGEST_STOP_SECONDS = 1.0, 1.5


class _Crew:
    """The writers that run now, started again under another name when they were killed."""

    def __init__(self, data: Path, notes: Path, chance: random.Random) -> None:
        self._data = data
        self._notes = notes
        self._chance = chance
        self._started: Counter[str] = Counter()
        self.running: dict[subprocess.Popen[bytes], str] = {}
        self.faults: list[str] = []
        self.did: Counter[str] = Counter()

    def start(self, kind: str) -> None:
        """Start a writer."""
        self._started[kind] += 1
        name = f"{kind}{self._started[kind]}"
        seed = str(self._chance.randrange(2**31))
        log = (self._notes / f"{name}.log").open("wb")
        command = [sys.executable, "-m", "tests.torture.writers", kind, str(self._data), str(self._notes), name, seed]
        self.running[subprocess.Popen(command, stdout=log, stderr=log)] = name  # noqa: S603 - the tests themselves
        log.close()

    def pick(self) -> subprocess.Popen[bytes]:
        """Return one of the writers."""
        return self._chance.choice(list(self.running))

    def kill(self, writer: subprocess.Popen[bytes]) -> None:
        """Kill a writer and start another of its kind."""
        name = self.running.pop(writer)
        writer.kill()
        writer.wait()
        self.did["killed"] += 1
        self.start(name.rstrip("0123456789"))

    def watch(self) -> None:
        """Note the writers that ended by themselves, and start others."""
        for writer, name in list(self.running.items()):
            if writer.poll() is not None:
                said = (self._notes / f"{name}.log").read_text(errors="replace")[-2000:]
                if "database is" not in said and "the server has ended" not in said:
                    self.faults.append(f"{name} ended with {writer.returncode}: {said}")
                del self.running[writer]
                self.start(name.rstrip("0123456789"))

    def end(self) -> None:
        """End all writers."""
        for writer in self.running:
            writer.kill()
        for writer in self.running:
            writer.wait()


def _torment(crew: _Crew, disk: SmallDisk | None, chance: random.Random, seconds: float) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        time.sleep(chance.random())
        crew.watch()
        act = chance.random()
        if act < 0.5:
            crew.kill(crew.pick())
        elif act < 0.8 or disk is None:
            writer = crew.pick()
            writer.send_signal(signal.SIGSTOP)
            time.sleep(chance.random() * _LONGEST_STOP_SECONDS)
            writer.send_signal(signal.SIGCONT)
            crew.did["stopped"] += 1
        else:
            disk.fill()
            time.sleep(chance.random() * _LONGEST_FULL_SECONDS)
            disk.free()
            crew.did["filled the disk"] += 1


def _wait_for_others(data: Path) -> None:
    """Wait until no process names the directory: servers and commands whose writer was killed end by themselves."""
    deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
    while others := [path for path in Path("/proc").glob("[0-9]*/cmdline") if _names(path, str(data))]:
        if time.monotonic() > deadline:
            raise TimeoutError(f"still at work: {others}")
        time.sleep(0.2)


def _names(command_line: Path, data: str) -> bool:
    try:
        return data.encode() in command_line.read_bytes()
    except OSError:
        return False  # it has ended


def _faults_of(workspace: Workspace, notes: Path) -> tuple[int, list[str]]:
    """Return how many writes were acknowledged, and what is wrong with the directory now."""
    store = workspace._store
    faults = [said for said in (store.journal.verify(), store.audit.pages_in_order(None)) if said]
    faults += [
        f"{one.name}: {one.detail}" for one in (check_rows(workspace), check_keyword_index(workspace)) if not one.ok
    ]
    present = {memory.id: memory for batch in store.memories.batches() for memory in batch}
    by_text = Counter(memory.content.strip() for memory in present.values())
    count = 0
    for one in read_acknowledged(notes):
        count += 1
        if not one.id:
            if by_text[one.text] != 1:
                faults.append(f"{one.text!r} is there {by_text[one.text]} times")
            continue
        versions = {found.version: found.record for found in store.journal.history(Memory, one.id)}
        record = versions.get(one.version)
        if record is None or record.content != one.text:
            faults.append(f"version {one.version} of {one.id} is lost: {one.text!r}")
    with workspace.at(f"entry {store.journal.head()}") as past:
        replayed = {type(one).__name__ + one.id: one.version for one in past.export_records()}
        if replayed != {type(one).__name__ + one.id: one.version for one in workspace.export_records()}:
            faults.append("the rows are not what a replay of the journal makes")
    for backup in workspace.backups.list():
        if problem := workspace.backups.verify(backup.name):
            faults.append(f"{backup.name}: {problem}")
    return count, faults


def main() -> int:
    """Run, print what was done and found, and return the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance = random.Random(given.seed)  # noqa: S311 - the same seed decides the same
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        notes.mkdir()
        try:
            mounted = small_disk(Path(folder) / "disk", _MEGABYTES)
            disk = mounted.__enter__()
        except _pytest.outcomes.Skipped:
            mounted, disk = nullcontext(), None  # type: ignore[assignment]
        try:
            data = without_engine((disk.path if disk else Path(folder)) / "data")
            memento_tui.open(data).close()
            crew = _Crew(data, notes, chance)
            for kind in [*WRITERS] * _OF_EACH:
                crew.start(kind)
            try:
                _torment(crew, disk, chance, given.seconds)
            finally:
                crew.end()
            _wait_for_others(data)
            with memento_tui.open(data) as workspace:
                count, faults = _faults_of(workspace, notes)
                head = workspace.activity.head()
        finally:
            mounted.__exit__(None, None, None)
    did = ", ".join(f"{name} {times}" for name, times in crew.did.items())
    print(f"{count:,} writes acknowledged in {head:,} entries; {did}")  # noqa: T201 - it is what it is run for
    for fault in [*crew.faults, *faults][:40]:
        print(f"! {fault}")  # noqa: T201 - as above
    return 1 if faults or crew.faults else 0


if __name__ == "__main__":
    sys.exit(main())
