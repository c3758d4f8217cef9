"""What can be remembered: the records, their fields and their rules. Nothing here reads or writes anything."""

from __future__ import annotations

from memento_tui.records.contradiction import Contradiction, make_contradiction
from memento_tui.records.crystal import Crystal, make_crystal
from memento_tui.records.injection import Injection, make_injection
from memento_tui.records.item import WorkingItem, make_item
from memento_tui.records.memory import Memory, Source, check_memory, make_memory
from memento_tui.records.proposal import Proposal, make_proposal
from memento_tui.records.relation import Relation, make_relation
from memento_tui.records.skip import Skip, make_skip

__all__ = [
    "Contradiction",
    "Crystal",
    "Injection",
    "Memory",
    "Proposal",
    "Relation",
    "Skip",
    "Source",
    "WorkingItem",
    "check_memory",
    "make_contradiction",
    "make_crystal",
    "make_injection",
    "make_item",
    "make_memory",
    "make_proposal",
    "make_relation",
    "make_skip",
]
