"""Carrying out an import or an export: what a reader finds goes into the store once, and only what changed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from memento_tui.errors import InvalidInput, NotAllowed
from memento_tui.interchange.formats import FORMATS, Format
from memento_tui.interchange.import_run import BATCH, ImportReport, ImportRun
from memento_tui.interchange.outgoing import Written
from memento_tui.interchange.restoring import in_full
from memento_tui.workspace import Workspace

__all__ = ["ImportReport", "run_export", "run_import"]


def run_import(
    workspace: Workspace,
    format_name: str,
    path: Path | str,
    *,
    dry_run: bool = False,
    hold: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Take in what a file or folder holds, or a server whose address is ``path``.

    A second run changes nothing; a changed source updates.

    ``hold`` lets every new memory wait in the review queue. ``progress`` is called with how much was read, and of how
    much. What was changed both here and in the source is refused, with the reason; what is here stays.

    Raises:
        InvalidInput: the format is unknown, or there is nothing at the path.
        NotAllowed: an agent asks.

    """
    if workspace.author.actor != "person":
        raise NotAllowed("Only a person imports.", "Remember what matters, one memory at a time.")
    chosen = _format(format_name)
    run = ImportRun(workspace, f"{format_name}:{chosen.locate(path)}", dry_run=dry_run, hold=hold)
    total = chosen.count(path) if progress is not None else 0
    found = run.known_again(chosen.read(path))
    while batch := list(islice(found, BATCH)):
        run.take(batch)
        if progress is not None:
            progress(min(run.seen, total), total)
    run.finish()
    if progress is not None:
        progress(total, total)
    return run.report


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise InvalidInput(f"{name!r} is not a format that memento reads.", f"It reads {', '.join(FORMATS)}.")
    return FORMATS[name]


def run_export(workspace: Workspace, path: Path | str, *, format_name: str = "memento") -> Written:
    """Write everything that a format has a place for; ``path`` is an address where that is a server.

    Raises:
        InvalidInput: the place cannot be written.

    """
    chosen = _format(format_name)
    chosen.check_place(path)
    everything = _everything(workspace)
    return chosen.write(everything if chosen.is_own else map(in_full, everything), path)


def _everything(workspace: Workspace) -> Iterator[Any]:
    store = workspace.store
    for batch in store.all_memories():
        yield from batch
    for record in ("relation", "skip", "item", "crystal"):
        yield from store.all_of(record)
