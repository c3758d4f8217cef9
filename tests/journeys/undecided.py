"""A data directory in which something of every kind waits for a person."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.model import Contradiction, Crystal, Memory, Proposal, Relation, make_contradiction
from memento_tui.model.validation import to_plain
from memento_tui.storage.store import Store
from tests.made import edit, unguarded

__all__ = ["Picture", "picture_of", "waiting_room", "with_preset"]

_EVERYTHING_ASKS = """
[engine]
enabled = false
[review]
preset = "guarded"
[review.rules]
skip = "propose"
item = "propose"
crystal = "propose"
"""

_PARTS = (
    "The deploy of the billing service needs the VPN and a fresh token from the vault.",
    "A deploy of the search service is done from the release branch on Tuesdays.",
)
_DEPLOY = (*_PARTS, " ".join(_PARTS))


def with_preset(data_dir: Path, preset: str) -> None:
    """Let another preset rule from now on."""
    (data_dir / "config.toml").write_text(f'[engine]\nenabled = false\n[review]\npreset = "{preset}"\n')


def waiting_room(data_dir: Path) -> None:
    """Make the directory. Every proposal in it came about as it does in use."""
    data_dir.mkdir(mode=0o700)
    (data_dir / "config.toml").write_text(_EVERYTHING_ASKS)
    with (
        memento_tui.open(data_dir) as person,
        memento_tui.open(data_dir, actor="agent", channel="mcp", agent="journey", session="s1") as agent,
    ):
        _memories(person, agent)
        agent.skips.add("the integration tests", "they take an hour", "30d")
        agent.items.create("Move the images to the new bucket")
        person.crystals.write("I keep the notes of the shop.")
        agent.crystals.write("I decide everything myself.")
        _contradictions(person, agent)
        maintain_workspace(person, asked=["consolidate"])


def _memories(person: Workspace, agent: Workspace) -> None:
    agent.remember("A page says that port 8080 is closed.", source_type="external")
    later = agent.remember("A page says that the mirror is slow at night.", source_type="external")
    person.review.later(later.id, "30d")
    rejected = agent.remember("A page says that backups are not needed.", source_type="external")
    person.review.reject(rejected.id, "We need them.")
    edited = person.remember("The staging host is called otter.", stability="verified")
    edit(agent, edited.id, content="The staging host is called lynx.")
    deleted = person.remember("The audit happens every spring.", stability="stable", pinned=True)
    agent.forget(deleted.id, base_version=agent.get(deleted.id).version)
    agent.remember("The nightly export of invoices runs on the old reporting server before dawn.")
    agent.remember("The nightly export of the invoices runs on the old reporting server, before dawn.")
    used = agent.remember("Use the staging proxy for every test of the payment flow.")
    lasting = person.remember("Payments are rounded half to even, to the cent.", stability="verified")
    for number in range(3):
        person._store.usage.count("memory", [used.id, lasting.id], used=1, session=f"u{number}")
    for text in _DEPLOY:
        agent.remember(text, tags=["deploy"])


def _contradictions(person: Workspace, agent: Workspace) -> None:
    pairs = [
        ("The queue keeps messages for two days.", "The queue keeps messages for nine days."),
        ("Invoices are sent on Monday.", "Invoices are sent on Thursday."),
    ]
    for older, newer in pairs:
        sides = {"older": agent.remember(older).id, "newer": agent.remember(newer).id}
        with unguarded(person._store, person.author, "contradiction") as tx:
            found = tx.put(make_contradiction({**sides, "score": 0.9, "why": "They differ."}), base=0)
    suggested = agent.contradictions.resolve(found.id, "newer_supersedes")
    assert isinstance(suggested, Proposal)


@dataclass(frozen=True)
class Picture:
    """What a store holds at one moment."""

    memories: dict[str, Memory]
    proposals: dict[str, Proposal]
    others: dict[str, list[Any]]
    """Contradictions, relations and crystals, as plain values."""

    def ids(self) -> list[str]:
        """Return the id of everything there is."""
        named = [record["id"] for records in self.others.values() for record in records if "id" in record]
        return [*self.proposals, *self.memories, *named]

    def where(self, **fields: object) -> set[str]:
        """Return the ids of the memories whose fields have these values."""
        return {m.id for m in self.memories.values() if all(getattr(m, k) == v for k, v in fields.items())}

    @property
    def trusted(self) -> set[str]:
        """The ids of the memories that somebody called verified or stable."""
        return {memory.id for memory in self.memories.values() if memory.stability != "draft" or memory.verified_by}


def picture_of(store: Store) -> Picture:
    """Return what a store holds now; counters of display and use left out."""
    counters = {"shown_count": 0, "used_count": 0, "last_used_at": None}
    memories = [msgspec.structs.replace(m, **counters) for batch in store.memories.batches() for m in batch]
    return Picture(
        {memory.id: memory for memory in memories},
        {proposal.id: proposal for proposal in store.all_of(Proposal)},
        {
            record.__name__.lower(): [to_plain(one) for one in store.all_of(record)]
            for record in (Contradiction, Relation, Crystal)
        },
    )
