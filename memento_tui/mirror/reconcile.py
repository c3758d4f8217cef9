"""Decide what becomes of each note: known ones that changed on either side, moved ones, and new ones.

Apply changes of notes to memories; every one passes the policy gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import msgspec

from memento_tui import clock
from memento_tui.api.memories import ChangeOutcome
from memento_tui.errors import Conflict, DataDirectoryError, MementoError
from memento_tui.formats.base import ENDED_STATUSES
from memento_tui.mirror.notes import (
    NOTE_FIELDS,
    NoteFile,
    OutboundChanges,
    changed_fields,
    memory_id_of_note,
    namespace_of_path,
    with_full_text,
)
from memento_tui.mirror.state import (
    GONE_DIGEST,
    MOVED_DIGEST,
    UNKNOWN_DIGEST,
    MirrorContext,
    MirrorEvent,
    MirrorLedger,
    SyncPoint,
)
from memento_tui.model import Memory, Proposal, make_memory
from memento_tui.model.claims import as_claimed, without_decisions
from memento_tui.model.memory import UNKNOWN_CONFIDENCE, with_inferred_trust
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.policy.gate import ProposalDraft, creation_fingerprint, fingerprint_of
from memento_tui.policy.policy import Verdict, WriteIntent
from memento_tui.policy.resolution import with_changes
from memento_tui.policy.secrets import redact_record
from memento_tui.policy.set_rules import BURST_SPAN, SetFindings, with_findings

__all__ = ["InboundChanges", "MissingNotes", "NewNotes", "NoteReconciler"]

_FIRST_NOTES, _NEW_NOTES = "first notes", "new notes"
"""The notes of the entries that take notes in; only the second are counted."""


def _memory_of(file: NoteFile, namespace: str) -> Memory:
    """Return the memory that a new note would be. Who wrote a file is not known, so it is not in the person's words."""
    fields = {"source_type": "derived", **file.fields(namespace)}
    return with_inferred_trust(make_memory(fields), fields, writer_confidence=UNKNOWN_CONFIDENCE)


