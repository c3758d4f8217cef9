"""The identity through time: every crystal in order, what each changed, and the proposals among them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memento_tui.errors import NotFound
from memento_tui.model import Crystal, Proposal
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.storage.store import Store
from memento_tui.text.diff import unified_diff

__all__ = [
    "CrystalChange",
    "all_crystals",
    "compare_crystals",
    "crystal_before",
    "find_crystal",
    "open_proposal",
    "writer_of",
]


class CrystalChange(msgspec.Struct, frozen=True):
    """What leads from one crystal to another."""

    before: Crystal | None
    """``None`` where the other is the first of all: everything in it is new."""
    after: Crystal

    @property
    def unified(self) -> str:
        """The difference as a unified diff; empty where both say the same."""
        head = f"--- {self.before.id if self.before else '/dev/null'}\n+++ {self.after.id}"
        if self.before is None:
            lines = self.after.content.split("\n")
            return "\n".join([head, f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)])
        changed = unified_diff(self.before.content, self.after.content)
        return f"{head}\n{changed}" if changed else ""


def all_crystals(store: Store) -> list[Crystal]:
    """Return every crystal, newest first, those that are proposed or were rejected among them."""
    # Sorting keeps the order of writing among those of one moment.
    return sorted(store.all_of("crystal"), key=lambda crystal: crystal.created_at)[::-1]


def crystal_before(crystal: Crystal, history: Sequence[Crystal]) -> Crystal | None:
    """Return the crystal that one came after, ``None`` where there was none.

    For one that is proposed that is the current one, because approving would replace it; for any other its parent, or
    where that is not known the latest before it that held. ``history`` is what `timeline` returned.
    """
    if crystal.status == "proposed":
        return next((other for other in history if other.status == "current"), None)
    parent = next((other for other in history if other.id == crystal.parent), None)
    if parent is not None:
        return parent
    places = [place for place, other in enumerate(history) if other.id == crystal.id]
    older = history[places[0] + 1 :] if places else ()
    return next((other for other in older if other.status in ("current", "past")), None)


def find_crystal(store: Store, crystal_id: str) -> Crystal:
    """Return a crystal by its id or a unique beginning of it. Raises `NotFound` or `AmbiguousId`."""
    found: Crystal = store.get("crystal", store.resolve("crystal", crystal_id))
    return found


def compare_crystals(store: Store, one: str, other: str | None = None) -> CrystalChange:
    """Return what leads from a crystal to another; with ``one`` alone what led to it from the one before.

    Raises:
        NotFound, AmbiguousId: no crystal, or several, have one of the ids.

    """
    first = find_crystal(store, one)
    if other is not None:
        return CrystalChange(first, find_crystal(store, other))
    return CrystalChange(crystal_before(first, all_crystals(store)), first)


def open_proposal(store: Store, crystal_id: str) -> Proposal:
    """Return the proposal through which a crystal waits for a person. Raises `NotFound` if none does."""
    waiting = (p for p in store.proposals.about(crystal_id, "crystal") if p.state in OPEN_PROPOSAL_STATES)
    found = next(waiting, None)
    if found is None:
        raise NotFound("This identity does not wait for a decision.", "Those that do are marked with ~.")
    return found


def writer_of(crystal: Crystal) -> str:
    """Return who wrote a crystal: ``you``, or the agent by its name. The name is as the agent gave it."""
    return "you" if crystal.author == "person" else crystal.author or "unknown"
