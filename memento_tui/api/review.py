"""Review proposals and contradictions: list them, preview their effects, and decide them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from memento_tui import clock
from memento_tui.api.queries import relations_of
from memento_tui.errors import AmbiguousId, MementoError, NotAllowed, NotFound
from memento_tui.model import Contradiction, Memory, Proposal, Relation, make_item, make_skip
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.moments import parse_moment
from memento_tui.policy import decisions
from memento_tui.policy.decisions import evidence_lines, suggestion_lines
from memento_tui.policy.gate import Gate, ProposalDraft
from memento_tui.policy.policy import WriteIntent, reasons_in_words
from memento_tui.policy.resolution import (
    ResolutionAnswer,
    parse_answer,
    postpone_contradiction,
    resolve_contradiction,
    with_changes,
)
from memento_tui.policy.secrets import redact_record
from memento_tui.policy.suspicion import suspicion_of
from memento_tui.storage.store import Store

__all__ = [
    "TAKES_PLACE_OF",
    "ContradictionQueue",
    "ContradictionWithSides",
    "PendingProposal",
    "ProposalQueue",
    "changes_between",
    "editable_texts",
    "proposed_record",
]


TAKES_PLACE_OF = "if you approve, it takes the place of"
"""The name of the evidence that says which memories a new one supersedes."""


class PendingProposal(msgspec.Struct, frozen=True):
    """One proposal with the record that it is about (``None`` where that does not exist)."""

    proposal: Proposal
    target: Any
    moved: bool = False
    """Whether the target changed since the proposal was made."""
    rests_on: tuple[tuple[str, str], ...] = ()
    """A name and a text for each piece of evidence."""
    relations: tuple[Relation, ...] = ()
    """The relations of a new memory, which begin to count with it."""
    sides: tuple[tuple[str, Memory], ...] = ()
    """Both memories of a contradiction that the proposal would resolve, ``older`` and ``newer``."""
    present_identity: str = ""
    """The text of the identity that one which is proposed would replace."""
    replaced: tuple[Memory, ...] = ()
    """The memories whose place a new one takes once it is let in, as its relations say."""

    @property
    def takes_place_of(self) -> str:
        """The memories whose place it takes, in words that may hold text of an agent; empty for none."""
        named = (f'"{one.headline}" ({one.id}, {one.stability})' for one in self.replaced)
        return ", ".join(named)

    @property
    def why(self) -> list[str]:
        """The reasons in words."""
        return reasons_in_words(self.proposal.reasons)


class ProposalQueue:
    """The proposals of one workspace, oldest first."""

    def __init__(self, store: Store, gate: Gate) -> None:
        self._store = store
        self._gate = gate

    def list(
        self, states: Sequence[str] = OPEN_PROPOSAL_STATES, *, after: str | None = None, limit: int = 50
    ) -> tuple[list[PendingProposal], str | None]:
        """Return proposals with their targets, and the next page's cursor; postponed ones once they are due."""
        found, following = self._store.proposals.page(states, at=clock.now(), after=after, limit=limit)
        memories = self._store.memories.get_many([p.target_id for p in found if p.target == "memory"])
        # A skip or an item may have the id of a memory.
        targets = [memories.get(p.target_id) if p.target == "memory" else self._other(p) for p in found]
        return [self._pending(p, target) for p, target in zip(found, targets, strict=True)], following

    def _pending(self, proposal: Proposal, target: Any) -> PendingProposal:  # noqa: ANN401 - any record
        moved = target is not None and decisions.has_moved(self._store, proposal, target)
        rests_on = [*evidence_lines(proposal), *suggestion_lines(proposal, self._store), *_other_evidence(proposal)]
        is_new_memory = proposal.target == "memory" and proposal.action == "create"
        relations = relations_of(self._store, proposal.target_id, "both") if is_new_memory else ()
        sides, present = self._sides(target), self._present_identity(proposal)
        replaced = self._replaced(relations, target)
        pending = PendingProposal(proposal, target, moved, (), tuple(relations), sides, present, replaced)
        if pending.takes_place_of:
            rests_on.append((TAKES_PLACE_OF, pending.takes_place_of))
        return msgspec.structs.replace(pending, rests_on=tuple(rests_on))

    def _replaced(self, relations: Sequence[Relation], target: Memory | None) -> tuple[Memory, ...]:
        if target is None:
            return ()
        names = [one.dst for one in relations if one.type == "supersedes" and one.src == target.id]
        found = self._store.memories.get_many(names) if names else {}
        return tuple(found[name] for name in names if name in found and found[name].status != "deleted")

    def _present_identity(self, proposal: Proposal) -> str:
        is_waiting = proposal.target == "crystal" and proposal.state in OPEN_PROPOSAL_STATES
        current = self._store.lists.current_crystal() if is_waiting else None
        return "" if current is None else current.content

    def _sides(self, target: Any) -> tuple[tuple[str, Memory], ...]:  # noqa: ANN401 - any record
        if not isinstance(target, Contradiction):
            return ()
        found = self._store.memories.get_many([target.older, target.newer])
        named = (("older", target.older), ("newer", target.newer))
        return tuple((role, found[memory_id]) for role, memory_id in named if memory_id in found)

    def _other(self, proposal: Proposal) -> Any:  # noqa: ANN401 - any record
        return self._store.find_named(proposal.target, proposal.target_id)

    def count(self) -> int:
        """Return how many proposals wait now."""
        return self._store.proposals.count(OPEN_PROPOSAL_STATES, at=clock.now())

    def get(self, proposal_id: str) -> PendingProposal:
        """Return a proposal by its id or a unique beginning of it, else by that of the record it is about.

        A record whose id is the beginning of a proposal's never takes the decision that is meant for the proposal.

        Raises:
            NotFound, AmbiguousId: none, or several, match.

        """
        try:
            found = self._store.get(Proposal, self._store.resolve("proposal", proposal_id))
        except AmbiguousId:
            raise
        except NotFound:
            about = self._about(proposal_id)
            if about is None:
                raise
            found = about
        return self._pending(found, self._store.find_named(found.target, found.target_id))

    def about(self, record_id: str, record: str = "memory") -> Sequence[Proposal]:
        """Return the proposals about one record of a kind, in any state, newest first."""
        return self._store.proposals.about(record_id, record)

    def made_by(
        self, agent: str, states: Sequence[str], *, after: str | None = None, limit: int = 50
    ) -> tuple[Sequence[PendingProposal], str | None]:
        """Return the proposals of one agent in these states, with their targets, and the next page's cursor.

        What was decided last comes first; of what waits, the newest. Raises `NotFound` where ``after`` is no proposal.
        """
        if after is not None:
            self._store.get(Proposal, after)
        found, following = self._store.proposals.of(agent, states, after=after, limit=limit)
        memories = self._store.memories.get_many([p.target_id for p in found if p.target == "memory"])
        # A skip or an item may have the id of a memory.
        targets = [memories.get(p.target_id) if p.target == "memory" else self._other(p) for p in found]
        return [self._pending(p, target) for p, target in zip(found, targets, strict=True)], following

    def consolidated_sources(self) -> Sequence[frozenset[str]]:
        """Return the sets of memories that consolidations were proposed from, whatever became of them."""
        return self._store.proposals.sources_used("consolidation")

    def open_about(self, memory_id: str) -> PendingProposal:
        """Return the newest open proposal about a memory, by the memory's whole id. Raises `NotFound`."""
        found = next((p for p in self._store.proposals.about(memory_id) if p.state in OPEN_PROPOSAL_STATES), None)
        if found is None:
            raise NotFound(f"The memory {memory_id} does not wait for a decision.", "Look at it again.")
        return self._pending(found, self._store.find(Memory, memory_id))

    def _about(self, given: str) -> Proposal | None:
        """Return the one open proposal about a record, given by its id or a unique beginning of it.

        Raises `AmbiguousId` for several: an agent may have added one since the person looked.
        """
        found = self._store.proposals.open_about(given) if given else []
        targets = {given} & {proposal.target_id for proposal in found} or {proposal.target_id for proposal in found}
        if len(targets) > 1:
            raise AmbiguousId(given, sorted(targets))
        about = [proposal for proposal in found if proposal.target_id in targets]
        if len(about) > 1:
            raise AmbiguousId(given, [proposal.id for proposal in about], waiting=True)
        return about[0] if about else None

    def why(self, memory_id: str) -> Sequence[str]:
        """Return in words why a memory waits; nothing where no proposal about it does."""
        waiting = (p for p in self._store.proposals.about(memory_id) if p.state in OPEN_PROPOSAL_STATES)
        return reasons_in_words(code for proposal in waiting for code in proposal.reasons)

    def approve(
        self,
        proposal_id: str,
        *,
        seen: int | None = None,
        despite: str = "",
        **changes: Any,  # noqa: ANN401 - fields
    ) -> Proposal:
        """Carry a proposal out, with the person's own ``changes``; ``seen`` is the version that the person saw.

        ``despite`` is the risk that they were told of and accept: one of `memento_tui.model.review.RISKY_KINDS`.

        Raises:
        NotAllowed: an agent asks, or it was decided already.
        RiskNotAccepted: it could do harm, and ``despite`` names another risk or none.
        Conflict: it or its target changed since.
        InvalidField: a change breaks a rule.

        """
        found = self.get(proposal_id).proposal.id
        return decisions.approve_proposal(self._store, self._gate, found, changes=changes, seen=seen, despite=despite)

    def reject(self, proposal_id: str, reason: str = "", *, seen: int | None = None) -> Proposal:
        """Turn a proposal down. The agent can read the reason. Raises like `approve`."""
        found = self.get(proposal_id).proposal.id
        return decisions.reject_proposal(self._gate, found, reason, seen=seen)

    def later(self, proposal_id: str, until: str | None = None, *, seen: int | None = None) -> Proposal:
        """Put a proposal off until a moment (``7d`` by default). Raises like `approve`."""
        found = self.get(proposal_id).proposal.id
        moment = parse_moment(until or "7d", "until")
        return decisions.postpone_proposal(self._gate, found, moment, seen=seen)


