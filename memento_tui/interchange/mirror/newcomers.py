"""Notes that have no memory yet: those of memories that are known, and those that are new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memento_tui.errors import DataDirectoryError, MementoError
from memento_tui.interchange.mirror.arriving import Arriving
from memento_tui.interchange.mirror.happening import Happening
from memento_tui.interchange.mirror.ledger import UNKNOWN, MirrorLedger
from memento_tui.interchange.mirror.notes import NoteFile, identity_of, namespace_at, shown
from memento_tui.interchange.mirror.settling import Settling
from memento_tui.records import Memory, Proposal
from memento_tui.store.store import Store

__all__ = ["Newcomers"]

_GONE = ("deleted", "rejected")


class Newcomers:
    """Finds or makes the memories of new notes."""

    def __init__(self, store: Store, ledger: MirrorLedger, arriving: Arriving, settling: Settling, within: str) -> None:
        self._store = store
        self._ledger = ledger
        self._arriving = arriving
        self._settling = settling
        self._within = within

    def take(self, files: Iterable[NoteFile]) -> Iterator[Happening]:
        """Give each note its memory, and yield what became of it. Raises `DataDirectoryError`."""
        new: list[tuple[NoteFile, str]] = []
        for file in files:
            namespace = namespace_at(file.path, self._within)
            try:
                if self._is_purged(file):
                    why = "its memory was purged here, so it is not taken in; take the note away as well"
                    yield Happening("refused", file.path, identity_of(file.note), why)
                elif (memory := self._named(file)) is not None:
                    self._adopt(file, memory)
                    yield from self._settling.settle(file.path, file)
                elif (memory := self._brought_back(file)) is not None:
                    yield Happening("restored", file.path, memory.id, "its note is back")
                    yield from self._settling.settle(file.path, file)
                elif (twin := self._arriving.known(file, namespace)) is not None:
                    self._ledger.in_step(file.path, twin, file.digest)
                else:
                    new.append((file, namespace))
            except DataDirectoryError:
                raise
            except MementoError as error:
                yield Happening("refused", file.path, why=str(error))
        if new:
            yield from self._remember(new)

    def _remember(self, new: list[tuple[NoteFile, str]]) -> Iterator[Happening]:
        """Remember new notes together, or one by one where one of them cannot be stored."""
        self._ledger.flush()
        try:
            outcomes = self._arriving.take(new)
        except DataDirectoryError:
            raise
        except MementoError as error:
            self._ledger.reload()
            if len(new) == 1:
                yield Happening("refused", new[0][0].path, why=str(error))
                return
            for one in new:
                yield from self._remember([one])
        else:
            for path, outcome in outcomes.items():
                yield _told(path, outcome)

    def _is_purged(self, file: NoteFile) -> bool:
        named = identity_of(file.note)
        return bool(named) and bool(self._store.purged("memory", [named]))

    def _named(self, file: NoteFile) -> Memory | None:
        """Return the memory that a note names as its own, where that lives and has no other note."""
        named = identity_of(file.note)
        memory: Memory | None = self._store.find("memory", named) if named else None
        free = memory is not None and memory.status not in _GONE and named not in self._ledger.paths
        return memory if free else None

    def _brought_back(self, file: NoteFile) -> Memory | None:
        """Return the memory that was deleted when this note went, restored: a branch or a disk that is back."""
        named = identity_of(file.note)
        left = self._ledger.left.get(named) or self._ledger.left.get(self._ledger.left_with.get(file.digest, ""))
        if left is None or (memory := self._arriving.bring_back(left)) is None:
            return None
        self._ledger.back(memory.id)
        self._ledger.adopt(file.path, memory.id, left.digest, memory.version)
        return memory

    def _adopt(self, file: NoteFile, memory: Memory) -> None:
        """Let a note be a memory's: it was written from one of its versions, or changed since in unknown ways."""
        for revision in self._store.history("memory", memory.id):
            if revision.record is not None and file.says(shown(revision.record)):
                self._ledger.adopt(file.path, memory.id, file.digest, revision.version)
                return
        self._ledger.adopt(file.path, memory.id, UNKNOWN, memory.version)


def _told(path: str, outcome: Memory | Proposal) -> Happening:
    if isinstance(outcome, Proposal):
        said = f": {outcome.note}" if outcome.note else ""
        return Happening("refused", path, why=f"a person turned this text down before{said}")
    if outcome.status == "pending":
        return Happening("waits", path, outcome.id, "it is looked at first; memento review")
    return Happening("taken", path, outcome.id)
