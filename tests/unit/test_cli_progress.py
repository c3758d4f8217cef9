"""How far a command is, on standard error of a terminal."""

from __future__ import annotations

import io

import click
import pytest

from memento_tui.cli.interaction import staged_progress


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
