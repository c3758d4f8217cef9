"""The app in a real terminal, under bursts: what it drew last, and how it ended."""

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
from pathlib import Path
from time import monotonic

__all__ = ["FuzzedApp"]

_CONTROL = re.compile(
    rb"\x1b(?:\[[0-9;?<>=$]*[A-Za-z@`~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_].*?\x1b\\|[()][A-Za-z0-9]|.)"
)
_TOOK_SCREEN, _LEFT_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"
_KEPT_BYTES = 400_000
_PATIENCE_SECONDS = 60.0
"""An app that draws nothing for so long after a new size hangs."""

_LEAVING = "\x1b", "y", "\x1b", "\x1b", "q"
"""Keys that leave the app from anywhere: a dialog, a text that is being typed, a list."""

_STARTS = (
    "import faulthandler, runpy, signal, sys; faulthandler.register(signal.SIGUSR1); "
    "runpy.run_module('memento_tui', run_name='__main__', alter_sys=True)"
)
"""The app as `python -m memento_tui` starts it; a signal makes it say where its threads are."""

_LIGHT_MODEL = Path(__file__).parents[1] / "journeys" / "light_model"


class FuzzedApp:
    """One run of the app. It has ended when `write` or `watch` returns false; `status` says how then."""

    def __init__(self, data_dir: Path, home: Path) -> None:
        self._drawn = b""
        self.bytes_drawn = 0
        self._status: int | None = None
        self.process, self._handle = pty.fork()
        if self.process == 0:
            _become_app(data_dir, home)
        os.set_blocking(self._handle, False)

    @property
    def status(self) -> int:
        """The exit code of the app; negative where a signal ended it."""
        if self._status is None:
            self._status = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
            os.close(self._handle)
        return self._status

    @property
    def last_words(self) -> str:
        """What was written after the app had given the screen back."""
        after = self._drawn.rpartition(_LEFT_SCREEN)[2] if _LEFT_SCREEN in self._drawn else self._drawn[-20_000:]
        return _CONTROL.sub(b"", after).decode(errors="replace").strip()

    @property
    def memory_megabytes(self) -> float:
        """The memory that the app has resident."""
        pages = int(Path(f"/proc/{self.process}/statm").read_text(encoding="utf-8").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def write(self, keys: str) -> bool:
        """Write keys at once, and return whether the app still runs."""
        left, ends = keys.encode(), monotonic() + _PATIENCE_SECONDS
        while left:
            if not self.watch(0.0) or monotonic() > ends:
                return False
            try:
                left = left[os.write(self._handle, left) :]
            except BlockingIOError:
                select.select([self._handle], [self._handle], [], 1.0)
            except OSError:
                return False
        return True

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size; the kernel tells the app."""
        fcntl.ioctl(self._handle, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def watch(self, seconds: float) -> bool:
        """Take what is drawn within some seconds, and return whether the app still runs."""
        ends = monotonic() + seconds
        while True:
            if not select.select([self._handle], [], [], max(ends - monotonic(), 0.0))[0]:
                return True
            try:
                drawn = os.read(self._handle, 1 << 16)
            except BlockingIOError:
                continue
            except OSError:
                return False
            if not drawn:
                return False
            self._drawn = (self._drawn + drawn)[-_KEPT_BYTES:]
            self.bytes_drawn = self.bytes_drawn + len(drawn)

    def begin(self) -> None:
        """Wait until the app has the terminal: before that ctrl+c is the terminal's own key, which ends a program."""
        ends = monotonic() + _PATIENCE_SECONDS
        while _TOOK_SCREEN not in self._drawn and self.watch(0.05) and monotonic() < ends:
            pass

    def answers(self) -> bool:
        """Return whether the app still runs, and draws within a minute after its terminal got another size."""
        for size in ((81, 25), (120, 32)):
            before, ends = self.bytes_drawn, monotonic() + _PATIENCE_SECONDS
            self.resize(*size)
            while self.bytes_drawn == before:
                if not self.watch(0.05) or monotonic() > ends:
                    return False
        return True

    def leave(self) -> bool:
        """Leave the app as a person does, and return whether it ended within a minute."""
        ends = monotonic() + _PATIENCE_SECONDS
        while monotonic() < ends:
            if not self.press_leaving():
                return True
        return False

    def press_leaving(self) -> bool:
        """Press the keys that leave, each by itself: Escape and a letter at once are another key; as `write`."""
        return all(self.write(key) and self.watch(0.15) for key in _LEAVING)

    def say_where_it_is(self) -> None:
        """Let an app that hangs write where each of its threads is; it is among its last words then."""
        self._drawn += _LEFT_SCREEN
        os.kill(self.process, signal.SIGUSR1)
        self.watch(2.0)

    def kill(self) -> None:
        """End the app at once."""
        os.kill(self.process, signal.SIGKILL)


def _become_app(data_dir: Path, home: Path) -> None:
    """Turn the child into the app: nothing of this person's home is read, and the engine loads a light model."""
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 32, 120, 0, 0))
    attributes = termios.tcgetattr(0)
    attributes[3] &= ~termios.ECHO  # or keys that come behind the one that leaves would be among its last words
    termios.tcsetattr(0, termios.TCSANOW, attributes)
    os.chdir(home)
    path = os.pathsep.join([str(_LIGHT_MODEL), *sys.path])
    os.environ.update(
        HOME=str(home), TERM="xterm-256color", COLORTERM="truecolor", PYTHONPATH=path, EDITOR="/bin/true", VISUAL=""
    )
    os.execv(sys.executable, [sys.executable, "-c", _STARTS, "--data-dir", str(data_dir)])  # noqa: S606 - this Python
