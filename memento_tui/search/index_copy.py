"""Copy the keyword index to a folder of its own, for a search that may write nothing to the data directory."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from memento_tui.paths import DataPaths

__all__ = ["copy_index"]

_ATTEMPTS = 3
"""How often the files are copied anew because another program replaced some meanwhile."""


def copy_index(owner: object, paths: DataPaths) -> Path:
    """Return a temporary data directory with a copy of the keyword index; it goes when ``owner`` does.

    Where there is no index, or it is being replaced, the copy has none, and is built by the search.
    """
    root = Path(tempfile.mkdtemp(prefix="memento-read-only-"))
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
