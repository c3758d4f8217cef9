"""Type at the real app as fast as no person can: python -m tests.fuzz.fuzz_keys --seed 1 [--seconds 60 | --bursts 400].

The same seed types the same keys; what the app had drawn by then depends on the machine. The program fails with the
last bursts and the app's last words when the app ends other than by `q`, hangs, or writes outside its screen.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import monotonic, sleep

from memento_tui.paths import DataPaths
from memento_tui.search.engine_client import SemanticClient
from tests.fuzz.agent import FuzzAgent, fill
from tests.fuzz.bursts import Burst, bursts
from tests.fuzz.fuzzed_app import FuzzedApp

_BURSTS_REMEMBERED = 25
_BURSTS_BETWEEN_QUESTIONS = 100
"""Bursts after which the app is asked whether it still answers."""


class Crash(Exception):
    """The app ended, hung, or wrote what it should not have."""


class Fuzzer:
    """Carries out the bursts of one seed on one data directory."""

    def __init__(self, data_dir: Path, home: Path) -> None:
        self._data_dir, self._home = data_dir, home
        self._agent = FuzzAgent(data_dir)
        self._engine = SemanticClient(DataPaths(data_dir), enabled=True)
        self._stopped: int | None = None
        """The process of an engine that was stopped, and answers nobody."""
        self._last: deque[Burst] = deque(maxlen=_BURSTS_REMEMBERED)
        self._app = self._open()
        self.done = 0
        """Bursts so far."""
        self.reopened = 0
        """How often the app was left by a key and opened again."""
        self.most_megabytes = 0.0

    def _open(self) -> FuzzedApp:
        app = FuzzedApp(self._data_dir, self._home)
        app.begin()
        return app

    def run(self, seed: int, *, most: int | None, seconds: float | None) -> None:
        """Carry out bursts until there were so many, or for so long. Raises `Crash`."""
        ends = None if seconds is None else monotonic() + seconds
        for burst in islice(bursts(seed), most):
            if ends is not None and monotonic() > ends:
                break
            self._last.append(burst)
            self.done += 1
            if not (self._do(burst) and self._app.watch(burst.pause)):
                self._came_to_an_end()
            elif self.done % _BURSTS_BETWEEN_QUESTIONS == 0:
                self.most_megabytes = max(self.most_megabytes, self._app.memory_megabytes)
                if not self._app.answers():
                    self._came_to_an_end(asked=True)
        if not self._app.leave():
            self._app.say_where_it_is()
            self._fail("It cannot be left.")
        if self._app.status or self._app.last_words:
            self._fail(f"It ended with status {self._app.status}.")

    def _do(self, burst: Burst) -> bool:
        """Carry out one burst, and return whether the app still runs."""
        match burst.deed:
            case "keys" | "mouse":
                return self._app.write(burst.keys)
            case "resize":
                self._app.resize(*burst.size)
            case "agent":
                self._agent.write(burst.number)
            case "engine" if burst.number % 2 and self._stopped is None:
                self._stop_engine()
            case "engine":
                self.kill_engine()
            case "leave":
                return self._app.press_leaving()
        return True

    def _came_to_an_end(self, *, asked: bool = False) -> None:
        """Open the app again where it was left in order, else fail."""
        if asked and self._app.watch(0.0):
            self._app.say_where_it_is()
            self._fail("It hangs.")
        # An app that was told to leave gives the terminal back first, whose own key ctrl+c then is.
        was_leaving = any(burst.deed == "leave" for burst in self._last)
        in_order = (0, -signal.SIGINT) if was_leaving else (0,)
        if self._app.status not in in_order or self._app.last_words:
            self._fail(f"It ended with status {self._app.status}.")
        self.reopened += 1
        self._app = self._open()

    def _fail(self, what: str) -> None:
        keys = "\n".join(f"  {_described(burst)}" for burst in self._last)
        report = DataPaths(self._data_dir).crash_report
        crash = report.read_text(encoding="utf-8") if report.is_file() else ""
        words = f"{self._app.last_words[-12_000:]}\n{crash}"
        raise Crash(f"{what} After {self.done:,} bursts, the last of them:\n{keys}\n\n{words}\n{what}")

    def _stop_engine(self) -> None:
        """Let the engine that runs, if one does, answer nobody until it is killed."""
        if (status := self._engine.status()) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(status.pid, signal.SIGSTOP)
                self._stopped = status.pid

    def kill_engine(self) -> None:
        """End the engine of the data directory as a crash would, if one runs."""
        status = self._engine.status() if self._stopped is None else None
        process, self._stopped = (self._stopped if status is None else status.pid), None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def close(self) -> None:
        """End what still runs."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            self._app.kill()
        self._agent.close()
        self.kill_engine()
        self._engine.close()


def _described(burst: Burst) -> str:
    what = {"keys": repr(burst.keys), "mouse": repr(burst.keys), "resize": f"{burst.size[0]}x{burst.size[1]}"}
    return f"{burst.deed} {what.get(burst.deed, '')} then {burst.pause} s"


@contextmanager
def _scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="fuzz-keys-"))
    try:
        yield folder
    finally:
        for _ in range(20):  # an engine that is ending may still write
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            sleep(0.1)


def main() -> int:
    """Fuzz the app by the command line's seed; return 1 and say what happened where it did not live through it."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.fuzz_keys")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--bursts", type=int, help="stop after so many")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    wanted = parser.parse_args()
    with _scratch() as folder:
        data_dir, home = folder / "data", folder / "home"
        home.mkdir()
        fill(data_dir)
        fuzzer, begun = Fuzzer(data_dir, home), monotonic()
        try:
            fuzzer.run(wanted.seed, most=wanted.bursts, seconds=wanted.seconds)
        except Crash as crash:
            sys.stderr.write(f"fuzz-keys: seed {wanted.seed}: {crash}\n")
            return 1
        finally:
            fuzzer.close()
        sys.stdout.write(
            f"fuzz-keys: seed {wanted.seed}: {fuzzer.done:,} bursts in {monotonic() - begun:.0f} s, no crash; "
            f"left and opened again {fuzzer.reopened} times; at most {fuzzer.most_megabytes:.0f} MB\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
