"""Copy the keyword index to a folder of its own, for a search that may write nothing to the data directory."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path

from memento_tui.encryption import directory_mark
from memento_tui.errors import DataDirectoryError
from memento_tui.paths import DataPaths
from memento_tui.processes import is_process_alive

__all__ = ["copy_index", "remove_copies"]

_ATTEMPTS = 3
"""How often the files are copied anew because another program replaced some meanwhile."""

_PREFIX = "memento-read-only-"


def copy_index(owner: object, paths: DataPaths) -> Path:
    """Return a temporary data directory with a copy of the keyword index; it goes when ``owner`` does.

    It lies in memory where the workspace is encrypted. Where there is no index, or it is being replaced, the copy has
    none, and is built by the search. Copies of programs that were killed are removed: they hold what memories say.

    Raises:
        DataDirectoryError: there is no place for temporary files.

    """
    try:
        folder = paths.temporary_folder()
        _remove_left_copies(folder)
        root = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-{directory_mark(paths.root)}-", dir=folder))
    except OSError as error:
        raise DataDirectoryError(
            f"The keyword index cannot be copied to where temporary files are: {error.strerror}.",
            "Free some space there, or name another folder with TMPDIR.",
        ) from error
    weakref.finalize(owner, shutil.rmtree, root, ignore_errors=True)
    copy = DataPaths(root).keyword_index
    for _ in range(_ATTEMPTS):
        try:
            shutil.copytree(paths.keyword_index, copy)
        except (FileNotFoundError, shutil.Error):
            shutil.rmtree(copy, ignore_errors=True)
        else:
            break
    return root


def remove_copies(paths: DataPaths) -> list[int]:
    """Remove from the disk the copies whose programs ended; return the processes that hold one of this directory."""
    folder = Path(tempfile.gettempdir())
    _remove_left_copies(folder)
    copies = folder.glob(f"{_PREFIX}*-{directory_mark(paths.root)}-*")
    return sorted(made_by for path in copies if (made_by := _maker(path)))


def _remove_left_copies(folder: Path) -> None:
    for path in folder.glob(f"{_PREFIX}*"):
        if (made_by := _maker(path)) and not is_process_alive(made_by):
            shutil.rmtree(path, ignore_errors=True)


def _maker(copy: Path) -> int:
    """Return the process that made a copy; 0 where it is another user's, or none at all."""
    named = re.match(rf"{_PREFIX}(\d+)-", copy.name)
    return int(named[1]) if named is not None and copy.lstat().st_uid == os.geteuid() else 0
