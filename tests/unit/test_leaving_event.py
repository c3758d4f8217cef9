"""The thread that reads the keyboard ends with the program, whatever became of the terminal."""

from __future__ import annotations

import subprocess
import sys

from memento_tui.tui.terminal import LeavingEvent

_LEFT = """
import threading
from memento_tui.tui.terminal import LeavingEvent

leaving = LeavingEvent()

def read():
    while not leaving.is_set():
        threading.Event().wait(0.01)

threading.Thread(target=read).start()
"""


def test_the_event_is_set_and_cleared_as_any_other() -> None:
    leaving = LeavingEvent()
    assert not leaving.is_set()
    leaving.set()
    assert leaving.is_set()
    leaving.clear()
    assert not leaving.is_set()


def test_a_program_whose_thread_was_not_told_to_end_ends_all_the_same() -> None:
    ended = subprocess.run([sys.executable, "-c", _LEFT], check=False, timeout=120)  # noqa: S603 - this test's own program
    assert ended.returncode == 0
