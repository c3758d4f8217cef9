"""The program ``memento-status-line``: how much waits for the person, in a few words for a prompt or a status line.

A shell waits for it before every prompt, so it reads one small file, which every writer keeps up to date
(`memento_tui.storage.store`), and imports only what every interpreter has loaded.
"""

import os
import sys

from memento_tui.locations import data_location, known_workspaces_location, waiting_location
from memento_tui.regular_files import open_regular

__all__ = ["STYLES", "main", "run", "status_text", "waiting"]

STYLES = {
    "plain": ("{text}", "{text}"),
    "ansi": ("\x1b[33m{text}\x1b[0m", "\x1b[1;31m{text}\x1b[0m"),
    "tmux": ("#[fg=yellow]{text}#[default]", "#[fg=red,bold]{text}#[default]"),
}
"""The ways to colour the words: where something waits, and where something risky is among it."""

_MAX_FILE_BYTES = 64

_NOTHING_CHOSEN = b'"chosen": ""'
"""How the list of workspaces says so. A name or a path cannot: quotation marks stand with a backslash there."""


def waiting(data_dir: str = "") -> tuple[int, int]:
    """Return how many items wait and how many of them are risky; none where nothing is known.

    Without a directory, those of the one that ``MEMENTO_HOME`` names or that the person chose, else of the default.
    """
    try:
        data_dir = data_dir or os.environ.get("MEMENTO_HOME", "") or _chosen()
        descriptor = open_regular(waiting_location(data_location(data_dir)))
    except (OSError, RuntimeError, ValueError, LookupError, TypeError):
        return 0, 0
    try:
        total, risky = os.read(descriptor, _MAX_FILE_BYTES).split()
        return int(total), int(risky)
    except (OSError, ValueError):
        return 0, 0  # it is written anew by the next write
    finally:
        os.close(descriptor)


def _chosen() -> str:
    """Return the directory that the person chose, or nothing. Raises where the list is none that can be read."""
    try:
        descriptor = os.open(known_workspaces_location(), os.O_RDONLY)
    except FileNotFoundError:
        return ""
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
        listed = file.read()
    if _NOTHING_CHOSEN in listed:
        return ""
    import json  # noqa: PLC0415 - few chose, and it takes as long as all else here

    return str(json.loads(listed)["chosen"])


def status_text(total: int, risky: int, style: str = "plain") -> str:
    """Return the words for a status line; empty where nothing waits."""
    if not total:
        return ""
    text = f"memento: {total} {'waits' if total == 1 else 'wait'}" + (f", {risky} risky!" if risky else "")
    return STYLES[style][bool(risky)].format(text=text)


def main() -> None:
    """Run the program; a status line never fails, so that what it does not know it says in a line and status 0."""
    if not run(sys.argv[1:]):
        sys.stdout.write(f"memento-status-line takes --data-dir DIR and --style {'|'.join(STYLES)}\n")


def run(words: list[str]) -> bool:
    """Print the status for the plain forms of the command; return whether these words are one of them."""
    options = {"--data-dir": "", "--style": "plain"}
    if len(words) % 2 or any(name not in options for name in words[::2]):
        return False
    options.update(zip(words[::2], words[1::2], strict=True))
    if options["--style"] not in STYLES or "" in words:
        return False
    text = status_text(*waiting(options["--data-dir"]), options["--style"])
    if text:
        sys.stdout.write(f"{text}\n")
    return True
