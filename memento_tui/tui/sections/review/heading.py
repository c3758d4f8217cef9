"""What stands above the evidence: what is asked, by whom, since when, and why a person is asked."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from memento_tui import clock
from memento_tui.records import Contradiction
from memento_tui.tui.commands import COMMANDS, Keys, key_names
from memento_tui.tui.display import ago, literal
from memento_tui.tui.sections.review.focus import Focus
from memento_tui.workspace.contradictions import Dispute
from memento_tui.workspace.queue import Pending

__all__ = ["heading"]

_RECORDS = {"skip": "skip", "item": "working item", "crystal": "identity"}
_ASKED = {
    "create": "A new {}",
    "edit": "A change of a {}",
    "delete": "A deletion of a {}",
    "merge": "One {} of two near duplicates",
}
_ASKED_AS = {
    "learned": "A new {} learned from a transcript",
    "consolidation": "One new {} for several",
    "trust": "A {} that would count for more",
    "expiring": "A skip that would hold longer",
    "suggestion": "An answer to a contradiction",
    "identity": "A new identity",
}
_CLASHES = {
    "temporal": "the newer one may simply have replaced the older",
    "scoped": "each may hold in its own case",
    "genuine": "they cannot both hold",
}
_ANSWERS = (
    ("review.newer", "newer"),
    ("review.older", "older"),
    ("review.both", "both"),
    ("review.merge", "one text"),
    ("review.reject", "no clash"),
)
_WARNING = "bold $text-warning"
_SHOWN_BELOW = {"older", "newer", "the other memory", "about"}
_ALARMING = {"removed", "reads like orders"}
"""The evidence that a person should see before all else."""


def heading(focus: Focus, keys: Keys) -> Content:
    """Return the lines above the evidence."""
    item = focus.item
    lines = _of_contradiction(item.contradiction) if isinstance(item, Dispute) else _of_proposal(focus, item)
    told = list(lines)
    if focus.is_contradiction:
        told.append(_choices(focus, keys))
    return Content("\n").join(told)


def _since(focus_since: str) -> str:
    return "just now" if focus_since == "now" else f"{focus_since} ago"


def _of_contradiction(found: Contradiction) -> Iterator[Content]:
    since = _since(ago(found.created_at, clock.now()))
    yield literal(f"Two memories contradict each other, found {since}", "bold")
    yield literal(f"{(found.why or found.kind).rstrip('.')}: {_CLASHES[found.kind]} ({found.score:.0%} sure).", "dim")


def _of_proposal(focus: Focus, item: Pending) -> Iterator[Content]:
    proposal = item.proposal
    asked = _ASKED_AS.get(focus.kind, _ASKED[proposal.action]).format(_RECORDS.get(proposal.target, "memory"))
    since = _since(ago(proposal.created_at, clock.now()))
    yield literal(f"{asked} from {proposal.proposed_by or 'somebody'}, {since}", "bold")
    if item.why:
        yield literal(f"You are asked because {'; '.join(item.why)}.", "dim")
    if proposal.state == "needs_review" or item.moved:
        yield Content.styled("! What it is about changed since. This is how it stands now.", _WARNING)
    for name, text in item.rests_on:
        if name not in _SHOWN_BELOW:
            alarming = name in _ALARMING
            line = f"{'! ' if alarming else ''}{name}: {text}"
            yield literal(line, _WARNING if alarming else "", multiline=True)
    if "other" in proposal.evidence:
        likeness = proposal.evidence.get("likeness")
        share = f", {likeness:.0%} alike" if isinstance(likeness, (int, float)) else ""
        yield literal(f"the other memory: {proposal.evidence['other']}{share}")


def _choices(focus: Focus, keys: Keys) -> Content:
    known = {command.id: command for command in COMMANDS}
    parts = [(key_names(keys.of(known[name])).split()[0], what) for name, what in _ANSWERS]
    if not isinstance(focus.item, Dispute):
        approve = key_names(keys.of(known["review.approve"])).split()[0]
        parts = [(approve, "as suggested"), *parts[:4], (parts[4][0], "reject")]
    line = [Content.styled(f"{key} ", "bold $text-accent") + Content(f"{what}   ") for key, what in parts]
    return Content("").join(line)
