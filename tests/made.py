"""Records, authors and directories for tests that are about something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memento_tui.api import Workspace
from memento_tui.api.inbox import Decision, DecisionOutcome, DecisionVerb
from memento_tui.api.memories import ChangeOutcome
from memento_tui.model import AnyRecord, Memory, make_memory
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store
from memento_tui.storage.tables import RecordT
from memento_tui.storage.transaction import Transaction

__all__ = ["AGENT", "NOW", "PERSON", "always", "decide_all", "edit", "note", "put", "unguarded", "without_engine"]

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
PERSON = Author("person", "test")
AGENT = Author("agent", "mcp", "claude", "s1")


WITHOUT_PACKED_IMAGES = (
    "DROP VIEW change",
    "UPDATE stored_change SET base = NULL, packed = NULL",
    "ALTER TABLE stored_change RENAME TO change",
    "ALTER TABLE change DROP COLUMN base",
    "ALTER TABLE change DROP COLUMN packed",
)
"""Statements that give a database in which nothing is packed the format before that."""

UNPACKED_FORMAT = 10
"""The number of that format."""


def without_engine(data_dir: Path, preset: str = "guarded") -> Path:
    """Make a data directory whose engine is switched off; return it."""
    data_dir.mkdir(mode=0o700, parents=True)
    (data_dir / "config.toml").write_text(f'[engine]\nenabled = false\n[review]\npreset = "{preset}"\n')
    return data_dir


def note(content: str = "text", **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
    """Make a memory that is not stored yet."""
    return make_memory({"content": content, **fields})


def always(record_id: str) -> Callable[[], str]:
    """Return a maker of ids that makes one id, for a memory that a test calls by name: no agent chooses one."""
    return lambda: record_id


class _Everything:
    """A guard that lets everything in, for the state that a test begins with."""

    def admit(self, _tx: Transaction, _before: RecordT | None, after: RecordT) -> RecordT:
        return after

    def admit_removal(self, _tx: Transaction, before: AnyRecord) -> None:
        pass


def unguarded(store: Store, author: Author, action: str, **options: Any) -> AbstractContextManager[Transaction]:  # noqa: ANN401 - as the store's
    """Begin a write that no gate judges."""
    return store.transaction(author, action, guard=_Everything(), **options)


def put(store: Store, *memories: Memory, author: Author = PERSON) -> list[Memory]:
    """Store memories in one entry; return them as stored."""
    with unguarded(store, author, "remember") as tx:
        return [tx.put(memory, base=0) for memory in memories]


def edit(workspace: Workspace, memory_id: str, **changes: Any) -> ChangeOutcome:  # noqa: ANN401 - fields of a memory
    """Change a memory as somebody does who has just read it."""
    return workspace.update(memory_id, **{"base_version": workspace.get(memory_id).version, **changes})


def decide_all(
    workspace: Workspace, seen: Mapping[str, int | None], verb: DecisionVerb, reason: str = ""
) -> Sequence[DecisionOutcome]:
    """Decide the same about several things that wait, each at the version that was looked at."""
    wanted = [Decision(id=name, verb=verb, seen=version, reason=reason) for name, version in seen.items()]
    return workspace.inbox.decide(wanted)
