"""Some hundred memories for a sleep: a few that belong together, each kind in its own way, among many that do not."""

from __future__ import annotations

import random
from typing import Any

from memento_tui.model import Memory, make_memory

__all__ = ["BACKUPS", "ONBOARDING", "RUNNER", "TWINS", "made_memories"]

BACKUPS = [
    "The database backup is taken every night by the replica and copied to the vault in the other building.",
    "Restoring a database backup needs the passphrase that the operations lead keeps in the vault.",
    "Old database backups are removed by the replica once the vault holds a newer full copy.",
    "A database backup that fails wakes the operations lead, who starts the copy to the vault by hand.",
    "Every spring the team restores a database backup from the vault to prove that the copy can be read.",
]
"""Near each other in meaning, without a tag."""

ONBOARDING = [
    "A newcomer gets a laptop from the workshop on the first morning.",
    "The badge is made at the front desk and opens the garage too.",
    "Lunch with the whole team is on Wednesday in the canteen.",
    "Access to the wiki is granted by the librarian on request.",
]
"""Of one tag, and about different things."""

RUNNER = [
    "During the release, jobs queued behind the disk of the build runner.",
    "Unpacking artefacts filled the disk of the build runner.",
    "A full disk on the build runner delayed the nightly job.",
    "Emptying the disk of the build runner by hand made its queue shorter.",
]
"""Observations of one subject."""

TWINS = [
    "Release notes are written by whoever merges the last pull request of the sprint.",
    "The release notes are written by whoever merges the last pull request of a sprint.",
]

_WHO = "glacier violin harbour orchid tractor parliament falcon bakery submarine cathedral beetle lantern".split()  # noqa: SIM905 - a paragraph is easier to read
_DID = "inspired delayed decorated outlived resembled surrounded financed imitated weighed replaced".split()  # noqa: SIM905 - as above
_WHAT = "umbrella theorem kettle avalanche passport trombone vineyard compass blanket referendum".split()  # noqa: SIM905 - as above
_WHERE = "Lisbon Nairobi Osaka Quito Tbilisi Bergen Havana Perth Riga Cusco Aleppo Malta".split()  # noqa: SIM905 - as above


def made_memories(others: int = 280) -> list[Memory]:
    """Return the memories, the same at every call but for their ids and moments."""
    chance = random.Random(5)  # noqa: S311 - a fixed seed is the point
    seen: set[str] = set()
    while len(seen) < others:
        who, did, what, where = (chance.choice(words) for words in (_WHO, _DID, _WHAT, _WHERE))
        seen.add(f"A {who} {did} the {what} of {where}.")
    return [
        *(_note(text) for text in BACKUPS),
        *(_note(text, tags=["onboarding"]) for text in ONBOARDING),
        *(_note(text, kind="observation") for text in RUNNER),
        *(_note(text) for text in TWINS),
        # Of a place of their own: what is no group here must not crowd out those that are.
        *(_note(text, namespace=f"misc/{number % 140}") for number, text in enumerate(sorted(seen))),
    ]


def _note(content: str, **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
    return make_memory({"content": content, **fields})
