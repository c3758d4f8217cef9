"""The app in a real terminal that is taken away, and among signals of others: it ends, and nothing typed is lost."""

from __future__ import annotations

import os
import signal
import termios
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.api.drafts import find_unsaved_texts
from tests.journeys.real_terminal import Terminal, start_app

_LEAVES_SCREEN = b"\x1b[?1049l"


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


def test_an_app_that_was_stopped_leaves_the_terminal_as_it_was(data_dir: Path) -> None:
    terminal = start_app(data_dir, "memories")
    assert terminal.modes() & termios.ECHO == 0

    os.kill(terminal.process, signal.SIGSTOP)
    begun = len(terminal.raw)
    os.kill(terminal.process, signal.SIGCONT)
    terminal.shows("? Keys", begun)

    terminal.press("q")
    while terminal.read():
        pass
    assert terminal.modes() & termios.ECHO
    terminal.close()
    assert terminal.wait() == 0


def _kept(workspace: Workspace) -> list[str]:
    return [kept.content for _, kept in find_unsaved_texts(workspace.paths)]
