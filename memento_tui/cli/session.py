"""What the options in front of every command say, and the way from there to an open workspace."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memento_tui.paths import DataPaths, data_directory

if TYPE_CHECKING:
    from memento_tui.workspace import Workspace

__all__ = ["Session", "current_session", "opened"]


class Session:
    """The choices that hold for one run of the program."""

    def __init__(self) -> None:
        self.data_dir: Path | None = None
        """``None`` where ``MEMENTO_HOME`` or the platform decides."""
        self.as_json = False

    @property
    def paths(self) -> DataPaths:
        """The files of the data directory that this run works on."""
        return DataPaths(data_directory(self.data_dir))


def current_session() -> Session:
    """Return the session of the command that is running."""
    return click.get_current_context().ensure_object(Session)


@contextmanager
def opened(*, create: bool = False) -> Iterator[Workspace]:
    """Open the workspace in the person's name for the length of a block.

    ``create`` begins a new data directory where there is none; commands that only read leave it out, so that a
    mistyped path is an error and not an empty workspace. Raises `DataDirectoryError`.
    """
    from memento_tui.workspace import Workspace  # noqa: PLC0415 - a command's help is shown without it

    if not os.environ.get("MEMENTO_DEBUG"):
        # What the person is to know is printed; the log would repeat it on standard error.
        logging.getLogger("memento_tui").addHandler(logging.NullHandler())
    with Workspace(current_session().data_dir, actor="person", channel="cli", create=create) as workspace:
        yield workspace
