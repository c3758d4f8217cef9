"""The command ``mirror``: keep a folder of notes in sync with the memories."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import msgspec

from memento_tui import clock
from memento_tui.cli.command import PathArgument, command, current_session, in_clear_option, open_workspace
from memento_tui.cli.interaction import staged_progress, stop_on_signals
from memento_tui.cli.output import EXIT_INTERRUPTED, bold, emit, note, safe, write

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.mirror.mirror import Mirror, VanishedPolicy
    from memento_tui.mirror.state import MirrorEvent


_MIN_POLL_SECONDS = 1.0
"""Seconds between two scans of the folder at least."""
_POLL_REST_FACTOR = 25
"""The pause after a scan in units of its duration, so that scans take 4 % of a processor at most."""
_MAX_WAIT_SECONDS = 30.0
"""Seconds for which ``--once`` waits for files that are being written."""
_WAIT_POLL_SECONDS = 0.2
"""Seconds between two scans while ``--once`` waits."""
_MAX_LISTED = 20
"""Lines of one step that a person is shown; --json lists all."""
_QUIET_EVENTS = ("written", "taken", "moved", "related")
"""Events that are counted and not listed when a mirror begins."""


class _StoppedError(Exception):
    """The person ended the mirror while notes were read; the next run reads the rest."""


@command(
    "mirror",
    writes=True,
    short_help="Keep a folder of notes in sync with the memories.",
    examples="""
    memento mirror ~/notes/memory
    memento mirror ~/notes/api --namespace projects/api
    memento mirror ~/notes/decisions --query "kind:decision is:verified"
    memento mirror ~/notes/memory --once --json
    """,
)
@click.argument("folder", type=PathArgument(path_type=Path), metavar="DIR")
@click.option("--once", is_flag=True, help="Synchronize once, and end.")
@click.option("--query", default="", metavar="Q", help="Write only memories that these filters select.")
@click.option("--namespace", default="", metavar="NS", help="Write only memories in this namespace or below it.")
@click.option(
    "--hold",
    is_flag=True,
    help="Hold every change made in the folder for review; links add no relations.",
)
@click.option(
    "--vanished",
    type=click.Choice(["ask", "delete", "restore"]),
    default="ask",
    show_default=True,
    help="If most notes vanish at once: ask, delete their memories, or write the notes again.",
)
@in_clear_option
def mirror(folder: Path, query: str, namespace: str, vanished: str, *, once: bool, hold: bool, in_clear: bool) -> None:
    """Keep DIR, a folder of Markdown notes, in sync with the memories in both directions until ctrl+c.

    Editing a note, in Obsidian or anywhere, changes its memory; a new note adds a memory, and deleting a note deletes
    its memory, which `memento restore` undoes. Changes in memento appear in the notes. A change to a verified memory,
    and a change made on both sides, waits in `memento review`; the file stays as it is until you decide. Notes of
    memories that are deleted in memento go to the folder's .trash. A link to another note relates the two memories,
    and a relation made in memento becomes a property of its note.
    """
    current_session().author.refuse_agents_host("memento mirror")
    if current_session().as_json and not once:
        raise click.UsageError("--json prints one value at the end, so it needs --once.")
    from memento_tui.mirror.mirror import Mirror  # noqa: PLC0415 - a command's help is shown without it

    with open_workspace(create=True) as workspace, stop_on_signals(signal.SIGINT, signal.SIGTERM) as stopping:
        chosen = cast("VanishedPolicy", vanished)
        with Mirror(
            workspace, folder, query=query, namespace=namespace, hold=hold, vanished=chosen, in_clear=in_clear
        ) as running:
            events = _synchronize(running, stopping, patience=_MAX_WAIT_SECONDS if once else 0.0)
            if once:
                emit(
                    lambda: _report_object(running, events),
                    lambda: _report_text(running, events, ended=stopping.is_set()),
                )
                if stopping.is_set():
                    raise click.exceptions.Exit(EXIT_INTERRUPTED)
                return
            ended = stopping.is_set()
            write(_report_text(running, events, ended=ended) + ("\n" if ended else "\nctrl+c ends it.\n"))
            _watch(running, stopping)
            note(f"Ended; {_notes(running)} in sync.")


def _synchronize(running: Mirror, stopping: threading.Event, *, patience: float) -> list[MirrorEvent]:
    """Synchronize both sides; wait up to ``patience`` seconds for files that are being written."""
    events: list[MirrorEvent] = []
    ends = time.monotonic() + patience
    with staged_progress(stopping) as progress, suppress(_StoppedError):

        def advance(what: str, done: int, total: int) -> None:
            if stopping.is_set():
                raise _StoppedError
            progress(what, done, total)

        while True:
            for event in running.step(advance):
                events.append(event)
                if stopping.is_set():
                    return events
            if running.is_settled or time.monotonic() >= ends or stopping.wait(_WAIT_POLL_SECONDS):
                return events
    return events


def _watch(running: Mirror, stopping: threading.Event) -> None:
    """Synchronize again and again, and print the events, until ``stopping`` is set."""
    pause = _MIN_POLL_SECONDS
    while not stopping.wait(pause):
        began = time.monotonic()
        lines = []
        for event in running.step():
            lines.append(_event_line(event))
            if stopping.is_set():
                break
        at = f"{clock.now().astimezone():%H:%M:%S}  "
        write("".join(at + line + "\n" for line in _cut(lines)))
        pause = max(_MIN_POLL_SECONDS, _POLL_REST_FACTOR * (time.monotonic() - began))


def _event_line(event: MirrorEvent) -> str:
    about = event.note or event.memory
    known = f" ({event.memory})" if event.note and event.memory else ""
    why = f": {event.why}" if event.why else ""
    return bold(event.action.ljust(8)) + safe(f" {about}{known}{why}")


def _cut(lines: list[str]) -> list[str]:
    rest = len(lines) - _MAX_LISTED
    return lines if rest <= 0 else [*lines[:_MAX_LISTED], f"... and {rest:,} more"]


def _notes(running: Mirror) -> str:
    return "1 note is" if running.notes == 1 else f"{running.notes:,} notes are"


def _counts(events: Iterable[MirrorEvent]) -> dict[str, int]:
    from memento_tui.mirror.state import MIRROR_ACTIONS  # noqa: PLC0415 - as above

    counted: Counter[str] = Counter(event.action for event in events)
    return {action: counted[action] for action in MIRROR_ACTIONS}


def _report_object(running: Mirror, events: list[MirrorEvent]) -> dict[str, Any]:
    return {
        "folder": str(running.folder.root),
        "notes": running.notes,
        "settled": running.is_settled,
        "counts": _counts(events),
        "happened": msgspec.to_builtins(events),
    }


def _report_text(running: Mirror, events: list[MirrorEvent], *, ended: bool) -> str:
    counts = ", ".join(f"{count:,} {action}" for action, count in _counts(events).items() if count)
    nothing = "nothing done yet" if ended else "nothing to do"
    lines = [safe(f"{running.folder.root}: {_notes(running)} in sync ({counts or nothing})")]
    lines += _cut([_event_line(event) for event in events if event.action not in _QUIET_EVENTS])
    if ended:
        lines.append("That is not all of them; the next run continues from here.")
    elif not running.is_settled:
        lines.append("Some notes changed or went missing just now; they are left for later.")
    return "\n".join(lines)


commands = {"mirror": mirror}
