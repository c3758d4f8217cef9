"""What a proposal rests on, in words for the person who decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memento_tui.records import Proposal
from memento_tui.store.store import Store

__all__ = ["deed_of", "evidence_lines", "suggestion_lines"]

_METHODS = {
    "extractive": "whole sentences of the sources, taken as they are",
    "model": "written by the language model, every number and name checked against the sources",
}


_DEEDS = {
    "near_duplicate": "merge",
    "consolidation": "gather",
    "distilled": "learned",
    "earned_trust": "trust",
    "promotion": "promote",
    "resolution": "resolve",
    "expiring_skip": "extend",
}


def deed_of(proposal: Proposal) -> str:
    """Return in one word what a proposal would do: the job that made it where there was one, else its action."""
    named = (_DEEDS[reason] for reason in proposal.reasons if reason in _DEEDS)
    return next(named, "new" if proposal.action == "create" else proposal.action)


def evidence_lines(proposal: Proposal) -> list[tuple[str, str]]:
    """Return a name and a text for each thing that the proposal rests on. The texts may hold what an agent wrote."""
    return list(_lines(proposal.evidence))


def _lines(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _screened(evidence)
    yield from _compared(evidence)
    yield from _made(evidence)


def suggestion_lines(proposal: Proposal, store: Store) -> list[tuple[str, str]]:
    """Return both sides of the contradiction that a proposal would resolve, and what would become of them."""
    found = store.find("contradiction", proposal.target_id)
    if proposal.target != "contradiction" or found is None:
        return []
    sides = store.memories([found.older, found.newer])
    lines = [("the contradiction", found.why)]
    for name, memory_id in (("older", found.older), ("newer", found.newer)):
        memory = sides.get(memory_id)
        text = "it is gone" if memory is None else f"{memory.created_at:%Y-%m-%d}, {memory.stability}: {memory.content}"
        lines.append((name, f"{memory_id}, {text}"))
    answer = str(proposal.payload.get("resolution", ""))
    return [*lines, ("if you approve", _ANSWERS.get(answer, answer))]


_ANSWERS = {
    "newer_supersedes": "the newer one is verified and takes the older one's place",
    "older_stands": "the older one is verified, and the newer one gives way to it",
    "both_valid": "both are verified, each for its own case",
    "merged": "the newer one gets the text below, and the older one gives way to it",
    "not_a_contradiction": "both stay as they are, and the pair is never raised again",
}


def _screened(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for removed in evidence.get("removed", ()):
        yield "removed", f"{removed['kind']}, from {removed['field']}, line {removed['line']}"
    for sign in evidence.get("suspicion", ()):
        yield "reads like orders", f"{sign['rule'].replace('_', ' ')}: {sign['quote']}"


def _compared(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "other" in evidence:
        yield "the other memory", f"{evidence['other']}, {_percent(evidence.get('likeness'))} alike"
    elif evidence.get("about"):
        yield "about", ", ".join(evidence["about"])
    if "like" in evidence:
        yield "much like", f"{evidence['like']['id']}, {_percent(evidence['like']['likeness'])} alike"
    if "sessions" in evidence:
        yield "of use in", f"{evidence['sessions']} sessions"


def _made(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "why" in evidence:
        yield "found because", str(evidence["why"])
    if "draft" in evidence:
        yield "the draft is", _METHODS.get(evidence["draft"], str(evidence["draft"]))
    if evidence.get("refused"):
        yield "the model's text was refused", str(evidence["refused"])
    if "hits" in evidence and "ends" in evidence:
        times = "once" if evidence["hits"] == 1 else f"{evidence['hits']:,} times"
        last = f", last on {_day(evidence['last_hit'])}" if "last_hit" in evidence else ""
        yield "it ends on", _day(evidence["ends"])
        yield "it was hit", f"{times}{last}"
    if "transcript" in evidence:
        yield "transcript", f"{evidence['transcript']}, lines {evidence.get('lines', '?')}"
        yield "it rests on", str(evidence.get("quote", ""))


def _day(moment: object) -> str:
    return str(moment)[:10]


def _percent(share: object) -> str:
    return f"{share:.0%}" if isinstance(share, (int, float)) else "nearly"
