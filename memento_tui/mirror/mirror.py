"""Keep a folder of notes and the memories in sync, one step at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import msgspec

from memento_tui.api import Workspace
from memento_tui.api.types import Author
from memento_tui.errors import Conflict, DataDirectoryError, InvalidInput, MementoError
from memento_tui.formats.base import Refused, source_digest
from memento_tui.formats.source_files import LoadedFile
from memento_tui.mirror.folder import SETTLING_SECONDS, FolderSnapshot, FolderWatch, MirrorFolder, NoteFileStatus
from memento_tui.mirror.notes import NoteFile, OutboundChanges, RelationSync, mirror_filter, parse_note_file
from memento_tui.mirror.reconcile import InboundChanges, MissingNotes, NewNotes, NoteReconciler
from memento_tui.mirror.state import GONE_DIGEST, MirrorContext, MirrorEvent, MirrorLedger
from memento_tui.model.validation import new_id
from memento_tui.text.quantities import count_of

__all__ = ["Mirror", "VanishedPolicy"]

VanishedPolicy = Literal["ask", "delete", "restore"]
"""What to do when most notes are gone at once: wait for a person's decision, take them as deleted, or write them
again."""

ProgressCallback = Callable[[str, int, int], None]
"""Is called with the work that is being done, how much of it is done, and of how much."""

_MIN_DELETABLE = 5
"""Notes that may be deleted at once, however few there are."""
_BATCH_SIZE = 500
"""New notes in one transaction, and lines of the ledger that a killed process may lose."""


class _StepState(msgspec.Struct):
    """The state that one step leaves to the next; a step that fails begins anew."""

    done: dict[str, NoteFileStatus] = {}
    """The files that were dealt with, as they were then."""
    later: set[str] = set()
    """Notes to reconcile as soon as their files may be read."""
    failed: set[str] = set()
    """Notes of which one side could not be changed; it is tried again."""
    postponed: set[str] = set()
    """Notes that one step leaves to the next: they may be such as were moved, or only copies."""
    due: set[str] = set()
    """Memories that may need a note."""
    is_all_due: bool = True
    """Whether any memory may."""
    head: int | None = None
    """The journal entry that the last step reached."""


class Mirror:
    """A folder and a workspace that are kept in step. Use it as a context manager, or call `close`.

    ``in_clear`` lets an encrypted workspace be mirrored.

    Raises:
        InvalidInput: the folder is no place for a mirror, or is not the one that was mirrored there before; or the
            query holds free text.
        NotAllowed: another process mirrors the folder, or the workspace is encrypted and nobody said ``in_clear``.

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
        quiet_seconds: float = SETTLING_SECONDS,
        in_clear: bool = False,
    ) -> None:
        workspace.check_may_leave(in_clear=in_clear)
        author = Author("system", "mirror", agent="mirror", session=workspace.author.session)
        self._session = session = workspace.import_session(author)
        self._vanished = vanished
        within = namespace.strip("/")
        chosen = mirror_filter(query, within)
        self.folder = MirrorFolder(root)
        try:
            source = f"mirror:{self.folder.root}"
            self._ledger = MirrorLedger(session, source)
            self._mark = self._recognise_folder(f"{source}:mark")
        except BaseException:
            self.folder.close()
            raise
        context = MirrorContext(session, source, self.folder, self._ledger, hold, within)
        self._inbound = inbound = InboundChanges(context)
        self._outbound = OutboundChanges(context, chosen, self._note_written)
        self._relation_sync = RelationSync(context, self._outbound)
        self._reconciler = NoteReconciler(context, inbound, self._outbound)
        self._new_notes = NewNotes(context, inbound, self._reconciler)
        self._watch = FolderWatch(self.folder, quiet_seconds=quiet_seconds)
        self._state = _StepState()
        self._refusals: set[MirrorEvent] = set()
        """The refusals of the last step, which are not reported again."""
        self.is_settled = False
        """Whether the last step left nothing for a file that was still being written, or a change made meanwhile."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Release the folder."""
        self.folder.close()

    @property
    def notes(self) -> int:
        """How many notes have a memory."""
        return len(self._ledger.steps)

    def _recognise_folder(self, setting: str) -> str:
        """Return the mark of the folder, a new one if it has none. Raises `InvalidInput` where it is another folder."""
        known, present = self._session.settings.get(setting), self.folder.mark()
        if known is not None and known == present:
            return known
        if known is not None and self._ledger.steps and self._vanished == "ask":
            raise InvalidInput(
                f"{self.folder.root} is not the folder that was mirrored there: the mark that was left in it is gone."
                " Nothing was changed.",
                "Bring the right one back, or mount it. If it is gone for good, --vanished restore writes its notes"
                " again, and --vanished delete deletes the memories of those that are missing.",
            )
        # Another data directory, or another machine that the folder is shared with, may have marked it before.
        mark = present or new_id()
        if not present:
            self.folder.set_mark(mark)
        self._session.settings.set(setting, mark)
        return mark

    def _start_over(self) -> None:
        self._state = _StepState()
        self.is_settled = False

    def _note_written(self, path: str, status: NoteFileStatus) -> None:
        self._state.done[path] = status

    # One step

    def step(self, progress: ProgressCallback = lambda _what, _done, _total: None) -> Iterator[MirrorEvent]:
        """Synchronize both sides, and yield an event for each change; a failure is reported once.

        ``progress`` is called as the work advances. Closing the iterator stops the step.

        Raises:
            DataDirectoryError: the database cannot be read or written. The next step goes on from what was written.

        """
        refusals: set[MirrorEvent] = set()
        try:
            for event in self._work(progress):
                if event.action == "refused":
                    refusals.add(event)
                    if event in self._refusals:
                        continue
                yield event
            self._ledger.flush()
            self._refusals = refusals
            self._inbound.is_first = self._inbound.is_first and not self.is_settled
        except GeneratorExit:
            self._ledger.flush()
            self._start_over()
            raise
        except BaseException:
            self._ledger.reload()  # changes recorded in memory may not have been written
            self._relation_sync.reload()
            self._start_over()
            raise

    def _work(self, progress: ProgressCallback) -> Iterator[MirrorEvent]:
        head = self._session.head()
        try:
            snapshot = self._watch.scan(set(self._ledger.steps))
        except OSError as error:
            self.is_settled = True
            yield MirrorEvent("refused", "", why=f"the folder cannot be opened: {error.strerror or error}")
            return
        for refused in snapshot.refused:
            yield _refused_event(refused)
        self._outbound.set_taken_paths([*snapshot.notes, *self._ledger.steps])
        changed = self._changed_here(head)
        if self._state.head != head:
            for memory_id in self._session.purged("memory", list(self._ledger.last_paths)):
                self._ledger.forget_last_path(memory_id)
        yield from self._read_folder(snapshot, changed, head, progress)
        self._state.due |= changed
        # A note that is young may be one of these memories', written by a mirror that was killed.
        if not (self._state.is_all_due and snapshot.young - self._ledger.steps.keys()):
            due, self._state.due = self._state.due, set()
            yield from self._write_new(None if self._state.is_all_due else due, progress)
            self._state.is_all_due = False
        self._ledger.flush()
        yield from self._relation_sync.sync(head)
        self._state.head = head
        self.is_settled = self._has_nothing_left(snapshot)

    def _read_folder(
        self, snapshot: FolderSnapshot, changed: set[str], head: int, progress: ProgressCallback
    ) -> Iterator[MirrorEvent]:
        """Synchronise the present and the missing notes; ``changed`` are ids of memories."""
        self._state.postponed.clear()
        for path in snapshot.gone | snapshot.awaited:  # the very same file may return
            self._state.done.pop(path, None)
        fresh = self._fresh(snapshot)
        files: dict[str, NoteFile] = {}
        for done, path in enumerate(sorted(fresh), 1):
            progress("Reading notes", done, len(fresh))
            yield from self._read(path, snapshot, files)
        yield from self._apply_moves(snapshot, files)
        self._state.later |= {self._ledger.paths[memory_id] for memory_id in changed if memory_id in self._ledger.paths}
        self._state.later |= {path for path in self._ledger.waiting if self._state.head != head}
        yield from self._settle_known(snapshot, progress)
        yield from self._handle_vanished(snapshot)
        yield from self._add_new_notes(snapshot, files, progress)

    def _has_nothing_left(self, snapshot: FolderSnapshot) -> bool:
        """Return whether nothing is left to do for the notes that were seen."""
        if snapshot.awaited or self._state.is_all_due or self._state.later & snapshot.notes.keys():
            return False
        done = self._state.done.items()
        read = snapshot.settled | {path for path, status in done if snapshot.notes.get(path) == status}
        return not snapshot.notes.keys() - read

    def _changed_here(self, head: int) -> set[str]:
        """Return the ids of the memories that may have changed since the last step, but by this mirror."""
        if self._state.head is None:
            ids_found = set(self._ledger.paths)
        else:
            ids_found = set()
            reached = self._state.head
            while reached < head:
                ids, reached = self._session.changed_memories(reached, _BATCH_SIZE)
                ids_found.update(ids)
        versions = self._session.versions("memory", list(ids_found))
        paths, steps = self._ledger.paths, self._ledger.steps
        unchanged = {name for name in ids_found if name in paths and versions.get(name) == steps[paths[name]].version}
        return ids_found - unchanged

    def _fresh(self, snapshot: FolderSnapshot) -> set[str]:
        """Return the notes without a memory that may be read and were not yet."""
        new = snapshot.settled - self._ledger.steps.keys() - self._state.postponed
        return {path for path in new if self._state.done.get(path) != snapshot.notes[path]}

    def _read(self, path: str, snapshot: FolderSnapshot, files: dict[str, NoteFile]) -> Iterator[MirrorEvent]:
        """Read a note into ``files``, if it can be used."""
        loaded = self.folder.load(path)
        parsed = parse_note_file(path, loaded) if isinstance(loaded, LoadedFile) else loaded
        if isinstance(parsed, Refused):
            self._state.done[path] = snapshot.notes[path]
            yield _refused_event(parsed)
        else:
            files[path] = parsed
            self._relation_sync.remember_read(parsed)

    def _apply_moves(self, snapshot: FolderSnapshot, files: dict[str, NoteFile]) -> Iterator[MirrorEvent]:
        """Assign a note that has another path than before to its memory.

        Its old path must have been empty for a while: where a synchronisation puts a conflicting copy aside, or an
        editor its backup, the note itself is about to return.
        """
        missing = MissingNotes(self._ledger, snapshot.gone | snapshot.awaited)
        for path, file in list(files.items()):
            before = missing.previous_path(file)
            if before in snapshot.awaited:
                self._state.postponed.add(files.pop(path).path)
            elif before:
                missing.remove(before)
                self._ledger.move(before, path)
                self._state.later.add(path)
                yield MirrorEvent("moved", path, self._ledger.steps[path].id, f"it was {before}")

    def _settle_known(self, snapshot: FolderSnapshot, progress: ProgressCallback) -> Iterator[MirrorEvent]:
        known = self._ledger.steps.keys() & snapshot.notes.keys()
        again = self._state.later | self._state.failed
        dirty = {path for path in known if path in again or self._state.done.get(path) != snapshot.notes[path]}
        ready = sorted(dirty & snapshot.settled)
        for done, path in enumerate(ready, 1):
            progress("Comparing notes", done, len(ready))
            if path not in again and self._is_as_before(path):
                self._state.done[path] = snapshot.notes[path]
                continue
            files: dict[str, NoteFile] = {}
            yield from self._read(path, snapshot, files)
            self._state.later.discard(path)
            self._state.failed.discard(path)
            if path in files:
                yield from self._guarded(path, partial(self._reconciler.settle, path, files[path]), snapshot)
            self._flush_if_large()

    def _is_as_before(self, path: str) -> bool:
        """Return whether a note has the bytes that were last in sync, or that wait, without parsing it."""
        loaded = self.folder.load(path)
        if isinstance(loaded, Refused):
            return False
        waiting = self._ledger.waiting.get(path)
        step = self._ledger.steps[path] if waiting is None else waiting
        return source_digest(loaded.data) == step.digest

    def _guarded(
        self, path: str, work: Callable[[], Iterator[MirrorEvent]], snapshot: FolderSnapshot
    ) -> Iterator[MirrorEvent]:
        """Do the work for one note; a fault of it costs no other."""
        before = self._state.done.get(path)
        try:
            yield from work()
        except Conflict:
            self._state.later.add(path)
            return
        except DataDirectoryError:
            raise
        except MementoError as error:
            self._state.failed.add(path)
            yield MirrorEvent("refused", path, why=str(error))
            return
        if path in snapshot.notes and path in self._ledger.steps and self._state.done.get(path) == before:
            self._state.done[path] = snapshot.notes[path]

    def _flush_if_large(self) -> None:
        if self._ledger.unwritten >= _BATCH_SIZE:
            self._ledger.flush()

    # What is gone, new and missing

    def _handle_vanished(self, snapshot: FolderSnapshot) -> Iterator[MirrorEvent]:
        """Reconcile the notes that are gone, unless the folder itself seems to be gone."""
        waiting = {path for path, step in self._ledger.waiting.items() if step.digest == GONE_DIGEST}
        gone = sorted(snapshot.gone & self._ledger.steps.keys())
        newly = [path for path in gone if path not in waiting]
        if newly and not snapshot.settled >= snapshot.notes.keys() - self._ledger.steps.keys():
            return  # one of the files that are being written may be a note that was moved
        if newly and self._vanished == "ask" and (why := self._refuse_vanish_reason(len(newly))):
            yield MirrorEvent("refused", "", why=why)
            gone = [path for path in gone if path in waiting]
        restore = self._vanished == "restore"
        happened: list[MirrorEvent] = []
        with self._session.one_undo():  # one undo brings all of them back
            for path in gone:
                self._state.later.discard(path)
                work = partial(self._reconciler.settle, path, None, restore=restore)
                happened += self._guarded(path, work, snapshot)
        yield from happened
        if not snapshot.awaited:
            self._vanished = "ask"

    def _refuse_vanish_reason(self, gone: int) -> str:
        if self.folder.mark() != self._mark:
            return (
                f"{count_of(gone, 'note is', 'notes are')} gone, and the folder is not the one that was mirrored: the"
                " mark left in it is gone too. Nothing is deleted here until it is back"
            )
        if gone > _MIN_DELETABLE and 2 * gone > self.notes:
            return (
                f"{gone} of {self.notes} notes are gone at once. Nothing is deleted here until they are back. If you"
                " deleted them, start the mirror with --vanished delete; to write them again, with --vanished restore"
            )
        return ""

    def _add_new_notes(
        self, snapshot: FolderSnapshot, files: dict[str, NoteFile], progress: ProgressCallback
    ) -> Iterator[MirrorEvent]:
        fresh = self._fresh(snapshot)
        for path in sorted(fresh - files.keys()):  # one whose memory was deleted here while it changed there
            yield from self._read(path, snapshot, files)
        new = [files[path] for path in sorted(fresh) if path in files]
        for start in range(0, len(new), _BATCH_SIZE):
            progress("Remembering notes", start, len(new))
            batch = new[start : start + _BATCH_SIZE]
            yield from self._new_notes.add(batch)
            progress("Remembering notes", start + len(batch), len(new))
            self._state.done.update((file.path, snapshot.notes[file.path]) for file in batch)

    def _write_new(self, ids: Iterable[str] | None, progress: ProgressCallback) -> Iterator[MirrorEvent]:
        missing = self._outbound.without_note(ids)
        for start in range(0, len(missing), _BATCH_SIZE):
            for done, memory in enumerate(self._outbound.selected(missing[start : start + _BATCH_SIZE]), start + 1):
                progress("Writing notes", done, len(missing))
                try:
                    yield self._outbound.write_new(memory)
                except DataDirectoryError:
                    raise
                except MementoError as error:
                    self._state.due.add(memory.id)
                    yield MirrorEvent("refused", "", memory.id, str(error))
            self._ledger.flush()


def _refused_event(refused: Refused) -> MirrorEvent:
    line = f"line {refused.line} " if refused.line > 1 else ""
    return MirrorEvent("refused", refused.file, why=f"{line}{refused.reason}")
