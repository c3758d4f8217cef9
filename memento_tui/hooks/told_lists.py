"""Return what hooks tell agents of one skip, working item or identity, for a person who wants to see just that."""

from __future__ import annotations

from memento_tui.hooks.formatting import CostedLine, identity_line, item_line, skip_line
from memento_tui.model import Crystal, Skip, WorkingItem
from memento_tui.model.lists import UNVERIFIED_KEY
from memento_tui.storage.hook_store import IdentityRow, ItemRow, SkipRow

__all__ = ["told_of_identity", "told_of_item", "told_of_skip"]


def told_of_skip(skip: Skip) -> str:
    """Return the line about a skip that holds."""
    is_unverified = bool(skip.extra.get(UNVERIFIED_KEY))
    return skip_line(SkipRow(skip.id, skip.item, skip.reason, skip.expires_at, skip.namespace, is_unverified)).text


def told_of_item(item: WorkingItem) -> str:
    """Return the line about an active working item."""
    is_unverified = bool(item.extra.get(UNVERIFIED_KEY))
    texts = item.title, item.category, item.content, item.next_action, item.namespace
    return item_line(ItemRow(item.id, *texts, is_unverified)).text


def told_of_identity(crystal: Crystal) -> CostedLine:
    """Return the text of the present identity as a session is told it, with its tokens."""
    return identity_line(IdentityRow(crystal.content, bool(crystal.extra.get(UNVERIFIED_KEY))))
