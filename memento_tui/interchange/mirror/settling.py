"""Settling one note that was in step before: what each side did since, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator

from memento_tui.interchange.mirror.arriving import Arriving
from memento_tui.interchange.mirror.folder import Folder
from memento_tui.interchange.mirror.happening import Happening
from memento_tui.interchange.mirror.leaving import Leaving
from memento_tui.interchange.mirror.ledger import GONE, MOVED, UNKNOWN, MirrorLedger, Step
from memento_tui.interchange.mirror.notes import NoteFile, changes_between, shown
from memento_tui.records import Memory, Proposal
from memento_tui.records.proposal import OPEN_STATES
from memento_tui.store.store import Store
from memento_tui.workspace.changing import Outcome

__all__ = ["Settling"]

_GONE_HERE = ("deleted", "rejected")


class Settling:
    """Settles the notes of one mirror, one at a time."""

    def __init__(
        self, store: Store, folder: Folder, ledger: MirrorLedger, arriving: Arriving, leaving: Leaving
    ) -> None:
        self._store = store
        self._folder = folder
        self._ledger = ledger
        self._arriving = arriving
        self._leaving = leaving

    def settle(self, path: str, file: NoteFile | None, *, restore: bool = False) -> Iterator[Happening]:
        """Bring a note and its memory in step; ``file`` is ``None`` where the note is gone.

        ``restore`` writes it again then. A note that turns out to be a new one is forgotten, for the caller to take in.

        Raises:
            MementoError: one side cannot be changed; nothing was.

        """
        step, waiting = self._ledger.steps[path], self._ledger.waiting.get(path)
        memory: Memory | None = self._store.find("memory", step.id)
        digest = GONE if file is None else file.digest
        if memory is None or memory.status in _GONE_HERE:
            yield from self._gone_here(step, waiting, memory, file)
            return
        decided = waiting is not None and not self._is_open(waiting)
        if waiting is not None and not decided:
            if digest == waiting.digest:
                return
            if file is not None and digest == step.digest:
                self._arriving.withdraw(path)
        if decided:
            self._ledger.decided(path)
        if file is None:
            yield from self._gone_there(step, memory, restore=restore or decided)
            return
        base = None if step.digest == UNKNOWN else self._store.image("memory", step.id, step.version)
        is_decided = decided and waiting is not None and digest == waiting.digest
        if digest == step.digest or is_decided or file.says(shown(memory)):
            yield from self._leaving.rewrite(file, memory, base)
        else:
            yield from self._changed_there(file, memory, base, moved=step.digest == MOVED)

    def _is_open(self, waiting: Step) -> bool:
        proposal: Proposal | None = self._store.find("proposal", waiting.id)
        return proposal is not None and proposal.state in OPEN_STATES

    def _changed_there(
        self, file: NoteFile, memory: Memory, base: Memory | None, *, moved: bool
    ) -> Iterator[Happening]:
        changes = (
            changes_between(shown(memory), file.said(shown(memory)))
            if base is None
            else file.changed_since(shown(base))
        )
        outcome = self._arriving.change(file, memory, base, changes)
        if outcome.status == "proposed":
            yield Happening("waits", file.path, memory.id, _question(outcome))
            return
        if outcome.status == "rejected":
            yield Happening("refused", file.path, memory.id, _turned_down(outcome.proposal))
        elif outcome.memory.version != memory.version and (changes or not moved):
            removed = f"; a secret was taken out of what is remembered ({', '.join(outcome.removed)})"
            said = ", ".join(changes) or "other properties"
            yield Happening("changed", file.path, memory.id, said + (removed if outcome.removed else ""))
        yield from self._leaving.rewrite(file, outcome.memory, base)

    def _gone_there(self, step: Step, memory: Memory, *, restore: bool) -> Iterator[Happening]:
        base = self._store.image("memory", step.id, step.version)
        why = "it was gone, and is written again"
        if base is not None and changes_between(shown(base), shown(memory)):
            restore, why = True, "it was gone, but changed here since"
        if not restore:
            outcome = self._arriving.delete(step.path, memory)
            if outcome.status == "applied":
                self._ledger.leave(step.path, outcome.memory)
                yield Happening("deleted", step.path, memory.id, "it is gone from the folder; restore brings it back")
                return
            if outcome.status == "proposed":
                yield Happening("waits", step.path, memory.id, _question(outcome))
                return
            why = _turned_down(outcome.proposal)
        self._ledger.decided(step.path)
        written = self._leaving.write_new(memory, step.path, why)
        if written.note != step.path:
            self._ledger.forget(step.path)
        yield written

    def _gone_here(
        self, step: Step, waiting: Step | None, memory: Memory | None, file: NoteFile | None
    ) -> Iterator[Happening]:
        proposed = waiting is not None and file is not None and file.digest == waiting.digest
        if file is not None and (proposed or file.digest == step.digest):
            if memory is None and not proposed and self._store.purged("memory", [step.id]):
                self._folder.remove(step.path, expected=file.digest)
                copies = ", ".join(self._folder.in_trash(step.path))
                left = f"; look yourself at what was put into {copies}" if copies else ""
                yield Happening("trashed", step.path, step.id, f"it was purged here, so it is removed for good{left}")
            elif memory is not None and memory.status == "rejected" and self._never_held(step):
                return  # the person's own file, which is only not to be remembered
            else:
                place = self._folder.trash(step.path)
                state = memory.status if memory is not None else "undone"
                yield Happening("trashed", step.path, step.id, f"it was {state} here; its note is at {place}")
        self._ledger.forget(step.path)

    def _never_held(self, step: Step) -> bool:
        before: Memory | None = self._store.image("memory", step.id, step.version)
        return before is not None and before.status == "pending"


def _question(outcome: Outcome) -> str:
    proposal = outcome.proposal
    return "" if proposal is None else f"{', '.join(proposal.reasons)}; memento review {proposal.id}"


def _turned_down(proposal: Proposal | None) -> str:
    said = "" if proposal is None or not proposal.note else f": {proposal.note}"
    return f"a person turned this down before{said}"
