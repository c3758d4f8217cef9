"""Which memories no agent is told unless it searches. Light: memento-hook asks it."""

from __future__ import annotations

from memento_tui.text.logs import is_log

__all__ = ["is_held_back"]

TYPE_CHECKING = False  # as in `typing`, whose import a host would wait for
if TYPE_CHECKING:
    from memento_tui.model import Memory
    from memento_tui.storage.hook_store import MemoryRow


def is_held_back(memory: Memory | MemoryRow) -> bool:
    """Tell whether a memory is a log that no person stands behind: it costs tokens and tells nobody what to do."""
    return memory.stability == "draft" and not memory.pinned and is_log(memory.content, memory.title)
