"""What a proposal rests on, in words for the person who decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memento_tui.records import Proposal

__all__ = ["evidence_lines"]

_METHODS = {
    "extractive": "whole sentences of the sources, taken as they are",
    "model": "written by the language model, every number and name checked against the sources",
}


def evidence_lines(proposal: Proposal) -> list[tuple[str, str]]:
    """Return a name and a text for each thing that the proposal rests on. The texts may hold what an agent wrote."""
    return list(_lines(proposal.evidence))


def _lines(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _screened(evidence)
    yield from _compared(evidence)
    yield from _made(evidence)


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
    if "transcript" in evidence:
        yield "transcript", f"{evidence['transcript']}, lines {evidence.get('lines', '?')}"
        yield "it rests on", str(evidence.get("quote", ""))


def _percent(share: object) -> str:
    return f"{share:.0%}" if isinstance(share, (int, float)) else "nearly"
