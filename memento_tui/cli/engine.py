"""The command ``engine``: looking after the background process of semantic search."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import group
from memento_tui.cli.output import emit, named, safe
from memento_tui.cli.progress import progress_bar
from memento_tui.cli.session import current_session, opened

if TYPE_CHECKING:
    from memento_tui.search.semantic import SemanticClient

__all__ = ["commands"]

_LONGEST_WAIT = 3600.0
"""Seconds. A hundred thousand memories are embedded in about fifteen minutes."""


def _client() -> SemanticClient:
    """Return the way to the engine, which is there whatever state the database is in."""
    from memento_tui.config import load_config  # noqa: PLC0415 - a command's help is shown without it
    from memento_tui.search.semantic import SemanticClient  # noqa: PLC0415 - same

    paths = current_session().paths
    return SemanticClient(paths, enabled=load_config(paths.config).engine.enabled)


@group(
    "engine",
    invoke_without_command=True,
    short_help="Look after the background engine of semantic search.",
    examples="""
    memento engine
    memento engine logs --lines 20
    memento engine stop
    """,
)
@click.pass_context
def engine(ctx: click.Context) -> None:
    """Look after the background engine, which embeds memories and finds them by meaning.

    A search starts it, and it leaves by itself. Without a command, tell how it is.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(status)


@engine.command(
    "status",
    short_help="Tell how the engine is.",
    examples="""
    memento engine status
    memento engine status --json
    """,
)
def status() -> None:
    """Tell whether the engine runs, and how far its index has got. It is not started for that."""
    found = _client().status()
    if found is None:
        emit({"state": "stopped"}, lambda: "No engine is running; a search starts one.")
        return
    emit(asdict(found), lambda: named(_in_words(asdict(found))))


def _in_words(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        "state": facts["state"],
        "problem": facts["problem"],
        "memories": f"{facts['total']:,} in the index, {facts['pending']:,} to do",
        "reflects": f"journal entry {facts['seq']:,}",
        "model": facts["model"],
        "process": f"{facts['pid']}, for {facts['uptime']:.0f} s, {facts['rss'] / 1_000_000:.0f} MB",
        "version": facts["version"],
    }


@engine.command(
    "start",
    short_help="Start the engine now.",
    examples="""
    memento engine start
    memento engine start --wait --json
    """,
)
@click.option("--wait", is_flag=True, help="Wait until every memory is embedded.")
def start(*, wait: bool) -> None:
    """Start the engine unless it runs; loading its model takes some seconds."""
    from memento_tui.workspace.health import start_engine  # noqa: PLC0415 - a command's help is shown without it

    with opened() as workspace:
        start_engine(workspace)
        semantic = workspace.searching.semantic
        if wait:
            with progress_bar("Embedding") as progress:
                semantic.wait(workspace.store.head(), timeout=_LONGEST_WAIT, progress=progress)
        state = semantic.state()
    emit({"state": state}, lambda: f"The engine is {state}.")


@engine.command(
    "stop",
    short_help="Stop the engine.",
    examples="""
    memento engine stop
    memento engine stop --json
    """,
)
def stop() -> None:
    """Stop the engine and wait until it is gone. The next search by meaning starts it again."""
    from memento_tui.workspace.health import stop_engine  # noqa: PLC0415 - a command's help is shown without it

    stopped = stop_engine(_client())
    emit({"stopped": stopped}, lambda: "The engine is gone." if stopped else "No engine was running.")


@engine.command(
    "logs",
    short_help="Print what the engine wrote down.",
    examples="""
    memento engine logs
    memento engine logs --lines 200 --json
    """,
)
@click.option("--lines", type=click.IntRange(1, 100_000), metavar="NUMBER", default=50, show_default=True)
def logs(lines: int) -> None:
    """Print the last lines of the engine's log."""
    written = _client().logs(lines)
    emit(
        {"lines": written.splitlines()}, lambda: safe(written, multiline=True) or "The engine has written nothing yet."
    )


commands = {"engine": engine}
