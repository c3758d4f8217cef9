"""Answer a call of a hook by words alone, where `memento_tui.hooks.main` found no engine, and keep the hooks' log."""

from __future__ import annotations

import os
from pathlib import Path

from memento_tui.hooks.main import Arguments
from memento_tui.paths import DataPaths, data_directory
from memento_tui.regular_files import bytes_of, open_regular

TYPE_CHECKING = False  # as in `typing`, whose import a host would wait for
if TYPE_CHECKING:
    from memento_tui.hooks.host_events import HookCall
    from memento_tui.hooks.settings import HookSettings

__all__ = ["USAGE", "answer_by_words", "log_error"]

USAGE = """Usage: memento-hook EVENT [--host HOST] [--data-dir DIR]

Called by an agent's host at fixed moments of a session, with a JSON object on standard input. `memento install`
writes the calls into the host's own files. HOST is claude-code (the default), codex, gemini, cursor or opencode.

Example:
    echo '{"session_id": "s1", "cwd": ".", "prompt": "how do we deploy?"}' | memento-hook UserPromptSubmit
"""

_MAX_LOG_BYTES = 500_000
"""Bytes of the log above which it begins again."""


def answer_by_words(arguments: Arguments, raw: bytes) -> str:
    """Return the text for the host; empty where nothing is relevant.

    Raises:
        ValueError: the input is not JSON.
        FileNotFoundError, FormatMismatch, apsw.Error: the database cannot be read, or is of another version.

    """
    # What is logged needs none of these.
    from memento_tui.hooks.host_events import format_answer, format_notice, parse_call  # noqa: PLC0415
    from memento_tui.hooks.settings import read_settings  # noqa: PLC0415

    call = parse_call(arguments.host, arguments.event, raw)
    if call is None:
        return ""
    paths = DataPaths(data_directory(arguments.data_dir))
    settings = read_settings(paths.config)
    if call.moment in ("write", "end"):
        from memento_tui.hooks.worker_launcher import start_transcript_worker  # noqa: PLC0415 - no prompt needs it

        start_transcript_worker(call, paths, settings)
        return format_notice(call, _reminder(call, paths, settings)) if call.moment == "end" else ""
    if call.moment == "start":
        from memento_tui.hooks.worker_launcher import start_engine  # noqa: PLC0415 - as above

        start_engine(paths)  # for the prompts that follow; this call does not wait for it
    from memento_tui.hooks.events import context_for_call  # noqa: PLC0415 - the end of a session needs no index

    return format_answer(call, context_for_call(call, paths, settings))


def _reminder(call: HookCall, paths: DataPaths, settings: HookSettings) -> str:
    from memento_tui.hooks.reminder import reminder_after_turn  # noqa: PLC0415 - as above
    from memento_tui.storage.hook_store import HookStore  # noqa: PLC0415

    store = HookStore(paths.database)
    try:
        text = reminder_after_turn(call, store, settings)
        if text:
            store.set_reminded(call.session)
        return text
    finally:
        store.close()


def log_error(arguments: Arguments, error: BaseException) -> None:
    """Log a failure: an expected one in a line, any other with its traceback."""
    is_expected = isinstance(error, (OSError, ValueError)) or type(error).__module__ in _EXPECTED_MODULES
    if is_expected:
        text = f"{type(error).__name__}: {error}"
    else:
        import traceback  # noqa: PLC0415 - only what is unexpected needs it

        text = "".join(traceback.format_exception(error)).rstrip()
    _log_message(arguments, f"{arguments.event or 'the call'}: {text}")


_EXPECTED_MODULES = ("apsw", "memento_tui.storage.hook_store", "memento_tui.storage.connection")
"""The modules of the errors that say in a sentence why a database was not read; a locked one is among them."""


def _log_message(arguments: Arguments, message: str) -> None:
    """Add a line to the hooks' log; a failure to do so is ignored."""
    from memento_tui import clock  # noqa: PLC0415 - most calls log nothing

    try:
        path = DataPaths(data_directory(arguments.data_dir)).hook_log
        if not path.parent.is_dir():
            return
        _append_line(path, f"{clock.now():%Y-%m-%dT%H:%M:%SZ} {message}\n")
    except (OSError, ValueError, RuntimeError):  # no such place, no name that a file can have, no such home directory
        return


def _append_line(path: Path, line: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    if bytes_of(path) > _MAX_LOG_BYTES:
        flags |= os.O_TRUNC
    log = open_regular(path, flags)
    try:
        os.write(log, line.encode("utf-8", "backslashreplace"))
    finally:
        os.close(log)
