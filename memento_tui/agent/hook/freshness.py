"""The keyword index as it has to be for a hook: it reflects every write that was acknowledged before the call."""

from __future__ import annotations

import fcntl
import os

from memento_tui.agent.hook.detached import start_detached
from memento_tui.paths import DataPaths
from memento_tui.search.prompt import PromptIndex
from memento_tui.store.hook_store import HookStore

__all__ = ["fresh_index"]

_MOST_CHANGES = 100
"""Changes that are indexed while the host waits, about 0.15 s in all; more are left to a detached process.

Entries of the journal say nothing about the work: an import puts thousands of memories into one.
"""


def fresh_index(paths: DataPaths, store: HookStore) -> PromptIndex | None:
    """Return the index; where it is far behind, as it was, and a detached process brings it up to date.

    ``None`` where there is none that can be read.
    """
    seq, mark = store.head()
    index = _opened(paths)
    if index is not None and (index.state.seq, index.state.mark) == (seq, mark):
        return index
    # An index of another past, as a restored backup leaves it, says nothing about what is stored now.
    usable = index if index is not None and store.mark(index.state.seq) == index.state.mark else None
    if store.has_more_changes(0 if usable is None else usable.state.seq, _MOST_CHANGES):
        if not _is_being_indexed(paths):
            start_detached(paths.root, "--index")
        return usable
    _catch_up(paths)
    return _opened(paths)


def _is_being_indexed(paths: DataPaths) -> bool:
    """Tell whether another process indexes now: of the prompts that come meanwhile, each would start one more."""
    try:
        lock = os.open(paths.keyword_lock, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _opened(paths: DataPaths) -> PromptIndex | None:
    try:
        return PromptIndex(paths.keyword_index)
    except (ValueError, OSError):
        return None


def _catch_up(paths: DataPaths) -> None:
    # The libraries that indexing needs are imported only after somebody wrote.
    from memento_tui.search.keyword import KeywordIndex  # noqa: PLC0415
    from memento_tui.store.store import Store  # noqa: PLC0415

    KeywordIndex(paths.keyword_index, paths.keyword_lock, Store(paths.database, create=False)).catch_up()
