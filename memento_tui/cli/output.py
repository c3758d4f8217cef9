"""Print the results of commands: JSON or text, tables, errors with exit codes, one outcome for each id."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from types import ModuleType
from typing import Any, BinaryIO

import click

from memento_tui.cli.command import current_session
from memento_tui.errors import MementoError
from memento_tui.text.quantities import count_of

__all__ = [
    "EXIT_INTERRUPTED",
    "QUOTE_BAR",
    "as_json",
    "bold",
    "colour_diff",
    "count_of",
    "emit",
    "for_each",
    "format_fields",
    "format_time",
    "next_page_note",
    "note",
    "quoted",
    "report_error",
    "safe",
    "table",
    "write",
    "write_bytes",
]

QUOTE_BAR = "| "
"""The mark before each line of a text that somebody else wrote, and before each row that it is broken into."""

_EXIT_PIPE_CLOSED = 141
"""The exit status of a program whose output nobody reads any more: 128 + SIGPIPE."""

_CHUNK_BYTES = 1 << 20
"""Bytes that are read from a file at once."""

_MAX_ID_WIDTH = 48
"""Cells of the first column; the longest name of a backup is `memento-20261121T073114Z-before-migration-2.db`."""

_MIN_LAST_COLUMN_WIDTH = 30
"""Cells that the last column gets, if it needs them, before others are left out."""

_MAX_LAST_COLUMN_WIDTH = 200
"""Cells of the last column where no terminal limits it."""


@cache
def _load_display() -> ModuleType:
    from memento_tui.tui import display  # noqa: PLC0415 - JSON and plain ASCII do without

    return display


def safe(text: str, *, multiline: bool = False) -> str:
    """Return text as a terminal may show it, whoever wrote it."""
    if text.isascii() and text.isprintable():
        return text
    return str(_load_display().shown(text, multiline=multiline))


def as_json(value: object) -> str:
    """Return a value as JSON in ASCII, so that no character of a stored text can act on a terminal."""
    # Delete is the one control that JSON may hold bare; it can only stand inside a string.
    return json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f")


def write(text: str) -> None:
    """Print text that is safe to show; a character that the output's encoding lacks becomes a backslash escape."""
    _write_all([text.encode(sys.stdout.encoding or "utf-8", "backslashreplace")])


def write_bytes(file: BinaryIO) -> None:
    """Copy a file to standard output as it is."""
    _write_all(iter(lambda: file.read(_CHUNK_BYTES), b""))


def _write_all(parts: Iterable[bytes]) -> None:
    """Write all bytes to standard output; exit silently where its reader has gone away."""
    try:
        sys.stdout.flush()
        for part in parts:
            rest = memoryview(part)
            while rest:
                # An unbuffered output (PYTHONUNBUFFERED) may write less than it is given, and returns how much.
                rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except OSError as error:
        # Python flushes once more at its end, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise click.exceptions.Exit(_EXIT_PIPE_CLOSED) from None
        raise


def emit(data: Callable[[], object] | object, text: Callable[[], str]) -> None:
    """Print a command's result: ``data`` with ``--json``, else ``text``. Only the one that is printed is computed."""
    if current_session().as_json:
        write(as_json(data() if callable(data) else data) + "\n")
        return
    lines = text()
    if lines:
        write(lines + "\n")


def note(text: str) -> None:
    """Print a remark beside the result on standard error; with ``--json`` nothing, as the JSON holds it."""
    if not current_session().as_json:
        sys.stderr.write(safe(text) + "\n")


@cache
def _uses_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def quoted(text: str) -> str:
    """Return a text of several lines, safe to show, with a bar before each: none passes for a line of memento's own."""
    return "\n".join(f"{QUOTE_BAR}{line}" for line in safe(text, multiline=True).split("\n"))


def bold(text: str) -> str:
    """Return text in bold where the output is a terminal with colours."""
    return click.style(text, bold=True) if _uses_colour() else text


def colour_diff(text: str) -> str:
    """Return a unified diff that is safe to show; its colours only repeat its signs."""
    shown = safe(text, multiline=True)
    if not _uses_colour():
        return shown
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return "\n".join(click.style(line, fg=colours.get(line[:1])) for line in shown.split("\n"))


def next_page_note(cursor: str | None) -> str:
    """Return the line below a page that says how the next one is listed; empty after the last page."""
    return f"\nThere are more: --after {cursor}" if cursor else ""


