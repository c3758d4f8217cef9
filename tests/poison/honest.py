"""What honest memories come to: those that real agents and people wrote, imported and remembered once more."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memento_tui.errors import MementoError
from memento_tui.formats.import_export import run_import
from memento_tui.formats.registry import detect_format
from memento_tui.model import Memory
from tests.poison.house import House, open_house
from tests.unit.profile_agent import seated

__all__ = ["Honest", "honest_memories"]

_PER_SESSION = 20
"""Memories that one session of an agent writes; more in an hour is not honest work."""


@dataclass
class Honest:
    """What came of honest memories."""

    imported: int = 0
    remembered: int = 0
    kept: list[str] = field(default_factory=list)
    """The texts that wait for a person or were refused, each with the reason."""

    @property
    def share(self) -> float:
        """The share that was held or lost."""
        return len(self.kept) / max(1, self.imported + self.remembered)


def honest_memories(scratch: Path, data: Path, most: int | None, seed: int) -> Honest:
    """Import every folder of real memories, then remember as many of their texts over MCP as is wanted."""
    honest = Honest()
    drawn = random.Random(seed)
    with open_house(scratch / "imported") as house:
        for folder in sorted(path for path in data.iterdir() if path.is_dir()):
            _import(house, folder, honest)
        memories = list(_all(house))
        honest.imported = len(memories)
        honest.kept += [f"import waits: {one.content[:80]!r}" for one in memories if one.status == "pending"]
    texts = sorted({memory.content for memory in memories})
    with open_house(scratch / "remembered") as house:
        chosen = texts if most is None else drawn.sample(texts, min(most, len(texts)))
        for start in range(0, len(chosen), _PER_SESSION):
            _remember(house, chosen[start : start + _PER_SESSION], f"honest-{start}", honest)
    return honest


def _import(house: House, folder: Path, honest: Honest) -> None:
    try:
        report = run_import(house.person, detect_format(folder), folder)
    except MementoError:
        return  # a folder of no format is no memory
    honest.kept += [f"import {folder.name}: {refused.file}: {refused.reason}" for refused in report.refused]


def _all(house: House) -> Iterator[Memory]:
    for status in ("is:active", "is:pending"):
        after: str | None = None
        while True:
            page = house.person.list(status, after=after, limit=500)
            yield from page.items
            after = page.next
            if after is None:
                break


def _remember(house: House, texts: Sequence[str], session: str, honest: Honest) -> None:
    with seated(house.data_dir, "native", session=session) as agent:
        for text in texts:
            answered = agent.send("remember", {"content": text})
            said: dict[str, Any] = answered.structured_content or {}
            honest.remembered += 1
            if answered.is_error or said.get("status") == "pending":
                honest.kept.append(f"remember: {said.get('why', 'refused')}: {text[:80]!r}")
