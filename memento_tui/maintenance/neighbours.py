"""The memories that share their rarer words with one, for where no engine compares meanings."""

from __future__ import annotations

from memento_tui.maintenance.context import MaintenanceContext
from memento_tui.maintenance.contradictions.finder import NEIGHBOURS
from memento_tui.maintenance.duplicates import likeness
from memento_tui.model import Memory

__all__ = ["neighbours_by_words"]


def neighbours_by_words(context: MaintenanceContext, memory: Memory) -> list[tuple[str, float]]:
    """Return the ids of the memories most alike in words, with an estimate of their cosine similarity."""
    nearby = context.keyword.similar(memory.content, NEIGHBOURS)
    if nearby is None:
        return []
    others = context.store.memories.get_many([*nearby.ids, *nearby.unindexed])
    # Words in common say less than meaning does: a half counts as near.
    scored = [(o.id, min(1.0, 0.4 + likeness(memory.content, o.content))) for o in others.values() if o.id != memory.id]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:NEIGHBOURS]
