"""A program in a real terminal: how long until a text is on its screen, and how much memory it then has."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

__all__ = ["HELLO", "Shown", "resident", "start"]

_DEADLINE_SECONDS = 60
_SETTLE_SECONDS = 2.0

HELLO = (
    "from textual.app import App\n"
    "from textual.widgets import Static\n"
    "class Hello(App):\n"
    "    def compose(self):\n"
    "        yield Static('Hello, World!')\n"
    "Hello().run()\n"
)
"""The smallest Textual program."""


class Shown(NamedTuple):
    """When the text was on the screen, in seconds from the start, and the resident memory after it settled, in MB."""

    seconds: float
    megabytes: float


def start(arguments: Sequence[str], text: str, *, settle: bool = False) -> Shown:
    """Start a program on a terminal of 120 x 40, wait for a text, and end it."""
    begun = perf_counter()
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
        os.execv(arguments[0], list(arguments))  # noqa: S606 - the programs that are compared
    try:
        _read_until(terminal, text.encode())
        seconds = perf_counter() - begun
        if settle:
            _drain(terminal, _SETTLE_SECONDS)
        return Shown(seconds, resident(process))
    finally:
        os.kill(process, signal.SIGTERM)
        _drain(terminal, 0.5)
        os.close(terminal)
        os.waitpid(process, 0)


def _read_until(terminal: int, text: bytes) -> None:
    drawn, ends = b"", perf_counter() + _DEADLINE_SECONDS
    while text not in drawn:
        if perf_counter() > ends:
            sys.exit(f"{text!r} did not appear: {drawn[-500:]!r}")
        if select.select([terminal], [], [], 1)[0]:
            drawn += os.read(terminal, 65536)


def _drain(terminal: int, seconds: float) -> None:
    ends = perf_counter() + seconds
    while perf_counter() < ends:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                if not os.read(terminal, 65536):
                    return
            except OSError:
                return


def resident(process: int) -> float:
    """Return the resident megabytes of a process."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        import subprocess  # noqa: PLC0415 - where there is no /proc

        told = subprocess.run(["ps", "-o", "rss=", "-p", str(process)], capture_output=True, check=True)  # noqa: S603, S607
        return int(told.stdout) / 1024
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
