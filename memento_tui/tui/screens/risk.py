"""Ask once more before something is approved that could do harm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from memento_tui.tui.display import literal
from memento_tui.tui.screens.dialogs import Confirm

if TYPE_CHECKING:
    from memento_tui.tui.section import Section

__all__ = ["accepted_risk"]

_QUESTIONS = {
    "orders": "Approve a text that reads like orders for a model?",
    "secret": "Approve what a secret was taken out of?",
    "quarantined": "Approve what a quarantined session wrote?",
    "burst": "Approve one of many writes of one session?",
}
_EVIDENCE_SHOWN = 3


async def accepted_risk(section: Section, item_id: str) -> str | None:
    """Return the risk at which the person approves an item of the queue, empty for none; ``None`` if they do not.

    Nobody is asked where it is no risk. Must be awaited in a worker.
    """
    workspace = section.memento.workspace
    risk = next((row.risk for row in workspace.inbox.rows([item_id])), "")
    if not risk:
        return ""
    found = workspace.review.get(item_id)
    lines = [f"{name}: {text}" for name, text in found.rests_on][:_EVIDENCE_SHOWN]
    evidence = literal("\n".join(lines), "$text-error", multiline=True)
    detail = Content("Agents would be told it with your approval.\n\n") + evidence
    is_sure = await section.app.push_screen_wait(Confirm(literal(_QUESTIONS[risk], "bold"), detail))
    return risk if is_sure else None
