"""What a failed command says, and the exit code that it ends with.

====  =======================================
0     done
1     a fault in memento itself
2     the command or what it was given is wrong
3     no record has that id
4     the record changed since it was read
5     not allowed
6     the data directory cannot be used
7     the engine does not answer
130   interrupted
141   the reader of the output went away
====  =======================================
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import Any

import click

from memento_tui.cli.output import as_json, safe, write
from memento_tui.errors import MementoError

__all__ = ["INTERRUPTED", "report"]

INTERRUPTED = 130
_BUG = 1
_USAGE = 2
_MEDIUM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


def report(error: BaseException, *, json_wanted: bool) -> int:
    """Tell about an error, as JSON on standard output or in words on standard error; return the exit code."""
    facts, exit_code = _explained(error)
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


def _explained(error: BaseException) -> tuple[dict[str, Any], int]:
    if isinstance(error, MementoError):
        return error.as_dict(), error.exit_code
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx is not None else "memento"
        return _facts("usage", error.format_message(), f"`{command} --help` shows how it is used."), _USAGE
    if isinstance(error, click.ClickException):
        return _facts("usage", error.format_message(), ""), _USAGE
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        return _facts("interrupted", "Interrupted.", ""), INTERRUPTED
    if isinstance(error, OSError) and (error.filename is not None or error.errno in _MEDIUM):
        place = "The output cannot be written" if error.filename is None else str(error.filename)
        return _facts("system", f"{place}: {error.strerror}.", ""), _USAGE
    message = f"memento failed unexpectedly: {type(error).__name__}: {error}"
    return _facts("bug", message, "Run it again with MEMENTO_DEBUG=1 to see where; please report it."), _BUG


def _facts(code: str, message: str, hint: str) -> dict[str, Any]:
    return {"code": code, "message": message, "hint": hint}
