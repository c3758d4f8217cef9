"""Apply changes of notes to memories; every one passes the policy gate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from memento_tui import clock
from memento_tui.api.memories import ChangeOutcome
from memento_tui.errors import Conflict
from memento_tui.mirror.notes import NOTE_FIELDS, NoteFile, changed_fields, with_full_text
from memento_tui.mirror.state import GONE_DIGEST, MirrorContext, SyncPoint
from memento_tui.model import Memory, Proposal, make_memory
from memento_tui.model.claims import as_claimed, without_decisions
from memento_tui.model.inference import UNKNOWN_CONFIDENCE, with_inferred_trust
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.policy.gate import ProposalDraft, creation_fingerprint, fingerprint_of
from memento_tui.policy.policy import Verdict, WriteIntent
from memento_tui.policy.resolution import with_changes
from memento_tui.policy.secrets import redact_record

__all__ = ["InboundChanges"]


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

    # New notes

    def find_duplicate(self, file: NoteFile, namespace: str) -> Memory | None:
        """Return a memory without a note that says exactly what a new note says, or ``None``.

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
        with self._session.transaction("mirror", note="new notes") as tx:
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
                verdict = self._held(self._gate.judge(intent))
                written = self._gate.admit(tx, screened.record, verdict, screened.evidence)
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
