"""A progress bar on standard error, for a person who waits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from memento_tui.cli.session import current_session

__all__ = ["progress_bar"]


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
