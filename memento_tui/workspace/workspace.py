"""A workspace: one data directory, open for reading, searching and governed writing."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import msgspec

from memento_tui.config import Config, load_config
from memento_tui.errors import NotAllowed
from memento_tui.paths import DataPaths, data_directory
from memento_tui.records import Memory, Proposal, make_memory, make_proposal, make_relation
from memento_tui.records.ids import new_id
from memento_tui.records.memory import content_digest
from memento_tui.records.when import utc_now
from memento_tui.review.decisions import edited, verified
from memento_tui.review.policy import AGENT_FIELDS, Intent, Verdict, judge
from memento_tui.search.language import parse
from memento_tui.store.journal import Actor, Author, Entry
from memento_tui.store.reads import Page, visible
from memento_tui.store.store import Revision, Store
from memento_tui.store.transaction import Transaction
from memento_tui.workspace.lists import Crystals, Items, Skips
from memento_tui.workspace.queue import ReviewQueue
from memento_tui.workspace.searching import SearchAnswer, Searching

__all__ = ["Outcome", "Workspace"]

_BATCH = 2000
"""Memories in one transaction of a bulk write: other writers wait for tens of milliseconds at most."""


class Outcome(msgspec.Struct, frozen=True):
    """What became of a change: done, or waiting for a person."""

    status: Literal["applied", "proposed"]
    memory: Memory
    """The memory as it stands now."""
    proposal: Proposal | None = None


class Workspace:
    """One data directory. Use it as a context manager, or call `close`.

    Every write passes the gate (``review.preset`` in ``config.toml``), is one journal entry in the name of ``author``,
    and can be undone. Safe to use from several threads and processes.

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
    ) -> None:
        self.paths = DataPaths(data_directory(path))
        self.config: Config = load_config(self.paths.config)
        self.store = Store(self.paths.database, create=create)
        self.author = Author(actor, channel, agent, session)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and the connection to the engine."""
        self.searching.close()
        self.store.close()

    @cached_property
    def skips(self) -> Skips:
        """The skip list."""
        return Skips(self.store, self.author, self.config.review.preset)

    @cached_property
    def items(self) -> Items:
        """The working items."""
        return Items(self.store, self.author, self.config.review.preset)

    @cached_property
    def crystals(self) -> Crystals:
        """The identity crystals."""
        return Crystals(self.store, self.author, self.config.review.preset)

    @cached_property
    def review(self) -> ReviewQueue:
        """The proposals that wait for a person."""
        return ReviewQueue(self.store, self.author)

    @cached_property
    def searching(self) -> Searching:
        """The indexes and the connection to the engine."""
        return Searching(self.store, self.paths, self.config)

    # Writing

    def remember(self, text: str, **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
        """Store a memory and return it. Its ``status`` is ``pending`` if it waits for a person.

        A text that is remembered already in the same namespace is not stored again: its memory is returned.

        Raises:
            InvalidField: a field breaks a rule.
            NotAllowed: an agent set a field that only a person may set.
            Conflict: the id is taken.

        """
        memory, verdict = self._new(text, fields)
        with self.store.transaction(self.author, "remember") as tx:
            if "id" not in fields and (known := self._known(memory)) is not None:
                return known
            return self._put_new(tx, memory, verdict)

    def remember_many(self, items: Iterable[Mapping[str, Any]]) -> list[Memory]:
        """Store many memories, each a mapping with ``content`` and any other fields, in few transactions.

        Raises:
            InvalidField: an item breaks a rule; the items of earlier batches are stored.
            Conflict: an id is taken.

        """
        made: list[Memory] = []
        batch: list[tuple[Memory, Verdict]] = []
        name = new_id()
        for item in items:
            fields = dict(item)
            batch.append(self._new(fields.pop("content", fields.pop("text", "")), fields))
            if len(batch) == _BATCH:
                made += self._put_batch(batch, name)
                batch = []
        return made + (self._put_batch(batch, name) if batch else [])

    def _put_batch(self, batch: list[tuple[Memory, Verdict]], name: str) -> list[Memory]:
        with self.store.transaction(self.author, "remember", batch=name) as tx:
            drafts = [memory for memory, verdict in batch if verdict.answer != "propose"]
            stored = tx.add_all(drafts) if drafts else []
            written = {memory.id: memory for memory in stored}
            for memory, verdict in batch:
                if verdict.answer == "propose":
                    written[memory.id] = self._put_new(tx, memory, verdict)
        return [written[memory.id] for memory, _ in batch]

    def _new(self, text: str, fields: Mapping[str, Any]) -> tuple[Memory, Verdict]:
        self._check_agent_fields(fields)
        is_person = self.author.actor == "person"
        values = {"source_type": "user" if is_person else "derived", **fields, "content": text}
        if not is_person and "source" not in values:
            values["source"] = {"agent": self.author.agent, "session": self.author.session}
        memory = make_memory(values)
        if is_person and memory.stability != "draft" and memory.verified_at is None:
            memory = verified(memory, self.author, memory.created_at)
        intent = Intent(
            "create",
            by_person=is_person,
            external=memory.source_type == "external",
            injection_score=memory.injection_score,
        )
        return memory, judge(self.config.review.preset, intent)

    def _known(self, memory: Memory) -> Memory | None:
        twins = self.store.twins(content_digest(memory.content))
        return next((twin for twin in twins if twin.namespace == memory.namespace), None)

    def _put_new(self, tx: Transaction, memory: Memory, verdict: Verdict) -> Memory:
        if verdict.answer != "propose":
            return tx.put(memory, base=0)
        pending = tx.put(msgspec.structs.replace(memory, status="pending"), base=0)
        tx.put(self._proposal("create", pending, verdict, {}), base=0)
        return pending

    def _proposal(self, action: str, memory: Memory, verdict: Verdict, payload: Mapping[str, Any]) -> Proposal:
        return make_proposal(
            {
                "action": action,
                "target_id": memory.id,
                "base_version": memory.version,
                "payload": msgspec.json.decode(msgspec.json.encode(payload)),
                "reasons": verdict.reasons,
                "proposed_by": self.author.name,
                "session": self.author.session,
            }
        )

    def _check_agent_fields(self, fields: Mapping[str, Any]) -> None:
        if self.author.actor == "person":
            return
        refused = sorted(name for name in fields if name in Memory.__struct_fields__ and name not in AGENT_FIELDS)
        if refused:
            raise NotAllowed(
                f"An agent may not set {', '.join(refused)}; a person decides that.",
                "Leave it out; what you write is a draft until a person or use confirms it.",
            )

    def update(self, memory_id: str, *, base_version: int | None = None, **changes: Any) -> Outcome:  # noqa: ANN401 - the fields of a memory
        """Change some fields of a memory, or propose it where the gate says so.

        ``base_version`` is the version that the caller read; without it the change is made from the present one.

        Raises:
            NotFound, AmbiguousId: no memory, or several, have that id.
            InvalidField: a field breaks a rule.
            NotAllowed: an agent set a field that only a person may set, or the memory is deleted.
            Conflict: the memory is no longer at ``base_version``.

        """
        self._check_agent_fields(changes)
        found = self.store.resolve("memory", memory_id)
        with self.store.transaction(self.author, "edit") as tx:
            memory: Memory = tx.require("memory", found)
            closed = ("deleted",) if self.author.actor == "person" else ("deleted", "rejected", "archived")
            if memory.status in closed:
                raise NotAllowed(f"The memory {found} is {memory.status}.", "A person restores it first.")
            after = edited(memory, changes, tx.now)
            if base_version is not None and base_version != memory.version:
                tx.put(after, base=base_version)  # raises the conflict, with both sides
            if self.author.actor == "person" and after.stability != "draft" and memory.stability == "draft":
                after = verified(after, self.author, tx.now)
            if msgspec.structs.replace(after, updated_at=memory.updated_at) == memory:
                return Outcome("applied", memory)
            verdict = self._judge_change("edit", memory)
            if verdict.answer == "propose":
                wanted = {name: getattr(after, name) for name in changes}
                proposal = tx.put(self._proposal("edit", memory, verdict, wanted), base=0)
                return Outcome("proposed", memory, proposal)
            written = tx.put(after, base=memory.version)
            self._follow_pending(tx, memory, written)
            return Outcome("applied", written)

    def _judge_change(self, action: Literal["edit", "delete"], memory: Memory) -> Verdict:
        intent = Intent(
            action,
            by_person=self.author.actor == "person",
            target_verified=memory.stability != "draft",
        )
        return judge(self.config.review.preset, intent)

    def _follow_pending(self, tx: Transaction, before: Memory, after: Memory) -> None:
        """Let the proposal of a pending memory follow its text, so that a decision on the old text is refused."""
        if before.status != "pending":
            return
        for proposal in self.store.proposals_about(before.id):
            if proposal.action == "create" and proposal.base_version == before.version:
                tx.put(msgspec.structs.replace(proposal, base_version=after.version), base=proposal.version)

    def forget(self, memory_id: str, *, base_version: int | None = None) -> Outcome:
        """Delete a memory, or propose it where the gate says so. It can be restored. Raises like `update`."""
        found = self.store.resolve("memory", memory_id)
        with self.store.transaction(self.author, "forget") as tx:
            memory: Memory = tx.require("memory", found)
            if memory.status == "deleted":
                return Outcome("applied", memory)
            gone = msgspec.structs.replace(memory, status="deleted", updated_at=tx.now)
            if base_version is not None and base_version != memory.version:
                tx.put(gone, base=base_version)  # raises the conflict, with both sides
            verdict = self._judge_change("delete", memory)
            if verdict.answer == "propose":
                proposal = tx.put(self._proposal("delete", memory, verdict, {}), base=0)
                return Outcome("proposed", memory, proposal)
            return Outcome("applied", tx.put(gone, base=memory.version))

    def verify(self, memory_id: str) -> Memory:
        """Mark a memory as read and accepted by a person. Raises `NotFound` or `NotAllowed`."""
        self._check_person("verifies")
        found = self.store.resolve("memory", memory_id)
        with self.store.transaction(self.author, "verify") as tx:
            memory: Memory = tx.require("memory", found)
            if memory.status in ("pending", "deleted", "rejected"):
                raise NotAllowed(f"The memory {found} is {memory.status}.", "Approve or restore it instead.")
            return tx.put(verified(memory, self.author, tx.now), base=memory.version)

    def restore(self, memory_id: str) -> Memory:
        """Bring a deleted, rejected or archived memory back. Raises `NotFound` or `NotAllowed`."""
        found = self.store.resolve("memory", memory_id)
        if self.author.actor != "person":
            raise NotAllowed("Only a person restores a memory.", "Remember it anew if it still holds.")
        with self.store.transaction(self.author, "restore") as tx:
            memory: Memory = tx.require("memory", found)
            if memory.status not in ("deleted", "rejected", "archived"):
                return memory
            status = self._status_before(memory)
            return tx.put(msgspec.structs.replace(memory, status=status, updated_at=tx.now), base=memory.version)

    def _status_before(self, memory: Memory) -> str:
        for revision in self.store.history("memory", memory.id):
            before = revision.record
            if before is not None and before.status not in ("deleted", "rejected", "archived", "pending"):
                return str(before.status)
        return "active"

    def purge(self, memory_id: str, reason: str) -> None:
        """Remove a memory and every trace of its text, for a leaked secret. Nothing brings it back.

        Raises:
            NotAllowed: an agent asks, or no reason is given.
            NotFound: there is no such memory.

        """
        if self.author.actor != "person":
            raise NotAllowed("Only a person purges a memory.", "Tell the person which one, and why.")
        # One that was deleted for good, by undoing its creation, still has its text in the journal.
        known = bool(self.store.history("memory", memory_id))
        found = memory_id if known else self.store.resolve("memory", memory_id)
        self.store.purge(self.author, "memory", found, reason)
        if self.paths.keyword_index.exists():
            # Its files hold the words of what was deleted until they happen to be merged.
            self.searching.keyword.rebuild()
        if self.paths.semantic_index.exists():
            self.searching.semantic.stop()
            shutil.rmtree(self.paths.semantic_index, ignore_errors=True)

    def relate(self, src: str, dst: str, type: str = "related", label: str = "") -> None:  # noqa: A002 - the field's name
        """Draw an arrow from one memory to another, a file or a working item.

        Raises:
            NotFound, AmbiguousId: no record, or several, have one of the ids.
            InvalidField: the type or label breaks a rule, or both ends are the same.
            NotAllowed: an agent says that a verified memory is superseded.

        """
        source = self.store.resolve("memory", src)
        if type != "file":
            dst = self.store.resolve("item" if type == "item" else "memory", dst)
        relation = make_relation({"src": source, "dst": dst, "type": type, "label": label})
        with self.store.transaction(self.author, "relate") as tx:
            is_verified = type == "supersedes" and tx.require("memory", dst).stability != "draft"
            if is_verified and self.author.actor != "person":
                raise NotAllowed(
                    f"The memory {dst} is verified; only a person says that another takes its place.",
                    "Remember what is new; the person decides about the old.",
                )
            tx.put(relation, base=0)

    def undo(self, seq: int | None = None) -> list[Entry]:
        """Take back a journal entry (the person's newest by default); return what was taken back.

        Raises:
            NotFound: there is nothing to undo.
            NotAllowed: an agent asks, or the entry was taken back already.
            Conflict: later entries changed the same fields.

        """
        self._check_person("undoes")
        return self.store.undo(self.author, seq)

    def redo(self) -> list[Entry]:
        """Do again what was undone last. Raises like `undo`."""
        self._check_person("redoes")
        return self.store.redo(self.author)

    def _check_person(self, verb: str) -> None:
        if self.author.actor != "person":
            raise NotAllowed(f"Only a person {verb} a change.", "Make the change you want instead.")

    # Reading

    def get(self, memory_id: str) -> Memory:
        """Return a memory by its id or a unique beginning of it. Raises `NotFound` or `AmbiguousId`."""
        memory: Memory = self.store.get("memory", self.store.resolve("memory", memory_id))
        return memory

    def list(self, query: str = "", *, after: str | None = None, limit: int = 50) -> Page:
        """Return memories that a query's filters select, most recently changed first. Free text needs `search`."""
        return self.store.page(visible(parse(query).filter), after=after, limit=limit)

    def search(
        self,
        query: str,
        *,
        mode: Literal["keyword", "semantic", "hybrid"] = "hybrid",
        limit: int = 10,
        wait: bool = False,
        now: datetime | None = None,
    ) -> SearchAnswer:
        """Return the memories that answer a query, best first, with snippets and scores.

        ``wait`` waits until the indexes, embeddings included, reflect everything written before.

        Raises:
            EngineUnavailable: ``wait`` was asked for and the engine cannot be had.

        """
        return self.searching.search(query, mode=mode, limit=limit, wait=wait, now=now or utc_now())

    def history(self, memory_id: str) -> Sequence[Revision]:
        """Return every version of a memory, newest first. Raises `NotFound`."""
        found = self.store.history("memory", memory_id)
        return found or self.store.history("memory", self.store.resolve("memory", memory_id))

    def used(self, ids: Iterable[str]) -> None:
        """Count that memories were of use, beyond having been shown."""
        self.store.count_use("memory", ids, used=1)

    def related(self, memory_id: str) -> Sequence[tuple[str, str, str]]:
        """Return a memory's relations as type, direction (``out`` or ``in``) and the other end."""
        return [
            (r.type, "out" if r.src == memory_id else "in", r.dst if r.src == memory_id else r.src)
            for r in self.store.relations_of(memory_id)
        ]
