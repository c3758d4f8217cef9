"""Give imports and mirrors bulk reads and writes of their own, beyond the public methods of a workspace."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from memento_tui.api.memories import MemoryEditor
from memento_tui.api.queries import LinkDirection, relations_of
from memento_tui.errors import DataDirectoryError
from memento_tui.model import AnyRecord, Crystal, Memory, Proposal, Relation
from memento_tui.model.filters import Filter
from memento_tui.model.memory import content_digest, says_the_same
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.policy.gate import Gate
from memento_tui.policy.policy import AGENT_FIELDS
from memento_tui.storage.journal import Author, origin_of
from memento_tui.storage.journal_queries import Revision
from memento_tui.storage.ledgers import ImportLedger
from memento_tui.storage.settings import Settings
from memento_tui.storage.transaction import Transaction
from memento_tui.text.novelty import Novelty

__all__ = ["ImportSession"]

if TYPE_CHECKING:
    from memento_tui.api.workspace import Workspace


_SIGNING_KEY_SETTING = "signing key"


class ImportSession:
    """The database of a workspace for bulk reading and writing in the name of one author.

    What is written through `transaction` passes `gate` like any other write.
    """

    def __init__(self, workspace: Workspace, author: Author) -> None:
        self._store = workspace._store
        self.author = author
        self.gate = Gate(self._store, author, workspace.gate.rules)
        self.editor = MemoryEditor(self._store, self.gate)
        """Changes of single memories, screened and judged like any other."""

    @property
    def ledger(self) -> ImportLedger:
        """The origin of imported records."""
        return self._store.imports

    @property
    def settings(self) -> Settings:
        """The values that the database keeps about itself."""
        return self._store.settings

    def transaction(self, action: str, *, note: str = "", batch: str = "") -> AbstractContextManager[Transaction]:
        """Begin one write, which becomes one journal entry; ``batch`` joins the entries of one long operation."""
        return self.gate.transaction(action, note=note, batch=batch)

    def signature(self, data: bytes) -> str:
        """Return this workspace's signature of some bytes, in hexadecimal digits (HMAC-SHA256)."""
        return hmac.new(self._signing_key, data, hashlib.sha256).hexdigest()

    def can_sign(self) -> bool:
        """Return whether there is a key to sign with, or one can be made; not where nothing can be written."""
        try:
            return bool(self._signing_key)
        except DataDirectoryError:
            return False

    def is_signed(self, data: bytes, signature: str) -> bool:
        """Tell whether this workspace signed some bytes."""
        if self.settings.get(_SIGNING_KEY_SETTING) is None:
            return False
        return hmac.compare_digest(self.signature(data), signature)

    @cached_property
    def _signing_key(self) -> bytes:
        """The key that never leaves the database: its signature proves that a record was in this workspace."""
        known = self.settings.get(_SIGNING_KEY_SETTING)
        if known is None:
            self.settings.change(_SIGNING_KEY_SETTING, lambda key: key or secrets.token_hex(32))
            known = self.settings.get(_SIGNING_KEY_SETTING) or ""
        return bytes.fromhex(known)

    def one_undo(self) -> AbstractContextManager[None]:
        """Join the entries that this thread or task writes in the block: one undo takes all of them back."""
        return self._store.one_undo()

    def find(self, memory_id: str) -> Memory | None:
        """Return a memory by its whole id, or ``None``."""
        return self._store.find(Memory, memory_id)

    def find_proposal(self, proposal_id: str) -> Proposal | None:
        """Return a proposal by its whole id, or ``None``."""
        return self._store.find(Proposal, proposal_id)

    def edits_not_let_in(self, memory_id: str) -> list[Proposal]:
        """Return the proposed edits of a memory that wait or were rejected, newest first."""
        states = (*OPEN_PROPOSAL_STATES, "rejected")
        return [p for p in self._store.proposals.about(memory_id) if p.action == "edit" and p.state in states]

    def get_record(self, kind: str, record_id: str) -> AnyRecord:
        """Return a record of a kind by its whole id. Raises `NotFound`."""
        found: AnyRecord = self._store.get_named(kind, record_id)
        return found

    def get_many(self, ids: Sequence[str], among: Filter | None = None) -> dict[str, Memory]:
        """Return the memories of these ids that exist and that the filter ``among`` selects, by id."""
        return self._store.memories.get_many(ids, among)

    def ids(self, among: Filter) -> list[str]:
        """Return the ids of all memories that a filter selects, most recently changed first."""
        return self._store.memories.ids(among, 0, self._store.memories.count_all())

    def novelty(self) -> Novelty:
        """Return a measure of how new further texts are beside the memories as they stand, and beside each other."""
        return self._store.memories.novelty()

    def count_noted(self, note: str, since: datetime) -> int:
        """Return how many records entries like this session's with a note wrote after a moment."""
        return self._store.writes.count_noted(self.gate.author, note, since)

    def count_all(self) -> int:
        """Return how many memories there are, whatever their status."""
        return self._store.memories.count_all()

    def head(self) -> int:
        """Return the sequence number of the newest journal entry; 0 in an empty journal."""
        return self._store.journal.head()

    def same_content(self, content: str) -> list[Memory]:
        """Return the recalled or pending memories that say the same as a content, oldest first."""
        found = self._store.memories.with_digest(content_digest(content))
        return [memory for memory in found if says_the_same(memory.content, content)]

    def current_crystal(self) -> Crystal | None:
        """Return the identity crystal that holds now, or ``None``."""
        return self._store.lists.current_crystal()

    def relations(self, memory_id: str, *, direction: LinkDirection = "both") -> Sequence[Relation]:
        """Return the relations of a memory, in the order they were drawn."""
        return relations_of(self._store, memory_id, direction)

    def relations_since(self, seq: int) -> Sequence[Relation]:
        """Return the relations that journal entries after ``seq`` wrote, and that exist."""
        return self._store.memories.relations_since(seq)

    def changed_memories(self, after: int, limit: int) -> tuple[list[str], int]:
        """Return the ids of memories changed after entry ``after`` and the entry that this reaches.

        Whole entries are taken until at least ``limit`` changes are found, so that the second value is exact.
        """
        return self._store.journal.changed_memories(after, limit)

    def versions(self, kind: str, ids: Sequence[str]) -> dict[str, int]:
        """Return the present version of each of the ids of a kind that exists."""
        return self._store.versions(kind, ids)

    def purged(self, kind: str, ids: Sequence[str]) -> set[str]:
        """Return those of the ids of a kind that were purged and do not exist any more."""
        return self._store.journal.purged(kind, ids)

    def removed_by(self, kind: str, ids: Sequence[str]) -> dict[str, str]:
        """Return who removed those of the ids of a kind that were removed last; see `JournalQueries.removed_by`."""
        return self._store.journal.removed_by(kind, ids)

    def history(self, memory_id: str) -> Sequence[Revision[Memory]]:
        """Return every version of a memory, newest first; nothing where there never was one with that id."""
        return self._store.journal.history(Memory, memory_id)

    def fields_of_others(self, memory: Memory) -> frozenset[str]:
        """Return the fields of a memory whose values neither this person nor a file gave, of those that agents may set.

        They are all of a memory that began as another's, but for what the person or a file wrote into it since. What
        maintenance notes in a memory as it ages is whose that memory was before.
        """
        found: set[str] = set()
        left = set(AGENT_FIELDS)
        revisions = self.history(memory.id)
        for number, revision in enumerate(revisions):
            origin = origin_of(revision.entry)
            if origin == "maintenance" and revision.version > 1:
                continue
            before = revisions[number + 1].record if number + 1 < len(revisions) else None
            after = revision.record
            changed = {one for one in left if None in (after, before) or getattr(after, one) != getattr(before, one)}
            left -= changed
            if origin not in ("person", "file"):
                found |= changed
        return frozenset(found)

    def version_of(self, memory_id: str, version: int) -> Memory | None:
        """Return a memory as it was at a version, or ``None`` where it was removed or purged then."""
        return self._store.journal.image(Memory, memory_id, version)

    def record_version(self, kind: str, record_id: str, version: int) -> AnyRecord | None:
        """Return a record of a kind as it was at a version, or ``None`` where it was removed or purged then."""
        found: AnyRecord | None = self._store.journal.image_named(kind, record_id, version)
        return found
