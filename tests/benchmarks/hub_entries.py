"""The entries that the measurements of the hub append: one memory each."""

from __future__ import annotations

from typing import Any

from memento_tui.hub.entries import SentChange, SigningKey, as_sent
from memento_tui.model import make_memory
from memento_tui.model.validation import new_id
from memento_tui.storage.tables import record_image

__all__ = ["SITE", "entry_of"]

SITE = "projects/site"
"""The namespace that is shared."""


def entry_of(text: str, workspace: str, member: str, key: SigningKey) -> dict[str, Any]:
    """Return the signed entry with which a member of a hub's workspace remembers a text."""
    memory = make_memory({"content": text, "namespace": SITE})
    facts = dict.fromkeys(("origin", "session", "note"), "") | {
        "id": new_id(),
        "at": "2026-01-01T00:00:00Z",
        "actor": "agent",
        "agent": "claude-code",
        "channel": "mcp",
        "action": "remember",
    }
    change = SentChange("memory", memory.id, 0, memory, record_image(memory))
    return as_sent(workspace, member, key, facts, [change])
