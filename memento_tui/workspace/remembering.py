"""Storing new memories: screened, compared with what is known, judged, and let in or held back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from memento_tui.errors import Conflict, NotAllowed
from memento_tui.records import Memory, make_memory
from memento_tui.records.ids import new_id
from memento_tui.records.memory import RECALLED, RESERVED_EXTRA, content_digest
from memento_tui.review.gate import Gate, Screened, creation_fingerprint
from memento_tui.review.policy import AGENT_FIELDS, Intent, Verdict
from memento_tui.review.trusting import verified
from memento_tui.store.store import Store
from memento_tui.store.transaction import Transaction
from memento_tui.workspace.searching import Searching

__all__ = ["Remembering", "check_agent_fields"]

_BATCH = 2000
"""Memories in one transaction of a bulk write: other writers wait for tens of milliseconds at most."""

_COMPARED = 5
"""How many of the memories that share most words are compared with a new one."""


class _Arrival(msgspec.Struct, frozen=True):
    """A new memory as it may be stored, and what the gate says of it."""

    memory: Memory
    verdict: Verdict
    evidence: Mapping[str, Any]
    near: Memory | None = None
    """A memory that says nearly the same."""
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


class Remembering:
    """The way in for new memories, in the name of the gate's author."""

    def __init__(self, store: Store, gate: Gate, searching: Searching) -> None:
        self._store = store
        self._gate = gate
        self._searching = searching

    def one(self, text: str, fields: Mapping[str, Any], make_id: Callable[[], str] | None = None) -> Memory:
        """Store one memory; see `memento_tui.workspace.Workspace.remember`."""
        is_named = "id" in fields
        screened, memory = self._new(text, fields if is_named or make_id is None else {**fields, "id": make_id()})
        known = None if is_named else self._known(memory)
        if (answer := known or self._rejected(memory)) is not None:
            return answer
        arrival = self._compared(self._judged(screened, memory))
        with self._store.transaction(self._gate.author, "remember") as tx:
            # Another process may have stored it meanwhile.
            known = None if is_named else self._known(memory)
            if (answer := known or self._rejected(memory)) is not None:
                return answer
            return self._put(tx, arrival)

    def many(self, items: Iterable[Mapping[str, Any]]) -> list[Memory]:
        """Store many memories in few transactions; see `memento_tui.workspace.Workspace.remember_many`."""
        made: list[Memory] = []
        name, source = new_id(), iter(items)
        while part := list(islice(source, _BATCH)):
            made += self._put_batch(part, name)
        return made

    def _put_batch(self, items: Sequence[Mapping[str, Any]], name: str) -> list[Memory]:
        batch = [self._arriving(dict(item)) for item in items]
        with self._store.transaction(self._gate.author, "remember", batch=name) as tx:
            known = self._known_among(batch)
            fresh: dict[str, _Arrival] = {}
            answers: list[Memory | str] = []
            for arrival, has_id in batch:
                memory = arrival.memory
                place = (memory.namespace, content_digest(memory.content))
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

    def _arriving(self, fields: dict[str, Any]) -> tuple[_Arrival, bool]:
        screened, memory = self._new(fields.pop("content", fields.pop("text", "")), fields)
        return self._judged(screened, memory), "id" in fields

    def _known_among(self, batch: Sequence[tuple[_Arrival, bool]]) -> dict[tuple[str, bytes], Memory | str]:
        """Return what says the same as one of a batch already, by namespace and digest."""
        digests = [content_digest(arrival.memory.content) for arrival, has_id in batch if not has_id]
        found = self._store.all_twins(digests)
        return {(twin.namespace, content_digest(twin.content)): twin for twin in reversed(found)}

    def _put_fresh(self, tx: Transaction, fresh: Mapping[str, _Arrival]) -> dict[str, Memory]:
        drafts = [arrival.memory for arrival in fresh.values() if arrival.verdict.answer != "propose"]
        written = {memory.id: memory for memory in (tx.add_all(drafts) if drafts else [])}
        for name, arrival in fresh.items():
            if arrival.verdict.answer == "propose":
                written[name] = self._put(tx, arrival)
        return written

    def _new(self, text: str, fields: Mapping[str, Any]) -> tuple[Screened, Memory]:
        check_agent_fields(self._gate, fields)
        author = self._gate.author
        values = {"source_type": "user" if self._gate.is_person else "derived", **fields, "content": text}
        if not self._gate.is_person and "source" not in values:
            values["source"] = {"agent": author.agent, "session": author.session}
        memory = make_memory(values)
        if self._gate.is_person and memory.stability != "draft" and memory.verified_at is None:
            memory = verified(memory, author, memory.created_at)
        screened = self._gate.screen(memory)
        return screened, screened.record

    def _judged(self, screened: Screened, memory: Memory) -> _Arrival:
        intent = Intent(
            "create",
            by_person=self._gate.is_person,
            external=memory.source_type == "external",
            injection_score=screened.injection_score,
            secret_found=screened.secret_found,
        )
        verdict = self._gate.judge(intent)
        if memory.status == "pending" and verdict.answer != "propose":
            verdict = Verdict("propose", ("asked_to_wait",))
        return _Arrival(memory, verdict, screened.evidence)

    def _known(self, memory: Memory) -> Memory | None:
        twins = self._store.twins(content_digest(memory.content))
        return next((twin for twin in twins if twin.namespace == memory.namespace), None)

    def _rejected(self, memory: Memory) -> Memory | None:
        """Return the memory that a person rejected and that said the same, where that silences the author."""
        before = self._gate.refused_before(creation_fingerprint(memory))
        found: Memory | None = None if before is None else self._store.find("memory", before.target_id)
        # It may have been deleted since; what the person said of it holds.
        return None if found is None else msgspec.structs.replace(found, status="rejected")

    def _compared(self, arrival: _Arrival) -> _Arrival:
        """Look for what says nearly the same, and measure how new the memory is."""
        from memento_tui.upkeep.duplicates import alike, is_near_duplicate  # noqa: PLC0415 - the index comes along

        nearby = self._searching.keyword.alike(arrival.memory.content, _COMPARED)
        if nearby is None:
            return arrival
        candidates = self._store.memories([*nearby.found, *nearby.lagging])
        scored = [
            (alike(other, arrival.memory), other)
            for other in candidates.values()
            if other.status in (*RECALLED, "pending")
        ]
        best, other = max(scored, key=lambda pair: pair[0], default=(0.0, None))
        memory = msgspec.structs.replace(arrival.memory, surprise=round(1.0 - best, 3))
        is_near = other is not None and other.status in RECALLED and is_near_duplicate(other, memory, best)
        return msgspec.structs.replace(arrival, memory=memory, near=other if is_near else None, likeness=best)

    def _put(self, tx: Transaction, arrival: _Arrival) -> Memory:
        evidence = dict(arrival.evidence)
        waits = arrival.verdict.answer == "propose"
        if waits and arrival.near is not None:
            evidence["like"] = {"id": arrival.near.id, "likeness": round(arrival.likeness, 3)}
        stored = self._gate.admit(tx, arrival.memory, arrival.verdict, evidence)
        if not waits and arrival.near is not None:
            from memento_tui.upkeep.merging import propose_merge  # noqa: PLC0415 - as above

            propose_merge(tx, self._gate, arrival.near, stored, arrival.likeness)
        return stored
