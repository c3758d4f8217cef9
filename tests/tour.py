"""Record a tour of the app on the sample workspace, in a real terminal: python -m tests.tour.

It writes `screenshots/tour.cast` in the format of asciinema, version 2: ``asciinema play screenshots/tour.cast``.
"""

from __future__ import annotations

import codecs
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from tests.journeys.real_terminal import Terminal, open_app

HERE = Path(__file__).parents[1]
CAST = HERE / "screenshots" / "tour.cast"
LOAD_SAMPLE = HERE / "data" / "load_sample.py"
SIZE = (120, 32)

_QUIET_SECONDS, _MOST_SECONDS = 0.4, 2.5
"""Seconds without output after which the app has drawn all that a key led to, and at most: a cursor blinks for ever."""

_KEY_SECONDS, _DRAW_SECONDS = 0.12, 0.05
"""Seconds that the tour takes for one typed key, and between two pieces of output."""


class Step(NamedTuple):
    """Keys that are typed one by one, and the seconds that the tour then stands still to be looked at."""

    keys: str
    seconds: float


STEPS = (
    Step("", 2.5),
    Step("3", 3.5),
    Step("x", 0.8),
    Step("a page is no order\r", 2.0),
    Step("z", 2.0),
    Step("2", 1.5),
    Step("/tag:tan", 1.2),
    Step("\t\r", 1.2),
    Step("w", 2.5),
    Step("\x1b", 0.4),
    Step(" j ", 0.6),
    Step(":tag +fast", 1.2),
    Step("\r", 1.2),
    Step("y", 1.5),
    Step("z", 1.5),
    Step("7", 2.0),
    Step("1", 1.5),
)
"""The riskiest item rejected and taken back; a search completed and explained; two memories tagged by a command."""


class Recorder:
    """Notes what a terminal draws, in the time of the tour: however long the machine took."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._taken = 0
        self.now = 0.0
        """Seconds since the beginning of the tour."""
        self.events: list[tuple[float, str, str]] = []

    def type(self, step: Step) -> None:
        """Type the keys of a step, wait until all is drawn, and stand still."""
        for key in step.keys:
            self._terminal.press(key)
            self.now += _KEY_SECONDS
            self._draw(_QUIET_SECONDS if key == step.keys[-1] else _KEY_SECONDS)
        if not step.keys:
            self._draw(_QUIET_SECONDS)
        self.now += step.seconds

    def _draw(self, quiet: float) -> None:
        ends = monotonic() + quiet
        latest = monotonic() + max(quiet, _MOST_SECONDS)
        while monotonic() < min(ends, latest):
            self._terminal.read(0.05)
            drawn = self._decoder.decode(self._terminal.raw[self._taken :])
            if drawn:
                self._taken = len(self._terminal.raw)
                self.now += _DRAW_SECONDS
                self.events.append((round(self.now, 3), "o", drawn))
                ends = monotonic() + quiet


def record(folder: Path) -> list[tuple[float, str, str]]:
    """Return what the app draws during the tour on a data directory, each piece with its second."""
    with open_app(folder) as terminal:
        recorder = Recorder(terminal)
        for step in STEPS:
            recorder.type(step)
        return recorder.events


@contextmanager
def _sample() -> Iterator[Path]:
    """Yield a sample workspace in a home of its own, where no agent's host is running."""
    with tempfile.TemporaryDirectory(prefix="memento-") as scratch:
        kept = dict(os.environ)
        os.environ["HOME"] = scratch
        os.environ.pop("CLAUDECODE", None)
        folder = Path(scratch) / "sample"
        folder.mkdir()
        (folder / "config.toml").write_text("[engine]\nenabled = false\n")
        subprocess.run([sys.executable, LOAD_SAMPLE, folder], check=True)  # noqa: S603 - our own script
        try:
            yield folder
        finally:
            os.environ.clear()
            os.environ.update(kept)


def main() -> None:
    """Record the tour and write it."""
    with _sample() as folder:
        events = record(folder)
    width, height = SIZE
    head = {"version": 2, "width": width, "height": height, "title": "memento", "env": {"TERM": "xterm-256color"}}
    CAST.write_text("".join(f"{json.dumps(line)}\n" for line in (head, *events)), encoding="utf-8")
    sys.stdout.write(f"{CAST.name}: {events[-1][0]:.0f} seconds, {CAST.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
