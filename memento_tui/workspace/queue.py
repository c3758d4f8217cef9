"""The review queue: what waits for a person, and the person's decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from memento_tui import clock
from memento_tui.errors import AmbiguousId, NotFound
from memento_tui.records import Proposal
from memento_tui.records.proposal import OPEN_STATES, TARGETS
from memento_tui.records.when import parse_moment
from memento_tui.review import decisions
from memento_tui.review.evidence import evidence_lines, suggestion_lines
from memento_tui.review.policy import reasons_in_words
from memento_tui.store.journal import Author
from memento_tui.store.store import Store

__all__ = ["Pending", "ReviewQueue"]


class Pending(msgspec.Struct, frozen=True):
    """One proposal with the record that it is about (``None`` where that does not exist)."""

    proposal: Proposal
    target: Any
    moved: bool = False
    """Whether the target says something else than when the proposal was made."""
    rests_on: tuple[tuple[str, str], ...] = ()
    """A name and a text for each thing that the decision rests on."""

    @property
    def why(self) -> list[str]:
        """The reasons in words."""
        return reasons_in_words(self.proposal.reasons)


class ReviewQueue:
    """The proposals of one workspace, oldest first."""

    def __init__(self, store: Store, author: Author) -> None:
        self._store = store
        self._author = author

    def list(
        self, states: Sequence[str] = OPEN_STATES, *, after: str | None = None, limit: int = 50
    ) -> tuple[list[Pending], str | None]:
        """Return proposals with their targets, and the next page's cursor; those put off return in time."""
        found, following = self._store.proposals.page(states, at=clock.now(), after=after, limit=limit)
        memories = self._store.memories([p.target_id for p in found if p.target == "memory"])
        return [self._pending(p, memories.get(p.target_id) or self._other(p)) for p in found], following

    def _pending(self, proposal: Proposal, target: Any) -> Pending:  # noqa: ANN401 - any record
        moved = target is not None and decisions.has_moved(self._store, proposal, target)
        rests_on = (*evidence_lines(proposal), *suggestion_lines(proposal, self._store))
        return Pending(proposal, target, moved, rests_on)

    def _other(self, proposal: Proposal) -> Any:  # noqa: ANN401 - any record
        return None if proposal.target == "memory" else self._store.find(proposal.target, proposal.target_id)

    def count(self) -> int:
        """Return how many proposals wait now."""
        return self._store.proposals.count(OPEN_STATES, at=clock.now())

    def get(self, proposal_id: str) -> Pending:
        """Return a proposal by its id, a unique beginning of it, or the id of the memory it is about.

        Raises:
            NotFound, AmbiguousId: none, or several, match.

        """
        found = self._store.find("proposal", proposal_id)
        if found is None:
            # A memory that is named like the beginning of a proposal's id must not take the decision meant for that.
            found = self._about(proposal_id) or self._by_prefix(proposal_id)
        return self._pending(found, self._store.find(found.target, found.target_id))

    def about(self, memory_id: str) -> Pending:
        """Return the newest open proposal about a memory, by the memory's whole id. Raises `NotFound`."""
        found = next((p for p in self._store.proposals.about(memory_id) if p.state in OPEN_STATES), None)
        if found is None:
            raise NotFound(f"The memory {memory_id} does not wait for a decision.", "Look at it again.")
        return self._pending(found, self._store.find("memory", memory_id))

    def _about(self, record_id: str) -> Proposal | None:
        """Return the newest open proposal about a record."""
        every = (p for record in TARGETS for p in self._store.proposals.about(record_id, record))
        return next((proposal for proposal in every if proposal.state in OPEN_STATES), None)

    def _by_prefix(self, prefix: str) -> Proposal:
        try:
            found: Proposal = self._store.get("proposal", self._store.resolve("proposal", prefix))
        except AmbiguousId:
            raise
        except NotFound:
            # It may be the beginning of the id of a memory that a proposal is about.
            try:
                about = self._about(self._store.resolve("memory", prefix))
            except NotFound:
                about = None
            if about is None:
                raise
            return about
        return found

    def why(self, memory_id: str) -> Sequence[str]:
        """Return in words why a memory waits; nothing where no proposal about it does."""
        waiting = (p for p in self._store.proposals.about(memory_id) if p.state in OPEN_STATES)
        return reasons_in_words(code for proposal in waiting for code in proposal.reasons)

    def approve(
        self,
        proposal_id: str,
        *,
        seen: int | None = None,
        **changes: Any,  # noqa: ANN401 - fields
    ) -> Proposal:
        """Carry a proposal out, with ``changes`` of the person's own on top; ``seen`` is the version looked at.

        Raises:
        NotAllowed: an agent asks, or it was decided already.
        Conflict: it or its target changed since.
        InvalidField: a change breaks a rule.

        """
        found = self.get(proposal_id).proposal.id
        return decisions.approve(self._store, self._author, found, changes=changes, seen=seen)

    def reject(self, proposal_id: str, reason: str = "", *, seen: int | None = None) -> Proposal:
        """Turn a proposal down. The agent can read the reason. Raises like `approve`."""
        found = self.get(proposal_id).proposal.id
        return decisions.reject(self._store, self._author, found, reason, seen=seen)

    def later(self, proposal_id: str, until: str | None = None, *, seen: int | None = None) -> Proposal:
        """Put a proposal off until a moment (``7d`` by default). Raises like `approve`."""
        found = self.get(proposal_id).proposal.id
        moment = parse_moment(until or "7d", "until")
        return decisions.postpone(self._store, self._author, found, moment, seen=seen)
