"""Preview the lines that hooks put into a session's context about a skip, a working item or the identity."""

from __future__ import annotations

from typing import NamedTuple

from memento_tui.branches import SCOPED_NAMESPACE_ROOTS
from memento_tui.hooks.formatting import identity_line, identity_prose, item_line, skip_line
from memento_tui.model import Crystal, Skip, WorkingItem
from memento_tui.model.lists import UNVERIFIED_KEY
from memento_tui.storage.hook_store import IdentityRow, ItemRow, SkipRow

__all__ = ["identity_preview", "item_preview", "sessions_in_scope", "skip_preview"]


class IdentityPreview(NamedTuple):
    """The cost of the identity in a session's context, and whether it is shown in part only."""

    tokens: int
    """Tokens of the text with its words of caution."""
    is_cut: bool
    """Whether the end of the text is left out."""


def sessions_in_scope(namespace: str) -> str:
    """Return in words which sessions the records of a namespace concern."""
    is_scoped = namespace.partition("/")[0] in SCOPED_NAMESPACE_ROOTS
    return f"a session of {namespace}" if is_scoped else "a session of any project"


def skip_preview(skip: Skip) -> str:
    """Return the line about a skip that holds."""
    is_unverified = bool(skip.extra.get(UNVERIFIED_KEY))
    return skip_line(SkipRow(skip.id, skip.item, skip.reason, skip.expires_at, skip.namespace, is_unverified)).text


def item_preview(item: WorkingItem) -> str:
    """Return the line about an active working item."""
    is_unverified = bool(item.extra.get(UNVERIFIED_KEY))
    texts = item.title, item.category, item.content, item.next_action, item.namespace
    return item_line(ItemRow(item.id, *texts, is_unverified)).text


def identity_preview(crystal: Crystal) -> IdentityPreview:
    """Return the tokens that the current identity takes in a session's context, and whether it is cut."""
    line = identity_line(IdentityRow(crystal.content, bool(crystal.extra.get(UNVERIFIED_KEY))))
    return IdentityPreview(line.tokens, identity_prose(crystal.content)[1])
