"""The app in a real terminal that is taken away, and among signals of others: it ends, and nothing typed is lost."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import termios
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.api.drafts import find_unsaved_texts
from memento_tui.paths import DataPaths
from tests.journeys.engine_house import until
from tests.journeys.real_terminal import Terminal, open_app, start_app

_LEAVES_SCREEN = b"\x1b[?1049l"
_TAKES_SCREEN = b"\x1b[?1049h"


def _type_memory(terminal: Terminal) -> None:
    begun = terminal.press("n")
    terminal.shows("^s Save", begun)
    begun = terminal.press("Half a thought about otters")
    terminal.shows("otters", begun)


@pytest.mark.parametrize("ignored", [(), (signal.SIGHUP,)])
def test_an_app_whose_terminal_is_gone_ends_and_keeps_what_was_typed(
    data_dir: Path, workspace: Workspace, ignored: tuple[signal.Signals, ...]
) -> None:
    terminal = start_app(data_dir, "memories", ignored)
    _type_memory(terminal)
    terminal.close()
    # On a machine that is very busy what is typed was on the disk already, and the alarm ends it.
    assert terminal.wait() in (-signal.SIGHUP, -signal.SIGALRM)
    assert "Half a thought about otters" in _kept(workspace)


def test_an_app_that_is_told_to_end_gives_the_terminal_back_and_keeps_what_was_typed(
    data_dir: Path, workspace: Workspace
) -> None:
    terminal = start_app(data_dir, "memories")
    _type_memory(terminal)
    begun = len(terminal.raw)
    os.kill(terminal.process, signal.SIGTERM)
    while terminal.read():
        pass
    assert _LEAVES_SCREEN in terminal.raw[begun:]
    terminal.close()
    assert terminal.wait() == 128 + signal.SIGTERM
    assert "Half a thought about otters" in _kept(workspace)


def test_an_app_that_waits_for_an_engine_which_does_not_answer_can_be_left(tmp_path: Path) -> None:
    paths = DataPaths(tmp_path / "data")
    paths.root.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(paths.engine_socket))
        silent.listen()
        with open_app(paths.root, "health") as terminal:
            begun = terminal.press("m")
            terminal.shows("Maintenance is under way", begun)

    def is_removed() -> bool:
        shutil.rmtree(paths.root, ignore_errors=True)
        return not paths.root.exists()

    # An engine that was asked for meanwhile may write in it until it sees that it is gone, and leaves.
    until(is_removed, "the folder is gone")


@pytest.mark.parametrize("stop", [signal.SIGSTOP, signal.SIGTSTP])
def test_an_app_that_was_stopped_draws_its_screen_again_and_leaves_the_terminal_as_it_was(
    data_dir: Path, stop: signal.Signals
) -> None:
    terminal = start_app(data_dir, "memories")
    assert terminal.modes() & termios.ECHO == 0

    os.kill(terminal.process, stop)
    terminal.until(lambda: _is_stopped(terminal.process), "it has stopped")
    begun = len(terminal.raw)
    os.kill(terminal.process, signal.SIGCONT)
    terminal.until(lambda: _TAKES_SCREEN in terminal.raw[begun:], "the terminal is taken again")
    # An empty screen was taken: what was drawn before is gone, and a part that has changed is not the whole.
    taken = terminal.raw.rindex(_TAKES_SCREEN)
    for part in ("6 Identity", "Nothing is remembered here yet.", "? Keys"):
        terminal.shows(part, taken)

    terminal.press("q")
    while terminal.read():
        pass
    assert terminal.modes() & termios.ECHO
    terminal.close()
    assert terminal.wait() == 0


def _is_stopped(process: int) -> bool:
    return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "T"


def _kept(workspace: Workspace) -> list[str]:
    return [kept.content for _, kept in find_unsaved_texts(workspace.paths)]
