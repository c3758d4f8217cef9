"""Start writers, kill and stop them, and starve and mislead them meanwhile."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.disks import SmallDisk
from tests.torture.writer import ENDED_BY_OTHERS

__all__ = ["Crew", "Surroundings", "processes_in", "torment"]

_HELD_TO_PERMISSIONS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
"""Runs a writer of root's without the right to write what is read-only."""

_FIRST_FOLDERS = (Path(__file__).parent / "moved_clock", Path(__file__).parents[1] / "journeys" / "light_model")
"""Where the writers' programs find a clock that can be moved, and a model that loads at once."""

_LONGEST_SECONDS = 1.5
"""Seconds that a writer is stopped, the disk is full or the directory is read-only."""

_LONGEST_PAUSE_SECONDS = 2.0
"""Seconds between two torments: a program takes one to start."""

_FARTHEST_DAYS = 60


class Surroundings:
    """What all writers share beside the data: a disk, permissions, and a clock."""

    def __init__(self, data: Path, notes: Path, disk: SmallDisk | None) -> None:
        self.data, self.notes, self.disk = data, notes, disk
        self._clock = notes / "clock"
        is_root = os.geteuid() == 0
        self.prefix = _HELD_TO_PERMISSIONS if is_root and _can_be_held() else ()
        """What stands before a writer's command."""
        self.can_be_read_only = bool(self.prefix) or not is_root
        self.set_clock(0)

    def set_clock(self, days: int) -> None:
        """Let every writer's clock be days off the real one."""
        unfinished = self._clock.with_suffix(".part")
        unfinished.write_text(str(days))
        unfinished.replace(self._clock)

    def set_read_only(self, *, value: bool) -> None:
        """Take or give the right to write to the directory and the database, from whoever opens them now."""
        for file in self.data.glob("memento.db*"):
            with suppress(FileNotFoundError):
                file.chmod(stat.S_IRUSR if value else stat.S_IRUSR | stat.S_IWUSR)
        self.data.chmod(0o500 if value else 0o700)

    def environment(self) -> dict[str, str]:
        """Return the variables of a writer."""
        path = os.pathsep.join([*map(str, _FIRST_FOLDERS), *filter(None, sys.path), str(Path.cwd())])
        given = {name: value for name, value in os.environ.items() if not name.startswith("MEMENTO_")}
        return given | {"PYTHONPATH": path, "HOME": str(self.notes), "TORTURE_CLOCK": str(self._clock)}


def _can_be_held() -> bool:
    return subprocess.run([*_HELD_TO_PERMISSIONS, "true"], capture_output=True, check=False).returncode == 0  # noqa: S603 - fixed words


class Crew:
    """The writers that run now, started again under another name when they were killed."""

    def __init__(self, surroundings: Surroundings, chance: random.Random) -> None:
        self.surroundings = surroundings
        self._chance = chance
        self._started: Counter[str] = Counter()
        self.running: dict[subprocess.Popen[bytes], str] = {}
        self.faults: list[str] = []
        self.did: Counter[str] = Counter()

    def start(self, kind: str) -> None:
        """Start a writer."""
        self._started[kind] += 1
        name, around = f"{kind}{self._started[kind]}", self.surroundings
        seed = str(self._chance.randrange(2**31))
        command = [sys.executable, "-m", "tests.torture.writers", kind, str(around.data), str(around.notes), name, seed]
        command = [*around.prefix, *command]
        with (around.notes / f"{name}.log").open("wb") as log:
            started = subprocess.Popen(command, stdout=log, stderr=log, env=around.environment())  # noqa: S603 - the tests themselves
        self.running[started] = name

    def pick(self) -> subprocess.Popen[bytes]:
        """Return one of the writers."""
        return self._chance.choice(list(self.running))

    def kill(self, writer: subprocess.Popen[bytes]) -> None:
        """Kill a writer and start another of its kind."""
        name = self.running.pop(writer)
        writer.kill()
        writer.wait()
        self.start(name.rstrip("0123456789"))

    def watch(self) -> None:
        """Note the writers that ended by themselves, and start others."""
        for writer, name in list(self.running.items()):
            if writer.poll() is not None:
                said = (self.surroundings.notes / f"{name}.log").read_text(errors="replace")[-3000:]
                if ENDED_BY_OTHERS not in said and not _could_not_begin(said):
                    self.faults.append(f"{name} ended with {writer.returncode}: {said}")
                del self.running[writer]
                self.start(name.rstrip("0123456789"))

    def end(self) -> None:
        """End all writers."""
        for writer in self.running:
            writer.kill()
        for writer in self.running:
            writer.wait()


def _could_not_begin(said: str) -> bool:
    """Tell whether a writer found a full or read-only disk as it opened the data, which is a sentence and no fault."""
    return any(last in said.rstrip().rpartition("\n")[2] for last in ("DataDirectoryError", "NotAllowed"))


def processes_in(data: Path) -> dict[int, list[str]]:
    """Return the processes whose command names the directory, and its words."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            words = os.fsdecode(path.read_bytes()).split("\0")
            if any(str(data) in word for word in words) and int(path.parent.name) != os.getpid():
                found[int(path.parent.name)] = words
    return found


def torment(crew: Crew, chance: random.Random, seconds: float) -> None:
    """Do one thing after the other to the writers and what is around them."""
    around = crew.surroundings

    def kill_writer() -> None:
        crew.kill(crew.pick())

    def kill_any() -> None:
        writers = {writer.pid for writer in crew.running}
        # A program that a writer started, the engine among them.
        if others := [process for process in processes_in(around.data) if process not in writers]:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(others), signal.SIGKILL)

    def stop() -> None:
        writer = crew.pick()
        writer.send_signal(signal.SIGSTOP)
        _rest(chance)
        writer.send_signal(signal.SIGCONT)

    def fill() -> None:
        if around.disk is not None:
            around.disk.fill()
            _rest(chance)
            around.disk.free()

    def make_read_only() -> None:
        around.set_read_only(value=True)
        _rest(chance)
        around.set_read_only(value=False)

    def move_clock() -> None:
        around.set_clock(chance.randint(-_FARTHEST_DAYS, _FARTHEST_DAYS))

    acts: dict[str, tuple[int, Callable[[], None]]] = {
        "killed a writer": (35, kill_writer),
        "killed a program of one": (15, kill_any),
        "stopped a writer": (20, stop),
        "filled the disk": (12 if around.disk else 0, fill),
        "made it read-only": (10 if around.can_be_read_only else 0, make_read_only),
        "moved the clock": (8, move_clock),
    }
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        time.sleep(chance.random() * _LONGEST_PAUSE_SECONDS)
        crew.watch()
        name = chance.choices(list(acts), [weight for weight, _ in acts.values()])[0]
        acts[name][1]()
        crew.did[name] += 1


def _rest(chance: random.Random) -> None:
    time.sleep(chance.random() * _LONGEST_SECONDS)
