"""Create, change, delete and relate memories, each write screened, judged, and let in or held back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

import msgspec

from memento_tui import clock
from memento_tui.api.search import SearchEngine
from memento_tui.branches import is_taken_from_branch
from memento_tui.errors import Conflict, NotAllowed
from memento_tui.model import Memory, Proposal, make_memory, make_proposal, make_relation
from memento_tui.model.claims import without_decisions
from memento_tui.model.memory import (
    AGENT_CONFIDENCE,
    FOREIGN_ID,
    PERSON_CONFIDENCE,
    RECALLED_STATUSES,
    RESERVED_EXTRA,
    content_digest,
    lowers_sensitivity,
    says_the_same,
    with_inferred_trust,
)
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.model.validation import check_line, new_id
from memento_tui.policy.decisions import require_as_written
from memento_tui.policy.gate import Gate, ProposalDraft, Screened, creation_fingerprint
from memento_tui.policy.policy import AGENT_FIELDS, Verdict, WriteIntent
from memento_tui.policy.quarantine import QUARANTINED
from memento_tui.policy.resolution import as_verified, with_changes, withdraw_contradictions
from memento_tui.policy.set_rules import quarantined_writer
from memento_tui.storage.store import Store
from memento_tui.storage.transaction import Transaction
from memento_tui.text.novelty import Novelty

__all__ = ["ChangeOutcome", "MemoryCreator", "MemoryEditor"]

_MEMORIES_PER_TRANSACTION = 2000
"""Memories in one transaction of a bulk write: other writers wait for tens of milliseconds at most."""

_MOST_COMPARED_IN_A_BATCH = 20
"""Memories of one bulk write that are each compared with all others, some milliseconds each."""

_RECENT_COMPARED = 20
"""Memories, the last changed ones, that a new one is compared with where no index can be asked."""

_MAX_COMPARED = 5
"""How many of the memories that share most words are compared with a new one."""


class _JudgedMemory(msgspec.Struct, frozen=True):
    """A new memory as it may be stored, with the gate's verdict."""

    memory: Memory
    verdict: Verdict
    evidence: Mapping[str, Any]
    near: Memory | None = None
    """A memory with nearly the same text."""
    likeness: float = 0.0


def check_agent_fields(gate: Gate, fields: Mapping[str, Any]) -> None:
    """Refuse fields that only a person may set. Raises `NotAllowed`."""
    if gate.is_person:
        return
    refused = sorted(name for name in fields if name in Memory.__struct_fields__ and name not in AGENT_FIELDS)
    extra = fields.get("extra")
    refused += [f"extra.{name}" for name in RESERVED_EXTRA if isinstance(extra, Mapping) and name in extra]
    if refused:
        raise NotAllowed(
            f"An agent may not set {', '.join(refused)}; a person decides that.",
            "Leave it out; what you write is a draft until a person or use confirms it.",
        )


def _is_named(fields: Mapping[str, Any]) -> bool:
    """Tell whether the caller gives an id or a foreign id; the memory is then new, even where another has its text."""
    extra = fields.get("extra")
    return "id" in fields or (isinstance(extra, Mapping) and FOREIGN_ID in extra)


def _place_of(memory: Memory) -> tuple[str, bytes]:
    """Return a key that is equal for memories of the same text: the namespace and the text's digest."""
    return memory.namespace, content_digest(memory.content)


