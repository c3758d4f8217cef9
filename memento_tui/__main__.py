"""Start the program: the app where nothing else is asked, else the command line."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from memento_tui.app_sections import SECTION_NAMES
from memento_tui.locations import asks_read_only
from memento_tui.paths import DataPaths
from memento_tui.private_files import use_private_umask

__all__ = ["main"]


def main() -> int:
    """Run the program and return its exit code."""
    _open_closed_streams()
    use_private_umask()
    given = sys.argv[1:]
    plain = [word for word in given if word != "--read-only"]
    options = _parse_app_options(plain)
    if options is not None and sys.stdin.isatty() and sys.stdout.isatty():
        return _open_app(**options, read_only=len(plain) < len(given) or asks_read_only())
    with _ended_quietly_by_interrupts():
        from memento_tui.cli.main import main as run_command  # noqa: PLC0415 - the app does without the commands

    return run_command(given)


def _open_closed_streams() -> None:
    """Open the null device for each standard stream that the caller closed, as ``2>&-`` does.

    Python has none then, which fails where a command prints, and the next file to be opened would get its number.
    """
    for descriptor, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is not None:
            continue
        null = os.open(os.devnull, os.O_RDWR)
        if null != descriptor:
            os.dup2(null, descriptor)
            os.close(null)
        os.set_inheritable(descriptor, True)  # noqa: FBT003 - it has no keyword
        setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - a number, and open until the end


@contextmanager
def _ended_quietly_by_interrupts() -> Iterator[None]:
    """Let ctrl+c end the program at once while it is loaded, when nobody can report it: Python would print a trace."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _parse_app_options(given: list[str]) -> dict[str, str] | None:
    """Return the app's options where only those are given; ``None`` for a command line that ``click`` has to read."""
    names, values = given[::2], given[1::2]
    options = dict(zip(names, values, strict=False))
    is_plain = len(names) == len(values) == len(options) and set(names) <= {"--data-dir", "--open"}
    if not is_plain or "" in values or options.get("--open", "home") not in SECTION_NAMES:
        return None
    return {name.removeprefix("--").replace("-", "_"): value for name, value in options.items()}


def _open_app(*, read_only: bool, data_dir: str | None = None, open: str = "home") -> int:  # noqa: A002 - the option's name
    with _ended_quietly_by_interrupts():
        from memento_tui.tui import garbage  # noqa: PLC0415 - the commands do without these

        garbage.disable_collection()
        from pathlib import Path  # noqa: PLC0415 - same

        from memento_tui.cli.author import require_own_terminal  # noqa: PLC0415 - same
        from memento_tui.known_workspaces import chosen_directory  # noqa: PLC0415 - same
        from memento_tui.tui.app import run  # noqa: PLC0415 - same

    try:
        require_own_terminal("The app")
        return run(Path(data_dir) if data_dir else chosen_directory(), open, read_only=read_only, unlock=_unlock)
    except Exception as error:  # noqa: BLE001 - the last place that can tell anyone
        from memento_tui.cli.output import report_error  # noqa: PLC0415 - only a failure needs it

        return report_error(error, json_wanted=False)


def _unlock(paths: DataPaths, read_only: bool) -> None:  # noqa: FBT001 - as the app calls it
    if paths.key_id:
        from memento_tui.cli.passphrase import unlock_for_person  # noqa: PLC0415 - few workspaces are encrypted

        unlock_for_person(paths, read_only)


if __name__ == "__main__":
    sys.exit(main())
