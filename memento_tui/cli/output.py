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

__all__ = [
    "EXIT_INTERRUPTED",
    "as_json",
    "bold",
    "colour_diff",
    "emit",
    "for_each",
    "format_fields",
    "format_time",
    "note",
    "report_error",
    "safe",
    "table",
    "write",
    "write_bytes",
]

_EXIT_PIPE_CLOSED = 141
"""What a shell reports of a program whose output nobody reads any more: 128 + SIGPIPE."""

_CHUNK_BYTES = 1 << 20
"""Bytes."""

_MAX_ID_WIDTH = 40
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
    """Print text that is safe to show; a character that the output's encoding lacks is told by its number."""
    _write_all([text.encode(sys.stdout.encoding or "utf-8", "backslashreplace")])


def write_bytes(file: BinaryIO) -> None:
    """Copy a file to standard output as it is."""
    _write_all(iter(lambda: file.read(_CHUNK_BYTES), b""))


def _write_all(parts: Iterable[bytes]) -> None:
    """Write bytes to standard output to the last; end without a word where its reader has gone away."""
    try:
        sys.stdout.flush()
        for part in parts:
            rest = memoryview(part)
            while rest:
                # An unbuffered output (PYTHONUNBUFFERED) may take less than it is given, and says only how much.
                rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except OSError as error:
        # Python flushes once more at its end, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise click.exceptions.Exit(_EXIT_PIPE_CLOSED) from None
        raise


def emit(data: Callable[[], object] | object, text: Callable[[], str]) -> None:
    """Print a command's result: ``data`` with ``--json``, else ``text``. Only the one that is wanted is made."""
    if current_session().as_json:
        write(as_json(data() if callable(data) else data) + "\n")
        return
    lines = text()
    if lines:
        write(lines + "\n")


def note(text: str) -> None:
    """Tell the person something beside the result, on standard error; scripts find it in the JSON."""
    if not current_session().as_json:
        sys.stderr.write(safe(text) + "\n")


@cache
def _uses_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def bold(text: str) -> str:
    """Return text with emphasis where the output is a terminal that may be coloured."""
    return click.style(text, bold=True) if _uses_colour() else text


def colour_diff(text: str) -> str:
    """Return a unified difference that may be shown; its signs tell what is added, colour only says it again."""
    shown = safe(text, multiline=True)
    if not _uses_colour():
        return shown
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return "\n".join(click.style(line, fg=colours.get(line[:1])) for line in shown.split("\n"))


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
    """Return the columns that the terminal has room for, and shorten the last one's width to what is left."""
    last = len(widths) - 1
    if not sys.stdout.isatty():
        widths[last] = min(widths[last], _MAX_LAST_COLUMN_WIDTH)
        return list(range(len(widths)))
    across = shutil.get_terminal_size().columns
    wanted = min(widths[last], _MIN_LAST_COLUMN_WIDTH)
    kept = list(range(len(widths)))
    while len(kept) > 2 and across - _before_last(widths, kept) < wanted:  # noqa: PLR2004 - the first and the last
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
    """Return one ``name  value`` line for each value that says something, each made safe to show."""
    said = {name: value for name, value in values.items() if value not in (None, "", (), [], {})}
    widest = max(map(len, said), default=0)
    return "\n".join(f"{bold(name.ljust(widest))}  {safe(_format_value(value))}" for name, value in said.items())


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return as_json(value) if isinstance(value, dict) else str(value)


EXIT_INTERRUPTED = 130
"""What a shell reports of a program that Ctrl-C ended: 128 + SIGINT."""

_EXIT_BUG = 1
_EXIT_USAGE = 2
_MEDIUM_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


def report_error(error: BaseException, *, json_wanted: bool) -> int:
    """Tell about an error, as JSON on standard output or in words on standard error; return the exit code."""
    facts, exit_code = _explain_error(error)
    if os.environ.get("MEMENTO_DEBUG") and not isinstance(error, click.UsageError):
        traceback.print_exception(error)
    if json_wanted:
        write(as_json({"error": facts}) + "\n")
        return exit_code
    if isinstance(error, click.UsageError) and error.ctx is not None:
        sys.stderr.write(error.ctx.get_usage() + "\n")
    for line in (f"memento: {facts['message']}", str(facts["hint"])):
        if line:
            sys.stderr.write(safe(line) + "\n")
    return exit_code


def _explain_error(error: BaseException) -> tuple[dict[str, Any], int]:
    if isinstance(error, MementoError):
        return error.as_dict(), error.exit_code
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx is not None else "memento"
        return _error_object("usage", error.format_message(), f"`{command} --help` shows how it is used."), _EXIT_USAGE
    if isinstance(error, click.ClickException):
        return _error_object("usage", error.format_message(), ""), _EXIT_USAGE
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        return _error_object("interrupted", "Interrupted.", ""), EXIT_INTERRUPTED
    if isinstance(error, OSError) and (error.filename is not None or error.errno in _MEDIUM_ERRNOS):
        place = "The output cannot be written" if error.filename is None else str(error.filename)
        return _error_object("system", f"{place}: {error.strerror}.", ""), _EXIT_USAGE
    message = f"memento failed unexpectedly: {type(error).__name__}: {error}"
    return _error_object("bug", message, "Run it again with MEMENTO_DEBUG=1 to see where; please report it."), _EXIT_BUG


def _error_object(code: str, message: str, hint: str) -> dict[str, Any]:
    return {"code": code, "message": message, "hint": hint}


def for_each(ids: Sequence[str], act: Callable[[str], dict[str, Any]], said: Callable[[dict[str, Any]], str]) -> None:
    """Act on each id and tell what became of each; end with the exit code of the first that failed.

    ``act`` returns the JSON of one outcome, ``said`` the same in words. A single id that fails is a plain error.
    """
    outcomes: list[dict[str, Any]] = []
    failed: list[MementoError] = []
    for given in ids:
        try:
            outcomes.append(act(given))
        except MementoError as error:
            if len(ids) == 1:
                raise
            failed.append(error)
            outcomes.append({"id": given, "status": "failed", "error": error.as_dict()})
    if current_session().as_json:
        problem = {"error": failed[0].as_dict()} if failed else {}
        write(as_json({"outcomes": outcomes, **problem}) + "\n")
    else:
        write("".join(safe(_outcome_text(outcome, said)) + "\n" for outcome in outcomes))
    if failed:
        raise click.exceptions.Exit(failed[0].exit_code)


def _outcome_text(outcome: dict[str, Any], said: Callable[[dict[str, Any]], str]) -> str:
    if outcome["status"] == "failed":
        return f"{outcome['id']}  failed: {outcome['error']['message']} {outcome['error']['hint']}".rstrip()
    return said(outcome)
