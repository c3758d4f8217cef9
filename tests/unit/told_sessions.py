"""Sessions that were told memories, with what they used: what a report is made from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.model import Memory
from memento_tui.model.memory import make_exposure
from memento_tui.storage.hook_store import HookStore

__all__ = ["tell"]


def tell(
    person: Workspace,
    session: str,
    memories: Sequence[Memory],
    at: datetime,
    *,
    used: Sequence[Memory] = (),
    project: str = "",
    is_read: bool = True,
    tokens: int = 20,
) -> None:
    """Let a session be told memories at a moment and use some; ``is_read`` says whether its transcript was read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", lambda: at)
        if project:
            store = HookStore(person.paths.database)
            store.begin_session(session, "claude-code", project, "", fresh=True)
            if is_read:
                store.set_learned_bytes(session, 1_000)
            store.close()
        exposures = [
            {"memory_id": memory.id, "memory_version": memory.version, "session": session, "channel": "hook"}
            | {"rank": rank, "score": 0.7, "tokens": tokens}
            for rank, memory in enumerate(memories, 1)
        ]
        person._store.exposures.add([make_exposure(fields) for fields in exposures])
        if used:
            person.exposures.mark_used(session, [memory.id for memory in used])
            person.exposures.count_used([memory.id for memory in used], session)
