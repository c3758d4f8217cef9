"""The context of a maintenance run: its stores, its settings, and the record of its actions.

The memories that share their rarer words with one, for where no engine compares meanings.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeVar

import msgspec

from memento_tui.config import Config
from memento_tui.maintenance.contradictions.finder import NEIGHBOURS, EntailmentScorer
from memento_tui.maintenance.duplicates import likeness
from memento_tui.model import Memory, Proposal, Skip
from memento_tui.model.filters import AllOf, Between, Filter, Not, OneOf
from memento_tui.paths import DataPaths
from memento_tui.policy.gate import Gate, ProposalDraft, fingerprint_of
from memento_tui.policy.policy import Verdict
from memento_tui.search.keyword_index import KeywordIndex
from memento_tui.storage.store import Store
from memento_tui.storage.transaction import Transaction

__all__ = [
    "FEWEST_PROPOSALS",
    "ON_REQUEST",
    "Comparators",
    "MaintenanceAction",
    "MaintenanceContext",
    "Progress",
    "SimilaritySource",
    "is_current",
    "neighbours_by_words",
]


class SimilaritySource(Protocol):
    """Similarity of memories in meaning, as far as the vector index reflects them.

    Every method raises `EngineUnavailable` where the engine cannot answer now.
    """

    def neighbours(self, ids: Sequence[str], *, limit: int, minimum: float) -> dict[str, list[tuple[str, float]]]:
        """Return for each id in the index the nearest other memories, nearest first, with their cosine similarity.

        Neighbours are ``active`` or ``compacted``, at least ``minimum`` similar, and ``limit`` at most. An id that
        the index does not hold is left out; one without neighbours has an empty list.
        """
        ...

    def seq(self) -> int:
        """Return the sequence number of the journal entry that the index reflects."""
        ...


ON_REQUEST = ("consolidate", "contradictions", "denials", "lessons", "patterns")
"""The steps that no run takes by itself, because fewer than seven in ten of their proposals are worth a decision, or
too few were read to know. Where a cross-encoder is configured, it weighs contradictions in every run."""

FEWEST_PROPOSALS, _PROPOSALS_PER_THOUSAND = 5, 10
"""The merges and contradictions that one run may propose, and those for every thousand memories of a larger store."""

Progress = Callable[[str, int, int], None]
"""A function called with the name of the work at hand, the parts done, and the number of parts."""

T = TypeVar("T")


class MaintenanceAction(msgspec.Struct, frozen=True):
    """One action of a maintenance run: done, proposed, or in a dry run only planned."""

    action: str
    record: str
    id: str
    why: str
    waits: bool = False
    """Whether it waits for a person's decision."""
    text: str = ""
    """The text that it would bring in."""


class Comparators(msgspec.Struct):
    """The means of comparing memories; without ``similarity`` only words are compared."""

    keyword: KeywordIndex
    similarity: SimilaritySource | None = None
    entailment: EntailmentScorer | None = None


@dataclass
class MaintenanceContext:
    """A maintenance run in progress. Everything is written in the name of the gate's author."""

    store: Store
    gate: Gate
    config: Config
    paths: DataPaths
    keyword: KeywordIndex
    similarity: SimilaritySource | None
    """``None`` where only words can be compared."""
    entailment: EntailmentScorer | None
    now: datetime
    dry_run: bool
    batch: str
    """The id that joins the journal entries of this run, so that one undo takes back all of them."""
    stopping: threading.Event
    report_progress: Progress
    actions: list[MaintenanceAction] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    backup: str = ""
    """The name of the backup that this run made."""
    backup_problem: str = ""
    """Why it could make none that was due, as a sentence."""
    asked: frozenset[str] = frozenset()
    """The steps that the person asked for beyond those that run by themselves; see `ON_REQUEST`."""
    _most_proposals: int | None = None
    merging: set[str] = field(default_factory=set)
    """The ids of the memories in a merge that waits for a decision, or that this run proposes."""

    @property
    def active(self) -> Filter:
        """The filter for the memories that may be consolidated: active, not expired, and not restricted."""
        not_over = Not(Between("expires_at", None, self.now))
        return AllOf((OneOf("status", ("active",)), not_over, Not(OneOf("sensitivity", ("restricted",)))))

    @property
    def interrupted(self) -> bool:
        """Whether the run is to end now; every step checks it, and leaves nothing half done."""
        return self.stopping.is_set()

    @property
    def proposals_left(self) -> int:
        """How many more merges, contradictions and shared patterns this run may propose."""
        if self._most_proposals is None:
            current = self.store.memories.count(OneOf("status", ("active", "compacted")))
            self._most_proposals = max(FEWEST_PROPOSALS, current * _PROPOSALS_PER_THOUSAND // 1000)
        return self._most_proposals - sum(
            action.action in ("merge", "contradiction", "pattern") for action in self.actions
        )

    def transaction(self, note: str) -> AbstractContextManager[Transaction]:
        """Begin a transaction whose journal entries belong to this run."""
        return self.gate.transaction("maintain", note=note, batch=self.batch)

    def with_progress(self, work: str, parts: Sequence[T]) -> Iterator[T]:
        """Yield the parts of a step's work, reporting progress before each, until the run is interrupted."""
        for done, part in enumerate(parts):
            if self.interrupted:
                return
            self.report_progress(work, done, len(parts))
            yield part
        self.report_progress(work, len(parts), len(parts))

    def record(self, actions: Iterable[MaintenanceAction]) -> None:
        """Add actions to the report."""
        self.actions.extend(actions)

    def propose(
        self,
        entry: MaintenanceAction,
        memory: Memory,
        action: str,
        payload: Mapping[str, Any],
        verdict: Verdict,
        evidence: Mapping[str, Any],
    ) -> None:
        """Propose a change of a memory and record it as ``entry``, unless the same waits already or was rejected."""
        if self.store.proposals.same(fingerprint_of(action, "memory", memory.id, payload)) is not None:
            return
        self.record([entry])
        if self.dry_run:
            return
        with self.transaction(entry.why) as tx:
            if is_current(tx, memory):
                self.gate.propose(tx, ProposalDraft(action, memory, payload, evidence), verdict)


def is_current(tx: Transaction, record: Memory | Skip | Proposal) -> bool:
    """Tell whether a record still has the version that a step read."""
    current = tx.get(type(record), record.id)
    return current is not None and current.version == record.version


def neighbours_by_words(context: MaintenanceContext, memory: Memory) -> list[tuple[str, float]]:
    """Return the ids of the memories most alike in words, with an estimate of their cosine similarity."""
    nearby = context.keyword.similar(memory.content, NEIGHBOURS)
    if nearby is None:
        return []
    others = context.store.memories.get_many([*nearby.ids, *nearby.unindexed])
    # Words in common say less than meaning does: a half counts as near.
    scored = [(o.id, min(1.0, 0.4 + likeness(memory.content, o.content))) for o in others.values() if o.id != memory.id]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:NEIGHBOURS]
