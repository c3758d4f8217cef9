"""What every step of a maintenance run works with, and how it reports what it did."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeVar

import msgspec

from memento_tui.config import Config
from memento_tui.maintenance.contradictions.finder import EntailmentScorer
from memento_tui.model import Memory
from memento_tui.model.filters import AllOf, Between, Filter, Not, OneOf
from memento_tui.policy.gate import Gate, ProposalDraft, fingerprint_of
from memento_tui.policy.policy import Verdict
from memento_tui.search.keyword_index import KeywordIndex
from memento_tui.storage.store import Store
from memento_tui.storage.transaction import Transaction

__all__ = ["Comparators", "MaintenanceAction", "MaintenanceContext", "Progress", "SimilaritySource", "is_current"]


class SimilaritySource(Protocol):
    """The meaning of memories, as far as the index reflects them. ``None`` stands for "there is no engine".

    Every method raises `EngineUnavailable` where it cannot be had now.
    """

    def neighbours(self, ids: Sequence[str], *, limit: int, minimum: float) -> dict[str, list[tuple[str, float]]]:
        """Return for each id in the index the nearest other memories, nearest first, with their cosine similarity.

        Neighbours are ``active`` or ``compacted``, at least ``minimum`` similar, and ``limit`` at most. An id that
        the index does not hold is left out; one without neighbours has an empty list.
        """
        ...

    def clusters(self, ids: Sequence[str]) -> list[list[str]]:
        """Return groups of these memories that are dense in meaning (HDBSCAN), by ids; noise is left out.

        The first `memento_tui.search.engine_protocol.MOST_CLUSTERED` ids are looked at, and no more: clusters of
        parts are not the clusters of the whole. Give those that matter most first.
        """
        ...

    def seq(self) -> int:
        """Return the journal entry that the index reflects."""
        ...


Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""

T = TypeVar("T")


class MaintenanceAction(msgspec.Struct, frozen=True):
    """One thing that a sleep did, proposed, or in a dry run would do."""

    action: str
    record: str
    id: str
    why: str
    waits: bool = False
    """Whether a person decides about it."""


class Comparators(msgspec.Struct):
    """What a sleep compares memories with; without ``meaning`` only words are compared."""

    keyword: KeywordIndex
    meaning: SimilaritySource | None = None
    entailment: EntailmentScorer | None = None


@dataclass
class MaintenanceContext:
    """One sleep under way. Everything is written in the name of the gate's author."""

    store: Store
    gate: Gate
    config: Config
    keyword: KeywordIndex
    meaning: SimilaritySource | None
    """``None`` where only words can be compared."""
    entailment: EntailmentScorer | None
    now: datetime
    dry_run: bool
    batch: str
    """Joins the journal entries of this sleep, so that one undo takes back all of it."""
    stopping: threading.Event
    tell: Progress
    deeds: list[MaintenanceAction] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    merging: set[str] = field(default_factory=set)
    """The memories that are a side of a merge which waits, or which this sleep proposes."""

    @property
    def active(self) -> Filter:
        """The filter for the memories that may be gathered: active, not expired, and not restricted."""
        not_over = Not(Between("expires_at", None, self.now))
        return AllOf((OneOf("status", ("active",)), not_over, Not(OneOf("sensitivity", ("restricted",)))))

    @property
    def interrupted(self) -> bool:
        """Whether the sleep is to end now; every step looks, and leaves nothing half done."""
        return self.stopping.is_set()

    def writing(self, note: str) -> AbstractContextManager[Transaction]:
        """Begin one write of this sleep."""
        return self.store.transaction(self.gate.author, "sleep", note=note, batch=self.batch)

    def watched(self, what: str, parts: Sequence[T]) -> Iterator[T]:
        """Yield the parts of a step's work, telling how far it is, until the sleep is interrupted."""
        for done, part in enumerate(parts):
            if self.interrupted:
                return
            self.tell(what, done, len(parts))
            yield part
        self.tell(what, len(parts), len(parts))

    def did(self, deeds: Iterable[MaintenanceAction]) -> None:
        """Note what was done."""
        self.deeds.extend(deeds)

    def propose(
        self,
        deed: MaintenanceAction,
        memory: Memory,
        action: str,
        payload: Mapping[str, Any],
        verdict: Verdict,
        evidence: Mapping[str, Any],
    ) -> None:
        """Propose a change of a memory, unless the same waits already or was rejected."""
        if self.store.proposals.same(fingerprint_of(action, "memory", memory.id, payload)) is not None:
            return
        self.did([deed])
        if self.dry_run:
            return
        with self.writing(deed.why) as tx:
            if is_current(tx, memory):
                self.gate.propose(tx, ProposalDraft(action, memory, payload, evidence), verdict)


def is_current(tx: Transaction, memory: Memory) -> bool:
    """Tell whether a memory is as it was when a step looked at it."""
    current = tx.get(Memory, memory.id)
    return current is not None and current.version == memory.version
