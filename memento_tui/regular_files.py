"""Open files that are regular ones: a pipe in the place of one would wait for its writer, for ever.

What memento writes of its own in a data directory goes through no link either: a directory that somebody else made, and
that is opened as a workspace, could lead it to any file of the person's.

Standard library only: hooks and status lines ask here.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat

__all__ = ["bytes_of", "entries_of", "open_regular", "read_regular", "status_of"]


def open_regular(path: str | os.PathLike[str], flags: int = os.O_RDONLY) -> int:
    """Return the descriptor of a regular file; a new one is its owner's alone.

    Where the flags let a file be made, a link in its place is not followed. Raises `OSError` for anything else.
    """
    if flags & os.O_CREAT:
        flags |= os.O_NOFOLLOW
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is no regular file", os.fspath(path))


def read_regular(path: str | os.PathLike[str], limit: int = -1) -> bytes:
    """Return the bytes of a regular file, the first ``limit`` of them. Raises `OSError` for anything else."""
    with open(open_regular(path), "rb") as file:
        return file.read(limit)


_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""The errors of a path at which there is nothing; a link to itself leads nowhere either."""


def status_of(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return the status of a file, ``None`` where there is none: another process may have removed it just now."""
    try:
        return os.stat(path)  # noqa: PTH116 - hooks have no pathlib
    except OSError as error:
        if error.errno in _GONE:
            return None
        raise


def entries_of(folder: str | os.PathLike[str]) -> list[os.DirEntry[str]]:
    """Return the entries of a folder; none for one that is gone, or that this user may not read."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return list(entries)
    return []


def bytes_of(*paths: str | os.PathLike[str]) -> int:
    """Return the bytes of some files, and of folders with their content; missing ones count as none.

    A link takes what its own name takes, but for one that is asked for by itself.
    """
    found = [(path, status) for path in paths if (status := status_of(path)) is not None]
    total = sum(status.st_size for _, status in found if stat.S_ISREG(status.st_mode))
    folders = [os.fspath(path) for path, status in found if stat.S_ISDIR(status.st_mode)]
    while folders:  # no call for each level: somebody else may have made thousands of them
        for entry in entries_of(folders.pop()):
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    total += entry.stat(follow_symlinks=False).st_size
    return total
