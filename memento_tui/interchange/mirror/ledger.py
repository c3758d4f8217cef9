"""What was last in step: for each note its bytes' digest and the version of its memory, kept in the database.

Together they are the base of every three-way comparison, so that a mirror that was killed or switched off goes on
exactly where it was. A second line for a note says which proposal its present text waits on. A line for a memory says
that it was deleted because its note went, so that it comes back with it.
"""

from __future__ import annotations

import msgspec

from memento_tui.records import Memory, Proposal
from memento_tui.store.imports import LedgerRow
from memento_tui.store.journal import Author
from memento_tui.store.store import Store
from memento_tui.store.transaction import Transaction

__all__ = ["GONE", "MOVED", "UNKNOWN", "MirrorLedger", "Step"]

_NOTE, _WAITS, _LEFT = "note:", "waits:", "left:"
GONE = b""
"""The digest of a note that is not there."""
MOVED = b">"
"""The digest of a note that was in step under another path: its name may say its title."""
UNKNOWN = b"?"
"""The digest of a note that never was in step."""


class Step(msgspec.Struct, frozen=True):
    """A note and its memory as they were when they last said the same; or, a proposal and the text it is about."""

    path: str
    id: str
    digest: bytes
    version: int


class MirrorLedger:
    """The lines of one mirror. Only one process has them, which the folder's lock sees to."""

    def __init__(self, store: Store, source: str, author: Author) -> None:
        self._store = store
        self._source = source
        self._author = author
        self.steps: dict[str, Step] = {}
        """What was last in step, by the note's path."""
        self.waiting: dict[str, Step] = {}
        """The proposals that notes wait on, by the note's path."""
        self.paths: dict[str, str] = {}
        """The notes' paths by their memories' ids."""
        self.left: dict[str, Step] = {}
        """What was last in step of the memories that were deleted with their notes, by id."""
        self.left_with: dict[bytes, str] = {}
        """The ids of those memories by the digests of their notes."""
        self._touched: set[str] = set()
        self._unwritten: dict[str, Step | None] = {}
        self.reload()

    @property
    def unwritten(self) -> int:
        """How many lines `flush` would write."""
        return len(self._unwritten)

    def reload(self) -> None:
        """Read the lines as they stand in the database; what was noted and not written is forgotten."""
        for known in (self.steps, self.waiting, self.paths, self.left, self.left_with, self._unwritten):
            known.clear()
        for key, row in self._store.imports.of(self._source).items():
            self._take(key, Step(key.partition(":")[2], row.record_id, row.digest, row.version))

    def take_touched(self) -> set[str]:
        """Return the notes whose lines changed since this was last asked."""
        taken, self._touched = self._touched, set()
        return taken

    def _take(self, key: str, step: Step | None) -> None:
        path = key.partition(":")[2]
        if key.startswith(_WAITS):
            if step is None:
                self.waiting.pop(path, None)
            else:
                self.waiting[path] = step
            return
        if key.startswith(_LEFT):
            if step is None:
                self.left_with.pop(self.left.pop(path).digest, None)
            else:
                self.left[path] = step
                self.left_with[step.digest] = path
            return
        self._touched.add(path)
        before = self.steps.pop(path, None)
        if before is not None and self.paths.get(before.id) == path:
            del self.paths[before.id]
        if step is not None:
            self.steps[path] = step
            self.paths[step.id] = path

    def _set(self, key: str, step: Step | None, tx: Transaction | None) -> None:
        self._take(key, step)
        if tx is None:
            self._unwritten[key] = step
            return
        self._unwritten.pop(key, None)
        self._write(tx, {key: step})

    def _write(self, tx: Transaction, changes: dict[str, Step | None]) -> None:
        rows = [
            LedgerRow(
                self._source,
                key,
                "proposal" if key.startswith(_WAITS) else "memory",
                step.id,
                step.digest,
                step.version,
            )
            for key, step in changes.items()
            if step is not None
        ]
        self._store.imports.write(tx, rows)
        self._store.imports.drop(tx, self._source, [key for key, step in changes.items() if step is None])

    def in_step(self, path: str, memory: Memory, digest: bytes, tx: Transaction | None = None) -> None:
        """Note that a note and its memory say the same; without ``tx`` it is written with the next `flush`.

        A line that is lost with a killed process costs nothing: both sides are then found to say the same.
        """
        self._set(_NOTE + path, Step(path, memory.id, digest, memory.version), tx)

    def adopt(self, path: str, memory_id: str, digest: bytes, version: int) -> None:
        """Note that a note is that of a memory, and which version it was made from."""
        self._set(_NOTE + path, Step(path, memory_id, digest, version), None)

    def waits(self, path: str, proposal: Proposal, digest: bytes, tx: Transaction | None = None) -> None:
        """Note that the bytes of a note wait on a proposal."""
        self._set(_WAITS + path, Step(path, proposal.id, digest, proposal.base_version), tx)

    def decided(self, path: str) -> None:
        """Note that a note waits no longer."""
        if path in self.waiting:
            self._set(_WAITS + path, None, None)

    def forget(self, path: str) -> None:
        """Let a note go: it has no memory any more."""
        self.decided(path)
        self._set(_NOTE + path, None, None)

    def leave(self, path: str, memory: Memory) -> None:
        """Note that a memory was deleted because its note is gone; ``memory`` is as it is since then."""
        step = self.steps[path]
        self.forget(path)
        self._set(_LEFT + memory.id, Step(memory.id, memory.id, step.digest, memory.version), None)

    def back(self, memory_id: str) -> None:
        """Note that such a memory is not to come back any more, or did."""
        self._set(_LEFT + memory_id, None, None)

    def move(self, before: str, after: str) -> None:
        """Note that a note has another path."""
        step, waiting = self.steps[before], self.waiting.get(before)
        self.forget(before)
        self._set(_NOTE + after, msgspec.structs.replace(step, path=after, digest=MOVED), None)
        if waiting is not None:
            self._set(_WAITS + after, msgspec.structs.replace(waiting, path=after), None)

    def flush(self) -> None:
        """Write what was noted."""
        if not self._unwritten:
            return
        with self._store.transaction(self._author, "mirror") as tx:
            self._write(tx, self._unwritten)
        self._unwritten.clear()
