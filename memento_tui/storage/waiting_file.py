"""Keep beside the database how many items wait for the person, for status lines that cannot open a database.

It is written after each write of a proposal or a contradiction, and whenever a workspace is opened. What was put off
comes back at its time, and what is no contradiction any more because a side is gone leaves, without such a write: until
the next one, or until a program opens the workspace, the file is behind.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from memento_tui.locations import waiting_location
from memento_tui.model.review import RISKY_KINDS
from memento_tui.regular_files import open_regular

__all__ = ["note_waiting", "read_waiting"]

_BYTES = 32
"""The length of the file: always the same, so that it is written over in one piece."""


def read_waiting(root: Path) -> tuple[int, int]:
    """Return how many wait and how many of them are risky, as was noted last."""
    from memento_tui.status_line import waiting  # noqa: PLC0415 - it must load without this

    return waiting(os.fspath(root))


def note_waiting(root: Path, counts: Mapping[str, int]) -> tuple[int, int]:
    """Note how many of each kind wait; return how many risky ones there are, and how many were noted before.

    The write is acknowledged already: where the file cannot be written, it stays behind.
    """
    noted = read_waiting(root)
    found = sum(counts.values()), sum(counts.get(kind, 0) for kind in RISKY_KINDS)
    path = waiting_location(os.fspath(root))
    if found != noted or not os.path.exists(path):  # noqa: PTH110 - a path as text
        try:
            descriptor = open_regular(path, os.O_WRONLY | os.O_CREAT)
        except OSError:
            return noted[1], noted[1]
        try:
            os.pwrite(descriptor, f"{f'{found[0]} {found[1]}':{_BYTES - 1}}\n".encode(), 0)
            os.ftruncate(descriptor, _BYTES)  # where something else stood there
        except OSError:
            return noted[1], noted[1]
        finally:
            os.close(descriptor)
    return found[1], noted[1]
