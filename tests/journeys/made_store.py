"""Some hundred memories for a sleep: a few that belong together, each kind in its own way, among many that do not."""

from __future__ import annotations

import random
from typing import Any

from memento_tui.model import Memory, make_memory

__all__ = ["BACKUPS", "ONBOARDING", "RUNNER", "TWINS", "made_memories"]

_BACKUP = [
    "The database backup is taken every night by the replica.",
    "The database backup is copied to the vault in the other building.",
]
BACKUPS = [*_BACKUP, " ".join(_BACKUP)]
"""Without a tag; the last says all that the others say."""

_ONBOARDING = [
    "A newcomer gets a laptop from the workshop on the first morning.",
    "A newcomer gets a badge at the front desk on the first morning.",
    "A newcomer has lunch with the whole team on the first Wednesday.",
]
ONBOARDING = [*_ONBOARDING, " ".join(_ONBOARDING)]
"""Of one tag; the last says all that the others say."""

_RUNNER = [
    "The disk of the build runner fills while artefacts are unpacked.",
    "A full disk of the build runner delays the nightly job.",
]
RUNNER = [*_RUNNER, " ".join(_RUNNER)]
"""Observations; the last says all that the others say."""

APART = [
    "The release branch is cut by the librarian on a Tuesday.",
    "The release branch is tagged from the old server.",
    "Every release branch needs a page in the wiki.",
]
"""Of one tag and one subject, and each says something else."""

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
        *(_note(text, tags=["release"]) for text in APART),
        *(_note(text) for text in TWINS),
        # Of a place of their own: what is no group here must not crowd out those that are.
        *(_note(text, namespace=f"misc/{number % 140}") for number, text in enumerate(sorted(seen))),
    ]


def _note(content: str, **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
    return make_memory({"content": content, **fields})