class MemoryCreator:
    """The way in for new memories, in the name of the gate's author."""

    def __init__(self, store: Store, gate: Gate, searching: SearchEngine) -> None:
        self._store = store
        self._gate = gate
        self._searching = searching

    def one(self, text: str, fields: Mapping[str, Any], make_id: Callable[[], str] | None = None) -> Memory:
        """Store one memory; see `memento_tui.api.Workspace.remember`."""
        is_named = _is_named(fields)
        screened, memory = self._new(text, fields, None if is_named else make_id)
        arrival = self._compared(self._judged(screened, memory))
        with self._gate.transaction("remember") as tx:
            # Asked here alone: before the transaction, another process could still store the same.
            known = None if is_named else self._known(memory)
            if (answer := known or self._rejected(memory)) is not None:
                return answer
            return self._put(tx, arrival)

    def many(self, items: Iterable[Mapping[str, Any]]) -> list[Memory]:
        """Store many memories in few transactions; see `memento_tui.api.Workspace.remember_many`."""
        made: list[Memory] = []
        name, source = new_id(), iter(items)
        novelty: Novelty | None = None
        while part := list(islice(source, _MEMORIES_PER_TRANSACTION)):
            if novelty is None:
                novelty = Novelty() if len(part) <= _MOST_COMPARED_IN_A_BATCH else self._store.memories.novelty()
            made += self._put_batch(part, name, novelty)
        return made

    def _put_batch(self, items: Sequence[Mapping[str, Any]], name: str, novelty: Novelty) -> list[Memory]:
        batch: list[tuple[_JudgedMemory, bool]] = []
        before: list[Memory] = []
        for item in items:
            batch.append(self._arriving(dict(item), before))
            before.append(batch[-1][0].memory)
        batch = self._with_surprise(batch, novelty)
        with self._gate.transaction("remember", batch=name) as tx:
            known = self._known_among(batch)
            fresh: dict[str, _JudgedMemory] = {}
            answers: list[Memory | str] = []
            for arrival, has_id in batch:
                memory = arrival.memory
                place = _place_of(memory)
                found = None if has_id else known.get(place)
                if memory.id in fresh:
                    raise Conflict(f"The id {memory.id} stands twice among these memories.", "Give each its own.")
                if (answer := found or self._rejected(memory)) is None:
                    fresh[memory.id] = arrival
                    known.setdefault(place, memory.id)
                    answer = memory.id
                answers.append(answer)
            written = self._put_fresh(tx, fresh)
        return [written[answer] if isinstance(answer, str) else answer for answer in answers]

    def _with_surprise(
        self, batch: Sequence[tuple[_JudgedMemory, bool]], novelty: Novelty
    ) -> list[tuple[_JudgedMemory, bool]]:
        """Set each memory's surprise: compared with all memories in a small batch, else by ``novelty`` alone."""
        measured = []
        for arrival, has_id in batch:
            surprise = novelty.measure(f"{arrival.memory.title}\n{arrival.memory.content}")
            if len(batch) <= _MOST_COMPARED_IN_A_BATCH:
                surprise = min(surprise, self._compared(arrival).memory.surprise or surprise)
            memory = arrival.memory
            if memory.surprise is None:
                memory = msgspec.structs.replace(memory, surprise=surprise)
            measured.append((msgspec.structs.replace(arrival, memory=memory), has_id))
        return measured

    def _arriving(self, fields: dict[str, Any], also: Sequence[Memory]) -> tuple[_JudgedMemory, bool]:
        screened, memory = self._new(fields.pop("content", fields.pop("text", "")), fields)
        return self._judged(screened, memory, also), _is_named(fields)

    def _known_among(self, batch: Sequence[tuple[_JudgedMemory, bool]]) -> dict[tuple[str, bytes], Memory | str]:
        """Return the memories with the same text as one of a batch, by namespace and digest."""
        new = {_place_of(arrival.memory): arrival.memory for arrival, has_id in batch if not has_id}
        found = self._store.memories.with_digests([digest for _, digest in new])
        placed = [(_place_of(memory), memory) for memory in reversed(found)]
        return {place: one for place, one in placed if place in new and self._stands_for(one, new[place])}

    def _put_fresh(self, tx: Transaction, fresh: Mapping[str, _JudgedMemory]) -> dict[str, Memory]:
        drafts = [arrival.memory for arrival in fresh.values() if arrival.verdict.answer != "propose"]
        written = {memory.id: memory for memory in (tx.add_all(drafts) if drafts else [])}
        for name, arrival in fresh.items():
            if arrival.verdict.answer == "propose":
                written[name] = self._put(tx, arrival)
        return written

    def _new(
        self, text: str, fields: Mapping[str, Any], make_id: Callable[[], str] | None = None
    ) -> tuple[Screened, Memory]:
        check_agent_fields(self._gate, fields)
        author = self._gate.author
        values = {"source_type": "user" if self._gate.is_person else "derived", **fields, "content": text}
        if not self._gate.is_person and "source" not in values:
            values["source"] = {"agent": author.agent, "session": author.session}
        if make_id is not None:
            values["id"] = make_id()
        writer_confidence = PERSON_CONFIDENCE if self._gate.is_person else AGENT_CONFIDENCE
        if values["source_type"] == "derived":
            writer_confidence = AGENT_CONFIDENCE
        memory = with_inferred_trust(make_memory(values), values, writer_confidence=writer_confidence)
        if not self._gate.is_person:
            memory = without_decisions(None, memory)
        if self._gate.is_person and memory.stability != "draft" and memory.verified_at is None:
            memory = as_verified(memory, author, memory.created_at)
        screened = self._gate.screen(memory)
        return screened, screened.record

    def _judged(self, screened: Screened, memory: Memory, also: Sequence[Memory] = ()) -> _JudgedMemory:
        intent = WriteIntent(
            "create",
            by_person=self._gate.is_person,
            external=memory.source_type == "external",
            injection_score=screened.injection_score,
            secret_found=screened.secret_found,
        )
        verdict = self._gate.judge(intent, memory, also)
        if memory.status == "pending" and verdict.answer != "propose":
            verdict = Verdict("propose", ("asked_to_wait",))
        return _JudgedMemory(memory, verdict, screened.evidence)

    def _known(self, memory: Memory) -> Memory | None:
        same_text = self._store.memories.with_digest(content_digest(memory.content))
        return next((one for one in same_text if self._stands_for(one, memory)), None)

    def _stands_for(self, known: Memory, new: Memory) -> bool:
        """Tell whether a memory is told wherever a new one of the same text would be, so that this is not stored.

        An agent may have written down what a person is going to say, to end tomorrow or under a condition of its own:
        for what a person says, only what they said or verified themselves stands.
        """
        if known.namespace != new.namespace or not says_the_same(known.content, new.content):
            return False
        ends = [moment for moment in (known.expires_at, known.valid_to) if moment is not None]
        now = clock.now()
        is_over = any(moment <= now for moment in ends)
        is_early = known.valid_from is not None and known.valid_from > now
        is_persons = known.source_type == "user" or known.stability != "draft"
        is_hidden = lowers_sensitivity(known, new)
        return not (is_over or is_early or is_hidden) and (is_persons or not self._gate.is_person)

    def _rejected(self, memory: Memory) -> Memory | None:
        """Return the rejected memory with the same text, where that rejection silences the author, or ``None``."""
        before = self._gate.refused_before(creation_fingerprint(memory))
        found: Memory | None = None if before is None else self._store.find(Memory, before.target_id)
        # It may have been deleted since; what the person said of it holds.
        return None if found is None else msgspec.structs.replace(found, status="rejected")

    def _compared(self, arrival: _JudgedMemory) -> _JudgedMemory:
        """Find memories with nearly the same text, and measure how new the memory is."""
        # the index comes along
        from memento_tui.maintenance.duplicates import is_near_duplicate, likeness, likeness_to  # noqa: PLC0415

        memory = arrival.memory
        nearby = self._searching.keyword.similar(memory.content, _MAX_COMPARED)
        other: Memory | None = None
        if nearby is None:  # there is no index that could be asked: how new it is can be told from the last ones
            text = f"{memory.title}\n{memory.content}"
            last = self._store.memories.newest_texts(_RECENT_COMPARED)
            best = max((likeness(text, one) for one in last), default=0.0)
        else:
            candidates = self._store.memories.get_many([*nearby.ids, *nearby.unindexed]).values()
            compare = likeness_to(memory)
            scored = [(compare(one), one) for one in candidates if one.status in (*RECALLED_STATUSES, "pending")]
            best, other = max(scored, key=lambda pair: pair[0], default=(0.0, None))
        if memory.surprise is None:
            memory = msgspec.structs.replace(memory, surprise=round(1.0 - best, 3))
        is_near = other is not None and other.status in RECALLED_STATUSES and is_near_duplicate(other, memory, best)
        return msgspec.structs.replace(arrival, memory=memory, near=other if is_near else None, likeness=best)

    def _put(self, tx: Transaction, arrival: _JudgedMemory) -> Memory:
        evidence = dict(arrival.evidence)
        waits = arrival.verdict.answer == "propose"
        if waits and arrival.near is not None:
            evidence["like"] = {"id": arrival.near.id, "likeness": round(arrival.likeness, 3)}
        stored = self._gate.admit(tx, arrival.memory, arrival.verdict, evidence)
        if not waits and arrival.near is not None:
            from memento_tui.maintenance.duplicates import propose_merge  # noqa: PLC0415 - as above

            propose_merge(tx, self._gate, arrival.near, stored, arrival.likeness)
        return stored


