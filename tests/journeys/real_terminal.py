"""A program in a real terminal, for the journeys: what it draws, and keys for it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

__all__ = ["PATIENCE_SECONDS", "Terminal", "open_app", "start_app"]

PATIENCE_SECONDS = 1.0
"""How long a person waits for the effect of a key before pressing it again."""

_DEADLINE_SECONDS = 60
_CONTROL = re.compile(
    rb"\x1b(?:\[[0-9;?<>=$]*[A-Za-z@`~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_].*?\x1b\\|[()][A-Za-z0-9]|.)"
)


class Terminal:
    """One open terminal with a program in it."""

    def __init__(self, handle: int, process: int) -> None:
        self._handle = handle
        self.process = process
        self.raw = b""
        """Every byte that the program has written."""

    def press(self, keys: str) -> int:
        """Type keys, and return where in `raw` their effects begin."""
        begun = len(self.raw)
        os.write(self._handle, keys.encode())
        return begun

    def read(self, seconds: float = 0.1) -> bool:
        """Take what is written within some seconds; return whether the program still runs."""
        if not select.select([self._handle], [], [], seconds)[0]:
            return True
        try:
            drawn = os.read(self._handle, 65536)
        except OSError:
            return False
        self.raw += drawn
        return bool(drawn)

    def close(self) -> None:
        """Take the terminal away."""
        os.close(self._handle)

    def wait(self) -> int:
        """Wait until the program has ended; return its exit status, negative where a signal ended it."""
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])

    def modes(self) -> int:
        """Return the local modes of the terminal, as `termios` numbers them: whether it echoes, among others."""
        modes: int = termios.tcgetattr(self._handle)[3]
        return modes

    @property
    def sleeps(self) -> bool:
        """Whether every thread of the program waits for something; one that only waits for a processor does not."""
        threads = Path(f"/proc/{self.process}/task").glob("*/stat")
        try:
            return all(stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "S" for stat in threads)
        except (FileNotFoundError, ProcessLookupError):
            return False  # a thread has just ended

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something is true."""
        ends = monotonic() + _DEADLINE_SECONDS
        while not holds():
            running = self.read()
            assert holds() or (running and monotonic() < ends), f"{what}\n{self.drawn()[-1500:]}"

    def shows(self, text: str, since: int = 0) -> None:
        """Wait until a text has been drawn."""
        self.until(lambda: text in self.drawn(since), f"{text!r} is drawn")

    def decide(self, key: str, holds: Callable[[], bool], what: str) -> None:
        """Type a key that decides until something is true, which is not what is drawn: the next message covers that.

        A key for a card that has only just come up is ignored, and the person is asked to press it again; one too many
        is taken for no other card.
        """
        begun, ends = len(self.raw), monotonic() + _DEADLINE_SECONDS
        while not holds():
            assert monotonic() < ends, f"{what}\n{self.drawn(begun)[-1500:]}"
            self.press(key)
            patience = monotonic() + PATIENCE_SECONDS
            while not holds() and monotonic() < patience:
                self.read()

    def drawn(self, since: int = 0) -> str:
        """Return what was drawn, without the control sequences that place and colour it."""
        return _CONTROL.sub(b"", self.raw[since:]).decode(errors="replace")


def start_app(data_dir: Path, section: str = "home", ignored: tuple[signal.Signals, ...] = ()) -> Terminal:
    """Open the app in a section and return its terminal once the keys are shown.

    ``ignored`` are signals that whoever starts it has ignored.
    """
    process, handle = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 32, 120, 0, 0))
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
        command = [sys.executable, "-m", "memento_tui", "--data-dir", str(data_dir)]
        os.execv(sys.executable, command if section == "home" else [*command, "--open", section])  # noqa: S606 - this Python
    terminal = Terminal(handle, process)
    terminal.shows("Memories")
    terminal.shows("? Keys")  # the keys that the section takes stand below it
    return terminal


@contextmanager
def open_app(data_dir: Path, section: str = "home") -> Iterator[Terminal]:
    """Open the app as a person does, in a section, and leave it with q; it has to end by itself."""
    terminal = start_app(data_dir, section)
    try:
        yield terminal
        terminal.press("q")
        ends = monotonic() + _DEADLINE_SECONDS
        while terminal.read():
            assert monotonic() < ends, "the app leaves"
    finally:
        terminal.close()
        status = terminal.wait()
    assert status == 0
