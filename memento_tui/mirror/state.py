"""Keep each note's last synchronized state in the database, and define the events that a mirror reports."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from memento_tui.api.import_session import ImportSession
from memento_tui.api.types import ImportedRecord, Transaction
from memento_tui.mirror.folder import MirrorFolder
from memento_tui.model import Memory, Proposal

__all__ = [
    "GONE_DIGEST",
    "MIRROR_ACTIONS",
    "MOVED_DIGEST",
    "UNKNOWN_DIGEST",
    "MirrorContext",
    "MirrorEvent",
    "MirrorLedger",
    "SyncPoint",
]

MirrorAction = Literal[
    "written",
    "taken",
    "changed",
    "deleted",
    "restored",
    "moved",
    "related",
    "trashed",
    "waits",
    "refused",
]
MIRROR_ACTIONS: tuple[str, ...] = get_args(MirrorAction)
"""In the order of a report: a note was written here, taken in as a memory, changed one, deleted one, brought back the
one that was deleted with it, was moved in the folder, was
related as its links say, was put into the folder's trash, asks a question that waits in
the review, or could not be used."""


class MirrorEvent(msgspec.Struct, frozen=True, rename={"action": "deed"}):
    """One thing that happened to one note. The report of ``mirror --json`` has its action as ``deed``."""

    action: MirrorAction
    note: str
    """The note's path within the folder; empty where the folder as a whole is meant."""
    memory: str = ""
    """The id of its memory, where it has one."""
    why: str = ""
    """The details, as the end of a sentence."""


_NOTE_PREFIX, _PENDING_PREFIX, _DELETED_PREFIX, _LAST_PREFIX = "note:", "waits:", "left:", "last:"
GONE_DIGEST = b""
"""The digest of a note that is not there."""
MOVED_DIGEST = b">"
"""The digest of a note that was in step under another path: its name may say its title."""
UNKNOWN_DIGEST = b"?"
"""The digest of a note that never was in step."""


class SyncPoint(msgspec.Struct, frozen=True):
    """The digest of a note and the version of its memory when they were last in sync; or those of a proposal."""

    path: str
    id: str
    digest: bytes
    version: int