class ChangeOutcome(msgspec.Struct, frozen=True):
    """The outcome of a change: applied, proposed to a person, or rejected by one before."""

    status: Literal["applied", "proposed", "rejected"]
    memory: Memory
    """The memory as it is now."""
    proposal: Proposal | None = None
    removed: tuple[str, ...] = ()
    """The kinds of secrets that were removed from the text."""


class MemoryEditor:
    """Changes to memories in the name of the gate's author."""

    def __init__(self, store: Store, gate: Gate) -> None:
        self._store = store
        self._gate = gate

    def update(self, memory_id: str, base_version: int | None, changes: Mapping[str, Any]) -> ChangeOutcome:
        """Change some fields; see `memento_tui.api.Workspace.update`."""
        check_agent_fields(self._gate, changes)
        self._gate.require_version_read(base_version)
        found = self._store.resolve("memory", memory_id)
        is_person = self._gate.is_person
        with self._gate.transaction("edit") as tx:
            memory = tx.require(Memory, found)
            closed = ("deleted",) if is_person else ("deleted", "rejected", "archived")
            if memory.status in closed:
                raise NotAllowed(f"The memory {found} is {memory.status}.", "A person restores it first.")
            if not is_person:
                self._check_own(memory)
            screened = self._gate.screen(with_changes(memory, changes, tx.now))
            after: Memory = screened.record
            removed = tuple(removal["kind"] for removal in screened.evidence.get("removed", ()))
            if not is_person and lowers_sensitivity(memory, after):
                raise NotAllowed(
                    f"An agent may not make {found} less than {memory.sensitivity}.", "Ask the person to do it."
                )
            if base_version is not None and base_version != memory.version:
                tx.put(after, base=base_version)  # raises the conflict, with both sides
            if is_person:
                after = self._by_person(memory, after, base_version, tx)
            if msgspec.structs.replace(after, updated_at=memory.updated_at) == memory:
                return ChangeOutcome("applied", memory, removed=removed)
            if after.content != memory.content and (before := self._gate.refused_before(creation_fingerprint(after))):
                return ChangeOutcome("rejected", memory, before)
            verdict = self._judge("edit", memory, after, screened)
            if verdict.answer == "propose" and memory.status != "pending":
                draft, verdict = self._gate.edit_draft(
                    memory,
                    changes,
                    screened,
                    verdict,
                    make=lambda joined: with_changes(memory, joined, tx.now),
                    judge=lambda joined: self._judge("edit", memory, joined.record, joined),
                )
                return self._proposed(tx, draft, verdict)
            written = tx.put(after, base=memory.version)
            withdraw_contradictions(tx, self._store, memory, written)
            self._follow_pending(tx, memory, written, screened)
            return ChangeOutcome("applied", written, removed=removed)

    def _by_person(self, memory: Memory, after: Memory, base_version: int | None, tx: Transaction) -> Memory:
        """Return a person's change, marked as verified where it raises the stability.

        Raises `Conflict` where it gives trust without a version, and somebody else rewrote the memory meanwhile.
        """
        if base_version is None:
            require_as_written(self._store, memory, after)
        is_verified = after.stability != "draft" and memory.stability == "draft"
        return as_verified(after, self._gate.author, tx.now) if is_verified else after

    def _judge(
        self, action: Literal["edit", "delete"], memory: Memory, after: Memory, screened: Screened | None = None
    ) -> Verdict:
        intent = WriteIntent(
            action,
            by_person=self._gate.is_person,
            external=screened is not None and _is_from_outside(memory, screened.record),
            injection_score=0.0 if screened is None else screened.injection_score,
            target_verified=memory.stability != "draft" or memory.pinned,
            hides_persons=self._gate.origin == "agent" and self._gate.hides_persons(memory, after),
            secret_found=screened is not None and screened.secret_found,
            leaves_branch=is_taken_from_branch(memory.namespace, after.namespace),
        )
        return self._gate.judge(intent, None if screened is None else screened.record)

    def _proposed(self, tx: Transaction, draft: ProposalDraft, verdict: Verdict) -> ChangeOutcome:
        proposal = self._gate.propose(tx, draft, verdict)
        status: Literal["proposed", "rejected"] = "rejected" if proposal.state == "rejected" else "proposed"
        return ChangeOutcome(status, tx.require(Memory, draft.record.id), proposal)

    def _asked(self, memory: Memory) -> list[Proposal]:
        """Return the open proposals that would create a pending memory; none for a memory of another status."""
        if memory.status != "pending":
            return []
        return [
            p
            for p in self._store.proposals.about(memory.id)
            if p.action == "create" and p.state in OPEN_PROPOSAL_STATES
        ]

    def _check_own(self, memory: Memory) -> None:
        """Raise `NotAllowed` where an agent rewrites or withdraws a waiting memory that another proposed."""
        for proposal in self._asked(memory):
            # Anyone may write a name into a proposal; the journal knows who made it.
            first = self._store.journal.history(Proposal, proposal.id)[-1].entry
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

    def forget(self, memory_id: str, base_version: int | None) -> ChangeOutcome:
        """Delete a memory; see `memento_tui.api.Workspace.forget`."""
        self._gate.require_version_read(base_version)
        found = self._store.resolve("memory", memory_id)
        with self._gate.transaction("forget") as tx:
            memory = tx.require(Memory, found)
            if memory.status == "deleted":
                return ChangeOutcome("applied", memory)
            if memory.status == "rejected" and not self._gate.is_person:
                raise NotAllowed(f"The memory {found} is rejected.", "Leave it; it is not recalled.")
            gone = msgspec.structs.replace(memory, status="deleted", updated_at=tx.now)
            if base_version is not None and base_version != memory.version:
                tx.put(gone, base=base_version)  # raises the conflict, with both sides
            verdict = self._judge("delete", memory, gone)
            if verdict.answer == "propose":
                return self._proposed(tx, ProposalDraft("delete", memory), verdict)
            self._withdraw(tx, memory)
            return ChangeOutcome("applied", tx.put(gone, base=memory.version))

    def _reasons_of_new(self, memory: Memory, screened: Screened) -> tuple[str, ...]:
        """Return why a memory with this text would wait if it were new."""
        intent = WriteIntent(
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
        """Turn down a memory that holds; see `memento_tui.api.Workspace.reject`."""
        check_line(reason, "reason")
        found = self._store.resolve("memory", memory_id)
        with self._gate.transaction("reject", note=reason) as tx:
            memory = tx.require(Memory, found)
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
        """Mark a memory as accepted by a person; see `memento_tui.api.Workspace.verify`."""
        found = self._store.resolve("memory", memory_id)
        with self._gate.transaction("verify") as tx:
            memory = tx.require(Memory, found)
            if memory.status in ("pending", "deleted", "rejected"):
                raise NotAllowed(f"The memory {found} is {memory.status}.", "Approve or restore it instead.")
            verified = as_verified(memory, self._gate.author, tx.now)
            if base_version is None:
                require_as_written(self._store, memory, verified)
            return tx.put(verified, base=memory.version if base_version is None else base_version)

    def restore(self, memory_id: str) -> Memory:
        """Bring a memory back; see `memento_tui.api.Workspace.restore`."""
        found = self._store.resolve("memory", memory_id)
        with self._gate.transaction("restore") as tx:
            memory = tx.require(Memory, found)
            if memory.status == "compacted":
                return tx.put(
                    msgspec.structs.replace(_with_original_text(memory), updated_at=tx.now), base=memory.version
                )
            if memory.status not in ("deleted", "rejected", "archived"):
                return memory
            status = self._status_before(memory)
            quarantined = quarantined_writer(self._store, memory) if status in RECALLED_STATUSES else ""
            status = "pending" if quarantined else status
            back = msgspec.structs.replace(memory, status=status, updated_at=tx.now)
            if status == "compacted" and memory.status == "archived":
                back = _with_original_text(back)  # nobody who brings back what age took away wants the preview
            written = tx.put(back, base=memory.version)
            if status == "pending":
                self._ask_again(tx, written, quarantined)
            return written

    def _status_before(self, memory: Memory) -> str:
        """Return the status that a memory had before it was taken out of recall: one that waited waits again."""
        for revision in self._store.journal.history(Memory, memory.id):
            before = revision.record
            if before is not None and before.status not in ("deleted", "rejected", "archived"):
                return str(before.status)
        return "pending" if memory.stability == "draft" and not self._gate.is_person else "active"

    def _ask_again(self, tx: Transaction, memory: Memory, quarantined: str) -> None:
        """Ask a person about a memory that was taken away and is back: it waited, or its session is out of recall."""
        screened = self._gate.screen(memory)
        reasons, evidence = self._reasons_of_new(memory, screened), screened.evidence
        if quarantined:
            reasons, evidence = (*reasons, QUARANTINED), {**evidence, "session": quarantined}
        fingerprint = creation_fingerprint(memory)
        draft = ProposalDraft("create", memory, evidence=evidence, fingerprint=fingerprint, session=quarantined)
        self._gate.propose(tx, draft, Verdict("propose", reasons or ("asked_to_wait",)))

    def relate(self, src: str, dst: str, kind: str, label: str) -> None:
        """Draw an arrow between records; see `memento_tui.api.Workspace.relate`."""
        source = self._store.resolve("memory", src)
        if kind != "file":
            dst = self._store.resolve("item" if kind == "item" else "memory", dst)
        relation = make_relation({"src": source, "dst": dst, "type": kind, "label": label})
        with self._gate.transaction("relate") as tx:
            if kind == "consolidated_from" and not self._gate.is_person:
                replaced = tx.require(Memory, dst)
                if replaced.stability != "draft" or replaced.pinned or replaced.source_type == "user":
                    raise NotAllowed(
                        f"The memory {dst} is a person's, verified or essential; only a person says that another stands"
                        " for it.",
                        "Remember what is new; the person decides about the old.",
                    )
            tx.put(relation, base=0)
            if kind == "supersedes" and not self._gate.is_person:
                self._follow_replacing(tx, tx.require(Memory, source), dst)

    def _follow_replacing(self, tx: Transaction, memory: Memory, replaced: str) -> None:
        """Add a memory to those that the proposal of a pending memory would replace."""
        self._check_own(memory)
        for proposal in self._asked(memory):
            named = [*proposal.evidence.get("replaces", ()), replaced]
            followed = msgspec.structs.replace(proposal, evidence={**proposal.evidence, "replaces": named})
            tx.put(followed, base=proposal.version)


def _is_from_outside(before: Memory, after: Memory) -> bool:
    """Tell whether a change brings in outside text. What still waits is decided about as a whole anyway."""
    brings = after.content != before.content or after.source_type != before.source_type
    return after.source_type == "external" and before.status != "pending" and brings


def _with_original_text(memory: Memory) -> Memory:
    """Return a compacted memory with its original text."""
    from memento_tui.maintenance.aging import restore_compacted  # noqa: PLC0415 - few writes need it

    return restore_compacted(memory)