class InboundChanges:
    """The changes that one mirror's notes make to memories."""

    def __init__(self, context: MirrorContext) -> None:
        self._session = context.session
        self._gate = context.session.gate
        self._ledger = context.ledger
        self._hold = context.hold
        self._editor = context.session.editor
        self._folder = str(context.folder.root)
        self.is_first = not context.ledger.steps
        """Whether the folder is taken in for the first time, which a person asked for: its notes are no burst."""

    # New notes

    def find_duplicate(self, file: NoteFile, namespace: str) -> Memory | None:
        """Return a memory without a note that has exactly a new note's text, or ``None``.

        Raises:
            InvalidField: a value of the note breaks a rule.

        """
        memory = self._made(file, namespace)
        for duplicate in self._session.same_content(memory.content):
            stated = as_claimed(duplicate)
            same = all(getattr(stated, name) == getattr(memory, name) for name in NOTE_FIELDS if name != "namespace")
            if same and duplicate.id not in self._ledger.paths:
                return duplicate
        return None

    def create(self, files: Iterable[tuple[NoteFile, str]]) -> dict[str, Memory | Proposal]:
        """Create the memories of new notes, each in its namespace, in one transaction; return the outcomes by path.

        An outcome is the memory, pending where a person is to review it first, or the rejection that keeps it out.

        Raises:
            MementoError: one of them cannot be stored; none was, and the ledger is to be read again.

        """
        outcome: dict[str, Memory | Proposal] = {}
        novelty = self._session.novelty()
        note = _FIRST_NOTES if self.is_first else _NEW_NOTES
        count = 0 if self.is_first else self._session.count_noted(note, clock.now() - BURST_SPAN)
        with self._session.transaction("mirror", note=note) as tx:
            for file, namespace in files:
                memory = without_decisions(None, _memory_of(file, namespace))
                surprise = novelty.measure(f"{memory.title}\n{memory.content}")
                if memory.surprise is None:
                    memory = msgspec.structs.replace(memory, surprise=surprise)
                screened = self._gate.screen(memory)
                if (before := self._gate.refused_before(creation_fingerprint(screened.record))) is not None:
                    outcome[file.path] = before
                    continue
                intent = WriteIntent(
                    "create",
                    external=screened.record.source_type == "external",
                    injection_score=screened.injection_score,
                    secret_found=screened.secret_found,
                )
                verdict, evidence = self._held(self._gate.judge(intent)), screened.evidence
                count += 1
                if not self.is_first and 0 < self._gate.rules.burst < count:
                    verdict = with_findings(verdict, SetFindings(("burst",)))
                    evidence = {**evidence, "burst": {"folder": self._folder, "writes": count}}
                written = self._gate.admit(tx, screened.record, verdict, evidence)
                self._ledger.set_in_sync(file.path, written, file.digest, tx)
                outcome[file.path] = written
        return outcome

    def _made(self, file: NoteFile, namespace: str) -> Memory:
        return redact_record(_memory_of(file, namespace))[0]

    def _held(self, verdict: Verdict) -> Verdict:
        return Verdict("propose", ("held_import", *verdict.reasons)) if self._hold else verdict

    # Changed notes

    def change(self, file: NoteFile, memory: Memory, base: Memory | None, changes: Mapping[str, Any]) -> ChangeOutcome:
        """Apply a note's changes to its memory, or propose them; ``base`` is the memory as both sides last had it.

        Raises:
            Conflict: the memory changed at this very moment; try again.
            InvalidField: a value of the note breaks a rule.
            NotAllowed: the memory takes no change.

        """
        known = self.open_proposal(file.path)
        reasons = self._reasons(memory, base, changes)
        # The gate is to see the secrets that a text holds; it takes them out and asks.
        raw = {"content": file.note.content, "title": file.note.title}
        changes = {name: raw.get(name, value) for name, value in changes.items()}
        if known is None and not reasons:
            extra = (
                {} if memory.pinned or memory.stability != "draft" else {"extra": file.extra_with_note(memory.extra)}
            )
            outcome = self._editor.update(memory.id, memory.version, {**changes, **extra})
            if outcome.proposal is not None and outcome.status == "proposed":
                self._ledger.set_pending(file.path, outcome.proposal, file.digest)
            return outcome
        payload = dict(changes)
        if memory.status in ("compacted", "archived"):
            payload |= {"status": "active", "extra": with_full_text(memory).extra}
        return self._propose("edit", file.path, file.digest, memory, payload, reasons)

    def _reasons(self, memory: Memory, base: Memory | None, changes: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the reasons for which a change waits whatever the policy decides."""
        reasons = []
        if self._hold and memory.status != "pending":
            reasons.append("held_import")
        here = changed_fields(with_full_text(base), with_full_text(memory)) if base is not None else changes
        if any(name in here and getattr(memory, name) != value for name, value in changes.items()):
            reasons.append("changed_in_both")
        if memory.status in ("compacted", "archived"):
            reasons.append("laid_aside")
        return tuple(reasons)

    def delete(self, path: str, memory: Memory) -> ChangeOutcome:
        """Delete the memory of a note that is gone, or propose it. Raises like `change`."""
        if self._hold and memory.status != "pending":
            return self._propose("delete", path, GONE_DIGEST, memory, {}, ("held_import",))
        outcome = self._editor.forget(memory.id, memory.version)
        if outcome.proposal is not None and outcome.status == "proposed":
            self._ledger.set_pending(path, outcome.proposal, GONE_DIGEST)
        return outcome

    def bring_back(self, left: SyncPoint) -> Memory | None:
        """Restore a memory that was deleted with its note, unless it changed since then."""
        memory = self._session.find(left.id)
        if self._hold or memory is None or (memory.status, memory.version) != ("deleted", left.version):
            return None
        return self._editor.restore(left.id)

    # Waiting

    def open_proposal(self, path: str) -> Proposal | None:
        """Return the open proposal that a note waits on."""
        waiting = self._ledger.waiting.get(path)
        proposal: Proposal | None = None if waiting is None else self._session.find_proposal(waiting.id)
        return proposal if proposal is not None and proposal.state in OPEN_PROPOSAL_STATES else None

    def withdraw(self, path: str) -> None:
        """Close the proposal of a note that was changed back."""
        if (known := self.open_proposal(path)) is not None:
            with self._session.transaction("mirror", note="changed back in the folder") as tx:
                closed = {"state": "expired", "decided_at": tx.now, "note": "The note was changed back."}
                tx.put(msgspec.structs.replace(known, **closed), base=known.version)
        self._ledger.clear_pending(path)

    def _propose(
        self, action: str, path: str, digest: bytes, memory: Memory, payload: dict[str, Any], reasons: tuple[str, ...]
    ) -> ChangeOutcome:
        """Propose a change; an open proposal of this note is updated instead."""
        evidence: dict[str, Any] = {}
        if action == "edit":
            screened = self._gate.screen(with_changes(memory, payload, clock.now()))
            payload = {name: getattr(screened.record, name) for name in payload}
            evidence = screened.evidence
            intent = WriteIntent(
                "edit",
                injection_score=screened.injection_score,
                target_verified=memory.stability != "draft" or memory.pinned,
                secret_found=screened.secret_found,
            )
            judged = self._gate.judge(intent)
            reasons = tuple(dict.fromkeys([*reasons, *(judged.reasons if judged.answer == "propose" else ())]))
        with self._session.transaction("mirror", note=f"proposed by {path}") as tx:
            if tx.require(Memory, memory.id).version != memory.version:
                raise Conflict(f"The memory {memory.id} changed while its note was read.")
            known = self.open_proposal(path)
            if known is not None and known.action == action:
                plain = msgspec.json.decode(msgspec.json.encode(payload))
                followed = msgspec.structs.replace(
                    known,
                    payload=plain,
                    base_version=memory.version,
                    evidence=msgspec.json.decode(msgspec.json.encode(evidence)),
                    reasons=reasons or known.reasons,
                    fingerprint=fingerprint_of(action, "memory", memory.id, plain),
                    state="pending",
                )
                proposal = tx.put(followed, base=known.version)
            else:
                verdict = Verdict("propose", reasons or ("held_import",))
                proposal = self._gate.propose(tx, ProposalDraft(action, memory, payload, evidence), verdict)
            rejected = proposal.state == "rejected"
            if not rejected:
                self._ledger.set_pending(path, proposal, digest, tx)
        return ChangeOutcome("rejected" if rejected else "proposed", memory, proposal)


class MissingNotes:
    """The notes that are missing at one moment, until they are removed."""

    def __init__(self, ledger: MirrorLedger, paths: Iterable[str]) -> None:
        self._ledger = ledger
        self._paths = set(paths)
        self._by_digest: dict[bytes, set[str]] = {}
        for path in self._paths:
            self._by_digest.setdefault(ledger.steps[path].digest, set()).add(path)

    def previous_path(self, file: NoteFile) -> str:
        """Return the previous path of a file, or an empty one where it is none of these.

        It is the one whose memory it names, or one with the very same bytes; of several, as where a folder was renamed,
        the one that shares the most of its path's end.
        """
        named_path = self._ledger.paths.get(memory_id_of_note(file.note), "")
        if named_path in self._paths:
            return named_path
        same = self._by_digest.get(file.digest, ())
        return max(sorted(same), key=lambda path: _shared_suffix_length(path, file.path), default="")

    def remove(self, path: str) -> None:
        """Remove a note from those that are missing."""
        self._paths.discard(path)
        self._by_digest[self._ledger.steps[path].digest].discard(path)


def _shared_suffix_length(path: str, other: str) -> int:
    pairs = zip(reversed(PurePosixPath(path).parts), reversed(PurePosixPath(other).parts), strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), len(path))


class NoteReconciler:
    """The decisions on the known notes of one mirror, one note at a time."""

    def __init__(self, context: MirrorContext, inbound: InboundChanges, outbound: OutboundChanges) -> None:
        self._session = context.session
        self._folder = context.folder
        self._ledger = context.ledger
        self._inbound = inbound
        self._outbound = outbound

    def settle(self, path: str, file: NoteFile | None, *, restore: bool = False) -> Iterator[MirrorEvent]:
        """Synchronise a note and its memory; ``file`` is ``None`` where the note is gone.

        ``restore`` writes it again then. A note that turns out to be a new one is forgotten, for the caller to take in.

        Raises:
            MementoError: one side cannot be changed; nothing was.

        """
        step, waiting = self._ledger.steps[path], self._ledger.waiting.get(path)
        memory = self._session.find(step.id)
        digest = GONE_DIGEST if file is None else file.digest
        if memory is None or memory.status in ENDED_STATUSES:
            yield from self._handle_missing_memory(step, waiting, memory, file)
            return
        decided = waiting is not None and self._inbound.open_proposal(path) is None
        if waiting is not None and not decided:
            if digest == waiting.digest:
                return
            if file is not None and digest == step.digest:
                self._inbound.withdraw(path)
        if decided:
            self._ledger.clear_pending(path)
        if file is None:
            yield from self._handle_missing_note(step, memory, restore=restore or decided)
            return
        base = None if step.digest == UNKNOWN_DIGEST else self._session.version_of(step.id, step.version)
        is_decided = decided and waiting is not None and digest == waiting.digest
        if digest == step.digest or is_decided or file.matches(with_full_text(memory)):
            yield from self._outbound.rewrite(file, memory, base)
        else:
            yield from self._apply_note_change(file, memory, base, moved=step.digest == MOVED_DIGEST)

    def _apply_note_change(
        self, file: NoteFile, memory: Memory, base: Memory | None, *, moved: bool
    ) -> Iterator[MirrorEvent]:
        changes = (
            changed_fields(with_full_text(memory), file.as_memory(with_full_text(memory)))
            if base is None
            else file.changed_since(with_full_text(base))
        )
        outcome = self._inbound.change(file, memory, base, changes)
        if outcome.status == "proposed":
            yield MirrorEvent("waits", file.path, memory.id, _pending_reason(outcome))
            return
        if outcome.status == "rejected":
            yield MirrorEvent("refused", file.path, memory.id, _rejection_reason(outcome.proposal))
        elif outcome.memory.version != memory.version and (changes or not moved):
            removed = f"; a secret was taken out of what is remembered ({', '.join(outcome.removed)})"
            fields = ", ".join(changes) or "other properties"
            yield MirrorEvent("changed", file.path, memory.id, fields + (removed if outcome.removed else ""))
        yield from self._outbound.rewrite(file, outcome.memory, base)

    def _handle_missing_note(self, step: SyncPoint, memory: Memory, *, restore: bool) -> Iterator[MirrorEvent]:
        base = self._session.version_of(step.id, step.version)
        why = "it was gone, and is written again"
        if base is not None and changed_fields(with_full_text(base), with_full_text(memory)):
            restore, why = True, "it was gone, but changed here since"
        if not restore:
            outcome = self._inbound.delete(step.path, memory)
            if outcome.status == "applied":
                self._ledger.mark_deleted(step.path, outcome.memory)
                yield MirrorEvent("deleted", step.path, memory.id, "it is gone from the folder; restore brings it back")
                return
            if outcome.status == "proposed":
                yield MirrorEvent("waits", step.path, memory.id, _pending_reason(outcome))
                return
            why = _rejection_reason(outcome.proposal)
        self._ledger.clear_pending(step.path)
        written = self._outbound.write_new(memory, step.path, why)
        if written.note != step.path:
            self._ledger.forget(step.path)
        yield written

    def _handle_missing_memory(
        self, step: SyncPoint, waiting: SyncPoint | None, memory: Memory | None, file: NoteFile | None
    ) -> Iterator[MirrorEvent]:
        proposed = waiting is not None and file is not None and file.digest == waiting.digest
        if file is not None and (proposed or file.digest == step.digest):
            if memory is None and not proposed and self._session.purged("memory", [step.id]):
                self._folder.remove(step.path, expected=file.digest)
                copies = ", ".join(self._folder.in_trash(step.path))
                left = f"; look yourself at what was put into {copies}" if copies else ""
                yield MirrorEvent("trashed", step.path, step.id, f"it was purged here, so it is removed for good{left}")
            elif memory is not None and memory.status == "rejected" and self._never_held(step):
                return  # the person's own file, which is only not to be remembered
            else:
                place = self._folder.trash(step.path)
                state = memory.status if memory is not None else "undone"
                yield MirrorEvent("trashed", step.path, step.id, f"it was {state} here; its note is at {place}")
        if memory is None:
            self._ledger.forget(step.path)
        else:
            self._ledger.part(step.path)

    def _never_held(self, step: SyncPoint) -> bool:
        before = self._session.version_of(step.id, step.version)
        return before is not None and before.status == "pending"


def _pending_reason(outcome: ChangeOutcome) -> str:
    proposal = outcome.proposal
    return "" if proposal is None else f"{', '.join(proposal.reasons)}; memento review {proposal.id}"


def _rejection_reason(proposal: Proposal | None) -> str:
    note = "" if proposal is None or not proposal.note else f": {proposal.note}"
    return f"a person turned this down before{note}"


class NewNotes:
    """The search for the memories of new notes, and their creation."""

    def __init__(self, context: MirrorContext, inbound: InboundChanges, reconciler: NoteReconciler) -> None:
        self._session = context.session
        self._ledger = context.ledger
        self._inbound = inbound
        self._reconciler = reconciler
        self._within = context.namespace

    def add(self, files: Iterable[NoteFile]) -> Iterator[MirrorEvent]:
        """Give each note its memory, and yield the events. Raises `DataDirectoryError`."""
        new: list[tuple[NoteFile, str]] = []
        for file in files:
            namespace = namespace_of_path(file.path, self._within)
            try:
                if self._is_purged(file):
                    why = "its memory was purged here, so it is not taken in; take the note away as well"
                    yield MirrorEvent("refused", file.path, memory_id_of_note(file.note), why)
                elif (memory := self._named(file)) is not None:
                    self._adopt(file, memory)
                    yield from self._reconciler.settle(file.path, file)
                elif (memory := self._brought_back(file)) is not None:
                    yield MirrorEvent("restored", file.path, memory.id, "its note is back")
                    yield from self._reconciler.settle(file.path, file)
                elif (duplicate := self._inbound.find_duplicate(file, namespace)) is not None:
                    self._ledger.set_in_sync(file.path, duplicate, file.digest)
                else:
                    new.append((file, namespace))
            except DataDirectoryError:
                raise
            except MementoError as error:
                yield MirrorEvent("refused", file.path, why=str(error))
        if new:
            yield from self._remember(new)

    def _remember(self, new: list[tuple[NoteFile, str]]) -> Iterator[MirrorEvent]:
        """Create the memories of new notes together, or one by one where one of them cannot be stored."""
        self._ledger.flush()
        try:
            outcomes = self._inbound.create(new)
        except DataDirectoryError:
            raise
        except MementoError as error:
            self._ledger.reload()
            if len(new) == 1:
                yield MirrorEvent("refused", new[0][0].path, why=str(error))
                return
            for note in new:
                yield from self._remember([note])
        else:
            for path, outcome in outcomes.items():
                yield _event_of_outcome(path, outcome)

    def _is_purged(self, file: NoteFile) -> bool:
        memory_id = memory_id_of_note(file.note)
        return bool(memory_id) and bool(self._session.purged("memory", [memory_id]))

    def _named(self, file: NoteFile) -> Memory | None:
        """Return the memory that a note names as its own, where that lives and has no other note."""
        memory_id = memory_id_of_note(file.note)
        memory: Memory | None = self._session.find(memory_id) if memory_id else None
        free = memory is not None and memory.status not in ENDED_STATUSES and memory_id not in self._ledger.paths
        return memory if free else None

    def _brought_back(self, file: NoteFile) -> Memory | None:
        """Return the memory that was deleted when this note went, restored: a branch or a disk that is back."""
        memory_id = memory_id_of_note(file.note)
        left = self._ledger.deleted.get(memory_id) or self._ledger.deleted.get(
            self._ledger.deleted_by_digest.get(file.digest, "")
        )
        if left is None or (memory := self._inbound.bring_back(left)) is None:
            return None
        self._ledger.clear_deleted(memory.id)
        self._ledger.adopt(file.path, memory.id, left.digest, memory.version)
        return memory

    def _adopt(self, file: NoteFile, memory: Memory) -> None:
        """Assign a note to a memory: it was written from one of its versions, or changed since in unknown ways."""
        for revision in self._session.history(memory.id):
            if revision.record is not None and file.matches(with_full_text(revision.record)):
                self._ledger.adopt(file.path, memory.id, file.digest, revision.version)
                return
        self._ledger.adopt(file.path, memory.id, UNKNOWN_DIGEST, memory.version)


def _event_of_outcome(path: str, outcome: Memory | Proposal) -> MirrorEvent:
    if isinstance(outcome, Proposal):
        note = f": {outcome.note}" if outcome.note else ""
        return MirrorEvent("refused", path, why=f"a person turned this text down before{note}")
    if outcome.status == "pending":
        return MirrorEvent("waits", path, outcome.id, "it is looked at first; memento review")
    return MirrorEvent("taken", path, outcome.id)
