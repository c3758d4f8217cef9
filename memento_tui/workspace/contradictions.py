"""Contradictions as a person decides about them, and as an agent may suggest an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from memento_tui import clock
from memento_tui.errors import NotAllowed
from memento_tui.records import Contradiction, Memory, Proposal
from memento_tui.records.when import parse_moment
from memento_tui.review import resolving
from memento_tui.review.gate import Gate
from memento_tui.review.injection import suspicion_of
from memento_tui.review.policy import Intent
from memento_tui.review.secrets import redacted
from memento_tui.store.store import Store

__all__ = ["ContradictionQueue", "Dispute"]


class Dispute(msgspec.Struct, frozen=True):
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
    ) -> tuple[list[Dispute], str | None]:
        """Return contradictions with both sides, and the next page's cursor; those put off return in time."""
        found, following = self._store.contradictions.page(at=clock.now(), resolved=resolved, after=after, limit=limit)
        return list(self._disputes(found)), following

    def count(self) -> int:
        """Return how many wait for a person now."""
        return self._store.contradictions.count(at=clock.now())

    def get(self, contradiction_id: str) -> Dispute:
        """Return a contradiction by its id or a unique beginning of it. Raises `NotFound` or `AmbiguousId`."""
        found = self._store.get("contradiction", self._store.resolve("contradiction", contradiction_id))
        return self._disputes([found])[0]

    def around(self, ids: Sequence[str]) -> Sequence[Dispute]:
        """Return the unresolved contradictions that have one of the memories as a side, surest first."""
        return self._disputes(self._store.contradictions.around(ids)) if ids else []

    def _disputes(self, found: Sequence[Contradiction]) -> Sequence[Dispute]:
        sides = self._store.memories([side for one in found for side in (one.older, one.newer)])
        return [Dispute(one, sides.get(one.older), sides.get(one.newer)) for one in found]

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
        answer = resolving.answer_of({"resolution": resolution, **details})
        if self._gate.is_person:
            return resolving.resolve(self._store, self._gate.author, found.id, answer, seen=seen)
        return self._propose(found, answer)

    def _propose(self, found: Contradiction, answer: resolving.Answer) -> Proposal:
        if found.status == "resolved":
            raise NotAllowed(f"The contradiction {found.id} is resolved already.", "Remember what is new instead.")
        clean, removals = redacted(answer)
        suspicion = suspicion_of(f"{clean.content}\n{clean.older_context}\n{clean.newer_context}")
        intent = Intent("edit", "contradiction", injection_score=suspicion.score, secret_found=bool(removals))
        verdict = self._gate.judge(intent)
        payload: dict[str, Any] = {k: v for k, v in msgspec.structs.asdict(clean).items() if v}
        evidence = {
            "about": [found.older, found.newer],
            "removed": msgspec.to_builtins(removals),
            "suspicion": [{"rule": sign.rule, "quote": sign.quote} for sign in suspicion.signs],
        }
        with self._store.transaction(self._gate.author, "suggest") as tx:
            return self._gate.propose(
                tx, "edit", "contradiction", found.id, found.version, verdict, payload=payload, evidence=evidence
            )

    def later(self, contradiction_id: str, until: str | None = None, *, seen: int | None = None) -> Contradiction:
        """Put a contradiction off until a moment (``7d`` by default). Raises like `resolve`."""
        found = self.get(contradiction_id).contradiction.id
        moment = parse_moment(until or "7d", "until")
        return resolving.postpone(self._store, self._gate.author, found, moment, seen=seen)
