"""What every writer knows."""

from __future__ import annotations

import random
import time
from pathlib import Path

from tests.torture.acknowledgements import Acknowledgements

__all__ = ["ENDED_BY_OTHERS", "Writer"]

ENDED_BY_OTHERS = "the program that it spoke to has ended"
"""What a writer says at its end where the supervisor may have killed the program that it had started."""

_PAUSE_SECONDS = 0.02
"""Seconds between two writes: there are a dozen writers."""


class Writer:
    """What every writer knows: where to write, where to note it, and a source of chance of its own."""

    def __init__(self, data: Path, notes: Path, name: str, seed: int) -> None:
        self.data = data
        self.name = name
        self.notes = notes
        self.random = random.Random(seed)  # noqa: S311 - the same seed does the same
        self.acknowledged = Acknowledgements(notes / f"{name}.acks")

    def text(self, number: int) -> str:
        """Return a text that nobody else writes."""
        words = " ".join(self.random.choices(("meadow", "winter", "otter", "morning", "paper", "bread"), k=8))
        return f"{self.name} wrote number {number}: {words}."

    def pause(self) -> None:
        """Let the others write."""
        time.sleep(self.random.random() * _PAUSE_SECONDS)
