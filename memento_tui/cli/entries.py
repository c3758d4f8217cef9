"""What the commands of the short lists share: how an entry is told, and how several are removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from memento_tui.cli.outcomes import for_each
from memento_tui.cli.output import emit, safe
from memento_tui.records import Proposal, Skip, WorkingItem
from memento_tui.store.tables import as_plain

if TYPE_CHECKING:
    from memento_tui.workspace.lists import Items, Skips

__all__ = ["listed", "plain_entry", "remove_each", "said_entry"]


def plain_entry(entry: Skip | WorkingItem | Proposal, outcome: str) -> dict[str, Any]:
    """Return an entry of a short list as JSON tells it, or the proposal that it became."""
    if isinstance(entry, Proposal):
        return {"id": entry.target_id, "outcome": "proposed", "proposal": as_plain(entry)}
    return {**as_plain(entry), "outcome": outcome}


def said_entry(entry: Skip | WorkingItem | Proposal, outcome: str) -> str:
    """Return in words what became of an entry of a short list."""
    if isinstance(entry, Proposal):
        return safe(f"{entry.target_id}  waits for review: memento review show {entry.id}")
    return safe(f"{entry.id}  {outcome}")


def listed(found: Sequence[Skip | WorkingItem], text: Callable[[], str]) -> None:
    """Print a whole list."""
    emit(lambda: {"items": [as_plain(entry) for entry in found], "next": None}, text)


def remove_each(entries: Items | Skips, ids: Sequence[str]) -> None:
    """Remove entries of a list, and tell what became of each."""

    def remove(given: str) -> dict[str, Any]:
        found = entries.get(given).id
        proposal = entries.remove(found)
        return {"id": found, "status": "removed" if proposal is None else "proposed"}

    for_each(ids, remove, lambda outcome: f"{outcome['id']}  {outcome['status']}")