def format_time(value: datetime | str | None) -> str:
    """Return a moment to the minute, in UTC; ``-`` where there is none."""
    if value is None:
        return "-"
    when = datetime.fromisoformat(value) if isinstance(value, str) else value
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M}Z"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows in columns as wide as their widest cell, fitted to the terminal; every cell is made safe to show.

    Where a terminal is narrow, columns are left out from the last but one backwards, and the last is cut at the edge.
    A first column of long ids is cut too: a unique beginning of an id is enough.
    """
    cells = [list(headings), *([safe(cell) for cell in row] for row in rows)]
    if len(cells) == 1:
        return ""
    widths = [max(map(_cell_width, column)) for column in zip(*cells, strict=True)]
    widths[0] = min(widths[0], _MAX_ID_WIDTH)
    kept = _fitting(widths)
    cut = _load_display().cells
    lines = []
    for number, row in enumerate(cells):
        line = "  ".join(cut(row[index], widths[index], ellipsis=index > 0) for index in kept).rstrip()
        lines.append(bold(line) if number == 0 else line)
    return "\n".join(lines)


def _fitting(widths: list[int]) -> list[int]:
    """Return the indexes of the columns that fit the terminal, and shorten the width of the last one in ``widths``."""
    last = len(widths) - 1
    if not sys.stdout.isatty():
        widths[last] = min(widths[last], _MAX_LAST_COLUMN_WIDTH)
        return list(range(len(widths)))
    across = shutil.get_terminal_size().columns
    needed = min(widths[last], _MIN_LAST_COLUMN_WIDTH)
    kept = list(range(len(widths)))
    while len(kept) > 2 and across - _before_last(widths, kept) < needed:  # noqa: PLR2004 - the first and the last
        del kept[-2]
    widths[last] = min(widths[last], max(across - _before_last(widths, kept), 1))
    return kept


def _before_last(widths: list[int], kept: list[int]) -> int:
    return sum(widths[index] + 2 for index in kept[:-1])


def _cell_width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - text that is not ASCII has loaded it already

    return cell_len(text)


def format_fields(values: Mapping[str, object]) -> str:
    """Return one ``name  value`` line for each value that is not empty, each made safe to show."""
    filled = {name: value for name, value in values.items() if value not in (None, "", (), [], {})}
    widest = max(map(len, filled), default=0)
    return "\n".join(f"{bold(name.ljust(widest))}  {safe(_format_value(value))}" for name, value in filled.items())


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return as_json(value) if isinstance(value, dict) else str(value)


EXIT_INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended: 128 + SIGINT."""

_EXIT_BUG = 1
_EXIT_USAGE = 2
_MEDIUM_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


def report_error(error: BaseException, *, json_wanted: bool) -> int:
    """Print an error, as JSON on standard output or in words on standard error; return the exit code.

    Where the output itself is full or gone, that is said in words.
    """
    facts, exit_code = _explain_error(error)
    if os.environ.get("MEMENTO_DEBUG") and not isinstance(error, click.UsageError):
        traceback.print_exception(error)
    if json_wanted and not _is_of_output(error):
        try:
            write(as_json({"error": facts}) + "\n")
        except OSError as full:
            return report_error(full, json_wanted=False)
        return exit_code
    if isinstance(error, click.UsageError) and error.ctx is not None:
        sys.stderr.write(error.ctx.get_usage() + "\n")
    for line in (f"memento: {facts['message']}", str(facts["hint"])):
        if line:
            sys.stderr.write(safe(line) + "\n")
    return exit_code


def _is_of_output(error: BaseException) -> bool:
    """Return whether writing the output failed, so that nothing more can be printed there."""
    return isinstance(error, OSError) and error.filename is None and error.errno in _MEDIUM_ERRNOS


def _explain_error(error: BaseException) -> tuple[dict[str, Any], int]:
    if isinstance(error, MementoError):
        return error.as_dict(), error.exit_code
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx is not None else "memento"
        message = error.format_message().replace("\n\t", " ")  # click lists choices one a line
        return _error_object("usage", message, f"`{command} --help` shows how it is used."), _EXIT_USAGE
    if isinstance(error, click.ClickException):
        return _error_object("usage", error.format_message(), ""), _EXIT_USAGE
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        return _error_object("interrupted", "Interrupted.", ""), EXIT_INTERRUPTED
    if isinstance(error, OSError) and (error.filename is not None or _is_of_output(error)):
        subject = "The output cannot be written" if error.filename is None else str(error.filename)
        return _error_object("system", f"{subject}: {error.strerror}.", ""), _EXIT_USAGE
    message = f"memento failed unexpectedly: {type(error).__name__}: {error}"
    return _error_object("bug", message, "Run it again with MEMENTO_DEBUG=1 to see where; please report it."), _EXIT_BUG


def _error_object(code: str, message: str, hint: str) -> dict[str, Any]:
    return {"code": code, "message": message, "hint": hint}


def for_each(
    ids: Sequence[str], act: Callable[[str], dict[str, Any]], format_outcome: Callable[[dict[str, Any]], str]
) -> None:
    """Act on each id and print the outcomes; exit with the code of the first failure.

    ``act`` returns the JSON of one outcome, which ``format_outcome`` puts in words. If there is only one id, its error
    is raised.
    """
    outcomes: list[dict[str, Any]] = []
    failed: list[MementoError] = []
    for record_id in ids:
        try:
            outcomes.append(act(record_id))
        except MementoError as error:
            if len(ids) == 1:
                raise
            failed.append(error)
            outcomes.append({"id": record_id, "status": "failed", "error": error.as_dict()})
    if current_session().as_json:
        problem = {"error": failed[0].as_dict()} if failed else {}
        write(as_json({"outcomes": outcomes, **problem}) + "\n")
    else:
        write("".join(safe(_outcome_text(outcome, format_outcome)) + "\n" for outcome in outcomes))
    if failed:
        raise click.exceptions.Exit(failed[0].exit_code)


def _outcome_text(outcome: dict[str, Any], format_outcome: Callable[[dict[str, Any]], str]) -> str:
    if outcome["status"] == "failed":
        return f"{outcome['id']}  failed: {outcome['error']['message']} {outcome['error']['hint']}".rstrip()
    return format_outcome(outcome)
