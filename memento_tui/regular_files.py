"""Open files that are regular ones: a pipe in the place of one would wait for its writer, for ever.

Standard library only: hooks and status lines ask here.
"""

from __future__ import annotations

import errno
import os
import stat

__all__ = ["open_regular", "read_regular"]


def open_regular(path: str | os.PathLike[str], flags: int = os.O_RDONLY) -> int:
    """Return the descriptor of a regular file; a new one is its owner's alone. Raises `OSError` for anything else."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is no regular file", os.fspath(path))


def read_regular(path: str | os.PathLike[str], limit: int = -1) -> bytes:
    """Return the bytes of a regular file, the first ``limit`` of them. Raises `OSError` for anything else."""
    with open(open_regular(path), "rb") as file:
        return file.read(limit)
