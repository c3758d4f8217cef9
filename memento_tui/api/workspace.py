"""A workspace: one data directory, open for reading, searching and governed writing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from memento_tui import clock
from memento_tui.api.activity import ActivityLog
from memento_tui.api.identity import Crystals
from memento_tui.api.import_session import ImportSession
from memento_tui.api.inbox import Inbox
from memento_tui.api.lists import Items, Skips
from memento_tui.api.memories import ChangeOutcome, MemoryCreator, MemoryEditor
from memento_tui.api.purge import PurgeOutcome, Purger
from memento_tui.api.queries import (
    Exposures,
    LinkDirection,
    MemoryView,
    Provenance,
    SortedMemoryView,
    records_of,
    related_to,
    relations_of,
)
from memento_tui.api.review import ContradictionQueue, ProposalQueue
from memento_tui.api.search import SavedSearches, SearchAnswer, SearchEngine
from memento_tui.config import Config, load_config
from memento_tui.errors import NotAllowed
from memento_tui.locked_property import locked_property
from memento_tui.model import AnyRecord, Memory, Relation
from memento_tui.model.filters import AllOf, Filter, OneOf, Under, with_default_statuses
from memento_tui.paths import DataPaths, data_directory
from memento_tui.policy.gate import Gate
from memento_tui.policy.policy import rules_in_force
from memento_tui.search.query_language import parse_filter
from memento_tui.storage.journal import Actor, Author, Entry
from memento_tui.storage.journal_queries import Revision
from memento_tui.storage.long_work import Progress, no_progress
from memento_tui.storage.memory_queries import MemoryOrder, MemorySummary, Page, TimelineEntry
from memento_tui.storage.settings import Settings
from memento_tui.storage.statistics import Facet, Statistics
from memento_tui.storage.store import Store

__all__ = ["ChangeOutcome", "Workspace"]

if TYPE_CHECKING:
    from memento_tui.api.audit import RotAudit
    from memento_tui.api.backups import Backups
    from memento_tui.api.past import Past
    from memento_tui.api.written_sessions import WrittenSessions


class Workspace:
    """One data directory. Use it as a context manager, or call `close`.

    Every write passes the gate (``review.preset`` in ``config.toml``), is one journal entry in the name of ``author``,
    and can be undone. With ``read_only`` nothing is written at all. ``progress`` is told how far it is where opening
    takes long, because the database is of an older format. Safe to use from several threads and processes.

    Example::

        import memento_tui

        with memento_tui.open("~/memories") as workspace:
            memory = workspace.remember("Use /v2/users; /v1 answers 404.", tags=["api"])
            for hit in workspace.search("users endpoint").results:
                print(hit.id, hit.snippet)

    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        actor: Actor = "person",
        channel: str = "api",
        agent: str = "",
        session: str = "",
        create: bool = True,
        read_only: bool = False,
        progress: Progress = no_progress,
    ) -> None:
        self.paths = DataPaths(data_directory(path))
        self.config: Config = load_config(self.paths.config)
        rules = rules_in_force(self.config.review)
        self.is_read_only = read_only
        """Whether nothing is written to the data directory: every change raises `ReadOnlyMode`."""
        self._store = Store(self.paths.database, create=create, read_only=read_only, progress=progress)
        if self.config.review.notify and actor != "person":  # a person sees what their own change or undo brings back
            from memento_tui.desktop_notice import show_notice  # noqa: PLC0415 - off unless a person wants it

            self._store.when_risk_rises = partial(show_notice, self.paths.last_notice)
        self.gate = Gate(self._store, Author(actor, channel, agent, session), rules)
        self.author = self.gate.author

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and the connection to the engine."""
        self.search_engine.close()
        self._store.close()

    @locked_property
    def skips(self) -> Skips:
        """The skip list."""
        return Skips(self._store, self.gate)

    @locked_property
    def items(self) -> Items:
        """The working items."""
        return Items(self._store, self.gate)

    @locked_property
    def crystals(self) -> Crystals:
        """The identity crystals."""
        return Crystals(self._store, self.gate)

    @locked_property
    def review(self) -> ProposalQueue:
        """The proposals that wait for a person's decision."""
        return ProposalQueue(self._store, self.gate)

    @locked_property
    def inbox(self) -> Inbox:
        """The proposals and contradictions that wait for a person, in one queue."""
        return Inbox(self._store, self.review, self.contradictions)

    @locked_property
    def search_engine(self) -> SearchEngine:
        """The indexes and the connection to the engine."""
        return SearchEngine(
            self._store, self.paths, self.config, shares=self.author.actor == "agent", read_only=self.is_read_only
        )

    @locked_property
    def saved_searches(self) -> SavedSearches:
        """The searches that the person keeps under a name."""
        return SavedSearches(self._store, self.author)

    @locked_property
    def contradictions(self) -> ContradictionQueue:
        """The contradictions: pairs of memories that cannot both hold as they are."""
        return ContradictionQueue(self._store, self.gate)

    @locked_property
    def activity(self) -> ActivityLog:
        """The journal and the exposures: every change with its author, and every memory shown to an agent."""
        return ActivityLog(self._store, self.author, self.search_engine)

    @locked_property
    def sessions(self) -> WrittenSessions:
        """The sessions of agents that wrote, which a person takes out of recall and gives back."""
        from memento_tui.api.written_sessions import WrittenSessions  # noqa: PLC0415 - seldom needed

        return WrittenSessions(self._store, self.gate)

    @locked_property
    def exposures(self) -> Exposures:
        """The ledger of exposures to agents, and the counters of how often memories were shown and used."""
        return Exposures(self._store)

    @property
    def settings(self) -> Settings:
        """The values that the database keeps about itself by name, such as the app's theme."""
        return self._store.settings

    @property
    def statistics(self) -> Statistics:
        """The counts of memories by status, facet and tag, cached until something is written."""
        return self._store.statistics

    @property
    def identity(self) -> str:
        """A short digest that identifies this workspace's database."""
        return self._store.settings.identity()

    @locked_property
    def audit(self) -> RotAudit:
        """The audit of memories that have gone bad, or are about to."""
        from memento_tui.api.audit import RotAudit  # noqa: PLC0415 - it needs the rules of the gate

        return RotAudit(self._store, self.config)

    @locked_property
    def backups(self) -> Backups:
        """The backups: whole copies of the database."""
        from memento_tui.api.backups import Backups  # noqa: PLC0415 - seldom needed, and a lock file's library

        return Backups(self.paths, self._store, self.author)

    @locked_property
    def _remembering(self) -> MemoryCreator:
        return MemoryCreator(self._store, self.gate, self.search_engine)

    @locked_property
    def _changing(self) -> MemoryEditor:
        return MemoryEditor(self._store, self.gate)

    # Writing

    def remember(self, text: str, *, make_id: Callable[[], str] | None = None, **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
        """Store a memory and return it. Its ``status`` is ``pending`` if it waits for a person.

        A text that is remembered already in the same namespace is not stored again: its memory is returned. That does
        not hold where that one is over or more sensitive, nor for what a person says and only an agent wrote, nor where
        the caller names an ``id`` or, in ``extra``, a ``foreign_id``: `find_foreign` leads back from it.
        ``make_id`` makes a new memory's id where a native one does not do.

        Raises:
            InvalidField: a field breaks a rule.
            NotAllowed: an agent set a field that only a person may set, such as the id.
            Conflict: the id is taken.

        """
        return self._remembering.one(text, fields, make_id)

    def remember_many(self, items: Iterable[Mapping[str, Any]]) -> list[Memory]:
        """Store many memories, each a mapping with ``content`` and any other fields, in few transactions.

        Raises:
            InvalidField: an item breaks a rule; the items of earlier batches are stored.
            Conflict: an id is taken.

        """
        return self._remembering.many(items)

    def update(self, memory_id: str, *, base_version: int | None = None, **changes: Any) -> ChangeOutcome:  # noqa: ANN401 - the fields of a memory
        """Change some fields of a memory, or propose the change where the gate requires that.

        ``base_version`` is the version that the caller read. A person may leave it out, and changes the present one.

        Raises:
            NotFound, AmbiguousId: no memory, or several, have that id.
            InvalidField: a field breaks a rule, or an agent names no ``base_version``.
            NotAllowed: an agent set a field that only a person may set, or the memory is deleted.
            Conflict: the memory is no longer at ``base_version``.

        """
        return self._changing.update(memory_id, base_version, changes)

    def forget(self, memory_id: str, *, base_version: int | None = None) -> ChangeOutcome:
        """Delete a memory, or propose that where the gate requires it. It can be restored. Raises like `update`."""
        return self._changing.forget(memory_id, base_version)

    def verify(self, memory_id: str, *, base_version: int | None = None) -> Memory:
        """Mark a memory as read and accepted by a person; ``base_version`` is the version that was read.

        Raises:
            NotFound, AmbiguousId: no memory, or several, have that id.
            NotAllowed: an agent asks, or the memory waits for a decision or is gone.
            Conflict: the memory is no longer at ``base_version``.

        """
        self._check_person("verifies")
        return self._changing.verify(memory_id, base_version)

    def reject(self, memory_id: str, reason: str = "", *, base_version: int | None = None) -> Memory:
        """Turn down a memory that holds: it is recalled no more, and no agent stores the same text again.

        An agent that tries reads the reason. `restore` brings the memory back.

        Raises:
            NotFound, AmbiguousId: no memory, or several, have that id.
            NotAllowed: an agent asks, or the memory waits for a decision or is gone already.
            InvalidField: the reason is not one line.
            Conflict: the memory is no longer at ``base_version``, which the person read.

        """
        self._check_person("rejects")
        return self._changing.reject(memory_id, reason, base_version)

    def restore(self, memory_id: str) -> Memory:
        """Bring a deleted, rejected or archived memory back, or the whole text of a compacted one.

        Raises `NotFound` or `NotAllowed`.
        """
        if self.author.actor != "person":
            raise NotAllowed("Only a person restores a memory.", "Remember it anew if it still holds.")
        return self._changing.restore(memory_id)

    def purge(self, record_id: str, reason: str, *, kind: str = "memory") -> PurgeOutcome:
        """Remove a record and every trace of its text, for a leaked secret. Nothing brings it back.

        ``kind`` is that of a record (``memory``, ``skip``, ``item``, ``crystal``, ``contradiction``, ``proposal``),
        ``note`` for the note of the journal entry of that number, or ``agent`` or ``session`` for such a name.
        What was made of a record and waits goes with it, and the backups in the data directory are purged too. The
        outcome names the memories that were made of a memory and hold since, which may say the same, and the backups
        that could not be purged: both are for the person to look at.

        Raises:
            NotAllowed: an agent asks, or no reason is given.
            NotFound, AmbiguousId: there is no such record, note or name, or several records.
            InvalidField: there is no such kind.

        """
        return self.purger.purge(kind, record_id, reason)

    @property
    def purger(self) -> Purger:
        """Removes records, notes and names for good; see `purge`."""
        return Purger(self._store, self.author, self.paths, self.search_engine)

    def relate(self, src: str, dst: str, type: str = "related", label: str = "") -> None:  # noqa: A002 - the field's name
        """Relate a memory to another, a file or a working item.

        Raises:
            NotFound, AmbiguousId: no record, or several, have one of the ids.
            InvalidField: the type or label breaks a rule, or both ends are the same.
            NotAllowed: an agent says that a verified memory is superseded.

        """
        self._changing.relate(src, dst, type, label)

    def undo(self, seq: int | None = None) -> list[Entry]:
        """Undo a journal entry (the person's newest by default); return the entries that were undone.

        Raises:
            NotFound: there is nothing to undo.
            NotAllowed: an agent asks, or the entry was taken back already.
            Conflict: later entries changed the same fields.

        """
        self._check_person("undoes")
        return self._store.undo(self.author, seq)

    def redo(self) -> list[Entry]:
        """Redo the last undo; return the undo entries that were taken back. Raises like `undo`."""
        self._check_person("redoes")
        return self._store.redo(self.author)

    def one_undo(self) -> AbstractContextManager[None]:
        """Join the entries that this thread or task writes in the block: one undo takes all of them back."""
        return self._store.one_undo()

    def _check_person(self, verb: str) -> None:
        if self.author.actor != "person":
            raise NotAllowed(f"Only a person {verb} a change.", "Make the change you want instead.")

    # Reading

    def get(self, memory_id: str) -> Memory:
        """Return a memory by its id or a unique beginning of it. Raises `NotFound` or `AmbiguousId`."""
        return self._store.get(Memory, self.resolve("memory", memory_id))

    def find(self, memory_id: str) -> Memory | None:
        """Return a memory by its whole id, or ``None``."""
        return self._store.find(Memory, memory_id)

    def find_foreign(self, foreign_id: str, namespace: str = "") -> Memory | None:
        """Return the oldest memory with a foreign id, in one namespace or in any, a deleted one too, or ``None``."""
        parts: list[Filter] = [OneOf("foreign_id", (foreign_id,))]
        if namespace:
            parts.append(Under(namespace))
        tree, skip = AllOf(tuple(parts)), 0
        while found := self.slice(tree, order="created", ascending=True, skip=skip):
            for memory in found:  # those of the namespaces below it are found, too
                if namespace in ("", memory.namespace):
                    return memory
            skip += len(found)
        return None

    def find_record(self, kind: str, record_id: str) -> AnyRecord | None:
        """Return a record of a kind (``memory``, ``skip``, ``item``...) by its whole id, or ``None``."""
        found: AnyRecord | None = self._store.find_named(kind, record_id)
        return found

    def is_taken(self, record_id: str) -> bool:
        """Tell whether a record of any kind has this id."""
        return self._store.is_taken(record_id)

    def resolve(self, kind: str, prefix: str) -> str:
        """Return the id of a record of a kind by a unique beginning of it. Raises `NotFound` or `AmbiguousId`."""
        return self._store.resolve(kind, prefix)

    def ids_beginning(self, kind: str, beginning: str, limit: int) -> Sequence[str]:
        """Return at most ``limit`` ids of records of a kind that begin so, the record written last first."""
        return self._store.ids_beginning(kind, beginning, limit)

    def get_many(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Return the memories of these whole ids that exist, by id."""
        return self._store.memories.get_many(ids)

    def list(self, query: str = "", *, after: str | None = None, limit: int = 50) -> Page[Memory]:
        """Return memories that a query's filters select, most recently changed first. Free text needs `search`.

        Raises `InvalidInput` where a filter cannot be used, as `list_where` does.
        """
        return self.list_where(with_default_statuses(parse_filter(query)), after=after, limit=limit)

    def list_where(self, among: Filter, *, after: str | None = None, limit: int = 50) -> Page[Memory]:
        """Return memories that a filter selects, most recently changed first; ``after`` is the cursor of a page.

        Raises `InvalidInput` unless ``limit`` is 1 or more and ``after`` is a cursor.
        """
        return self._store.memories.page(among, after=after, limit=limit)

    def slice(
        self, among: Filter, *, order: MemoryOrder, ascending: bool = False, skip: int = 0, limit: int = 50
    ) -> Sequence[Memory]:
        """Return ``limit`` memories that a filter selects after the first ``skip``, in an order.

        The cost grows with the number that the filter selects.
        """
        return self._store.memories.slice(among, order=order, ascending=ascending, limit=limit, skip=skip)

    def view(self, among: Filter, order: MemoryOrder | None = None) -> MemoryView | SortedMemoryView:
        """Return the memories that a filter selects as rows to be read by page, most recently changed first.

        ``order`` names another order, whose highest come first.
        """
        return MemoryView(self._store, among) if order is None else SortedMemoryView(self._store, among, order)

    def summaries(self, ids: Sequence[str]) -> Sequence[MemorySummary]:
        """Return the list rows of these ids in their order, without those that do not exist."""
        return self._store.memories.summaries_by_id(ids)

    def count(self, among: Filter) -> int:
        """Return how many memories a filter selects."""
        return self._store.memories.count(among)

    def count_all(self) -> int:
        """Return how many memories there are, whatever their status."""
        return self._store.memories.count_all()

    def namespaces(self) -> Sequence[tuple[str, int]]:
        """Return each namespace that holds recalled memories, with how many."""
        return self._store.memories.namespaces()

    def confirmed_namespaces(self) -> set[str]:
        """Return the namespaces in which a recalled memory is a person's own, or was verified by one."""
        return self._store.memories.confirmed_namespaces()

    def tags(self, limit: int = 100) -> Sequence[tuple[str, int]]:
        """Return the most used tags, each with how many recalled memories have it."""
        return self._store.memories.tags(limit)

    def facet_counts(self, facet: Facet) -> Sequence[tuple[str, int]]:
        """Return each value of a facet with the number of recalled memories that have it, most first."""
        return self._store.facets.counts(facet)

    def timeline(self, memory_id: str, *, later: int = 10, earlier: int = 10) -> Sequence[TimelineEntry]:
        """Return a memory with those remembered just after and just before it, the latest first.

        ``memory_id`` may be a unique beginning. Raises `NotFound` or `AmbiguousId`.
        """
        return self._store.timeline.window(self._store.resolve("memory", memory_id), later=later, earlier=earlier)

    def search(
        self,
        query: str,
        *,
        mode: Literal["keyword", "semantic", "hybrid"] = "hybrid",
        limit: int = 10,
        among: Filter | None = None,
        wait: bool = False,
        now: datetime | None = None,
    ) -> SearchAnswer:
        """Return the memories that answer a query, best first, with snippets and scores.

        ``among`` is a further condition on them. ``wait`` waits until the indexes, embeddings included, reflect
        everything written before.

        Raises:
            EngineUnavailable: ``wait`` was asked for and the engine cannot be had.

        """
        return self.search_engine.search(query, mode=mode, limit=limit, among=among, wait=wait, now=now or clock.now())

    def catch_up(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Bring the keyword index up to date, as each search does first. Raises `DataDirectoryError`."""
        self.search_engine.keyword.catch_up(progress)

    def history(self, memory_id: str) -> Sequence[Revision[Memory]]:
        """Return every version of a memory, newest first. Raises `NotFound`."""
        found: Sequence[Revision[Memory]] = self._store.journal.history(Memory, memory_id)
        return found or self._store.journal.history(Memory, self._store.resolve("memory", memory_id))

    def version_of(self, memory_id: str, version: int) -> Memory | None:
        """Return a memory as it was at a version, or ``None`` where it was removed or purged then."""
        return self._store.journal.image(Memory, memory_id, version)

    def versions(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the present version of each of the memories that exists, by whole id."""
        return self._store.versions("memory", ids)

    def provenance(self, ids: Sequence[str]) -> dict[str, Provenance]:
        """Return when each memory first came into the database and which memories replace it, by whole id."""
        written, successors = self._store.journal.first_written("memory", ids), self._store.memories.successors(ids)
        return {name: Provenance(written.get(name), successors.get(name, ())) for name in ids}

    def check_may_leave(self, *, in_clear: bool = False) -> None:
        """Raise `NotAllowed` where a copy of an encrypted workspace would lie in clear, and nobody said ``in_clear``.

        Whatever writes memories to files outside of the data directory asks this first.
        """
        if self.paths.key_id and not in_clear:
            raise NotAllowed(
                "The workspace is encrypted, and what this writes would be in clear.",
                "The commands `memento export` and `memento mirror` do it with --in-clear.",
            )

    def export_records(self) -> Iterator[AnyRecord]:
        """Yield every record that an export holds: memories, then relations, skips, working items and crystals."""
        return records_of(self._store)

    def at(self, moment: str, *, progress: Progress | None = None, stop: threading.Event | None = None) -> Past:
        """Return the memory as it was at a moment, to be read alone: a date, a time, ``3 days ago``, ``entry 512``.

        Raises:
            InvalidField: it is no moment, or not in the past.
            NotFound: nothing had been written by then.
            StoppedError: ``stop`` was set.

        """
        from memento_tui.api.past import Past, find_entry  # noqa: PLC0415 - seldom asked for

        return Past(self._store, find_entry(self._store, moment), progress=progress, stop=stop)

    def import_session(self, author: Author) -> ImportSession:
        """Return the database for bulk reading and writing in the name of an author, as an import or a mirror does."""
        return ImportSession(self, author)

    def used(self, ids: Iterable[str]) -> None:
        """Count that memories were of use, beyond having been shown."""
        self._store.usage.count("memory", ids, used=1, session=self.author.session)

    def relations(self, memory_id: str, *, direction: LinkDirection = "both") -> Sequence[Relation]:
        """Return the relations that begin (``out``) or end (``in``) at a memory, in the order they were drawn."""
        return relations_of(self._store, memory_id, direction)

    def relations_around(self, ids: Sequence[str]) -> Sequence[Relation]:
        """Return the relations that begin or end at any of some memories, in the order they were drawn."""
        found: list[Relation] = self._store.memories.relations_around(ids)
        return found

    def related(self, memory_id: str) -> Sequence[tuple[str, str, str]]:
        """Return a memory's relations as type, direction (``out`` or ``in``) and the other end."""
        return related_to(self._store, memory_id)
