"""A person who types ``memento mcp`` is told what it waits for, and a host is not."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.journeys.real_terminal import Terminal
from tests.made import without_engine


def test_a_person_who_starts_the_server_by_hand_is_told_what_it_is_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "memento_tui", "--data-dir", str(without_engine(tmp_path / "data")), "mcp"]
    process, handle = pty.fork()
    if process == 0:
        os.execv(command[0], command)  # noqa: S606 - this Python
    terminal = Terminal(handle, process)
    terminal.shows("ctrl+c ends it.")
    terminal.press("\x03")
    while terminal.read():
        pass
    _, status = os.waitpid(process, 0)
    os.close(handle)
    assert os.waitstatus_to_exitcode(status) != 0


def test_a_host_reads_nothing_of_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "memento_tui", "--data-dir", str(without_engine(tmp_path / "data")), "mcp"]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)  # noqa: S603 - this Python
    assert (ended.stdout, ended.stderr) == (b"", b"")
