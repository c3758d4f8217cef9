"""How far a command is, on standard error of a terminal."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from memento_tui.cli.interaction import staged_progress
from memento_tui.maintenance.run import MaintenanceReport
from tests.journeys.cli_shell import Console


class _TerminalText(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_each_stage_that_is_over_is_shown_as_done(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = _TerminalText()
    monkeypatch.setattr("sys.stderr", drawn)
    with click.Context(click.Command("compact")), staged_progress() as progress:
        progress("Letting go", 0, 3)
        progress("Copying", 1, 4)
        progress("Copying", 3, 4)
    last = [line.split("\r")[-1] for line in drawn.getvalue().split("\n")]
    assert ["Letting go" in line or "Copying" in line for line in last if "100%" in line] == [True, True]


def _fail_to_copy() -> None:
    with staged_progress() as progress:
        progress("Copying", 1, 4)
        raise OSError("The disk is full.")


def test_a_stage_that_failed_is_not_shown_as_done(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = _TerminalText()
    monkeypatch.setattr("sys.stderr", drawn)
    with click.Context(click.Command("compact")), pytest.raises(OSError, match="full"):
        _fail_to_copy()
    assert "25%" in drawn.getvalue()
    assert "100%" not in drawn.getvalue()
    assert drawn.getvalue().endswith("\x1b[?25h\n")  # the cursor is there again, and the error has its own line


@pytest.mark.parametrize(("is_stopped", "ends_at"), [(True, "25%"), (False, "100%")])
def test_the_last_stage_of_a_run_that_was_stopped_tells_how_far_it_came(
    monkeypatch: pytest.MonkeyPatch, *, is_stopped: bool, ends_at: str
) -> None:
    drawn, stopping = _TerminalText(), threading.Event()
    monkeypatch.setattr("sys.stderr", drawn)
    with click.Context(click.Command("maintain")), staged_progress(stopping) as progress:
        progress("Expiring", 0, 3)
        progress("Comparing", 1, 4)
        if is_stopped:
            stopping.set()
    expiring, comparing = (line.split("\r")[-1] for line in drawn.getvalue().removesuffix("\n").split("\n"))
    assert "Expiring" in expiring
    assert "100%" in expiring
    assert "Comparing" in comparing
    assert ends_at in comparing
    assert drawn.getvalue().endswith("\x1b[?25h\n")


def _interrupted_run(
    _: object, *, stopping: threading.Event, progress: Callable[[str, int, int], None], **_options: object
) -> MaintenanceReport:
    progress("Comparing", 1, 4)
    stopping.set()
    return MaintenanceReport(actions=(), problems=(), interrupted=True, dry_run=False)


def test_maintenance_that_is_interrupted_tells_how_far_it_came(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shell = Console(tmp_path)
    shell.run("add", "The port is 8080.")
    monkeypatch.setattr("memento_tui.api.maintenance.maintain_workspace", _interrupted_run)
    monkeypatch.setattr("click._termui_impl.isatty", lambda _stream: True)
    monkeypatch.setattr("memento_tui.cli.interaction._nobody_watches", lambda: False)
    ended = shell.run("maintain")
    assert (ended.returncode, b"Interrupted" in ended.stdout) == (130, True)
    assert b"25%" in ended.stderr
    assert b"100%" not in ended.stderr