_WORDED_EVIDENCE = frozenset(
    (
        "about",
        "burst",
        "code",
        "commit",
        "draft",
        "ends",
        "hits",
        "hub",
        "joined",
        "last_hit",
        "like",
        "like_rejected",
        "likeness",
        "lines",
        "other",
        "other_version",
        "parent",
        "passages",
        "quote",
        "refused",
        "removed",
        "replaces",
        "repository",
        "session",
        "sessions",
        "sources",
        "suspicion",
        "transcript",
        "why",
    )
)
"""The names in a proposal's evidence that have lines of their own, or stand in the record or its relations."""


def _other_evidence(proposal: Proposal) -> list[tuple[str, str]]:
    """Return a name and a text for the evidence that nothing words, so that none is left unseen."""
    return [
        (name.replace("_", " "), value if isinstance(value, str) else msgspec.json.encode(value).decode())
        for name, value in proposal.evidence.items()
        if name not in _WORDED_EVIDENCE and value not in (None, "", [], {})
    ]


class ContradictionWithSides(msgspec.Struct, frozen=True):
    """A contradiction with both its sides (``None`` for one that is gone)."""

    contradiction: Contradiction
    older: Memory | None
    newer: Memory | None


class ContradictionQueue:
    """The contradictions of one workspace, surest first."""

    def __init__(self, store: Store, gate: Gate) -> None:
        self._store = store
        self._gate = gate

    def list(
        self, *, resolved: bool = False, after: str | None = None, limit: int = 50
    ) -> tuple[list[ContradictionWithSides], str | None]:
        """Return contradictions with both sides, and the next page's cursor; postponed ones once they are due."""
        found, following = self._store.contradictions.page(at=clock.now(), resolved=resolved, after=after, limit=limit)
        return list(self._with_sides(found)), following

    def count(self) -> int:
        """Return how many wait for a person now."""
        return self._store.contradictions.count(at=clock.now())

    def get(self, contradiction_id: str) -> ContradictionWithSides:
        """Return a contradiction by its id or a unique beginning of it. Raises `NotFound` or `AmbiguousId`."""
        found = self._store.get(Contradiction, self._store.resolve("contradiction", contradiction_id))
        return self._with_sides([found])[0]

    def around(self, ids: Sequence[str]) -> Sequence[ContradictionWithSides]:
        """Return the unresolved contradictions that have one of the memories as a side, surest first."""
        return self._with_sides(self._store.contradictions.around(ids)) if ids else []

    def kept_both(self, ids: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Return the pairs of some memories that the person let stand side by side, each with its condition."""
        return self._store.contradictions.kept_both(ids) if ids else []

    def _with_sides(self, found: Sequence[Contradiction]) -> Sequence[ContradictionWithSides]:
        sides = self._store.memories.get_many([side for one in found for side in (one.older, one.newer)])
        return [ContradictionWithSides(one, sides.get(one.older), sides.get(one.newer)) for one in found]

    def resolve(
        self,
        contradiction_id: str,
        resolution: str,
        *,
        seen: int | None = None,
        **details: str,
    ) -> Contradiction | Proposal:
        """Resolve a contradiction; an agent's answer becomes a proposal.

        ``details`` are ``older_context`` and ``newer_context`` for ``both_valid``, and ``content`` for ``merged``.

        Raises:
            NotFound, AmbiguousId: no contradiction, or several, have that id.
            NotAllowed: it is resolved already.
            InvalidField: the resolution does not exist, or lacks what it needs.
            Conflict: it changed since, or one of its memories is not recalled any more.

        """
        found: Contradiction = self.get(contradiction_id).contradiction
        answer = parse_answer({"resolution": resolution, **details})
        if self._gate.is_person:
            return resolve_contradiction(self._store, self._gate, found.id, answer, seen=seen)
        return self._propose(found, answer)

    def _propose(self, found: Contradiction, answer: ResolutionAnswer) -> Proposal:
        if found.status == "resolved":
            raise NotAllowed(f"The contradiction {found.id} is resolved already.", "Remember what is new instead.")
        clean, removals = redact_record(answer)
        suspicion = suspicion_of(f"{clean.content}\n{clean.older_context}\n{clean.newer_context}")
        intent = WriteIntent("edit", "contradiction", injection_score=suspicion.score, secret_found=bool(removals))
        verdict = self._gate.judge(intent)
        payload: dict[str, Any] = {k: v for k, v in msgspec.structs.asdict(clean).items() if v}
        evidence = {
            "about": [found.older, found.newer],
            "removed": msgspec.to_builtins(removals),
            "suspicion": [{"rule": sign.rule, "quote": sign.quote} for sign in suspicion.signs],
        }
        with self._gate.transaction("suggest") as tx:
            mine = self._gate.own_waiting(found, payload)
            return self._gate.propose(tx, ProposalDraft("edit", found, payload, evidence, instead=mine), verdict)

    def later(self, contradiction_id: str, until: str | None = None, *, seen: int | None = None) -> Contradiction:
        """Put a contradiction off until a moment (``7d`` by default). Raises like `resolve`."""
        found = self.get(contradiction_id).contradiction.id
        moment = parse_moment(until or "7d", "until")
        return postpone_contradiction(self._gate, found, moment, seen=seen)


_EDITABLE_FIELDS = {
    "memory": ("title", "tags", "content"),
    "crystal": ("content",),
    "skip": ("item", "reason", "expires_at"),
    "item": ("title", "category", "status", "priority", "next_action", "tags", "content"),
}


def proposed_record(pending: PendingProposal) -> Any:  # noqa: ANN401 - a memory, skip, working item or crystal
    """Return the record as it would be, or ``None`` where nothing would be left or it cannot be made."""
    target, proposal = pending.target, pending.proposal
    if proposal.action == "delete":
        return None
    try:
        if isinstance(target, Memory):
            return with_changes(target, proposal.payload, target.updated_at) if proposal.action != "create" else target
        if proposal.target in ("skip", "item"):
            before = {} if target is None else {name: getattr(target, name) for name in target.__struct_fields__}
            fields = {**before, **proposal.payload, "id": proposal.target_id}
            return make_skip(fields, stored=True) if proposal.target == "skip" else make_item(fields)
    except MementoError:
        return None
    return target if proposal.target == "crystal" else None


def editable_texts(pending: PendingProposal) -> dict[str, str]:
    """Return the texts of a proposal that a person may change, by name; empty where there are none."""
    if pending.proposal.target == "contradiction":
        content = pending.proposal.payload.get("content")
        return {"content": str(content)} if content else {}
    after = proposed_record(pending)
    if after is None:
        return {}
    return {name: _field_text(getattr(after, name)) for name in _EDITABLE_FIELDS[pending.proposal.target]}


def _field_text(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def changes_between(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields whose texts differ, as values of a record; the record's own rules check them later."""
    changes: dict[str, Any] = {name: text for name, text in after.items() if text != before.get(name)}
    for name, text in changes.items():
        if name == "tags":
            changes[name] = [tag.strip().lstrip("#") for tag in text.split(",") if tag.strip(" #")]
        elif name == "priority":
            changes[name] = _parse_number(text)
        elif name != "content":
            changes[name] = text.strip()
    return changes


def _parse_number(text: str) -> object:
    try:
        return int(text)
    except ValueError:
        return text
