"""A program under tmux: what its screen shows as a terminal draws it, and keys for it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest

from memento_tui.model.validation import new_id
from tests.journeys.real_terminal import PATIENCE_SECONDS

__all__ = ["Screen", "app_in_tmux", "needs_tmux"]

_DEADLINE_SECONDS = 60
_POLL_SECONDS = 0.02  # the app needs the processor too

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed: apt-get install tmux")


class Screen:
    """One terminal of a tmux server of its own."""

    def __init__(self, size: tuple[int, int]) -> None:
        self._socket = f"memento-{new_id()}"
        self._size = size

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-L", self._socket, "-f", "/dev/null", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout  # noqa: S603 - tmux

    def start(self, *command: str) -> None:
        """Start a program; the screen stays when it has ended."""
        width, height = map(str, self._size)
        self._tmux("new-session", "-d", "-x", width, "-y", height, "env", "-u", "COLUMNS", "-u", "LINES", *command)
        self._tmux("set-option", "-g", "remain-on-exit", "on")

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names: ``Enter``, ``C-s``, or a letter."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type a text letter by letter."""
        self._tmux("send-keys", "-l", text)

    @property
    def text(self) -> str:
        """What the screen shows now."""
        return self._tmux("capture-pane", "-p")

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something is true."""
        ends = monotonic() + _DEADLINE_SECONDS
        while not holds():
            assert monotonic() < ends, f"{what}\n{self.text}"
            sleep(_POLL_SECONDS)

    def decide(self, key: str, holds: Callable[[], bool], what: str) -> None:
        """Press a key that decides until something is true; one for a card that has only just come up is ignored."""
        ends = monotonic() + _DEADLINE_SECONDS
        while not holds():
            assert monotonic() < ends, f"{what}\n{self.text}"
            self.press(key)
            patience = monotonic() + PATIENCE_SECONDS
            while not holds() and monotonic() < patience:
                sleep(_POLL_SECONDS)

    def shows(self, *texts: str) -> None:
        """Wait until all of these are on the screen at once."""

        def are_shown() -> bool:
            shown = self.text
            return all(text in shown for text in texts)

        self.until(are_shown, f"{texts} are shown")

    def has_ended(self) -> bool:
        """Tell whether the program has ended."""
        return self._tmux("list-panes", "-F", "#{pane_dead}").strip() == "1"

    def close(self) -> None:
        """End the server, and whatever still runs in it."""
        self._tmux("kill-server")


@contextmanager
def app_in_tmux(data_dir: Path, *options: str, size: tuple[int, int] = (120, 32)) -> Iterator[Screen]:
    """Open the app as a person does, and leave it with q; it has to end by itself."""
    screen = Screen(size)
    screen.start(sys.executable, "-m", "memento_tui", "--data-dir", str(data_dir), *options)
    try:
        screen.shows("2 Memories", "? Keys")  # the keys that the section takes stand below it
        yield screen
        screen.press("q")
        screen.until(screen.has_ended, "the app leaves")
    finally:
        screen.close()
