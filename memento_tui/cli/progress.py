"""A progress bar on standard error, for a person who waits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from memento_tui.cli.session import current_session

__all__ = ["progress_bar", "staged_progress"]


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield what is to be told how much of how much is done, or ``None`` where nobody watches."""
    if not sys.stderr.isatty() or current_session().as_json:
        yield None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def advance(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        yield advance


@contextmanager
def staged_progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield what is to be told what is being done, how much of it is done, and of how much; a bar for each stage."""
    if not sys.stderr.isatty() or current_session().as_json:
        yield None
        return
    stage = ""
    bar: Any = None  # click does not name the type of its bars

    def advance(what: str, done: int, total: int) -> None:
        nonlocal stage, bar
        if what != stage:
            if bar is not None:
                bar.render_finish()
            stage, bar = what, click.progressbar(length=max(total, 1), label=what, file=sys.stderr)
        if bar is not None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)
            bar.render_progress()

    yield advance
    if bar is not None:
        bar.render_finish()
