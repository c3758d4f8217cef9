"""Make the bounded part of the checks of the data when an engine starts."""

from __future__ import annotations

from memento_tui.search.keyword_index import KeywordIndex
from memento_tui.storage.store import Store

__all__ = ["check_at_start"]

_ENTRIES = 1000
"""Entries of the journal, the newest ones, whose records are compared with it."""

_MOST_NAMED = 5
"""Records that are named."""


def check_at_start(store: Store, keyword: KeywordIndex) -> list[str]:
    """Compare the last entries' records with the journal, and the keyword index with its checksums.

    An index that is damaged is built anew. Returns in words what was not in order.
    """
    faults = store.audit.row_faults(max(0, store.journal.head() - _ENTRIES), _MOST_NAMED, lambda *_: None)
    said = [one.sentence for one in faults]
    if keyword.rebuild_if_damaged():
        said.append("the keyword index was damaged and has been rebuilt")
    return said
