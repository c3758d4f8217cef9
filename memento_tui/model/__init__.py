"""The records that memento keeps: their fields and rules. Nothing here reads or writes a file."""

from __future__ import annotations

from memento_tui.model.lists import Crystal, Skip, WorkingItem, make_crystal, make_item, make_skip
from memento_tui.model.memory import (
    Exposure,
    Memory,
    Relation,
    Source,
    check_memory,
    make_exposure,
    make_memory,
    make_relation,
)
from memento_tui.model.review import Contradiction, Proposal, make_contradiction, make_proposal

__all__ = [
    "AnyRecord",
    "Contradiction",
    "Crystal",
    "Exposure",
    "Memory",
    "Proposal",
    "Relation",
    "Skip",
    "Source",
    "WorkingItem",
    "check_memory",
    "make_contradiction",
    "make_crystal",
    "make_exposure",
    "make_item",
    "make_memory",
    "make_proposal",
    "make_relation",
    "make_skip",
]

AnyRecord = Memory | Relation | Skip | WorkingItem | Crystal | Contradiction | Proposal
"""Every record that the journal keeps the versions of."""