class MirrorLedger:
    """The ledger of one mirror. Only one process has it, which the folder's lock ensures."""

    def __init__(self, session: ImportSession, source: str) -> None:
        self._session = session
        self._source = source
        self.steps: dict[str, SyncPoint] = {}
        """The states that were last in sync, by the note's path."""
        self.waiting: dict[str, SyncPoint] = {}
        """The proposals that notes wait on, by the note's path."""
        self.paths: dict[str, str] = {}
        """The notes' paths by their memories' ids."""
        self.deleted: dict[str, SyncPoint] = {}
        """The last states in sync of the memories that were deleted with their notes, by id."""
        self.deleted_by_digest: dict[bytes, str] = {}
        """The ids of those memories by the digests of their notes."""
        self.last_paths: dict[str, str] = {}
        """The paths at which the notes lay that memories no longer have, by the memories' ids."""
        self._last_ids: dict[str, str] = {}
        self._touched: set[str] = set()
        self._unwritten: dict[str, SyncPoint | None] = {}
        self.reload()

    @property
    def unwritten(self) -> int:
        """How many lines `flush` would write."""
        return len(self._unwritten)

    def reload(self) -> None:
        """Read the lines from the database; changes that were not flushed are forgotten."""
        for known in (self.steps, self.waiting, self.paths, self.deleted, self.deleted_by_digest):
            known.clear()
        for names in (self.last_paths, self._last_ids):
            names.clear()
        self._unwritten.clear()
        for key, row in self._session.ledger.of(self._source).items():
            self._take(key, SyncPoint(key.partition(":")[2], row.record_id, row.digest, row.version))

    def pop_touched(self) -> set[str]:
        """Return the notes whose lines changed since this was last asked."""
        taken, self._touched = self._touched, set()
        return taken

    def _take(self, key: str, step: SyncPoint | None) -> None:
        path = key.partition(":")[2]
        if key.startswith(_PENDING_PREFIX):
            if step is None:
                self.waiting.pop(path, None)
            else:
                self.waiting[path] = step
            return
        if key.startswith(_DELETED_PREFIX):
            if step is None:
                self.deleted_by_digest.pop(self.deleted.pop(path).digest, None)
            else:
                self.deleted[path] = step
                self.deleted_by_digest[step.digest] = path
            return
        if key.startswith(_LAST_PREFIX):
            self.last_paths.pop(self._last_ids.pop(path, ""), None)
            if step is not None:
                self.last_paths[step.id], self._last_ids[path] = path, step.id
            return
        self._touched.add(path)
        before = self.steps.pop(path, None)
        if before is not None and self.paths.get(before.id) == path:
            del self.paths[before.id]
        if step is not None:
            self.steps[path] = step
            self.paths[step.id] = path

    def _set(self, key: str, step: SyncPoint | None, tx: Transaction | None) -> None:
        self._take(key, step)
        if tx is None:
            self._unwritten[key] = step
            return
        self._unwritten.pop(key, None)
        self._write(tx, {key: step})

    def _write(self, tx: Transaction, changes: dict[str, SyncPoint | None]) -> None:
        rows = [
            ImportedRecord(
                self._source,
                key,
                "proposal" if key.startswith(_PENDING_PREFIX) else "memory",
                step.id,
                step.digest,
                step.version,
            )
            for key, step in changes.items()
            if step is not None
        ]
        self._session.ledger.write(tx, rows)
        self._session.ledger.drop(tx, self._source, [key for key, step in changes.items() if step is None])

    def set_in_sync(self, path: str, memory: Memory, digest: bytes, tx: Transaction | None = None) -> None:
        """Record that a note and its memory are in sync; without ``tx`` it is written with the next `flush`.

        A line that is lost with a killed process costs nothing: both sides are then found to agree.
        """
        self._set(_NOTE_PREFIX + path, SyncPoint(path, memory.id, digest, memory.version), tx)

    def adopt(self, path: str, memory_id: str, digest: bytes, version: int) -> None:
        """Record that a note is that of a memory, and the version it was made from."""
        self._set(_NOTE_PREFIX + path, SyncPoint(path, memory_id, digest, version), None)

    def set_pending(self, path: str, proposal: Proposal, digest: bytes, tx: Transaction | None = None) -> None:
        """Record that the bytes of a note wait on a proposal."""
        self._set(_PENDING_PREFIX + path, SyncPoint(path, proposal.id, digest, proposal.base_version), tx)

    def clear_pending(self, path: str) -> None:
        """Record that a note waits no longer."""
        if path in self.waiting:
            self._set(_PENDING_PREFIX + path, None, None)

    def forget(self, path: str) -> None:
        """Remove a note, which has no memory any more."""
        self.clear_pending(path)
        self._set(_NOTE_PREFIX + path, None, None)

    def part(self, path: str) -> None:
        """Remove a note whose memory may come back, at the same path."""
        step = self.steps[path]
        self.forget_last_path(step.id)
        self._set(_LAST_PREFIX + path, SyncPoint(path, step.id, GONE_DIGEST, step.version), None)
        self.forget(path)

    def forget_last_path(self, memory_id: str) -> None:
        """Remove the path at which the note of a memory lay."""
        if (path := self.last_paths.get(memory_id)) is not None:
            self._set(_LAST_PREFIX + path, None, None)

    def mark_deleted(self, path: str, memory: Memory) -> None:
        """Record that a memory was deleted because its note is gone; ``memory`` is as it is since then."""
        step = self.steps[path]
        self.part(path)
        self._set(_DELETED_PREFIX + memory.id, SyncPoint(memory.id, memory.id, step.digest, memory.version), None)

    def clear_deleted(self, memory_id: str) -> None:
        """Remove the record of such a memory, which came back, or is not to come back any more."""
        self._set(_DELETED_PREFIX + memory_id, None, None)

    def move(self, before: str, after: str) -> None:
        """Record that a note has another path."""
        step, waiting = self.steps[before], self.waiting.get(before)
        self.forget(before)
        self._set(_NOTE_PREFIX + after, msgspec.structs.replace(step, path=after, digest=MOVED_DIGEST), None)
        if waiting is not None:
            self._set(_PENDING_PREFIX + after, msgspec.structs.replace(waiting, path=after), None)

    def flush(self) -> None:
        """Write the recorded changes to the database."""
        if not self._unwritten:
            return
        with self._session.transaction("mirror") as tx:
            self._write(tx, self._unwritten)
        self._unwritten.clear()


class MirrorContext(msgspec.Struct, frozen=True):
    """The database, the folder and the options of one mirror, which its parts share."""

    session: ImportSession
    source: str
    """The name of the mirror in the import ledger."""
    folder: MirrorFolder
    ledger: MirrorLedger
    hold: bool
    """Whether every change from the folder waits for a person."""
    namespace: str
    """The namespace of new notes, and the part of the memories that get a note; empty for all."""
