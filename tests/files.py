"""What a directory holds, to be compared with what it held before, and the rights that new files are made with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["contents", "taking_rights"]


def contents(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return the mode and the bytes of each file and directory below a directory, by its path there."""
    return {
        str(path.relative_to(root)): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(root.rglob("*"))
    }


@contextmanager
def taking_rights(umask: int) -> Iterator[None]:
    """Let this process take away other rights than it does from the files that it makes."""
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)
