"""Deciding about several things that wait, each on its own, so that one undo takes all of it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, Literal, get_args

import msgspec

from memento_tui.errors import MementoError, NotAllowed
from memento_tui.records.contradiction import RESOLUTIONS
from memento_tui.store.store import Store
from memento_tui.workspace.contradictions import ContradictionQueue
from memento_tui.workspace.queue import ReviewQueue

__all__ = ["CONTRADICTION", "Decided", "Decision", "Verb", "decide", "decide_all", "decided_name"]

Verb = Literal[
    "approve",
    "reject",
    "later",
    "newer_supersedes",
    "older_stands",
    "both_valid",
    "merged",
    "not_a_contradiction",
]
VERBS: tuple[str, ...] = get_args(Verb)

CONTRADICTION = "contradiction:"
"""What the name of a contradiction begins with, where things of the whole queue are named. A proposal's is its id."""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What a person decides about one thing that waits."""

    id: str
    """A proposal's id; for a contradiction `CONTRADICTION` and its id."""
    verb: Verb
    seen: int | None
    """The version that was looked at; one that changed since is not decided. ``None`` accepts any."""
    reason: str = ""
    """For a rejection; the agent can read it."""
    changes: dict[str, Any] = {}
    """The person's own changes before an approval, or what a resolution needs beside: contexts, or the merged text."""


class Decided(msgspec.Struct, frozen=True):
    """The outcome of one decision among several."""

    id: str
    state: str
    """The state that it has now, or ``failed``."""
    error: str = ""
    """What was wrong, and what to do next."""


def decided_name(record: str, record_id: str) -> str:
    """Return the name of a proposal or a contradiction in the whole queue."""
    return f"{CONTRADICTION}{record_id}" if record == "contradiction" else record_id


def decide_all(
    store: Store,
    review: ReviewQueue,
    contradictions: ContradictionQueue,
    decisions: Sequence[Decision],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Sequence[Decided]:
    """Decide several things; one that fails does not stop the others, and one undo takes back all that were decided.

    A rejected contradiction is none. ``progress`` is called with how many are done, and of how many.
    """
    outcomes = []
    with store.together() if len(decisions) > 1 else nullcontext():
        for number, decision in enumerate(decisions):
            if progress is not None:
                progress(number, len(decisions))
            try:
                outcomes.append(Decided(decision.id, decide(review, contradictions, decision)))
            except MementoError as error:
                outcomes.append(Decided(decision.id, "failed", str(error)))
    return outcomes


def decide(review: ReviewQueue, contradictions: ContradictionQueue, decision: Decision) -> str:
    """Carry one decision out and return the state that the thing has now.

    Raises:
        NotFound: there is no such thing.
        NotAllowed: an agent asks, it was decided already, or the decision does not fit it.
        Conflict: it or its target changed since it was looked at.
        InvalidField: a change, or what a resolution needs, breaks a rule.

    """
    if decision.id.startswith(CONTRADICTION):
        return _resolve(contradictions, decision)
    options: dict[str, Any] = {"seen": decision.seen}
    match decision.verb:
        case "approve":
            return review.approve(decision.id, **options, **decision.changes).state
        case "reject":
            return review.reject(decision.id, decision.reason, **options).state
        case "later":
            return review.later(decision.id, **options).state
        case _:
            if review.get(decision.id).proposal.target != "contradiction":
                raise NotAllowed("It is no contradiction, so there are no sides to choose.", "Approve it or reject it.")
            # An answer of the person's own takes the place of the one that was suggested.
            answer = {"resolution": decision.verb, **decision.changes}
            return review.approve(decision.id, **options, **answer).state


def _resolve(contradictions: ContradictionQueue, decision: Decision) -> str:
    found = decision.id.removeprefix(CONTRADICTION)
    if decision.verb == "approve":
        raise NotAllowed("A contradiction has no plain yes.", "Say which side holds, that both do, or that it is none.")
    if decision.verb == "later":
        return contradictions.later(found, seen=decision.seen).status
    verb = "not_a_contradiction" if decision.verb == "reject" else decision.verb
    if verb not in RESOLUTIONS:
        raise NotAllowed(f"A contradiction cannot be decided by {verb}.")
    outcome = contradictions.resolve(found, verb, seen=decision.seen, **decision.changes)
    return getattr(outcome, "resolution", "") or "proposed"
