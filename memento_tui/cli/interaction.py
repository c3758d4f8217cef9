"""Talk with the person while a command runs: questions, interruption and progress."""

from __future__ import annotations

import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from memento_tui.cli.command import current_session
from memento_tui.cli.output import note, safe
from memento_tui.errors import InvalidInput

__all__ = ["ask", "confirm", "progress_bar", "staged_progress", "step_line", "stop_on_signals"]


def ask(question: str, *, answer: str = "") -> bool:
    """Ask the person on standard error: whether they type ``answer``, or where there is none, yes or no."""
    if not answer:
        return click.confirm(f"{safe(question)}?", err=True)
    typed: str = click.prompt(safe(question), err=True, default="", show_default=False)
    return typed == answer


def confirm(
    question: str,
    *,
    yes: bool,
    unasked: str,
    declined: str,
    hint: str = "Say --yes if you are sure.",
    answer: str = "",
) -> None:
    """Ask the person unless ``yes`` was given; return if they agree.

    Raises:
        InvalidInput: nobody can be asked (``unasked``), or they do not agree (``declined``).

    """
    if yes:
        return
    if current_session().as_json or not sys.stdin.isatty():
        raise InvalidInput(unasked, hint)
    if not ask(question, answer=answer):
        raise InvalidInput(declined)


@contextmanager
def stop_on_signals(*numbers: signal.Signals, announce: str = "") -> Iterator[threading.Event]:
    """Yield an event that is set by these signals, so that the work ends after its present step.

    With ``announce`` the first signal prints that sentence, and a second one ends the program at once.
    """
    stopping = threading.Event()

    def stop(number: int, _frame: object) -> None:
        stopping.set()
        if announce:
            signal.signal(number, signal.default_int_handler)
            note(announce)

    before = [(number, signal.signal(number, stop)) for number in numbers]
    try:
        yield stopping
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _nobody_watches() -> bool:
    return current_session().as_json or not sys.stderr.isatty()


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that takes how much of how much is done, and draws a bar if standard error is a terminal."""
    if _nobody_watches():
        yield lambda _done, _total: None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def advance(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        yield advance


@contextmanager
def step_line(label: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step on one line if standard error is a terminal."""
    if _nobody_watches():
        yield lambda _step: None
        return

    def show(step: str) -> None:
        line = safe(f"{label}: {step}")[: shutil.get_terminal_size().columns - 1]
        click.echo(f"\r\x1b[2K{line}", nl=False, err=True)

    try:
        yield show
    finally:
        click.echo("\r\x1b[2K", nl=False, err=True)


@contextmanager
def staged_progress(stopping: threading.Event | None = None) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that takes a stage and how much of how much is done; each stage has a bar of its own.

    The bar of a stage is filled when the next one begins, since few stages say that their last part is done. That of
    the last is filled at the end, unless ``stopping`` is set or something was raised: then it tells how far it came.
    """
    if _nobody_watches():
        yield lambda _stage, _done, _total: None
        return
    stage = ""
    bar: Any = None  # click does not name the type of its bars

    def advance(name: str, done: int, total: int) -> None:
        nonlocal stage, bar
        if name != stage:
            if bar is not None:
                _end(bar, is_done=True)
            stage, bar = name, click.progressbar(length=max(total, 1), label=name, file=sys.stderr)
        if bar is not None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)
            bar.render_progress()

    is_done = False
    try:
        yield advance
        is_done = stopping is None or not stopping.is_set()
    finally:
        if bar is not None:
            _end(bar, is_done=is_done)


def _end(bar: Any, *, is_done: bool) -> None:  # noqa: ANN401 - as above
    """Fill the bar of a stage that is done; end its line and show the cursor again."""
    if is_done:
        bar.update(bar.length - bar.pos)
        bar.render_progress()
    bar.render_finish()
