"""Keep a folder of notes and the memories in sync, one step at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from memento_tui.api import Workspace
from memento_tui.errors import Conflict, DataDirectoryError, InvalidInput, MementoError
from memento_tui.formats.base import Refused, source_digest
from memento_tui.formats.source_files import LoadedFile
from memento_tui.mirror.folder import SETTLING_SECONDS, FileStatus, FolderSnapshot, FolderWatch, MirrorFolder
from memento_tui.mirror.inbound import InboundChanges
from memento_tui.mirror.notes import NoteFile, parse_note_file
from memento_tui.mirror.outbound import OutboundChanges, mirror_filter
from memento_tui.mirror.reconcile import MissingNotes, NewNotes, NoteReconciler
from memento_tui.mirror.relations import RelationSync
from memento_tui.mirror.state import GONE_DIGEST, MirrorEvent, MirrorLedger
from memento_tui.model.validation import new_id
from memento_tui.policy.gate import Gate
from memento_tui.storage.journal import Author

__all__ = ["Mirror", "VanishedPolicy"]

VanishedPolicy = Literal["ask", "delete", "restore"]
"""What it means that most notes are gone at once: nothing until a person says so, that they were deleted, or that they
are to be written again."""

ProgressCallback = Callable[[str, int, int], None]
"""Is told what is being done, how much of it is done, and of how much."""

_MIN_DELETABLE = 5
"""So many notes may be deleted at once, however few there are."""
_BATCH_SIZE = 500
"""New notes in one transaction, and lines of the ledger that a killed process may lose."""


class Mirror:
    """A folder and a workspace that are kept in step. Use it as a context manager, or call `close`.

    Raises:
        InvalidInput: the folder is no place for a mirror, or is not the one that was mirrored there before; or the
            query holds free text.
        NotAllowed: another process mirrors the folder.

    """

    def __init__(
        self,
        workspace: Workspace,
        root: Path,
        *,
        query: str = "",
        namespace: str = "",
        hold: bool = False,
        vanished: VanishedPolicy = "ask",
        settling: float = SETTLING_SECONDS,
    ) -> None:
        self._store = store = workspace.store
        self._vanished = vanished
        self._author = Author("system", "mirror", agent="mirror", session=workspace.author.session)
        chosen = mirror_filter(query, namespace.strip("/"))
        self.folder = MirrorFolder(root)
        try:
            self._source = f"mirror:{self.folder.root}"
            self._ledger = MirrorLedger(store, self._source, self._author)
            self._mark = self._know_folder()
        except BaseException:
            self.folder.close()
            raise
        arriving = InboundChanges(store, Gate(store, self._author, workspace.gate.rules), self._ledger, hold=hold)
        self._leaving = OutboundChanges(store, self.folder, self._ledger, chosen)
        self._relation_sync = (
            None if hold else RelationSync(store, self._author, self._source, self.folder, self._ledger, self._leaving)
        )
        self._settling = NoteReconciler(store, self.folder, self._ledger, arriving, self._leaving)
        self._new_notes = NewNotes(store, self._ledger, arriving, self._settling, namespace.strip("/"))
        self._watch = FolderWatch(self.folder, settling=settling)
        self._reset_progress()
        self._told: set[MirrorEvent] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let the folder go."""
        self.folder.close()

    @property
    def notes(self) -> int:
        """How many notes have a memory."""
        return len(self._ledger.steps)

    def _know_folder(self) -> str:
        """Recognise the folder by its mark, or give it one; return that. Raises `InvalidInput` where it is another."""
        setting = f"{self._source}:mark"
        known, found = self._store.setting(setting), self.folder.mark()
        if known is not None and known == found:
            return known
        if known is not None and self._ledger.steps and self._vanished == "ask":
            raise InvalidInput(
                f"{self.folder.root} is not the folder that was mirrored there: the mark that was left in it is gone."
                " Nothing was changed.",
                "Bring the right one back, or mount it. If it is gone for good, --vanished restore writes its notes"
                " again, and --vanished delete deletes the memories of those that are missing.",
            )
        # Another data directory, or another machine that the folder is shared with, may have marked it before.
        mark = found or new_id()
        if not found:
            self.folder.set_mark(mark)
        self._store.keep_setting(setting, mark)
        return mark

    def _reset_progress(self) -> None:
        self._done: dict[str, FileStatus] = {}
        """The files that were dealt with, as they were then."""
        self._later: set[str] = set()
        """Notes to settle as soon as their files may be read."""
        self._failed: set[str] = set()
        """Notes of which one side could not be changed; it is tried again."""
        self._postponed: set[str] = set()
        """Notes that one step leaves to the next: they may be such as were moved, or only copies."""
        self._due: set[str] = set()
        """Memories that may need a note."""
        self._all_due = True
        """Whether any memory may."""
        self._head: int | None = None
        self.is_settled = False
        """Whether the last step left nothing for a file that was still being written, or a change made meanwhile."""

    # One step

    def step(self, progress: ProgressCallback = lambda _what, _done, _total: None) -> Iterator[MirrorEvent]:
        """Bring both sides in step, and yield what happened; what could not be done is told once.

        ``progress`` is told how far it is. Whoever stops listening stops the step.

        Raises:
            DataDirectoryError: the database cannot be read or written. The next step goes on from what was written.

        """
        refusals: set[MirrorEvent] = set()
        try:
            for happening in self._work(progress):
                if happening.deed == "refused":
                    refusals.add(happening)
                    if happening in self._told:
                        continue
                yield happening
            self._ledger.flush()
            self._told = refusals
        except GeneratorExit:
            self._ledger.flush()
            self._reset_progress()
            raise
        except BaseException:
            self._ledger.reload()  # what was noted in memory may not have been written
            if self._relation_sync is not None:
                self._relation_sync.reload()
            self._reset_progress()
            raise

    def _work(self, progress: ProgressCallback) -> Iterator[MirrorEvent]:
        head = self._store.head()
        try:
            sight = self._watch.look(set(self._ledger.steps))
        except OSError as error:
            self.is_settled = True
            yield MirrorEvent("refused", "", why=f"the folder cannot be opened: {error.strerror or error}")
            return
        for refused in sight.refused:
            yield _refused_event(refused)
        self._leaving.know([*sight.notes, *self._ledger.steps])
        changed = self._changed_here(head)
        self._postponed.clear()
        for path in sight.gone | sight.awaited:  # the very same file may return
            self._done.pop(path, None)
        fresh = self._fresh(sight)
        files: dict[str, NoteFile] = {}
        for done, path in enumerate(sorted(fresh), 1):
            progress("Reading notes", done, len(fresh))
            yield from self._read(path, sight, files)
        yield from self._apply_moves(sight, files)
        self._later |= {self._ledger.paths[one] for one in changed if one in self._ledger.paths}
        self._later |= {path for path in self._ledger.waiting if self._head != head}
        yield from self._settle_known(sight, progress)
        yield from self._vanish(sight)
        yield from self._take_new(sight, files, progress)
        self._due |= changed
        # A note that is young may be one of these memories', written by a mirror that was killed.
        if not (self._all_due and sight.young - self._ledger.steps.keys()):
            due, self._due = self._due, set()
            yield from self._write_new(None if self._all_due else due, progress)
            self._all_due = False
        self._ledger.flush()
        if self._relation_sync is not None:  # with hold a relation would have to wait, and cannot
            yield from self._relation_sync.settle(head)
            self._done |= self._leaving.written
            self._leaving.written.clear()
        self._head = head
        read = sight.settled | {path for path, status in self._done.items() if sight.notes.get(path) == status}
        self.is_settled = not (
            sight.awaited or self._all_due or self._later & sight.notes.keys() or sight.notes.keys() - read
        )

    def _changed_here(self, head: int) -> set[str]:
        """Return the ids of the memories that may have changed since the last step, but by this mirror."""
        if self._head is None:
            found = set(self._ledger.paths)
        else:
            found = set()
            reached = self._head
            while reached < head:
                ids, reached = self._store.changed_memories(reached, _BATCH_SIZE)
                found.update(ids)
        versions = self._store.versions("memory", list(found))
        paths, steps = self._ledger.paths, self._ledger.steps
        return {one for one in found if one not in paths or versions.get(one) != steps[paths[one]].version}

    def _fresh(self, sight: FolderSnapshot) -> set[str]:
        """Return the notes without a memory that may be read and were not yet."""
        new = sight.settled - self._ledger.steps.keys() - self._postponed
        return {path for path in new if self._done.get(path) != sight.notes[path]}

    def _read(self, path: str, sight: FolderSnapshot, files: dict[str, NoteFile]) -> Iterator[MirrorEvent]:
        """Put a note that can be used into ``files``."""
        loaded = self.folder.load(path)
        found = parse_note_file(path, loaded) if isinstance(loaded, LoadedFile) else loaded
        if isinstance(found, Refused):
            self._done[path] = sight.notes[path]
            yield _refused_event(found)
        else:
            files[path] = found
            if self._relation_sync is not None:
                self._relation_sync.saw(found)

    def _apply_moves(self, sight: FolderSnapshot, files: dict[str, NoteFile]) -> Iterator[MirrorEvent]:
        """Let a note keep its memory that has another path than before.

        Its old path must have been empty for a while: where a synchronisation puts a conflicting copy aside, or an
        editor its backup, the note itself is about to return.
        """
        missing = MissingNotes(self._ledger, sight.gone | sight.awaited)
        for path, file in list(files.items()):
            before = missing.previous_path(file)
            if before in sight.awaited:
                self._postponed.add(files.pop(path).path)
            elif before:
                missing.found(before)
                self._ledger.move(before, path)
                self._later.add(path)
                yield MirrorEvent("moved", path, self._ledger.steps[path].id, f"it was {before}")

    def _settle_known(self, sight: FolderSnapshot, progress: ProgressCallback) -> Iterator[MirrorEvent]:
        known = self._ledger.steps.keys() & sight.notes.keys()
        again = self._later | self._failed
        dirty = {path for path in known if path in again or self._done.get(path) != sight.notes[path]}
        ready = sorted(dirty & sight.settled)
        for done, path in enumerate(ready, 1):
            progress("Comparing notes", done, len(ready))
            if path not in again and self._is_as_before(path):
                self._done[path] = sight.notes[path]
                continue
            files: dict[str, NoteFile] = {}
            yield from self._read(path, sight, files)
            self._later.discard(path)
            self._failed.discard(path)
            if path in files:
                yield from self._guarded(path, partial(self._settling.settle, path, files[path]), sight)
            self._flush_some()

    def _is_as_before(self, path: str) -> bool:
        """Tell without reading what it says whether a note is the one that was in step, or that waits."""
        loaded = self.folder.load(path)
        if isinstance(loaded, Refused):
            return False
        waiting = self._ledger.waiting.get(path)
        step = self._ledger.steps[path] if waiting is None else waiting
        return source_digest(loaded.data) == step.digest

    def _guarded(
        self, path: str, work: Callable[[], Iterator[MirrorEvent]], sight: FolderSnapshot
    ) -> Iterator[MirrorEvent]:
        """Do the work for one note; what goes wrong with it costs no other."""
        try:
            yield from work()
        except Conflict:
            self._later.add(path)
            return
        except DataDirectoryError:
            raise
        except MementoError as error:
            self._failed.add(path)
            yield MirrorEvent("refused", path, why=str(error))
            return
        if path in sight.notes and path in self._ledger.steps:
            self._done[path] = sight.notes[path]
        self._done |= self._leaving.written
        self._leaving.written.clear()

    def _flush_some(self) -> None:
        if self._ledger.unwritten >= _BATCH_SIZE:
            self._ledger.flush()

    # What is gone, new and missing

    def _vanish(self, sight: FolderSnapshot) -> Iterator[MirrorEvent]:
        """Settle the notes that are gone, unless that looks like the folder being gone."""
        waiting = {path for path, step in self._ledger.waiting.items() if step.digest == GONE_DIGEST}
        gone = sorted(sight.gone & self._ledger.steps.keys())
        newly = [path for path in gone if path not in waiting]
        if newly and not sight.settled >= sight.notes.keys() - self._ledger.steps.keys():
            return  # one of the files that are being written may be a note that was moved
        if newly and self._vanished == "ask" and (why := self._why_not(len(newly))):
            yield MirrorEvent("refused", "", why=why)
            gone = [path for path in gone if path in waiting]
        restore = self._vanished == "restore"
        happened: list[MirrorEvent] = []
        with self._store.together():  # one undo brings all of them back
            for path in gone:
                self._later.discard(path)
                work = partial(self._settling.settle, path, None, restore=restore)
                happened += self._guarded(path, work, sight)
        yield from happened
        if not sight.awaited:
            self._vanished = "ask"

    def _why_not(self, gone: int) -> str:
        if self.folder.mark() != self._mark:
            return (
                f"{gone} notes are gone, and the folder is not the one that was mirrored: the mark left in it is gone"
                " too. Nothing is deleted here until it is back"
            )
        if gone > _MIN_DELETABLE and 2 * gone > self.notes:
            return (
                f"{gone} of {self.notes} notes are gone at once. Nothing is deleted here until they are back. If you"
                " deleted them, start the mirror with --vanished delete; to write them again, with --vanished restore"
            )
        return ""

    def _take_new(
        self, sight: FolderSnapshot, files: dict[str, NoteFile], progress: ProgressCallback
    ) -> Iterator[MirrorEvent]:
        fresh = self._fresh(sight)
        for path in sorted(fresh - files.keys()):  # one whose memory was deleted here while it changed there
            yield from self._read(path, sight, files)
        new = [files[path] for path in sorted(fresh) if path in files]
        for start in range(0, len(new), _BATCH_SIZE):
            progress("Remembering notes", start, len(new))
            batch = new[start : start + _BATCH_SIZE]
            yield from self._new_notes.take(batch)
            progress("Remembering notes", start + len(batch), len(new))
            self._done.update((file.path, sight.notes[file.path]) for file in batch)

    def _write_new(self, ids: Iterable[str] | None, progress: ProgressCallback) -> Iterator[MirrorEvent]:
        wanted = self._leaving.without_note(ids)
        for start in range(0, len(wanted), _BATCH_SIZE):
            for done, memory in enumerate(self._leaving.chosen(wanted[start : start + _BATCH_SIZE]), start + 1):
                progress("Writing notes", done, len(wanted))
                try:
                    yield self._leaving.write_new(memory)
                except DataDirectoryError:
                    raise
                except MementoError as error:
                    self._due.add(memory.id)
                    yield MirrorEvent("refused", "", memory.id, str(error))
            self._done |= self._leaving.written
            self._leaving.written.clear()
            self._ledger.flush()


def _refused_event(refused: Refused) -> MirrorEvent:
    line = f"line {refused.line} " if refused.line > 1 else ""
    return MirrorEvent("refused", refused.file, why=f"{line}{refused.reason}")
