"""Where the program begins: straight into the app where nothing else is asked, else to the commands."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> int:
    """Run the program and return its exit code."""
    given = sys.argv[1:]
    asks_for_app = not given or (len(given) == 2 and given[0] == "--data-dir" and given[1] != "")  # noqa: PLR2004 - the option and its value
    if asks_for_app and sys.stdin.isatty() and sys.stdout.isatty():
        return _open_app(given[1] if given else None)
    from memento_tui.cli.main import main as run_command  # noqa: PLC0415 - the app does without the commands

    return run_command(given)


def _open_app(data_dir: str | None) -> int:
    from memento_tui.tui import garbage  # noqa: PLC0415 - the commands do without these three

    garbage.put_off()
    from pathlib import Path  # noqa: PLC0415 - same

    from memento_tui.tui.app import run  # noqa: PLC0415 - same

    try:
        return run(Path(data_dir) if data_dir else None)
    except Exception as error:  # noqa: BLE001 - the last place that can tell anyone
        from memento_tui.cli.failures import report  # noqa: PLC0415 - only a failure needs it

        return report(error, json_wanted=False)


if __name__ == "__main__":
    sys.exit(main())
