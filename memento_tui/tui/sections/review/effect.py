"""Say what a decision would lead to, and who was told of it lately."""

from __future__ import annotations

from collections.abc import Mapping

from textual.content import Content

from memento_tui.api.review import ContradictionWithSides, PendingProposal
from memento_tui.tui.display import literal

__all__ = ["effect_line"]

_EFFECTS = {
    ("create", "memory"): "it becomes active and verified, and agents are told it.",
    ("edit", "memory"): "the new text replaces the old one, which stays in the history.",
    ("delete", "memory"): "agents are told it no longer; it can be restored.",
    ("merge", "memory"): "one text holds, and the other memory is superseded.",
    ("create", "skip"): "agents leave it alone from then on.",
    ("create", "crystal"): "agents begin with this identity; the present one stays in the history.",
}
"""The effect of approving, by action and kind of record."""


def effect_line(
    item: PendingProposal | ContradictionWithSides, sources: int, told: Mapping[str, int]
) -> Content | None:
    """Return the line about the effect of a decision; ``None`` where it goes without saying.

    ``sources`` is how many memories it would stand for; ``told`` in how many sessions of the last week agents were told
    each memory, by its id.
    """
    if isinstance(item, ContradictionWithSides):
        found = item.contradiction
        effect = "the side that does not hold is superseded."
        spoken = f" {_sessions(told.get(found.older, 0))} told the older this week, "
        spoken += f"{_sessions(told.get(found.newer, 0)).lower()} the newer."
        return _line(effect, spoken)
    proposal = item.proposal
    effect = _EFFECTS.get((proposal.action, proposal.target), "")
    if sources and proposal.action == "create":
        effect = f"it becomes active, and stands for {sources:,} memories, which stay."
    if not effect:
        return None
    number = told.get(proposal.target_id, 0)
    return _line(effect, f" {_sessions(number)} told it this week." if proposal.action != "create" else "")


def _sessions(number: int) -> str:
    return "No session was" if not number else "1 session was" if number == 1 else f"{number:,} sessions were"


def _line(effect: str, spoken: str) -> Content:
    return Content.styled("Effect: ", "bold") + literal(f"{effect}{spoken}")
