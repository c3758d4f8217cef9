"""Report a fault of the app that ends it, without a text of a memory."""

from __future__ import annotations

import os
import sys
import traceback

from rich.text import Text

from memento_tui import clock
from memento_tui.paths import DataPaths
from memento_tui.regular_files import open_regular
from memento_tui.version import __version__

__all__ = ["write_crash_report"]


def write_crash_report(paths: DataPaths | None) -> Text:
    """Write where the exception that is being handled comes from, and return the sentence that the terminal shows.

    Where nothing may be written, ``paths`` is ``None``, and the report is shown with the sentence.

    The report names the kind of the exception and the lines of code that led to it. Its message and the variables are
    left out: they may hold what an agent or a person wrote.
    """
    error = sys.exc_info()[1]
    where = "".join(traceback.format_tb(error.__traceback__)) if error is not None else "unknown\n"
    kind = "unknown" if error is None else type(error).__qualname__
    report = f"memento {__version__}, {clock.now().isoformat(timespec='seconds')}: {kind}\n{where}"
    sentence = f"memento was ended by a fault of its own ({kind}). What you had typed is offered at the next start.\n"
    if paths is None:
        return Text(f"{sentence}\n{report}")
    try:
        handle = open_regular(paths.crash_report, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor has no path
            file.write(report)
    except OSError:
        return Text(f"{sentence}\n{report}")
    return Text(f"{sentence}The report is in {paths.crash_report}; it holds no text of a memory.\n")
