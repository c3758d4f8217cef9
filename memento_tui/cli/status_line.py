"""The command ``status-line``; `memento-status-line` prints the same in a third of the time."""

from __future__ import annotations

import click

from memento_tui.cli.command import command, current_session
from memento_tui.cli.output import emit, write
from memento_tui.errors import DataDirectoryError
from memento_tui.status_line import STYLES, status_text, waiting

__all__ = ["commands"]


@command(
    "status-line",
    short_help="Print how much waits, for prompts and status lines.",
    examples="""
    memento status-line --style ansi
    memento status-line --json
    """,
)
@click.option("--style", type=click.Choice(list(STYLES)), default="plain", show_default=True, help="The colours.")
def status_line(style: str) -> None:
    """Print how many items wait for your decision, and whether something risky is among them.

    It reads one small file that every writer keeps up to date, and prints nothing where nothing waits. The program
    memento-status-line prints the same in the time of a bare interpreter, for a prompt.
    """
    paths = current_session().paths
    if not paths.database.exists():
        raise DataDirectoryError(f"There is no memento data in {paths.root}.", "Check the path.")
    total, risky = waiting(str(paths.root))
    text = status_text(total, risky, style)
    if text or current_session().as_json:
        emit({"waiting": total, "risky": risky}, lambda: text)
    else:
        write("")


commands = {"status-line": status_line}
