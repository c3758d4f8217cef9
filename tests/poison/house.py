"""One data directory in which a channel is attacked: a person with memories of their own, and what was stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.model import AnyRecord, Crystal, Memory, Skip, WorkingItem
from memento_tui.storage.connection import open_for_writing
from memento_tui.storage.tables import TABLES, select_records
from tests.made import without_engine
from tests.poison.attacks import MARK

__all__ = ["House", "Target", "open_house"]

_TOLD_RECORDS = ("memory", "relation", "skip", "item", "crystal")
"""The records that a model may be told of."""


@dataclass(frozen=True)
class Target:
    """A record that an attack changes."""

    id: str
    version: int


@dataclass
class House:
    """A data directory, and the person's workspace on it."""

    paths: Path
    scratch: Path
    person: Workspace
    made: int = 0
    folders: int = field(default=0)

    @property
    def data_dir(self) -> Path:
        """The data directory."""
        return self.paths

    def folder(self) -> Path:
        """Return a new empty folder."""
        self.folders += 1
        made = self.scratch / f"f{self.folders}"
        made.mkdir(parents=True)
        return made

    def persons(self, kind: str = "memory") -> Target:
        """Return a record of the person, verified and essential where there is such a thing."""
        self.made += 1
        number = self.made
        made: Any
        if kind == "skip":
            made = self.person.skips.add(f"page {number}", "not now", clock.now() + timedelta(days=30))
        elif kind == "item":
            made = self.person.items.create(f"Write page {number}")
        else:
            made = self.person.remember(
                f"Page {number} of the handbook lies on shelf {number}.", title=f"Page {number}"
            )
            made = self.person.verify(made.id)
            made = self.person.update(made.id, pinned=True).memory
        return Target(made.id, made.version)

    def agents(self) -> Target:
        """Return a memory that an agent wrote."""
        self.made += 1
        with memento_tui.open(self.data_dir, actor="agent", channel="mcp", agent="claude") as agent:
            made = agent.remember(f"Page {self.made} of the notes is on the desk.")
        return Target(made.id, made.version)

    def head(self) -> int:
        """Return the number of the newest journal entry."""
        return self.person._store.journal.head()

    def verify_all(self, word: str) -> None:
        """Verify and pin, as the person, the memories that hold a word and no attack."""
        for memory in self.person.list("is:draft", limit=500).items:
            text = _text_of(memory)
            if word in text.lower() and not MARK.search(text):
                verified = self.person.verify(memory.id)
                self.person.update(verified.id, pinned=True)

    def contradiction(self) -> Target:
        """Return a contradiction between two memories of the person."""
        self.made += 1
        for port in (8080, 9090):
            self.person.remember(f"The API of house {self.made} listens on port {port} behind the proxy.")
        maintain_workspace(self.person, asked=["contradictions"])
        (found, *_), _ = self.person.contradictions.list()
        return Target(found.contradiction.id, found.contradiction.version)

    def records(self) -> dict[str, list[AnyRecord]]:
        """Return the records that hold the mark of an attack, by the mark."""
        found: dict[str, list[AnyRecord]] = {}
        with closing(open_for_writing(self.person.paths.database, busy_seconds=0)) as connection:
            for name in _TOLD_RECORDS:
                for record in select_records(connection, TABLES[name].record, "1 = 1"):
                    for mark in set(MARK.findall(_text_of(record))):
                        found.setdefault(mark, []).append(record)
        return found

    def proposed(self) -> set[str]:
        """Return the marks of the attacks that stand in what waits for the person's decision."""
        waiting, _ = self.person.review.list(limit=100_000)
        return {mark for one in waiting for mark in MARK.findall(msgspec.json.encode(one.proposal).decode())}


def _text_of(record: AnyRecord) -> str:
    """Return every text of a record, but for what is kept beside it for other programs and for the reviewer."""
    values = msgspec.to_builtins(record)
    if isinstance(record, Memory | Skip | WorkingItem | Crystal):
        values.pop("extra", None)
    return msgspec.json.encode(values).decode()


@contextmanager
def open_house(scratch: Path, preset: str = "guarded") -> Iterator[House]:
    """Make a data directory and open it as the person."""
    data_dir = without_engine(scratch / "data", preset)
    with memento_tui.open(data_dir, channel="tui") as person:
        yield House(data_dir, scratch, person)
