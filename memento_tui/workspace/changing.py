"""Changing, deleting and relating memories, each through the gate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from memento_tui.errors import NotAllowed
from memento_tui.records import Memory, Proposal, make_proposal, make_relation
from memento_tui.records.memory import SENSITIVITIES
from memento_tui.records.proposal import OPEN_STATES
from memento_tui.records.rules import check_line
from memento_tui.review.gate import Gate, Screened, creation_fingerprint
from memento_tui.review.policy import Intent, Verdict
from memento_tui.review.resolving import lapse
from memento_tui.review.trusting import edited, verified
from memento_tui.store.store import Store
from memento_tui.store.transaction import Transaction
from memento_tui.workspace.remembering import check_agent_fields

__all__ = ["Changing", "Outcome"]


class Outcome(msgspec.Struct, frozen=True):
    """What became of a change: done, waiting for a person, or turned down by one before."""

    status: Literal["applied", "proposed", "rejected"]
    memory: Memory
    """The memory as it stands now."""
    proposal: Proposal | None = None
    removed: tuple[str, ...] = ()
    """The kinds of secrets that were taken out of what was written."""


class Changing:
    """Changes to memories in the name of the gate's author."""

    def __init__(self, store: Store, gate: Gate) -> None:
        self._store = store
        self._gate = gate

    def update(self, memory_id: str, base_version: int | None, changes: Mapping[str, Any]) -> Outcome:
        """Change some fields; see `memento_tui.workspace.Workspace.update`."""
        check_agent_fields(self._gate, changes)
        found = self._store.resolve("memory", memory_id)
        is_person = self._gate.is_person
        with self._store.transaction(self._gate.author, "edit") as tx:
            memory: Memory = tx.require("memory", found)
            closed = ("deleted",) if is_person else ("deleted", "rejected", "archived")
            if memory.status in closed:
                raise NotAllowed(f"The memory {found} is {memory.status}.", "A person restores it first.")
            if not is_person:
                self._check_own(memory)
            screened = self._gate.screen(edited(memory, changes, tx.now))
            after: Memory = screened.record
            if not is_person and _opens(memory, after):
                raise NotAllowed(
                    f"An agent may not make {found} less than {memory.sensitivity}.", "Ask the person to do it."
                )
            if base_version is not None and base_version != memory.version:
                tx.put(after, base=base_version)  # raises the conflict, with both sides
            if is_person and after.stability != "draft" and memory.stability == "draft":
                after = verified(after, self._gate.author, tx.now)
            if msgspec.structs.replace(after, updated_at=memory.updated_at) == memory:
                return Outcome("applied", memory)
            if after.content != memory.content and (before := self._gate.refused_before(creation_fingerprint(after))):
                return Outcome("rejected", memory, before)
            verdict = self._judge("edit", memory, screened)
            if verdict.answer == "propose" and memory.status != "pending":
                wanted = {name: getattr(after, name) for name in changes}
                return self._proposed(tx, "edit", memory, verdict, wanted, screened.evidence)
            written = tx.put(after if is_person else _unread(memory, after), base=memory.version)
            lapse(tx, self._store, memory, written)
            self._follow_pending(tx, memory, written, screened)
            removed = tuple(removal["kind"] for removal in screened.evidence.get("removed", ()))
            return Outcome("applied", written, removed=removed)

    def _judge(self, action: Literal["edit", "delete"], memory: Memory, screened: Screened | None = None) -> Verdict:
        intent = Intent(
            action,
            by_person=self._gate.is_person,
            external=screened is not None and _is_from_outside(memory, screened.record),
            injection_score=0.0 if screened is None else screened.injection_score,
            target_verified=memory.stability != "draft" or memory.pinned,
            secret_found=screened is not None and screened.secret_found,
        )
        return self._gate.judge(intent)

    def _proposed(
        self,
        tx: Transaction,
        action: Literal["edit", "delete"],
        memory: Memory,
        verdict: Verdict,
        payload: Mapping[str, Any],
        evidence: Mapping[str, Any],
    ) -> Outcome:
        proposal = self._gate.propose(
            tx, action, "memory", memory.id, memory.version, verdict, payload=payload, evidence=evidence
        )
        return Outcome("rejected" if proposal.state == "rejected" else "proposed", memory, proposal)

    def _asked(self, memory: Memory) -> list[Proposal]:
        """Return the open questions whether a pending memory may stay."""
        if memory.status != "pending":
            return []
        return [p for p in self._store.proposals.about(memory.id) if p.action == "create" and p.state in OPEN_STATES]

    def _check_own(self, memory: Memory) -> None:
        """Refuse that an agent rewrites or withdraws what waits, unless it asked itself. Raises `NotAllowed`."""
        for proposal in self._asked(memory):
            # Anyone may write a name into a proposal; the journal knows who made it.
            first = self._store.history("proposal", proposal.id)[-1].entry
            if (first.actor, first.agent) != (self._gate.author.actor, self._gate.author.agent):
                raise NotAllowed(f"The memory {memory.id} waits for a person's decision.", "Leave it until then.")

    def _follow_pending(self, tx: Transaction, before: Memory, after: Memory, screened: Screened) -> None:
        """Let the proposal of a pending memory follow its text, so that a decision on the old text is refused."""
        for proposal in self._asked(before):
            if proposal.base_version == before.version:
                followed = msgspec.structs.replace(
                    proposal,
                    base_version=after.version,
                    fingerprint=creation_fingerprint(after),
                    evidence={**proposal.evidence, **screened.evidence},
                    reasons=tuple(dict.fromkeys([*self._reasons_of_new(after, screened), *proposal.reasons])),
                )
                tx.put(followed, base=proposal.version)

    def forget(self, memory_id: str, base_version: int | None) -> Outcome:
        """Delete a memory; see `memento_tui.workspace.Workspace.forget`."""
        found = self._store.resolve("memory", memory_id)
        with self._store.transaction(self._gate.author, "forget") as tx:
            memory: Memory = tx.require("memory", found)
            if memory.status == "deleted":
                return Outcome("applied", memory)
            if memory.status == "rejected" and not self._gate.is_person:
                raise NotAllowed(f"The memory {found} is rejected.", "Leave it; it is not recalled.")
            gone = msgspec.structs.replace(memory, status="deleted", updated_at=tx.now)
            if base_version is not None and base_version != memory.version:
                tx.put(gone, base=base_version)  # raises the conflict, with both sides
            verdict = self._judge("delete", memory)
            if verdict.answer == "propose":
                return self._proposed(tx, "delete", memory, verdict, {}, {})
            self._withdraw(tx, memory)
            return Outcome("applied", tx.put(gone, base=memory.version))

    def _reasons_of_new(self, memory: Memory, screened: Screened) -> tuple[str, ...]:
        """Return why a memory with this text would wait if it were new."""
        intent = Intent(
            "create",
            by_person=self._gate.is_person,
            external=memory.source_type == "external",
            injection_score=screened.injection_score,
            secret_found=screened.secret_found,
        )
        return self._gate.judge(intent).reasons

    def _withdraw(self, tx: Transaction, memory: Memory) -> None:
        """Close the question whether a pending memory may stay, since it does not want to any more."""
        if not self._gate.is_person:
            self._check_own(memory)
        for proposal in self._asked(memory):
            closed = {"state": "expired", "decided_at": tx.now, "note": "It was deleted before a decision."}
            tx.put(msgspec.structs.replace(proposal, **closed), base=proposal.version)

    def reject(self, memory_id: str, reason: str, base_version: int | None = None) -> Memory:
        """Turn down a memory that holds; see `memento_tui.workspace.Workspace.reject`."""
        check_line(reason, "reason")
        found = self._store.resolve("memory", memory_id)
        with self._store.transaction(self._gate.author, "reject", note=reason) as tx:
            memory: Memory = tx.require("memory", found)
            if memory.status in ("pending", "deleted", "rejected"):
                hint = "Decide about it in the review." if memory.status == "pending" else ""
                raise NotAllowed(f"The memory {found} is {memory.status}.", hint)
            # As if it had been asked about: the agent reads the reason, and is told when it tries the same again.
            fields = {
                "action": "create",
                "target_id": found,
                "base_version": memory.version,
                "fingerprint": creation_fingerprint(memory),
                "state": "rejected",
                "proposed_by": memory.source.agent,
                "session": memory.source.session,
                "decided_by": self._gate.author.name,
                "decided_at": tx.now,
                "note": reason,
            }
            tx.put(make_proposal(fields, now=tx.now), base=0)
            rejected = msgspec.structs.replace(memory, status="rejected", updated_at=tx.now)
            return tx.put(rejected, base=memory.version if base_version is None else base_version)

    def verify(self, memory_id: str, base_version: int | None = None) -> Memory:
        """Mark a memory as accepted by a person; see `memento_tui.workspace.Workspace.verify`."""
        found = self._store.resolve("memory", memory_id)
        with self._store.transaction(self._gate.author, "verify") as tx:
            memory: Memory = tx.require("memory", found)
            if memory.status in ("pending", "deleted", "rejected"):
                raise NotAllowed(f"The memory {found} is {memory.status}.", "Approve or restore it instead.")
            base = memory.version if base_version is None else base_version
            return tx.put(verified(memory, self._gate.author, tx.now), base=base)

    def restore(self, memory_id: str) -> Memory:
        """Bring a memory back; see `memento_tui.workspace.Workspace.restore`."""
        found = self._store.resolve("memory", memory_id)
        with self._store.transaction(self._gate.author, "restore") as tx:
            memory: Memory = tx.require("memory", found)
            if memory.status == "compacted":
                return tx.put(msgspec.structs.replace(_whole(memory), updated_at=tx.now), base=memory.version)
            if memory.status not in ("deleted", "rejected", "archived"):
                return memory
            status = self._status_before(memory)
            return tx.put(msgspec.structs.replace(memory, status=status, updated_at=tx.now), base=memory.version)

    def _status_before(self, memory: Memory) -> str:
        for revision in self._store.history("memory", memory.id):
            before = revision.record
            if before is not None and before.status not in ("deleted", "rejected", "archived", "pending"):
                return str(before.status)
        return "active"

    def relate(self, src: str, dst: str, kind: str, label: str) -> None:
        """Draw an arrow between records; see `memento_tui.workspace.Workspace.relate`."""
        source = self._store.resolve("memory", src)
        if kind != "file":
            dst = self._store.resolve("item" if kind == "item" else "memory", dst)
        relation = make_relation({"src": source, "dst": dst, "type": kind, "label": label})
        with self._store.transaction(self._gate.author, "relate") as tx:
            if kind in ("supersedes", "consolidated_from") and not self._gate.is_person:
                replaced: Memory = tx.require("memory", dst)
                if replaced.stability != "draft" or replaced.pinned:
                    raise NotAllowed(
                        f"The memory {dst} is verified or essential; only a person says that another takes its place.",
                        "Remember what is new; the person decides about the old.",
                    )
            tx.put(relation, base=0)


_SAID = ("content", "title", "kind", "validity_context", "source_type")


def _unread(before: Memory, after: Memory) -> Memory:
    """Return an agent's change of a memory: what says something else has nothing that only a person gives."""
    if all(getattr(before, name) == getattr(after, name) for name in _SAID):
        return after
    tier = "short_term" if after.tier in ("long_term", "shared") else after.tier
    return msgspec.structs.replace(after, stability="draft", verified_at=None, verified_by="", tier=tier, pinned=False)


def _opens(before: Memory, after: Memory) -> bool:
    return SENSITIVITIES.index(after.sensitivity) < SENSITIVITIES.index(before.sensitivity)


def _is_from_outside(before: Memory, after: Memory) -> bool:
    """Tell whether a change brings in outside text. What still waits is decided about as a whole anyway."""
    brings = after.content != before.content or after.source_type != before.source_type
    return after.source_type == "external" and before.status != "pending" and brings


def _whole(memory: Memory) -> Memory:
    """Return a compacted memory with its original text."""
    from memento_tui.upkeep.aging import uncompacted  # noqa: PLC0415 - few writes need it

    return uncompacted(memory)
